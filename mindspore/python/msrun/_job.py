"""One job of `msrun`: its environment, its processes, its end. Whatever ends it, no process, file or port of it stays behind."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

from msrun import _mpiexec
from msrun._arguments import DEFAULT_PORT, Refused
from msrun._logs import Tail, last_lines

HERE = Path(__file__).resolve().parent
_LAUNCHED = HERE.parent / "mindspore" / "common" / "_launched.py"
_GRACE = 5.0  # seconds from the signal that ends a job until what is left of it is killed
_SMALL_SHM = 256 << 20  # bytes; below, memory that processes share is better in files elsewhere
_PR_SET_PDEATHSIG = 1


class _Ended(Exception):
    """A signal asks for the end."""

    def __init__(self, number: int):
        self.number = number


def run(args: argparse.Namespace) -> int:
    """Starts the processes; waits for them where that is asked for. The exit status."""
    mpiexec = _mpiexec.find()
    logs = _log_folder(args)
    job = _Job(args, mpiexec, logs)
    if args.join:
        return job.run()
    if os.fork() == 0:
        _go_to_the_background(logs / "scheduler.log")
        status = 1
        try:
            status = job.run()
        finally:
            sys.stderr.flush()
            os._exit(status)
    print(f"msrun: started {args.worker_num} processes; their output is in {logs}")
    return 0


def _go_to_the_background(log: Path) -> None:
    os.setsid()
    null = os.open(os.devnull, os.O_RDONLY)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(null, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)


def _log_folder(args: argparse.Namespace) -> Path:
    logs = Path(args.log_dir or ".").resolve()
    try:
        logs.mkdir(parents=True, exist_ok=True)
        (logs / "scheduler.log").write_text("")
    except OSError as error:
        raise Refused(
            f"--log_dir must be a folder that can be written to, but got {str(logs)!r}: {error.strerror}."
        ) from None
    return logs


def _take_port(address: str, wanted: int | None) -> tuple[int, socket.socket]:
    """A port that is free, and what keeps other jobs of msrun from it: it is opened only later, by rank 0."""
    ports = [wanted] if wanted is not None else range(DEFAULT_PORT, DEFAULT_PORT + 1000)
    for port in ports:
        keeper = socket.socket(socket.AF_UNIX)
        try:
            keeper.bind(f"\0msrun-{port}")
            family = socket.getaddrinfo(address, port)[0][0]
            with socket.socket(family) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((address, port))
            return port, keeper
        except OSError as error:
            keeper.close()
            problem = error.strerror
    raise Refused(
        f"rank 0 cannot listen at {address}:{ports[-1]}: {problem}. --master_addr must be an address of this machine, and no "
        "other job may use the --master_port."
    )


class _Job:
    def __init__(self, args: argparse.Namespace, mpiexec: _mpiexec.Mpiexec, logs: Path):
        self.args, self.mpiexec, self.logs = args, mpiexec, logs
        self.word = secrets.token_hex(16)
        self.port, self.keeper = _take_port(args.master_addr, args.master_port)
        self.folders: list[str] = []
        self.failed = (
            ""  # a file that is there once a process has failed; empty: the launcher sees to that
        )
        self.name = _log_name(args)
        for rank in range(args.local_worker_num):  # those of a job before
            self._log(rank).unlink(missing_ok=True)

    def _log(self, rank: int) -> Path:
        return self.logs / f"{self.name}_{rank}.log"

    def run(self) -> int:
        """The whole life of the job."""
        self.prefix = f"msrun-{os.getpid()}-"  # so that folders of jobs that were killed are known
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _ask_for_the_end)
        process = None
        try:
            process = self._start()
            status = self._wait(process)
        except _Ended as ended:
            status = 128 + ended.number
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            self._end(process)
        return status

    # ---- the start
    def _start(self) -> subprocess.Popen:
        program = [sys.executable, "-I", "-S", str(HERE / "_rank.py")]
        parent = os.getpid()
        with open(self.logs / "scheduler.log", "ab") as log:
            return subprocess.Popen(
                [*self.mpiexec.command(self.args.worker_num), *program],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C comes to us alone
                preexec_fn=lambda: _end_with(parent),
            )

    def _environment(self) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not _of_another_launcher(k)}
        # Files of the launcher go where they are found again.
        scratch = tempfile.mkdtemp(prefix=self.prefix)
        self.folders.append(scratch)
        if self.mpiexec.family == "mpich":
            self.failed = os.path.join(scratch, "failed")
        changed = {"TMPDIR": scratch}
        if not env.get("HOME"):
            env["HOME"] = _home() or scratch  # Open MPI does not start without
        if self.mpiexec.family == "openmpi":
            env |= self._open_mpi(scratch)
        before = {name: env.get(name) for name in changed}
        env |= changed
        args = self.args
        env |= {
            "MS_WATCH_ADDRESS": f"{_bracketed(args.master_addr)}:{self.port}/{self.word}",
            "MS_SCHED_HOST": args.master_addr,
            "MS_SCHED_PORT": str(self.port),
            "MS_TOPO_TIMEOUT": str(args.cluster_time_out if args.cluster_time_out > 0 else 10**8),
            "MSRUN_JOB": json.dumps(
                {
                    "command": _command(args),
                    "launched": str(_LAUNCHED),
                    "log": str(self.logs / self.name),
                    "bind": args.bind_core,
                    "failed": self.failed,
                    "before": before,
                }
            ),
        }
        return env

    def _open_mpi(self, scratch: str) -> dict[str, str]:
        shared = scratch
        with contextlib.suppress(OSError):
            if shutil.disk_usage("/dev/shm").free >= _SMALL_SHM:
                shared = tempfile.mkdtemp(prefix=self.prefix, dir="/dev/shm")
                self.folders.append(shared)
        wanted = {
            "OMPI_MCA_osc": "^ucx",  # says an error where there is none
            "OMPI_MCA_btl_sm_backing_directory": shared,
            "OMPI_MCA_btl_vader_backing_directory": shared,
            "OMPI_MCA_osc_sm_backing_directory": shared,
            "OMPI_MCA_osc_rdma_backing_directory": shared,
        }
        if os.geteuid() == 0:
            for name in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
                wanted |= {name: "1", f"{name}_CONFIRM": "1"}
        return {name: os.environ.get(name, value) for name, value in wanted.items()}

    # ---- the end
    def _wait(self, process: subprocess.Popen) -> int:
        tails = [Tail(self._log(rank)) for rank in self.args.tailed] if self.args.join else []
        while process.poll() is None and not self._failed():
            shown = [tail.show() for tail in tails]
            if not any(shown):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.05)
        for tail in tails:
            tail.show(whole=True)
        status = self._status(process)
        if status and self.args.join:
            self._say_why(status)
        return status

    def _failed(self) -> bool:
        return bool(self.failed) and os.path.exists(self.failed)

    def _status(self, process: subprocess.Popen) -> int:
        if self._failed():
            while not (said := Path(self.failed).read_text()).endswith("\n"):
                time.sleep(0.01)
            rank, status = said.split()
            print(f"msrun: rank {rank} ended with status {status}.", file=sys.stderr)
            return int(status)
        code = process.returncode
        return code if code >= 0 else 128 - code

    def _say_why(self, status: int) -> None:
        said = last_lines(self.logs / "scheduler.log", 12)
        print(f"msrun: the job ended with status {status}.", *said, sep="\n  ", file=sys.stderr)
        for rank in sorted(set(range(self.args.local_worker_num)) - set(self.args.tailed)):
            log = self._log(rank)
            print(f"msrun: the end of {log}:", *last_lines(log, 12), sep="\n  ", file=sys.stderr)

    def _end(self, process: subprocess.Popen | None) -> None:
        if process is not None and process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE)
        # The launcher may be gone and processes left, or both hang.
        for _ in range(100):
            left = _processes_with(self.word)
            for number in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            if process is not None:
                process.poll()
            if not left:
                break
            time.sleep(0.05)
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
        self.keeper.close()


def _ask_for_the_end(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    raise _Ended(number)


def _end_with(parent: int) -> None:
    """In the launcher: it hears when msrun is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _processes_with(word: str) -> list[int]:
    """The processes that have a word in their environment, but for this one."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if word.encode() in (entry / "environ").read_bytes() and not _is_dead(entry):
                    found.append(int(entry.name))
    return found


def _is_dead(entry: Path) -> bool:
    return (entry / "stat").read_text().rpartition(")")[2].split()[0] in "ZX"


def _of_another_launcher(name: str) -> bool:
    """Whether a variable says the place of this process in a job of a launcher that started msrun."""
    return name.startswith(("OMPI_COMM_WORLD_", "PMIX_", "PMI_")) or name in (
        "PRTE_LAUNCHED",
        "MPI_LOCALRANKID",
        "MPI_LOCALNRANKS",
    )


def _command(args: argparse.Namespace) -> list[str]:
    script = args.script
    if script.endswith(".py") or not (shutil.which(script)):
        return [sys.executable, "-u", script, *args.arguments]
    return [script, *args.arguments]


def _log_name(args: argparse.Namespace) -> str:
    if not args.worker_log_name:
        return "worker"
    host = socket.gethostname()
    try:
        ip = socket.gethostbyname(host)
    except OSError:  # a name that nobody knows
        ip = "127.0.0.1"
    name = args.worker_log_name.replace("{ip}", ip).replace("{hostname}", host)
    if "/" in name:
        raise Refused(f"--worker_log_name must be the name of a file, but got {name!r}.")
    return name


def _bracketed(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _home() -> str:
    try:
        import pwd

        return pwd.getpwuid(os.geteuid()).pw_dir
    except (ImportError, KeyError):  # a user id without a name
        return ""

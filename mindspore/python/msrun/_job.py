"""One job of `msrun`: its processes, and its end. Whatever ends it, no process, file or port of it stays behind."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import IO, NoReturn

from msrun import _mpiexec
from msrun._arguments import DEFAULT_PORT, Refused
from msrun._hosts import Follower, Master, listen
from msrun._logs import Tail, last_lines
from msrun._surroundings import HERE, Surroundings, log_name

_GRACE = 5.0  # seconds from the signal that ends a job until what is left of it is killed
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1
_WATCH = "MS_WATCH_ADDRESS"


class _Ended(Exception):
    """A signal asks for the end."""

    def __init__(self, number: int):
        self.number = number


def run(args: argparse.Namespace) -> int:
    """Starts the processes; waits for them where that is asked for. The exit status."""
    _grace()  # refuses
    mpiexec = _mpiexec.find()
    logs = _log_folder(args)
    job = _job(args, mpiexec, logs, 0)
    if args.join:
        return _live(job)
    if os.fork() == 0:
        _go_to_the_background(logs / "scheduler.log")
        status = 1
        try:
            status = _live(job)
        except Refused as refused:
            print(f"msrun: {refused}", file=sys.stderr)
        except Exception:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    print(f"msrun: started {args.local_worker_num} processes; their output is in {logs}")
    return 0


def _live(job: _Job) -> int:
    """Runs a job, and where it failed and may, again; the status of the last time."""
    while True:
        status = job.run()
        if not job.again:
            return status
        count = job.count + 1
        for log in sorted(job.logs.glob(f"{job.name}_*.log")):
            if log.stem.removeprefix(f"{job.name}_").isdigit():
                with contextlib.suppress(OSError):
                    log.rename(log.with_name(f"{log.stem}.start{count}.log"))
        print(f"msrun: the job is started again, {count} of {job.restarts} times.", file=sys.stderr)
        job = _job(job.args, job.mpiexec, job.logs, count)


def _job(args: argparse.Namespace, mpiexec: _mpiexec.Mpiexec, logs: Path, count: int) -> _Job:
    if args.local_worker_num == args.worker_num:
        return _Main(args, mpiexec, logs, count, None)
    listening = listen(args)
    if listening is None:
        return _Part(args, mpiexec, logs, count)
    return _Main(args, mpiexec, logs, count, Master(args, listening))


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
    """What is done for a job on each machine."""

    def __init__(self, args: argparse.Namespace, mpiexec: _mpiexec.Mpiexec, logs: Path, count: int):
        self.args, self.mpiexec, self.logs = args, mpiexec, logs
        self.count = count  # how often it was started before
        self.restarts = args.max_restarts
        self.next_look = 0.0  # at what processes are there
        self.told = False  # whether a process that failed was named
        self.again = False  # whether it is to be started once more
        self.name = log_name(args)
        self.word = ""  # that only the processes of this job have in their environment

    def run(self) -> int:
        """The whole life of the job."""
        # They wait until what they end can be taken away.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        for number in _SIGNALS:
            signal.signal(number, _ask_for_the_end)
        status = 1
        self.surroundings = Surroundings(self.mpiexec.family)
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            if _asked:  # between two starts
                raise _Ended(_asked[0])
            with open(self.logs / "scheduler.log", "ab") as log:
                status = self.work(log)
        except _Ended as ended:
            status = 128 + ended.number
        finally:
            for number in _SIGNALS:
                signal.signal(number, _note)
            self.end(status)
        return status

    def work(self, log: IO[bytes]) -> int:
        """Until the job ends; its status."""
        raise NotImplementedError

    def end(self, status: int) -> None:
        """Ends what is left."""
        # The launcher may be gone and processes left, or both hang.
        for _ in range(100 if self.word else 0):
            left = _processes_with(self.word)
            for number in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            if not left:
                break
            time.sleep(0.05)
        self.surroundings.remove()

    def failure(self) -> int | None:
        """The status of the first process that failed here."""
        failed = self.surroundings.failed
        rank, status = self._vanished(), str(128 + signal.SIGKILL)
        if os.path.exists(failed):
            rank, status = Path(failed).read_text().split()
        if rank is None:
            return None
        if not self.told:
            self.told = True
            print(f"msrun: rank {rank} ended with status {status}.", file=sys.stderr)
        return int(status)

    def say_heard(self) -> None:
        """Lets the process that failed end: who decides what becomes of the job knows of it."""
        with contextlib.suppress(OSError):  # the disk is full: then the launcher hears of it
            Path(f"{self.surroundings.failed}.heard").touch()

    def _vanished(self) -> str | None:
        """A rank of this machine of which nobody is left who could tell its status."""
        now = time.monotonic()
        if now < self.next_look:
            return None
        self.next_look = now + 1.0
        failed = Path(self.surroundings.failed)
        for file in failed.parent.glob(f"{failed.name}.*.pid"):
            with contextlib.suppress(OSError):
                number = file.read_text()
                if not os.path.exists(f"/proc/{number}/stat") and file.exists():
                    return file.name.split(".")[-2]
        return None


class _Main(_Job):
    """The job on the machine of rank 0, which starts mpiexec."""

    def __init__(
        self,
        args: argparse.Namespace,
        mpiexec: _mpiexec.Mpiexec,
        logs: Path,
        count: int,
        master: Master | None,
    ):
        super().__init__(args, mpiexec, logs, count)
        self.master = master
        self.word = secrets.token_hex(16)
        self.port, self.keeper = _take_port(args.master_addr, None if master else args.master_port)
        self.process: subprocess.Popen | None = None
        self.grace_ends: float | None = None  # from when a process has failed
        self.look_again = 0.0
        for rank in range(args.local_worker_num):  # those of a job before
            self._log(rank).unlink(missing_ok=True)
        for log in logs.glob(f"{self.name}_*.start*.log") if count == 0 else ():
            log.unlink(missing_ok=True)

    def _log(self, rank: int) -> Path:
        return self.logs / f"{self.name}_{rank}.log"

    def work(self, log: IO[bytes]) -> int:
        """Starts mpiexec and waits for it."""
        args, parent = self.args, os.getpid()
        hosts = self.master.gather() if self.master else ""
        if self.master and self.mpiexec.family == "openmpi":
            self.master.tell_apart()
        host = f"[{args.master_addr}]" if ":" in args.master_addr else args.master_addr
        of_job = {
            _WATCH: f"{host}:{self.port}/{self.word}",
            "MS_SCHED_HOST": args.master_addr,
            "MS_SCHED_PORT": str((args.master_port or DEFAULT_PORT) if hosts else self.port),
            "MS_RESTART_COUNT": str(self.count),
            "MS_TOPO_TIMEOUT": str(args.cluster_time_out if args.cluster_time_out > 0 else 10**8),
        }
        env = self.surroundings.environment(args, self.logs / self.name, of_job)
        command = self.mpiexec.command(args.worker_num)
        if self.master:
            env["MSRUN_AGENTS"] = self.master.begin(self.surroundings.scratch, of_job)
            command += self.mpiexec.on(hosts, self.surroundings.agent(), env)
        self.process = subprocess.Popen(
            [*command, sys.executable, "-I", "-S", str(HERE / "_rank.py")],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C comes to us alone
            preexec_fn=lambda: _end_with(parent),
        )
        return self._wait(self.process)

    def _wait(self, process: subprocess.Popen) -> int:
        tails = [Tail(self._log(rank)) for rank in self.args.tailed] if self.args.join else []
        while (status := self._status(process)) is None:
            shown = [tail.show() for tail in tails]
            if not any(shown):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(0.05)
        for tail in tails:
            tail.show(whole=True)
        if status and self.args.join:
            self._say_why(status)
        return status

    def _status(self, process: subprocess.Popen) -> int | None:
        failure = self.failure()
        if failure is not None:
            self.say_heard()
        if self.master:
            self.master.attend(0)
            failure = self.master.failed if failure is None else failure
        if process.poll() is None:
            return None if failure is None or self._may_go_on() else failure
        code = process.returncode if failure is None else failure
        return code if code >= 0 else 128 - code

    def _may_go_on(self) -> bool:
        """Whether those that are left when one has failed may go on for now: who waits for others is told so, and has time to save."""
        now = time.monotonic()
        if self.grace_ends is None:
            joined = os.path.exists(self.surroundings.joined)
            self.grace_ends, self.look_again = now + (_grace() if joined else 0), now + 1.0
        if now >= self.look_again and not self.master:
            self.look_again = now + 1.0
            if not _running_with(self.word):
                return False
        return now < self.grace_ends

    def _say_why(self, status: int) -> None:
        said = last_lines(self.logs / "scheduler.log", 12)
        print(f"msrun: the job ended with status {status}.", *said, sep="\n  ", file=sys.stderr)
        for rank in sorted(set(range(self.args.local_worker_num)) - set(self.args.tailed)):
            log = self._log(rank)
            print(f"msrun: the end of {log}:", *last_lines(log, 12), sep="\n  ", file=sys.stderr)

    def end(self, status: int) -> None:
        """Ends mpiexec, and what it leaves."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_GRACE)
        super().end(status)
        if self.process is not None:
            self.process.wait()
        self.again = bool(status) and not _asked and self.count < self.restarts
        if self.master:
            self.master.finish(status, self.restarts if self.again else 0)
        self.keeper.close()


class _Part(_Job):
    """The job on another machine, where the msrun of rank 0 says what to do."""

    def work(self, log: IO[bytes]) -> int:
        """Does what is said until the job ends."""
        follower = Follower(self.args)
        of_job = follower.job()
        self.word = of_job[_WATCH].rpartition("/")[2]
        env = self.surroundings.environment(
            self.args, self.logs / self.name, of_job, name="MSRUN_HERE"
        )
        while (status := follower.attend(0.05, env, log)) is None:
            failure = None if self.told else self.failure()
            if failure is not None:
                follower.lines.send(failed=failure)
            if follower.heard:
                self.say_heard()
        self.restarts, self.again = follower.restarts, follower.restarts > 0
        if status and self.args.join:
            print(f"msrun: the job ended with status {status}.", file=sys.stderr)
        return status


_asked: list[int] = []  # the signals that asked for the end


def _ask_for_the_end(number: int, frame: FrameType | None) -> NoReturn:
    _note(number, frame)
    raise _Ended(number)


def _note(number: int, frame: FrameType | None) -> None:
    """While a job is ended: it is, but is not to be started again."""
    del frame
    _asked.append(number)


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


def _running_with(word: str) -> list[int]:
    """Those of them that are neither stopped nor of the launcher nor wait for a script of theirs."""
    found = []
    for number in _processes_with(word):
        entry = Path("/proc", str(number))
        with contextlib.suppress(OSError):
            command = (entry / "cmdline").read_bytes()
            if b"MSRUN_JOINED=" in (entry / "environ").read_bytes() and b"_rank.py" not in command:
                if not _is_dead(entry, "TtZX"):
                    found.append(number)
    return found


def _is_dead(entry: Path, states: str = "ZX") -> bool:
    return (entry / "stat").read_text().rpartition(")")[2].split()[0] in states


def _grace() -> float:
    """How many seconds the others have, when one process has failed, to notice it and to save."""
    text = os.environ.get("MSRUN_GRACE", "60")
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise Refused(f"MSRUN_GRACE must be a number of seconds, but got {text!r}.")
    return seconds

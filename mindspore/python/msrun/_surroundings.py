"""What the processes of a job find on a machine: folders that end with the job, and their environment."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path

from msrun._arguments import Refused

HERE = Path(__file__).resolve().parent
_LAUNCHED = HERE.parent / "mindspore" / "common" / "_launched.py"
_SMALL_SHM = 256 << 20  # bytes; below, memory that processes share is better in files elsewhere


class Surroundings:
    """Made on each machine of a job, by the process that cleans up there."""

    def __init__(self, family: str):
        self.family = family
        self.start = time.time()
        self.prefix = f"msrun-{os.getpid()}-"  # so that folders of jobs that were killed are known
        self.scratch = tempfile.mkdtemp(prefix=self.prefix)
        self.folders = [self.scratch]
        # A file that is there once a process has failed, and one once this machine's have come together with all others.
        self.failed = os.path.join(self.scratch, "failed")
        self.joined = os.path.join(self.scratch, "joined")

    def environment(
        self, args: argparse.Namespace, log: Path, of_job: dict[str, str], name: str = "MSRUN_JOB"
    ) -> dict[str, str]:
        """That of the launcher here. Under `name` it says what a process is to do and to set: launchers hand on to other machines
        what is right on theirs."""
        env = {k: v for k, v in os.environ.items() if not _of_another_launcher(k)}
        if not env.get("HOME"):
            env["HOME"] = _home() or self.scratch  # Open MPI does not start without
        here = self._open_mpi(args) if self.family == "openmpi" else {}
        job = {
            "command": _command(args),
            "launched": str(_LAUNCHED),
            "log": str(log),
            "bind": args.bind_core,
            "failed": self.failed,
            "set": {"TMPDIR": env.get("TMPDIR"), "MSRUN_JOINED": self.joined, **here},
        }
        # Files of the launcher go where they are found again.
        return {**env, **here, **of_job, "TMPDIR": self.scratch, name: json.dumps(job)}

    def _open_mpi(self, args: argparse.Namespace) -> dict[str, str]:
        shared = self.scratch
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
        if args.local_worker_num == args.worker_num:
            # Looking for networks takes a second, and within a host none is used.
            wanted |= {"OMPI_MCA_pml": "ob1", "OMPI_MCA_mtl": "^ofi"}
            wanted |= {"OMPI_MCA_btl": "^ofi,uct,openib"}
        if os.geteuid() == 0:
            for name in ("OMPI_ALLOW_RUN_AS_ROOT", "PRTE_ALLOW_RUN_AS_ROOT"):
                wanted |= {name: "1", f"{name}_CONFIRM": "1"}
        return {name: os.environ.get(name, value) for name, value in wanted.items()}

    def agent(self) -> str:
        """A program that mpiexec may call in place of ssh."""
        path = Path(self.scratch, "agent")
        path.write_text(f"#!/bin/sh\nexec '{sys.executable}' -I -S '{HERE / '_agent.py'}' \"$@\"\n")
        path.chmod(0o700)
        return str(path)

    def remove(self) -> None:
        """Leaves nothing behind."""
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)
        if self.family == "mpich":
            _remove_forgotten(Path("/dev/shm"), "mpich_shm_*", self.start)


def _remove_forgotten(folder: Path, pattern: str, since: float) -> None:
    """Removes the user's files that have come since then and that no process has: those of processes that were killed."""
    mine = []
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):
            facts = path.stat()
            if facts.st_uid == os.geteuid() and facts.st_ctime >= since:
                mine.append(str(path))
    used = _files_in_use() if mine else set()
    for name in mine:
        if name not in used:
            with contextlib.suppress(OSError):
                os.unlink(name)


def _files_in_use() -> set[str]:
    """The files that processes have opened or mapped."""
    used = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            used |= {
                line.split(None, 5)[-1] for line in (process / "maps").read_text().splitlines()
            }
        with contextlib.suppress(OSError):
            for opened in (process / "fd").iterdir():
                with contextlib.suppress(OSError):
                    used.add(os.readlink(opened))
    return used


def log_name(args: argparse.Namespace) -> str:
    """What the logs of processes are called, before their number."""
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


def _of_another_launcher(name: str) -> bool:
    """Whether a variable says the place of this process in a job of a launcher that started msrun."""
    return name.startswith(("OMPI_COMM_WORLD_", "PMIX_", "PMI_")) or name in (
        "PRTE_LAUNCHED",
        "MPI_LOCALRANKID",
        "MPI_LOCALNRANKS",
    )


def _command(args: argparse.Namespace) -> list[str]:
    script = args.script
    if script.endswith(".py") or not shutil.which(script):
        return [sys.executable, "-u", script, *args.arguments]
    return [script, *args.arguments]


def _home() -> str:
    try:
        import pwd

        return pwd.getpwuid(os.geteuid()).pw_dir
    except (ImportError, KeyError):  # a user id without a name
        return ""

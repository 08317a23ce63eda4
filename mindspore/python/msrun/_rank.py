"""Runs as each process, before the script: turns what the launcher says into what scripts read, opens the log, binds cores, and
becomes the script. It is run as a file, and imports next to nothing, for each process waits for it."""

import contextlib
import ctypes
import json
import os
import runpy
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_PATIENCE = 10.0  # seconds until msrun says that it has heard of a failure


def _end_with_the_launcher() -> None:
    """Whatever ends the launcher, no process stays behind."""
    parent = os.getppid()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _bind(cores: object, local_rank: int, local_size: int) -> None:
    """Gives this process cores of its own: those that are named for it, else its part of all."""
    if isinstance(cores, dict):
        named = cores.get(f"device{local_rank}", [])
        mine = {core for text in named for core in _range(str(text))}
    else:
        all_cores = sorted(os.sched_getaffinity(0))
        each = len(all_cores) // local_size
        mine = set(all_cores[local_rank * each : (local_rank + 1) * each])
    if not mine:
        return
    try:
        os.sched_setaffinity(0, mine)
    except OSError as error:
        print(f"msrun: the cores {sorted(mine)} cannot be bound: {error}", file=sys.stderr)


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    try:
        return range(int(first), int(last or first) + 1)
    except ValueError:
        raise SystemExit(
            f"msrun: --bind_core must name cores such as '0-3', but got {text!r}."
        ) from None


def main() -> None:
    """Becomes the script of the job, which the launcher has put into the environment."""
    _end_with_the_launcher()
    of_master = os.environ.pop("MSRUN_JOB", "")
    job = json.loads(os.environ.pop("MSRUN_HERE", "") or of_master)  # first: of this machine
    place = runpy.run_path(job["launched"])["launched"]()
    log = os.open(f"{job['log']}_{place.rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    env = dict(os.environ)
    for name, value in job["set"].items():
        env.pop(name, None)
        if value is not None:
            env[name] = value
    env.update(
        RANK_ID=str(place.rank),
        RANK_SIZE=str(place.size),
        DEVICE_ID=str(place.local_rank),
        MS_NODE_ID=str(place.rank),
        MS_ROLE="MS_WORKER",
        MS_WORKER_NUM=str(place.size),
    )
    _stay_until_it_ends(place.rank, job["failed"])
    if job["bind"]:
        _bind(job["bind"], place.local_rank, place.local_size)
    command = job["command"]
    try:
        os.execvpe(command[0], command, env)
    except OSError as error:
        print(f"msrun: {command[0]} cannot be run: {error}", file=sys.stderr, flush=True)
        os._exit(127)


def _stay_until_it_ends(rank: int, failed: str) -> None:
    """Returns in a child, which becomes the script. Where that fails it is written into a file, which msrun looks for. The launcher does
    not hear of it: it is to leave the others alone, who may have something to save, and Open MPI counts a process that failed twice,
    so that it ends while one of them is there."""
    child = os.fork()
    if child == 0:
        _end_with_the_launcher()
        return
    here = f"{failed}.{rank}.pid"  # while it is there, this process is to be, too
    _tell(here, str(os.getpid()))
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, lambda n, _: os.kill(child, n))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = code if code >= 0 else 128 - code
    if status:
        _tell(failed, f"{rank} {status}\n")
        if _is_there(f"{failed}.heard"):
            status = 0
    with contextlib.suppress(OSError):
        os.unlink(here)
    os._exit(status)


def _tell(path: str, text: str) -> None:
    """Makes a file, if nobody has yet, with all that is in it: who finds it reads it at once, and this process may be killed at
    any moment."""
    aside = f"{path}.{os.getpid()}"
    with contextlib.suppress(OSError):  # its folder goes when the job ends
        with open(aside, "w") as file:
            file.write(text)
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
        os.unlink(aside)


def _is_there(path: str) -> bool:
    end = time.monotonic() + _PATIENCE
    while not os.path.exists(path):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


if __name__ == "__main__":
    main()

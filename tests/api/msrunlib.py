"""What the tests of msrun share: a script for its processes, and what there is to start them with."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import msrun._job

TREE = str(Path(msrun.__file__).parent.parent)

# Tells its place, and does what it is told.
SCRIPT = """
import json, os, signal, sys, time
rank = int(os.environ["RANK_ID"])
names = ("RANK_ID", "RANK_SIZE", "DEVICE_ID", "MS_WORKER_NUM", "MS_ROLE", "MS_NODE_ID", "MS_SCHED_HOST",
         "MS_SCHED_PORT", "MS_TOPO_TIMEOUT", "TMPDIR", "OMP_NUM_THREADS", "HOME")
told = {name: os.environ.get(name) for name in names}
print(json.dumps({**told, "arguments": sys.argv[1:], "file": __file__, "path": sys.path[0],
                  "cores": sorted(os.sched_getaffinity(0)), "pid": os.getpid()}), flush=True)
print("an error", file=sys.stderr, flush=True)
deed = sys.argv[1] if len(sys.argv) > 1 else ""
if deed == "exit" and rank == 1: sys.exit(5)
if deed == "raise" and rank == 1: raise ValueError("bad data")
if deed == "kill" and rank == 1: os.kill(os.getpid(), signal.SIGKILL)
if deed: time.sleep(300)
"""


def mpiexecs() -> list[str]:
    """One of each family and version that is installed."""
    beside = shutil.which("mpiexec", path=str(Path(sys.prefix, "bin")))
    found = [beside, *map(shutil.which, ("mpiexec.openmpi", "mpiexec.mpich"))]
    return [path for path in found if path]


def processes_in(folder: Path) -> list[str]:
    """The processes that work in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "cwd") == str(folder):
                if not msrun._job._is_dead(entry):
                    found.append((entry / "cmdline").read_text())
        except OSError:
            pass
    return found

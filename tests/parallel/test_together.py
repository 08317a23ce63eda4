"""Collectives of several processes, by each kind of MPI, within a host's memory and by messages."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import ranks

pytestmark = [pytest.mark.host_device]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_every_collective(count):
    ranks.passes("collectives.py", count)


@pytest.mark.slow
@pytest.mark.parametrize("windows", ["0", "1"])
@pytest.mark.parametrize("count", [5, 8])
def test_more_processes_than_cores(count, windows):
    ranks.passes("collectives.py", count, MS_COMM_WINDOWS=windows)


def test_by_messages():
    ranks.passes("collectives.py", 3, MS_COMM_WINDOWS="0")


@pytest.mark.slow
@pytest.mark.parametrize("library", ["libmpi_abi.so.1", "libmpi.so.12"])
@pytest.mark.parametrize("windows", ["0", "1"])
def test_mpich(library, windows):
    hydra = shutil.which("mpiexec.hydra")
    if hydra is None:
        pytest.skip("needs MPICH")
    path = next(
        (
            p
            for p in (Path(hydra).parent.parent / "lib", Path("/usr/lib/x86_64-linux-gnu"))
            if (p / library).exists()
        ),
        None,
    )
    if path is None:
        pytest.skip(f"needs {library}")
    ranks.passes(
        "collectives.py",
        2,
        launcher=[hydra, "-n", "2"],
        MS_MPI_LIBRARY=str(path / library),
        MS_COMM_WINDOWS=windows,
    )

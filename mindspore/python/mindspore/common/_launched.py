"""Which process of how many this is, as the launcher that started it says in the environment. All that is read of launchers is read
here. Nothing of this package is imported: `msrun` runs this file before there is a package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

# What msrun tells its ranks: the address of the watch, and a word that only this job knows.
WATCH = "MS_WATCH_ADDRESS"


class Launched(NamedTuple):
    """The place of a process among those that were started together."""

    rank: int = 0
    size: int = 1
    local_rank: int = 0  # among those of this machine
    local_size: int = 1
    launcher: str = ""  # who started it, in words; empty: nobody who starts several
    family: str = ""  # of the MPI library that fits: "openmpi", "mpich", "any"; empty: none fits
    watch: str = ""  # where the ranks watch each other, if the launcher says


class _Kind(NamedTuple):
    """A kind of launcher, by the variables in which it tells a process its place."""

    launcher: str
    family: str
    rank: str
    size: str
    local_rank: str
    local_size: str


# The first whose rank and size are there is the one that started us: a launcher inside of a Slurm job adds its variables
# to those of the job. PMI is last of MPI's, as mpirun of Open MPI may itself be started through it. Slurm's steps alone have
# SLURM_STEP_NUM_TASKS: a script of `sbatch` has the other variables, and is one process.
_KINDS = (
    _Kind(
        "mpirun of Open MPI",
        "openmpi",
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
    _Kind(
        "mpiexec of MPICH", "mpich", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"
    ),
    _Kind("srun", "", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""),
    _Kind("RANK_ID and RANK_SIZE", "", "RANK_ID", "RANK_SIZE", "", ""),
)


def launched(environment: Mapping[str, str] | None = None) -> Launched:
    """The place of this process, or of one with this environment; that of a process alone where nothing is said."""
    env = os.environ if environment is None else environment
    kind = next((k for k in _KINDS if env.get(k.rank) and env.get(k.size)), None)
    if kind is None:
        return Launched()
    rank, size = _number(env, kind.rank, kind), _number(env, kind.size, kind)
    _must_be_below(rank, size, kind.rank, kind.size)
    launcher, family = kind.launcher, kind.family
    # mpiexec of MPICH, which names local ranks, starts its helpers by srun.
    if (
        family != "openmpi"
        and {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"} <= env.keys()
        and (kind.local_rank not in env or not family)
    ):
        launcher, family = "srun", _family_of_srun(env)
    local_rank, local_size = _local_place(env, kind, rank, size)
    watch = env.get(WATCH, "")
    return Launched(
        rank, size, local_rank, local_size, "msrun" if watch else launcher, family, watch
    )


def _family_of_srun(env: Mapping[str, str]) -> str:
    """The libraries that find each other through what `srun --mpi` offers."""
    if "PMIX_RANK" in env:
        return "any"  # both families speak PMIx where they were built with it
    return "mpich" if "PMI_RANK" in env else ""


def _local_place(env: Mapping[str, str], kind: _Kind, rank: int, size: int) -> tuple[int, int]:
    """The place on this machine. What a launcher does not say is as on one machine."""
    in_slurm = "SLURM_LOCALID" in env and "SLURM_STEP_NUM_TASKS" in env
    told = kind.local_rank if kind.local_rank in env else "SLURM_LOCALID" if in_slurm else ""
    if not told:
        return rank, size
    local_rank = _number(env, told, kind)
    if kind.local_size and kind.local_size in env:
        local_size = _number(env, kind.local_size, kind)
        _must_be_below(local_rank, local_size, told, kind.local_size)
        return local_rank, local_size
    tasks = env.get("SLURM_STEP_TASKS_PER_NODE", "")
    node = env.get("SLURM_NODEID", "0")
    counts = _tasks_per_node(tasks)
    if node.isdigit() and int(node) < len(counts) and local_rank < counts[int(node)]:
        return local_rank, counts[int(node)]
    return local_rank, max(size if not counts else 0, local_rank + 1)


def _tasks_per_node(text: str) -> list[int]:
    """Slurm's short form: "2(x3),1" is two on each of three machines, and one on the last."""
    counts: list[int] = []
    for part in filter(None, text.split(",")):
        count, _, times = part.partition("(x")
        repeat = times.rstrip(")") or "1"
        if not count.isdigit() or not repeat.isdigit():
            return []
        counts += [int(count)] * min(int(repeat), 1 << 20)
    return counts


def _number(env: Mapping[str, str], name: str, kind: _Kind) -> int:
    text = env[name].strip()
    if not (text.isascii() and text.isdigit()):
        raise RuntimeError(
            f"The environment must give a number of processes or of one in {name} ({kind.launcher}), but got {env[name]!r}."
        )
    return int(text)


def _must_be_below(rank: int, size: int, rank_name: str, size_name: str) -> None:
    if rank >= size:
        raise RuntimeError(
            f"The environment must give a rank below the number of processes, but got {rank_name}={rank} and {size_name}={size}."
        )

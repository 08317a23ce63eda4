"""The group of processes that train together: those that `msrun`, `mpirun` or `srun` have started. A script that nobody started
several times is a group of its own, so what is written for several devices runs alone, too."""

from __future__ import annotations

import importlib
import numbers
from typing import Any

from mindspore.common import _groups

HCCL_WORLD_COMM_GROUP, NCCL_WORLD_COMM_GROUP, MCCL_WORLD_COMM_GROUP = _groups.WORLDS[:3]
GROUP = _groups.WORLD
_BACKENDS = ("hccl", "nccl", "mccl", "mpi", "single")


class GlobalComm:
    """Names of the world group and its transport."""

    BACKEND = "hccl"
    WORLD_COMM_GROUP = GROUP
    INITED = False
    CHECK_ENVS = True


def init(backend_name: str | None = None) -> None:
    """Joins the world group: waits for the processes that were started together.

    Args:
        backend_name: "mpi", or the name by which other devices know their transport; the device decides.
    """
    if backend_name is not None and not (
        isinstance(backend_name, str) and backend_name in _BACKENDS
    ):
        raise ValueError(
            f"For 'init', 'backend_name' must be one of {list(_BACKENDS)}, but got {backend_name!r}."
        )
    _groups.join("init")
    if backend_name is not None:
        GlobalComm.BACKEND = backend_name
        named = f"{backend_name}_world_group"
        GlobalComm.WORLD_COMM_GROUP = named if named in _groups.WORLDS else GROUP
    GlobalComm.INITED = True


def release() -> None:
    """Leaves the world group."""
    _groups.forget()
    GlobalComm.INITED = False


def get_rank(group: str = GROUP) -> int:
    """The number of this process in the group."""
    return _groups.member(group, "get_rank").rank


def get_group_size(group: str = GROUP) -> int:
    """The number of processes in the group."""
    return len(_groups.ranks_of(group, "get_group_size"))


def get_local_rank(group: str = GROUP) -> int:
    """The number of this process among those of the group on its machine."""
    return _groups.local_ranks(group, "get_local_rank")[0]


def get_local_rank_size(group: str = GROUP) -> int:
    """The number of processes of the group on this machine."""
    return _groups.local_ranks(group, "get_local_rank_size")[1]


def get_world_rank_from_group_rank(group: str, group_rank_id: int) -> int:
    """The number in the world of a member of a group."""
    function = "get_world_rank_from_group_rank"
    return _groups.ranks_of(group, function)[
        _groups.rank_in(group, group_rank_id, function, "group_rank_id")
    ]


def get_group_rank_from_world_rank(world_rank_id: int, group: str) -> int:
    """The number in a group of a process of the world."""
    function = "get_group_rank_from_world_rank"
    ranks = _groups.ranks_of(group, function)
    if not isinstance(world_rank_id, numbers.Integral) or world_rank_id not in ranks:
        raise ValueError(
            f"For '{function}', 'world_rank_id' must be in the group, {list(ranks)}, but got {world_rank_id!r}."
        )
    return ranks.index(world_rank_id)


def get_process_group_ranks(group: str = GROUP) -> list[int]:
    """The members of a group by their numbers in the world."""
    return list(_groups.ranks_of(group, "get_process_group_ranks"))


def get_comm_name(group: str = GROUP) -> str:
    """What the transport calls a group."""
    _groups.ranks_of(group, "get_comm_name")
    return group


def create_group(group: str, rank_ids: list[int], options: Any = None) -> None:
    """Makes a group of processes of the world; all of its members call it.

    Args:
        group: its name.
        rank_ids: the members, by their numbers in the world.
        options: accepted for scripts that tune a transport.
    """
    del options
    _groups.make(group, rank_ids)


def destroy_group(group: str) -> None:
    """Removes a group that was made."""
    _groups.remove(group)


__all__ = [
    "HCCL_WORLD_COMM_GROUP",
    "MCCL_WORLD_COMM_GROUP",
    "NCCL_WORLD_COMM_GROUP",
    "GlobalComm",
    "create_group",
    "destroy_group",
    "get_comm_name",
    "get_group_rank_from_world_rank",
    "get_group_size",
    "get_local_rank",
    "get_local_rank_size",
    "get_process_group_ranks",
    "get_rank",
    "get_world_rank_from_group_rank",
    "init",
    "release",
]


def __getattr__(name: str) -> Any:
    if name == "management":  # it imports this package
        return importlib.import_module("mindspore.communication.management")
    raise AttributeError(f"module 'mindspore.communication' has no attribute '{name}'")

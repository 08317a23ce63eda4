"""The group of processes that train together. This build runs on one device: the group is this process alone, so scripts written
for several devices run here too, and asking for more is a clear error."""

from __future__ import annotations

import os

GROUP = "world_group"


class GlobalComm:
    """Names of the world group and its transport."""

    BACKEND = "single"
    WORLD_COMM_GROUP = GROUP
    INITED = False


def init(backend_name: str | None = None) -> None:
    """Joins the world group, which is this process."""
    if backend_name is not None and backend_name not in ("hccl", "nccl", "mccl", "mpi", "single"):
        raise ValueError(
            f"For 'init', 'backend_name' must be 'hccl', 'nccl' or 'mccl', but got {backend_name!r}."
        )
    size = int(os.environ.get("RANK_SIZE", os.environ.get("OMPI_COMM_WORLD_SIZE", "1")))
    if size > 1:
        raise RuntimeError(
            f"For 'init', this build trains on one device, but the environment asks for {size} (RANK_SIZE)."
        )
    GlobalComm.INITED = True


def release() -> None:
    """Leaves the world group."""
    GlobalComm.INITED = False


def _check_group(name: str, group: str) -> None:
    if group != GROUP:
        raise ValueError(f"For '{name}', 'group' must be '{GROUP}', but got {group!r}.")


def get_rank(group: str = GROUP) -> int:
    """The number of this process in the group: 0."""
    _check_group("get_rank", group)
    return 0


def get_group_size(group: str = GROUP) -> int:
    """The number of processes in the group: 1."""
    _check_group("get_group_size", group)
    return 1


def get_local_rank(group: str = GROUP) -> int:
    """The number of this process on its machine: 0."""
    _check_group("get_local_rank", group)
    return 0


def get_local_rank_size(group: str = GROUP) -> int:
    """The number of processes on this machine: 1."""
    _check_group("get_local_rank_size", group)
    return 1


__all__ = [
    "GlobalComm",
    "get_group_size",
    "get_local_rank",
    "get_local_rank_size",
    "get_rank",
    "init",
    "release",
]

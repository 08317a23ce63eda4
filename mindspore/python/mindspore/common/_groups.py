"""The groups of processes that there are, by name: this process is the world, until several can run together. All that is asked
about groups is asked here."""

from __future__ import annotations

import os

WORLD = "hccl_world_group"
# Each transport has its name for the world; the one of GlobalComm is as good as any.
WORLDS = ("hccl_world_group", "nccl_world_group", "mccl_world_group", "world_group")
RANK = 0
_made: dict[str, tuple[int, ...]] = {}
joined = False


def join(function: str) -> None:
    """Joins the world; an error where the environment says that it has other processes."""
    size = os.environ.get("RANK_SIZE", os.environ.get("OMPI_COMM_WORLD_SIZE", "1"))
    if size != "1":
        raise RuntimeError(
            f"For '{function}', this build trains on one device, but the environment asks for {size} (RANK_SIZE)."
        )
    global joined
    joined = True


def ranks_of(group: object, function: str) -> tuple[int, ...]:
    """The members of a group by their numbers in the world."""
    if group is None:
        return (RANK,)
    if not isinstance(group, str):
        raise TypeError(f"For '{function}', 'group' must be a str, but got {type(group).__name__}.")
    if group in WORLDS:
        return (RANK,)
    if group not in _made:
        raise ValueError(
            f"For '{function}', 'group' must be the world, '{WORLD}', or made by create_group, but got {group!r}."
        )
    return _made[group]


def rank_in(group: object, rank: object, function: str, name: str) -> int:
    """A number that must be that of a member in a group."""
    size = len(ranks_of(group, function))
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(
            f"For '{function}', '{name}' must be an int, but got {type(rank).__name__}."
        )
    if not 0 <= rank < size:
        raise ValueError(
            f"For '{function}', '{name}' must be in [0, {size}), the ranks of the group, but got {rank}."
        )
    return rank


def make(group: object, ranks: object) -> None:
    """Makes a group of processes of the world."""
    if not isinstance(group, str) or not group:
        raise TypeError(f"For 'create_group', 'group' must be a non-empty str, but got {group!r}.")
    if not isinstance(ranks, list) or not ranks or not all(type(r) is int for r in ranks):
        raise TypeError(
            f"For 'create_group', 'rank_ids' must be a non-empty list of ints, but got {ranks!r}."
        )
    if group in WORLDS or group in _made:
        raise ValueError(f"For 'create_group', 'group' must be a new name, but there is {group!r}.")
    if set(ranks) != {RANK} or len(ranks) > 1:
        raise ValueError(
            f"For 'create_group', 'rank_ids' must be different ranks of the world, which is [{RANK}], but got {ranks}."
        )
    _made[group] = tuple(ranks)


def remove(group: object) -> None:
    """Removes a group that was made."""
    if group in WORLDS:
        raise ValueError("For 'destroy_group', 'group' must not be the world.")
    ranks_of(group, "destroy_group")
    del _made[str(group)]


def forget() -> None:
    """Removes all groups that were made."""
    global joined
    joined = False
    _made.clear()

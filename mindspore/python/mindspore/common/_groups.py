"""The groups of processes that there are, by name, and who is in them: this process alone until `join` has brought it together with
those that were started with it. All that is asked about groups is asked here; what they do together is in the core."""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import sys
from typing import Any, NamedTuple

from mindspore import _core, context
from mindspore.common import _mpi, _watch
from mindspore.common._launched import Launched, launched

WORLD = "hccl_world_group"
# Each transport has its name for the world; the one of GlobalComm is as good as any.
WORLDS = ("hccl_world_group", "nccl_world_group", "mccl_world_group", "world_group")
DATA_PARALLEL_MODES = ("data_parallel", "hybrid_parallel")


class _World(NamedTuple):
    rank: int = 0
    size: int = 1
    local_rank: int = 0
    local_size: int = 1


class Member(NamedTuple):
    """A group from the side of one of its processes."""

    group: str
    size: int
    rank: int


_world = _World()
_made: dict[str, tuple[int, ...]] = {}
joined = False
_alone = False  # nobody has started others beside this process


def join(function: str) -> None:
    """Joins the world: brings together the processes that a launcher has started."""
    global joined, _world
    if joined:
        return
    place = launched()
    if place.size > 1 and not place.family:
        raise RuntimeError(
            f"For '{function}', processes that train together must be started by msrun, mpirun or srun --mpi=pmix, but the environment "
            f"asks for {place.size} of them ({place.launcher})."
        )
    if place.size > 1 or _core.process_facts():
        _world = _World(*(_core.process_facts() or _start(place))[:4])
        if _world.size != place.size:
            raise RuntimeError(
                f"For '{function}', {place.launcher} has started {place.size} processes, but the MPI library {_library(place)} sees "
                f"{_world.size}: launcher and library must be of one family. Start with the mpiexec that belongs to the library, or "
                "name another library in MS_MPI_LIBRARY."
            )
        context._note_processes(_world.rank, _world.size)
    joined = True


def _library(place: Launched) -> str:
    return _mpi.library(place.family)


def _start(place: Launched) -> Any:
    """Starts the transport in all processes, which wait for each other, and the watch."""
    windows = os.environ.get("MS_COMM_WINDOWS", "1") != "0"
    _core.join_processes(_library(place), windows, list(WORLDS))
    _leave_at_the_end()
    facts: Any = _core.process_facts()
    rank, size, _, local_size, _ = facts
    if size > 1:
        address = place.watch
        if not address:
            host = "127.0.0.1" if local_size == size else socket.gethostname()
            address = _core.share_text(_watch.listen(host) if rank == 0 else "")
        _watch.join(rank, size, address)
        _core.await_all()  # who goes ahead and is lost would leave others who do not watch it yet
        if mark := os.environ.get(
            "MSRUN_JOINED"
        ):  # from now on each hears what becomes of the others
            with contextlib.suppress(OSError), open(mark, "w"):
                pass
    return facts


def _leave_at_the_end() -> None:
    """At an orderly end all leave together. Whom an exception ends does not wait for the others, who hear of it."""
    failed: list[BaseException] = []
    shown, process = sys.excepthook, os.getpid()

    def note(kind: type[BaseException], error: BaseException, trace: Any) -> None:
        failed.append(error)
        shown(kind, error, trace)

    sys.excepthook = note

    def leave() -> None:
        lost = failed or _watch.somebody_is_lost  # who is gone is not waited for
        if not lost and os.getpid() == process:  # the child of a fork has not joined anybody
            _core.leave_processes()

    atexit.register(leave)


def require_joined(function: str) -> None:
    """An error where several processes were started, but have not come together: each would go on as if it were alone."""
    global _alone
    if joined or _alone or _world.size > 1:
        return
    place = launched()
    # Who sets RANK_SIZE by hand may mean anything by it.
    if place.size > 1 and (place.family or place.launcher == "srun"):
        raise RuntimeError(
            f"For '{function}', the processes must have come together, but 'init()' has not been called in this one, rank {place.rank} of "
            f"the {place.size} that {place.launcher} has started: call mindspore.communication.init() at the begin of the script."
        )
    _alone = True


def world() -> tuple[int, int, int, int]:
    """Rank and size of all processes together, and the same of those of this host."""
    return _world


def world_rank() -> int:
    """The number of this process."""
    return _world.rank


def world_size() -> int:
    """How many processes train together."""
    return _world.size


def have_the_same() -> bool:
    """Whether there are several processes, which have the same parameters after each step."""
    mode = context.get_auto_parallel_context("parallel_mode")
    if not (mode in DATA_PARALLEL_MODES or context.planned()):
        return False
    require_joined(f"parallel_mode='{mode}'")
    return _world.size > 1


def writes_for_all() -> bool:
    """Whether this process writes the files of what all have: the first does."""
    return not have_the_same() or _world.rank == 0


def local_ranks(group: object, function: str) -> tuple[int, int]:
    """The number of this process on its machine among those of a group, and how many these are."""
    ranks = ranks_of(group, function)
    first = _world.rank - _world.local_rank
    here = [rank for rank in ranks if first <= rank < first + _world.local_size]
    return here.index(_world.rank) if _world.rank in here else -1, len(here)


def ranks_of(group: object, function: str) -> tuple[int, ...]:
    """The members of a group by their numbers in the world."""
    require_joined(function)
    if group is None:
        return tuple(range(_world.size))
    if not isinstance(group, str):
        raise TypeError(f"For '{function}', 'group' must be a str, but got {type(group).__name__}.")
    if group in WORLDS:
        return tuple(range(_world.size))
    if group not in _made:
        raise ValueError(
            f"For '{function}', 'group' must be the world, '{WORLD}', or made by create_group, but got {group!r}."
        )
    return _made[group]


def known(group: str) -> bool:
    """Whether there is a group of a name."""
    return group in WORLDS or group in _made


def member(group: object, function: str) -> Member:
    """A group of which this process must be one."""
    ranks = ranks_of(group, function)
    if _world.rank not in ranks:
        raise ValueError(
            f"For '{function}', this process, of rank {_world.rank}, must be in the group {group!r}, but it has the ranks "
            f"{list(ranks)}."
        )
    return Member(group if isinstance(group, str) else WORLD, len(ranks), ranks.index(_world.rank))


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
    """Makes a group of processes of the world. Its members wait for each other; of others, it is known by name alone."""
    require_joined("create_group")
    if not isinstance(group, str) or not group:
        raise TypeError(f"For 'create_group', 'group' must be a non-empty str, but got {group!r}.")
    if not isinstance(ranks, list) or not ranks or not all(type(r) is int for r in ranks):
        raise TypeError(
            f"For 'create_group', 'rank_ids' must be a non-empty list of ints, but got {ranks!r}."
        )
    if group in WORLDS or group in _made:
        raise ValueError(f"For 'create_group', 'group' must be a new name, but there is {group!r}.")
    if len(set(ranks)) != len(ranks) or not set(ranks) <= set(range(_world.size)):
        raise ValueError(
            f"For 'create_group', 'rank_ids' must be different ranks of the world, which is {list(range(_world.size))}, but got "
            f"{ranks}."
        )
    if _world.size > 1 and _world.rank in ranks:
        _core.make_group(group, ranks)
    _made[group] = tuple(ranks)


def remove(group: object) -> None:
    """Removes a group that was made."""
    if group is None or group in WORLDS:
        raise ValueError("For 'destroy_group', 'group' must not be the world.")
    ranks_of(group, "destroy_group")
    del _made[str(group)]
    _core.forget_group(str(group))


def forget() -> None:
    """Leaves all groups that were made. What started with several processes stays one of them: MPI cannot start twice."""
    global joined
    joined = False
    for group in _made:
        _core.forget_group(group)
    _made.clear()

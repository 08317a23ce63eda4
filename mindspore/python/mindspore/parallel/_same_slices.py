"""Values of Parameters from one process to those that hold the same part of them."""

from __future__ import annotations

from typing import Any

from mindspore.common import _boxes, _groups, _planning
from mindspore.nn import Cell
from mindspore.ops import _exchange


def parameter_broadcast(net: Cell, layout: Any, cur_rank: int = 0, initial_rank: int = 0) -> None:
    """Gives Parameters the values that the first process with the same part of them has. All processes call it.

    Args:
        net: The network.
        layout: How its Parameters lie, by name: what has `dev_matrix` and `tensor_map`; one that is not named, or None: is whole in all.
        cur_rank: The number of this process.
        initial_rank: The process from which on those with the same part are counted.
    """
    owner = "parameter_broadcast"
    if not isinstance(net, Cell):
        raise TypeError(f"For '{owner}', 'net' must be a Cell, but got {type(net).__name__}.")
    if layout is not None and not isinstance(layout, dict):
        raise TypeError(f"For '{owner}', 'layout' must be a dict, but got {type(layout).__name__}.")
    size = _groups.world_size()
    for name, rank in (("cur_rank", cur_rank), ("initial_rank", initial_rank)):
        if type(rank) is not int or not 0 <= rank < size:
            raise ValueError(f"For '{owner}', '{name}' must be in [0, {size}), but got {rank!r}.")
    if cur_rank != _groups.world_rank():
        raise ValueError(
            f"For '{owner}', 'cur_rank' must be {_groups.world_rank()}, the number of this process, but got {cur_rank}."
        )
    for parameter in net.get_parameters():
        given = (layout or {}).get(parameter.name)
        how = None if given is None else _boxes.layout_of(owner, parameter.name, given)
        ranks = _alike(how, parameter, size)
        if len(ranks) > 1:
            root = next((r for r in ranks if r >= initial_rank), ranks[0])
            at = _group(ranks)
            own = _planning.local_value(parameter)
            _planning.set_local_value(parameter, _exchange.broadcast(own, ranks.index(root), at))


def _alike(how: _boxes.Layout | None, parameter: Any, size: int) -> list[int]:
    """The processes that hold what this one holds."""
    if how is None:
        return list(range(size))
    boxes = [how.box(rank, parameter.shape) for rank in range(size)]
    return [rank for rank in range(size) if boxes[rank] == boxes[_groups.world_rank()]]


def _group(ranks: list[int]) -> _groups.Member:
    if len(ranks) == _groups.world_size():
        return _groups.member(None, "parameter_broadcast")
    name = f"same slices {','.join(map(str, ranks))}"
    if not _groups.known(name):
        _groups.make(name, ranks)
    return _groups.member(name, "parameter_broadcast")


__all__ = ["parameter_broadcast"]

"""`Layout`, and `shard`, which says how what goes into a function and comes out of it lies among processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.common._layouts import Layout
from mindspore.nn import Cell
from mindspore.nn._shards import shard_function


def shard(
    fn: Cell | Callable,
    in_strategy: tuple,
    out_strategy: tuple | None = None,
    parameter_plan: dict | None = None,
) -> Any:
    """A function whose inputs, outputs and Parameters lie among processes as said, in the modes "semi_auto_parallel" and
    "auto_parallel"; a Cell is returned itself.

    Args:
        fn: The function or Cell.
        in_strategy: For each tensor that goes in a tuple of how often its dimensions are cut, or a Layout; None: the planner decides.
        out_strategy: The same of what comes out.
        parameter_plan: The same by names of Parameters of the Cell.
    """
    if isinstance(fn, Cell):
        return fn.shard(in_strategy, out_strategy, parameter_plan)
    if not callable(fn):
        raise TypeError(
            f"For 'shard', 'fn' must be a function or Cell, but got {type(fn).__name__}."
        )
    return shard_function(fn, in_strategy, out_strategy, parameter_plan)


class Shard:
    """`shard` as an object."""

    def __call__(
        self,
        fn: Cell | Callable,
        in_strategy: tuple,
        out_strategy: tuple | None = None,
        parameter_plan: dict | None = None,
        device: str = "Ascend",
        level: int = 0,
    ) -> Any:
        """See `shard`; device and level are accepted."""
        del device, level
        return shard(fn, in_strategy, out_strategy, parameter_plan)


Shard_ = Shard

__all__ = ["Layout", "Shard", "shard"]

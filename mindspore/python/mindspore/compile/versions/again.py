"""Where a device has too little memory for any plan, blocks of the network are computed again in the backward pass: as few as will do,
the first ones. Only planning tells how few, so it is planned, and not compiled, for several counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore.compile.versions.attempt import Asked
from mindspore.compile.versions.blocks import blocks_of, computed_again
from mindspore.compile.versions.planning import FittingAttempt, Planned
from mindspore.compile.walk.tracer import Tracer

# What the core says where a device has too little memory (LackOfMemory of passes/parallel/plan.h): the kind of the error has other causes.
_LACK = "For 'max_device_memory', the memory limit must be at least"


def lacks_memory(error: ValueError) -> bool:
    """Whether no plan fits what a device may hold."""
    return _LACK in str(error)


def with_blocks(
    asked: Asked, called: list, error: ValueError, tracer: Callable[[], Tracer], make: Callable
) -> Any:
    """What `make` makes while so many blocks of the cells that were called are computed again that a plan fits. Where none does, the
    error of the lightest: `error`, where nothing can be computed again. Those cells stay as they are then, unless it was only planned."""
    assert asked.planning is not None
    blocks = blocks_of(called)
    lack = _lack(asked, blocks, tracer) if blocks else error
    if lack is not None:
        raise lack
    count = _fewest(len(blocks), lambda n: _lack(asked, blocks[:n], tracer) is None)
    asked.planning.again = count, len(blocks)
    with computed_again(blocks[:count]):
        return make()


def _fewest(most: int, fits: Callable[[int], bool]) -> int:
    """The least count that fits, where `most` does and none does not."""
    least = 0
    while most - least > 1:
        middle = (least + most) // 2
        if fits(middle):
            most = middle
        else:
            least = middle
    return most


def _lack(asked: Asked, blocks: Sequence[Any], tracer: Callable[[], Tracer]) -> ValueError | None:
    """The error of a plan by which these are computed again; None: it fits."""
    try:
        with computed_again(blocks):
            FittingAttempt(asked, tracer()).run()
    except Planned:
        return None
    except ValueError as error:
        if lacks_memory(error):
            return error
        raise
    raise AssertionError("what is planned ends with an exception")


__all__ = ["lacks_memory", "with_blocks"]

"""What the machine does at best, on the MindSpore API: the limits of the other cases are derived from it."""

from __future__ import annotations

from collections.abc import Callable

from cases.steps_ms import random, timed
from mindspore import ops


def products() -> Callable[[], float]:
    """A product of large matrices."""
    x, y = random(2048, 2048), random(2048, 2048)
    return timed(lambda: ops.matmul(x, y).asnumpy(), 3)


def stream() -> Callable[[], float]:
    """Two vectors from memory, one to memory."""
    x, y = random(2**24), random(2**24)
    return timed(lambda: ops.add(x, y).asnumpy(), 5)

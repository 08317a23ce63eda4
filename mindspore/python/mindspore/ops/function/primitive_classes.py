"""Primitive classes whose calls are more than their op: what stands in `operations` instead of the class made from the registry."""

from __future__ import annotations

from typing import Any

from mindspore._core import Tensor
from mindspore.ops._bind import raw
from mindspore.ops.function import math_func
from mindspore.ops.primitive import PythonPrimitive


class Round(PythonPrimitive):
    """The nearest number with so many decimals; halves go to the even one."""

    def __call__(self, input: Tensor, decimals: int = 0) -> Tensor:
        return math_func.round(input, decimals=decimals)


class Bernoulli(PythonPrimitive):
    """1 with probability p and 0 otherwise, in the dtype of x.

    Args:
        seed: Picks a stream of numbers; -1 or 0 is the global one, unless there is an offset.
        offset: Likewise, beside the seed.
    """

    _constructor: list[tuple[str, Any, bool]] = [("seed", -1, True), ("offset", 0, True)]

    def __call__(self, x: Tensor, p: Tensor) -> Tensor:
        return raw("Bernoulli")(x, p, seed=max(self.seed, 0), seed2=self.offset)


CLASSES = {c.__name__: c for c in (Round, Bernoulli)}
__all__: list[str] = []

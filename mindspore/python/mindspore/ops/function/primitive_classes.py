"""Primitive classes whose calls are more than their op: what stands in `operations` instead of the class made from the registry."""

from __future__ import annotations

from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.ops._bind import classes, raw
from mindspore.ops.function import math_func
from mindspore.ops.function.creation_func import arange
from mindspore.ops.primitive import PythonPrimitive

# Its positions count within a plane, as those of MaxPool2d do.
PlanePositions = classes["MaxPoolWithArgmax"]


class MaxPoolWithArgmax(PlanePositions):  # type: ignore[misc, valid-type]
    """Largest element of each window and its position in the image: channel by channel, row by row."""

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, positions = super().__call__(x)
        channels_last = self.data_format == "NHWC"
        _, *image = x.shape
        channels = image.pop(-1 if channels_last else 0)
        plane = image[0] * image[1]
        first = arange(0, channels * plane, plane, dtype=_core.int32)
        shape = (channels,) if channels_last else (channels, 1, 1)
        return values, positions + raw("Reshape")(first, shape=shape)


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


CLASSES = {c.__name__: c for c in (MaxPoolWithArgmax, Round, Bernoulli)}
__all__: list[str] = []

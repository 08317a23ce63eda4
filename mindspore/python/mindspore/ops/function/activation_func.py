"""Activation functions composed of other ops."""

from __future__ import annotations

import math
from typing import Literal

from mindspore._core import Tensor
from mindspore.common._kinds import Real
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.array_func import _axis
from mindspore.ops.function.join_func import chunk
from mindspore.ops.function.math_func import clamp, where

_gelu = raw("GeLU")
_softplus = raw("Softplus")


def gelu(input: Tensor, approximate: Literal["none", "tanh"] = "none") -> Tensor:
    """x times the normal distribution function of x; 'tanh' approximates it."""
    return _gelu(input, approximate=approximate)


def softplus(input: Tensor, beta: Real = 1, threshold: Real = 20) -> Tensor:
    """`log(1 + exp(beta x)) / beta`, and x itself where beta x is above the threshold."""
    if beta == 1 and threshold == 20:
        return _softplus(input)
    scaled = bound.mul(input, float(beta))
    smooth = bound.mul(_softplus(scaled), 1.0 / beta if beta else math.inf)
    return where(bound.greater(scaled, threshold), input, smooth)


def glu(x: Tensor, axis: int = -1) -> Tensor:
    """The first half along the axis times the logistic function of the second half."""
    axis = _axis("glu", axis, x.ndim)
    size = x.shape[axis]
    if size % 2:
        raise ValueError(f"For 'glu', the size of 'x' along the axis must be even, but got {size}.")
    first, second = chunk(x, 2, axis) if size else (x, x)
    return bound.mul(first, bound.sigmoid(second))


def hardtanh(input: Tensor, min_val: Real = -1.0, max_val: Real = 1.0) -> Tensor:
    """x cut to [min_val, max_val]."""
    return clamp(input, min_val, max_val)


def tanhshrink(input: Tensor) -> Tensor:
    """`x - tanh(x)`."""
    return bound.sub(input, bound.tanh(input))


def threshold(input: Tensor, thr: Real, value: Real) -> Tensor:
    """x where it is above thr, elsewhere `value`."""
    return where(bound.greater(input, thr), input, value)


__all__ = [
    "gelu",
    "glu",
    "hardtanh",
    "softplus",
    "tanhshrink",
    "threshold",
]

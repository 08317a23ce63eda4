"""Activation functions composed of other ops."""

from __future__ import annotations

from mindspore._core import Tensor
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.math_func import clamp, where

_gelu = raw("GeLU")
_softplus = raw("Softplus")


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x times the normal distribution function of x; 'tanh' approximates it."""
    return _gelu(input, approximate=approximate)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """`log(1 + exp(beta x)) / beta`, and x itself where beta x is above the threshold."""
    if beta == 1 and threshold == 20:
        return _softplus(input)
    scaled = bound.mul(input, float(beta))
    smooth = bound.mul(_softplus(scaled), 1.0 / beta)
    return where(bound.greater(scaled, threshold), input, smooth)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """x cut to [min_val, max_val]."""
    return clamp(input, min_val, max_val)


def hardshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x, but 0 within [-lambd, lambd]."""
    return where(bound.greater(bound.abs(input), lambd), input, 0.0)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved by lambd towards 0, and 0 within [-lambd, lambd]."""
    if lambd < 0:
        raise ValueError(f"For 'softshrink', 'lambd' must not be negative, but got {lambd}.")
    return bound.sub(input, clamp(input, -float(lambd), float(lambd)))


def tanhshrink(input: Tensor) -> Tensor:
    """`x - tanh(x)`."""
    return bound.sub(input, bound.tanh(input))


def threshold(input: Tensor, thr: float, value: float) -> Tensor:
    """x where it is above thr, elsewhere `value`."""
    return where(bound.greater(input, thr), input, value)


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """x where it is positive, elsewhere `alpha * (exp(x / alpha) - 1)`."""
    if alpha == 0:
        raise ValueError("For 'celu', 'alpha' must not be 0, but got 0.")
    below = bound.minimum(x, 0.0)
    curve = bound.mul(bound.expm1(bound.mul(below, 1.0 / alpha)), float(alpha))
    return where(bound.greater(x, 0), x, curve)


__all__ = [
    "celu",
    "gelu",
    "hardshrink",
    "hardtanh",
    "softplus",
    "softshrink",
    "tanhshrink",
    "threshold",
]
METHODS = ["hardshrink"]

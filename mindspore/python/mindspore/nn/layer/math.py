"""Layers that are single mathematical functions."""

from __future__ import annotations

import math

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._dtypes import rounded, wide
from mindspore.common._kinds import Ints, Positive
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell


class ReduceLogSumExp(Cell):
    """log(sum(exp(x))) along axes.

    Args:
        axis: The axes.
        keep_dims: Whether they stay with size 1.
    """

    def __init__(self, axis: Ints | None, keep_dims: bool = False) -> None:
        super().__init__()
        self.axis = axis
        self.keep_dims = keep_dims

    def construct(self, x: Tensor) -> Tensor:
        """The logarithm."""
        return ops.logsumexp(x, self.axis, self.keep_dims)


class Moments(Cell):
    """The mean and the variance along axes.

    Args:
        axis: The axes; None is all.
        keep_dims: Whether they stay with size 1.
    """

    def __init__(self, axis: Ints | None = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        self.axis = tuple(axis) if isinstance(axis, list) else axis
        self.keep_dims = bool(keep_dims)

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance."""
        axis = tuple(range(x.ndim)) if self.axis is None else self.axis
        exact = wide(x)
        distance = exact - exact.mean(axis=axis, keep_dims=True)
        variance = rounded(ops.square(distance).mean(axis=axis, keep_dims=self.keep_dims), x)
        return x.mean(axis=axis, keep_dims=self.keep_dims), variance


class Tril(Cell):
    """The lower triangle of matrices."""

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        """The elements on and below diagonal k, zeros above."""
        return ops.tril(x, k)


class Triu(Cell):
    """The upper triangle of matrices."""

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        """The elements on and above diagonal k, zeros below."""
        return ops.triu(x, k)


class LGamma(Cell):
    """The logarithm of the absolute value of the gamma function."""

    def construct(self, x: Tensor) -> Tensor:
        """The logarithm."""
        return ops.lgamma(x)


class DiGamma(Cell):
    """The derivative of LGamma."""

    def construct(self, x: Tensor) -> Tensor:
        """The derivative."""
        return ops.digamma(x)


class IGamma(Cell):
    """The lower incomplete gamma function of a at x, over its whole."""

    def construct(self, a: Tensor, x: Tensor) -> Tensor:
        """The share."""
        return ops.igamma(a, x)


def _stirling(x: Tensor) -> Tensor:
    """What lgamma(x) is above (x - 0.5) * log(x) - x + 0.5 * log(2 * pi), for x from 8 on."""
    square = 1.0 / (x * x)
    return (1 / 12 - (1 / 360 - (1 / 1260 - square / 1680) * square) * square) / x


class LBeta(Cell):
    """The logarithm of the beta function: lgamma(x) + lgamma(y) - lgamma(x + y), whose large parts cancel before they are rounded."""

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm."""
        less, more = ops.minimum(x, y), ops.maximum(x, y)
        small, large = ops.minimum(less, 8.0), ops.maximum(more, 8.0)
        low, high = ops.maximum(less, 8.0), large
        total = low + high
        both = (
            0.5 * math.log(2 * math.pi)
            - 0.5 * ops.log(high)
            + (low - 0.5) * ops.log(low / total)
            - high * ops.log1p(low / high)
            + _stirling(low)
            + _stirling(high)
            - _stirling(total)
        )
        total = small + large
        one = (
            ops.lgamma(small)
            - (large - 0.5) * ops.log1p(small / large)
            - small * ops.log(total)
            + small
            + _stirling(large)
            - _stirling(total)
        )
        plain = ops.lgamma(x) + ops.lgamma(y) - ops.lgamma(x + y)
        return ops.select(less >= 8.0, both, ops.select(more >= 8.0, one, plain))


class L1Regularizer(Cell):
    """The sum of absolute values, times a factor.

    Args:
        scale: The factor.
    """

    def __init__(self, scale: Positive) -> None:
        super().__init__()
        self.scale = Tensor(scale, mstype.float32)

    def construct(self, weights: Tensor) -> Tensor:
        """The penalty."""
        return ops.abs(weights).sum() * self.scale


__all__ = [
    "DiGamma",
    "IGamma",
    "L1Regularizer",
    "LBeta",
    "LGamma",
    "Moments",
    "ReduceLogSumExp",
    "Tril",
    "Triu",
]

"""Layers that are single mathematical functions."""

from __future__ import annotations

from mindspore import ops
from mindspore.common._kinds import Ints
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
        mean = x.mean(axis=axis, keep_dims=True)
        variance = ops.square(x - mean).mean(axis=axis, keep_dims=self.keep_dims)
        return (mean if self.keep_dims else x.mean(axis=axis)), variance


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


__all__ = ["Moments", "ReduceLogSumExp", "Tril", "Triu"]

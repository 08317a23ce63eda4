"""Norms of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

from mindspore._core import DType, Tensor
from mindspore.common._kinds import Ints, Real
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _number
from mindspore.ops.function.reduce_func import _axes, _one_axis

_sum, _max, _min = raw("ReduceSum"), raw("ReduceMax"), raw("ReduceMin")
_abs, _sqrt, _not_equal = raw("Abs"), raw("Sqrt"), raw("NotEqual")
_cast, _reshape = raw("Cast"), raw("Reshape")


def _vector_norm(a: Tensor, order: Any, axes: tuple, keepdim: bool) -> Tensor:
    if order == 2:
        return _sqrt(_sum(a * a, axis=axes, keep_dims=keepdim))
    size = _abs(a)
    if order == math.inf:
        return _max(size, axis=axes, keep_dims=keepdim)
    if order == -math.inf:
        return _min(size, axis=axes, keep_dims=keepdim)
    if order == 0:
        return _sum(
            _cast(_not_equal(a, Tensor(0, a.dtype)), dtype=a.dtype), axis=axes, keep_dims=keepdim
        )
    if order == 1:
        return _sum(size, axis=axes, keep_dims=keepdim)
    return _sum(size**order, axis=axes, keep_dims=keepdim) ** (1.0 / order)


def _matrix_norm(a: Tensor, order: Any, axes: tuple, keepdim: bool) -> Tensor:
    rows, columns = (_one_axis("norm", x, a.ndim) for x in axes)
    if order == "fro":
        return _sqrt(_sum(a * a, axis=axes, keep_dims=keepdim))
    if order not in (1, -1, math.inf, -math.inf):
        raise ValueError(
            "For 'norm', the order of a matrix norm must be 'fro', 1, -1, inf or -inf, "
            f"but got {order!r}."
        )
    inner, outer = (rows, columns) if abs(order) == 1 else (columns, rows)
    sums = _sum(_abs(a), axis=inner, keep_dims=True)
    result = (_max if order > 0 else _min)(sums, axis=outer, keep_dims=True)
    return result if keepdim else _reshape(result, shape=_sum(a, axis=axes).shape)


def norm(
    A: Tensor,
    ord: Real | Tensor | str | None = None,
    dim: Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Norm of vectors (one axis, or all of them flattened) or matrices (two axes)."""
    if dtype is not None:
        A = _cast(A, dtype=dtype)
    if isinstance(ord, Tensor):
        ord = _number("norm", ord)
    axes = _axes(dim)
    if ord is None:
        return _vector_norm(A, 2, axes, keepdim)
    if dim is None and A.ndim not in (1, 2):
        raise ValueError(
            f"For 'norm', 'dim' must be given with 'ord' for a tensor of {A.ndim} dimensions, "
            "but got None."
        )
    axes = axes or tuple(range(A.ndim))
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(
                f"For 'norm', the order of a vector norm must be a number, but got {ord!r}."
            )
        return _vector_norm(A, ord, axes, keepdim)
    if len(axes) != 2:
        raise ValueError(f"For 'norm', 'dim' must name one or two axes, but got {len(axes)}.")
    return _matrix_norm(A, ord, axes, keepdim)


METHODS = ("norm",)
__all__ = ["norm"]

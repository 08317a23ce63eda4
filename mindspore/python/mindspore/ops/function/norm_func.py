"""Norms of vectors and matrices, and distances, which are norms of differences."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from mindspore._core import DType, Tensor
from mindspore.common._dtypes import COMPLEX, FLOATS, floating, rounded
from mindspore.common._kinds import Ints, Real
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _number, moveaxis
from mindspore.ops.function.reduce_func import _axes, _one_axis

_sum, _max, _min = raw("ReduceSum"), raw("ReduceMax"), raw("ReduceMin")
_abs, _sqrt, _not_equal = raw("Abs"), raw("Sqrt"), raw("NotEqual")
_cast, _reshape = raw("Cast"), raw("Reshape")


def _vector_norm(a: Tensor, order: Any, axes: tuple, keepdim: bool) -> Tensor:
    """The norm in the dtype of its input, of integers in float32."""
    length = rounded(length_of(a, order, axes, keepdim), a)
    return _cast(length, dtype=a.dtype) if a.dtype in COMPLEX else length


def length_of(a: Tensor, order: Any, axes: tuple, keepdim: bool) -> Tensor:
    """The norm, before it is rounded to half precision."""
    a = floating(a)
    if order == 2:
        a = _abs(a) if a.dtype in COMPLEX else a
        return _sqrt(_sum(a * a, axis=axes, keep_dims=keepdim))
    size = _abs(a)
    if order == math.inf:
        return _max(size, axis=axes, keep_dims=keepdim)
    if order == -math.inf:
        return _min(size, axis=axes, keep_dims=keepdim)
    if order == 0:
        hits = _not_equal(a, Tensor(0, a.dtype))
        return _sum(_cast(hits, dtype=size.dtype), axis=axes, keep_dims=keepdim)
    if order == 1:
        return _sum(size, axis=axes, keep_dims=keepdim)
    return _sum(size**order, axis=axes, keep_dims=keepdim) ** (1.0 / order)


def _singular_values(x: Tensor) -> Tensor:
    return raw("Svd")(x, compute_uv=False)[0]


_MATRIX_ORDERS = ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf)


def _matrix_norm(name: str, given: Tensor, order: Any, axes: tuple, keepdim: bool) -> Tensor:
    a = floating(given)
    rows, columns = (_one_axis(name, x, a.ndim) for x in axes)
    if rows == columns:
        raise ValueError(f"For '{name}', the axes must differ, but got {axes}.")
    if order == "fro":
        return rounded(length_of(a, 2, axes, keepdim), given)
    if order not in _MATRIX_ORDERS:
        raise ValueError(
            f"For '{name}', the order of a matrix norm must be 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, "
            f"but got {order!r}."
        )
    if order in ("nuc", 2, -2):
        values = _singular_values(moveaxis(a, (rows, columns), (-2, -1)))
        how = _sum if order == "nuc" else _max if order == 2 else _min
        result = how(values, axis=-1, keep_dims=False)
    else:
        inner, outer = (rows, columns) if abs(order) == 1 else (columns, rows)
        sums = _sum(_abs(a), axis=inner, keep_dims=True)
        result = (_max if order > 0 else _min)(sums, axis=outer, keep_dims=True)
    kept = [1 if i in (rows, columns) else n for i, n in enumerate(a.shape)]
    rest = [n for i, n in enumerate(a.shape) if i not in (rows, columns)]
    return rounded(_reshape(result, shape=kept if keepdim else rest), given)


def _in_dtype(x: Tensor, dtype: DType | None) -> Tensor:
    """In the dtype that is asked for."""
    return x if dtype is None else _cast(x, dtype=dtype)


def norm(
    A: Tensor,
    ord: Real | Tensor | str | None = None,
    dim: Ints | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Norm of vectors (one axis, or all of them flattened) or matrices (two axes)."""
    A = _in_dtype(A, dtype)
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
    return _matrix_norm("norm", A, ord, axes, keepdim)


def vector_norm(
    x: Tensor,
    ord: Real = 2,
    axis: Ints | None = None,
    keepdims: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """The norm of all elements along axes as one vector. Order 0 counts those that are not zero."""
    return _vector_norm(_in_dtype(x, dtype), ord, _axes(axis), keepdims)


def matrix_norm(
    A: Tensor,
    ord: Real | Literal["fro", "nuc"] = "fro",
    axis: Ints = (-2, -1),
    keepdims: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """The norm of matrices: 'fro' of their elements, 'nuc' the sum of the singular values, 2 and -2 the largest and smallest of
    these; 1 and -1 the largest and smallest sum of a column, inf and -inf of a row."""
    axes = _axes(axis)
    if len(axes) != 2:
        raise ValueError(f"For 'matrix_norm', 'axis' must name two axes, but got {axis}.")
    return _matrix_norm("matrix_norm", _in_dtype(A, dtype), ord, axes, keepdims)


# ---- distances ----------------------------------------------------------------------------------
def _rooted(sums: Tensor, p: float) -> Tensor:
    """The root of sums, whose gradient is zero where they are."""
    if p == 2 and sums.dtype in FLOATS:
        return raw("RootOfSquares")(sums)
    at_zero = raw("Equal")(sums, raw("ZerosLike")(sums))
    safe = raw("Select")(at_zero, raw("OnesLike")(sums), sums)
    root = _sqrt(safe) if p == 2 else safe ** (1.0 / p)
    return raw("Select")(at_zero, raw("ZerosLike")(sums), root)


def _distance(difference: Tensor, p: float, axes: tuple) -> Tensor:
    """The p-norm of differences along axes; its gradient is zero where there is none."""
    if difference.dtype in COMPLEX:
        difference = _abs(difference)
    if p in (0, 1, math.inf, -math.inf):
        return length_of(difference, p, axes, False)
    if p == 2:
        return _rooted(_sum(difference * difference, axis=axes, keep_dims=False), p)
    size = _abs(difference)
    if p > 1:
        return _rooted(_sum(size**p, axis=axes, keep_dims=False), p)
    at_zero = raw("Equal")(size, raw("ZerosLike")(size))
    powers = raw("Select")(at_zero, raw("OnesLike")(size), size) ** p
    if p > 0:
        powers = raw("Select")(at_zero, raw("ZerosLike")(size), powers)
        return _rooted(_sum(powers, axis=axes, keep_dims=False), p)
    return length_of(difference, p, axes, False)


def _require_order(name: str, p: float) -> None:
    if not p >= 0:
        raise ValueError(f"For '{name}', 'p' must not be negative, but got {p}.")


def cdist(x1: Tensor, x2: Tensor, p: Real = 2.0) -> Tensor:
    """The p-norms of all differences of a row of x1 and one of x2."""
    _require_order("cdist", p)
    if min(x1.ndim, x2.ndim) < 2 or x1.shape[-1] != x2.shape[-1]:
        raise ValueError(
            "For 'cdist', the inputs must have at least 2 dimensions and the last of the same size, but got "
            f"shapes {x1.shape} and {x2.shape}."
        )
    return rounded(_distances(floating(x1), floating(x2), p), x1, x2)


def _distances(x1: Tensor, x2: Tensor, p: Real) -> Tensor:
    if x1.shape[:-2] == x2.shape[:-2] and x1.dtype == x2.dtype and x1.dtype in FLOATS:
        if p == 2:
            return _rooted(raw("SquaredDistances")(x1, x2), p)
        if p == 1:
            return raw("AbsoluteDistances")(x1, x2)
    first = _reshape(x1, shape=(*x1.shape[:-1], 1, x1.shape[-1]))
    second = _reshape(x2, shape=(*x2.shape[:-2], 1, *x2.shape[-2:]))
    return _distance(first - second, p, (-1,))


def pdist(input: Tensor, p: Real = 2.0) -> Tensor:
    """The p-norms of the differences of all pairs of rows."""
    _require_order("pdist", p)
    if input.ndim != 2:
        raise ValueError(
            f"For 'pdist', 'input' must have 2 dimensions, but got shape {input.shape}."
        )
    first, second = np.triu_indices(input.shape[0], 1)
    all_rows = floating(input)
    rows = [raw("Gather")(all_rows, Tensor(i.astype(np.int32)), axis=0) for i in (first, second)]
    return rounded(_distance(rows[0] - rows[1], p, (-1,)), input)


def dist(input: Tensor, other: Tensor, p: Real = 2) -> Tensor:
    """The p-norm of the difference of two tensors, all elements of it as one vector."""
    difference = floating(input) - floating(other)
    return rounded(_distance(difference, p, tuple(range(difference.ndim))), input, other)


def renorm(input: Tensor, p: Real, axis: int, maxnorm: Real) -> Tensor:
    """The slices along an axis, those with a larger p-norm shrunk to `maxnorm`."""
    if p <= 0:
        raise ValueError(f"For 'renorm', 'p' must be greater than 0, but got {p}.")
    if maxnorm < 0:
        raise ValueError(f"For 'renorm', 'maxnorm' must not be negative, but got {maxnorm}.")
    kept = _one_axis("renorm", axis, input.ndim)
    others = tuple(i for i in range(input.ndim) if i != kept)
    wide = floating(input)
    flat = _distance(wide, p, others) if others else _abs(wide)
    shape = [n if i == kept else 1 for i, n in enumerate(input.shape)]
    size = _reshape(flat, shape=shape)
    shrunk = maxnorm / (size + 1e-7)
    return rounded(wide * raw("Select")(size > maxnorm, shrunk, raw("OnesLike")(size)), input)


METHODS = ("norm", "renorm")
__all__ = ["cdist", "dist", "matrix_norm", "norm", "pdist", "renorm", "vector_norm"]

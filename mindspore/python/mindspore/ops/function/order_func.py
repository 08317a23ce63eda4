"""Statistics of order: running extremes, medians, quantiles, the n-th element; and means that leave nan out."""

from __future__ import annotations

import math
from typing import Any

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._dtypes import FLOATS
from mindspore.common._kinds import Ints, Real
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.math_func import where
from mindspore.ops.function.reduce_func import (
    _axes,
    _one_axis,
    amax,
    amin,
    count_nonzero,
    median,
    nansum,
)

_cast, _reshape, _sort, _gather_d = raw("Cast"), raw("Reshape"), raw("Sort"), raw("GatherD")
_is_nan, _slice = raw("IsNan"), raw("Slice")


# ---- running extremes ---------------------------------------------------------------------------
def cummax(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Running maximum along an axis, and where it was met last."""
    return raw("CumMax")(input, axis=axis)


def cummin(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Running minimum along an axis, and where it was met last."""
    values, places = raw("CumMin")(input, axis=axis)
    return values, _cast(places, dtype=_core.int32)


def msort(input: Tensor) -> Tensor:
    """The slices of the first axis sorted, column by column."""
    return _sort(input, axis=0)[0]


def aminmax(
    input: Tensor, *, axis: int | None = 0, keepdims: bool = False
) -> tuple[Tensor, Tensor]:
    """The smallest and the largest elements along an axis; None stands for all of them."""
    return amin(input, axis, keepdims), amax(input, axis, keepdims)


# ---- medians --------------------------------------------------------------------------------------
def _missing(input: Tensor, axis: int) -> Tensor:
    """How many elements along an axis are nan."""
    return bound.reduce_sum(_cast(_is_nan(input), dtype=_core.int64), axis)


def nanmedian(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The lower median along an axis of what is not nan, and its position."""
    if input.dtype not in FLOATS or input.ndim == 0:
        return median(input, axis, keepdims)
    axis = _one_axis("nanmedian", axis, input.ndim)
    values, places = _sort(input, axis=axis)  # nan comes last
    count = input.shape[axis] - _missing(input, axis)
    middle = bound.maximum(bound.floor_divide(count - 1, 2), 0)
    at = raw("ExpandDims")(middle, axis=axis)
    found = [_gather_d(t, at, dim=axis) for t in (values, places)]
    if not keepdims:
        found = [_reshape(t, shape=middle.shape) for t in found]
    return found[0], _cast(found[1], dtype=_core.int64)


def _median(
    x: Tensor,
    global_median: bool = False,
    axis: int = 0,
    keep_dims: bool = False,
    ignore_nan: bool = False,
) -> tuple[Tensor, Tensor]:
    """The lower median along an axis and its position; or that of all elements, and 0."""
    of = nanmedian if ignore_nan else median
    if global_median:
        return of(_reshape(x, shape=(-1,)), 0)[0], Tensor(0, _core.int64)
    return of(x, axis, keep_dims)


def nanmean(
    input: Tensor, axis: Ints | None = None, keepdims: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """The mean over axes of what is not nan."""
    there = _cast(bound.logical_not(_is_nan(input)), dtype=_core.float32)
    total = nansum(input, axis, keepdims, dtype=dtype)
    count = bound.reduce_sum(there, _axes(axis))
    return total / _reshape(_cast(count, dtype=total.dtype), shape=total.shape)


# ---- quantiles ------------------------------------------------------------------------------------
def _rows(name: str, input: Tensor, axis: int | None) -> tuple[Tensor, list[int]]:
    """The input with the reduced axis last, and the sizes that a result with it kept has."""
    if input.dtype not in FLOATS:
        raise TypeError(
            f"For '{name}', the dtype of 'input' must be a float, but got {input.dtype}."
        )
    if axis is None:
        return _reshape(input, shape=(-1,)), [1] * input.ndim
    axis = _one_axis(name, axis, input.ndim)
    kept = [1 if i == axis else n for i, n in enumerate(input.shape)]
    order = [i for i in range(input.ndim) if i != axis] + [axis]
    return raw("Transpose")(input, perm=order) if input.ndim else _reshape(input, shape=(1,)), kept


def _at_fraction(ordered: Tensor, place: Tensor) -> Tensor:
    """Elements of sorted rows at places that lie between two of them."""
    below, above = bound.floor(place), bound.ceil(place)
    low, high = (_gather_d(ordered, _cast(p, dtype=_core.int64), dim=-1) for p in (below, above))
    share = place - below
    # Where both are the same infinity their difference is nan.
    step = where(bound.equal(share, 0), 0.0, share * (high - low))
    return low + step


def _quantile(
    name: str, input: Tensor, q: Any, axis: int | None, keepdims: bool, ignore_nan: bool
) -> Tensor:
    fractions = q if isinstance(q, Tensor) else Tensor(q, input.dtype)
    if fractions.ndim > 1:
        raise ValueError(
            f"For '{name}', 'q' must be a number or have 1 dimension, but got {fractions.ndim}."
        )
    if not isinstance(q, Tensor) and not 0 <= q <= 1:
        raise ValueError(f"For '{name}', 'q' must be in [0, 1], but got {q}.")
    rows, kept = _rows(name, input, axis)
    ordered = _sort(rows, axis=-1)[0]
    lead = tuple(rows.shape[:-1])
    missing = _missing(rows, -1)
    count = rows.shape[-1] - missing if ignore_nan else missing * 0 + rows.shape[-1]
    last = _cast(bound.maximum(count - 1, 0), dtype=rows.dtype)
    number = fractions.size
    spread = raw("BroadcastTo")(_reshape(fractions, shape=(-1,)), shape=(*lead, number))
    places = _cast(spread, dtype=rows.dtype) * _reshape(last, shape=(*lead, 1))
    found = _at_fraction(ordered, places)
    empty = bound.less_equal(count, 0) if ignore_nan else bound.greater(missing, 0)
    found = where(_reshape(empty, shape=(*lead, 1)), math.nan, found)
    shape = tuple(kept) if keepdims else lead
    found = raw("Transpose")(found, perm=(len(lead), *range(len(lead))))
    return _reshape(found, shape=((number, *shape) if fractions.ndim else shape))


def quantile(
    input: Tensor, q: Real | Tensor, axis: int | None = None, keepdims: bool = False
) -> Tensor:
    """The elements below which fractions q lie, along an axis or of all elements, between neighbours in proportion."""
    return _quantile("quantile", input, q, axis, keepdims, False)


def nanquantile(
    input: Tensor, q: Real | Tensor, axis: int | None = None, keepdims: bool = False
) -> Tensor:
    """As `quantile`, of what is not nan."""
    return _quantile("nanquantile", input, q, axis, keepdims, True)


def _quantile_class(
    x: Tensor,
    q: Real | Tensor,
    dim: int | None = None,
    keep_dims: bool = False,
    ignore_nan: bool = False,
) -> Tensor:
    """The elements below which fractions q lie."""
    return _quantile("Quantile", x, q, dim, keep_dims, ignore_nan)


def _nth_element(x: Tensor, n: Tensor | int, reverse: bool = False) -> Tensor:
    """The n-th smallest, or largest, element of each row."""
    if not x.ndim:
        raise ValueError("For 'NthElement', 'x' must have a dimension, but got a scalar.")
    if not isinstance(n, Tensor) and not 0 <= n < x.shape[-1]:
        raise ValueError(f"For 'NthElement', 'n' must be in [0, {x.shape[-1]}), but got {n}.")
    ordered = _sort(x, axis=-1, descending=reverse)[0]
    place = n if isinstance(n, Tensor) else Tensor(n, _core.int32)
    return raw("Gather")(ordered, place, axis=x.ndim - 1)


def trapz(y: Tensor, x: Tensor | None = None, *, dx: Real = 1.0, dim: int = -1) -> Tensor:
    """The integral along an axis by trapezoids, over points `x` or points at a distance `dx`."""
    for name, given in (("y", y), ("x", x)):
        if given is not None and not given.ndim:
            raise ValueError(f"For 'trapz', '{name}' must have at least 1 dimension, but got 0.")
    axis = _one_axis("trapz", dim, y.ndim)
    if y.dtype not in FLOATS:
        y = _cast(y, dtype=_core.float32)

    def pairs(t: Tensor, along: int) -> tuple[Tensor, Tensor]:
        size, begin = list(t.shape), [0] * t.ndim
        size[along] = max(size[along] - 1, 0)
        first = _slice(t, begin=begin, size=size)
        begin[along] = min(1, t.shape[along])
        return first, _slice(t, begin=begin, size=size)

    left, right = pairs(y, axis)
    heights = left + right
    if x is None:
        return bound.reduce_sum(heights, axis) * (dx / 2)
    if x.ndim == 1:
        place = [1] * y.ndim
        place[axis] = x.shape[0]
        x = _reshape(x, shape=place)
    before, after = pairs(_cast(x, dtype=y.dtype), axis - y.ndim + x.ndim)
    return bound.reduce_sum(heights * (after - before), axis) * 0.5


def _count_non_zero(x: Tensor, dims: Ints | None = None) -> Tensor:
    """How many elements over axes are not zero."""
    return count_nonzero(x, () if dims is None else dims)


FACES = {
    "CountNonZero(dims=None)(x)": _count_non_zero,
    "Cummax(axis)(input)": "cummax",
    "Cummin(axis)(input)": "cummin",
    "Median(global_median=False, axis=0, keep_dims=False, ignore_nan=False)(x)": _median,
    "Quantile(dim=None, keep_dims=False, ignore_nan=False)(x, q)": _quantile_class,
    "NthElement(reverse=False)(x, n)": _nth_element,
}
METHODS = (
    "aminmax",
    "cummax",
    "cummin",
    "msort",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "quantile",
)
__all__ = [
    "aminmax",
    "cummax",
    "cummin",
    "msort",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "quantile",
    "trapz",
]

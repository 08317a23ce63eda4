"""Places among sorted numbers, and counts of what falls into bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._kinds import Count, PositiveInt, Real
from mindspore.common._size import require_memory
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.array_func import _one_int
from mindspore.ops.function.cast_func import is_floating_point
from mindspore.ops.function.index_func import _concrete
from mindspore.ops.function.math_func import where

_cast, _reshape, _broadcast = raw("Cast"), raw("Reshape"), raw("BroadcastTo")
_search, _segment_sum = raw("SearchRows"), raw("UnsortedSegmentSum")
_Index = Literal["left", "right"]


def _placed(rows: Tensor, values: Tensor, right: bool, dtype: Any) -> Tensor:
    """The places of values in sorted rows, compared in the dtype that both promote to."""
    common = _core.promote(rows.dtype, False, values.dtype, False)
    return _search(_cast(rows, dtype=common), _cast(values, dtype=common), dtype=dtype, right=right)


def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor | Real,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: _Index | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where values would go into sorted rows: before equal elements, or with `right` behind them. `sorter` has the places that
    sort rows which are not."""
    if side == "left" and right:
        raise ValueError("For 'searchsorted', 'side' must not be 'left' if 'right' is, but got it.")
    if sorter is not None:
        if tuple(sorter.shape) != tuple(sorted_sequence.shape):
            raise ValueError(
                "For 'searchsorted', 'sorter' must have the shape of 'sorted_sequence', "
                f"{tuple(sorted_sequence.shape)}, but got {tuple(sorter.shape)}."
            )
        sorted_sequence = raw("GatherD")(sorted_sequence, sorter, dim=-1)
    if not isinstance(values, Tensor):
        values = Tensor(values)
    index = _core.int32 if out_int32 else _core.int64
    return _placed(sorted_sequence, values, right or side == "right", index)


def _search_sorted(
    sorted_sequence: Tensor,
    values: Tensor,
    sorter: Tensor | None = None,
    dtype: DType = _core.int64,
    right: bool = False,
) -> Tensor:
    """Where values would go into sorted rows."""
    places = searchsorted(sorted_sequence, values, right=right, sorter=sorter)
    return _cast(places, dtype=dtype)


def bucketize(input: Tensor, boundaries: Sequence[Real] | Tensor, *, right: bool = False) -> Tensor:
    """Between which of ascending boundaries each element lies: those below it, or with `right` not above it, are counted."""
    if not isinstance(boundaries, Tensor):
        boundaries = Tensor(np.array(boundaries, np.float32))
    return _placed(boundaries, input, right, _core.int32)


def _bucketize(input: Tensor, boundaries: Sequence[Real]) -> Tensor:
    """Between which of ascending boundaries each element lies, a boundary belonging to what is above it."""
    return bucketize(input, boundaries, right=True)


def _bound_of(right: bool) -> Any:
    def places(sorted_x: Tensor, values: Tensor, out_type: DType = _core.int32) -> Tensor:
        """The places of values in sorted rows."""
        for name, x in (("sorted_x", sorted_x), ("values", values)):
            if x.ndim != 2:
                raise ValueError(
                    f"For '{'Upper' if right else 'Lower'}Bound', '{name}' must have 2 dimensions, "
                    f"but got {x.ndim}."
                )
        return _placed(sorted_x, values, right, out_type)

    return places


# ---- bins -----------------------------------------------------------------------------------------
def _counted(places: Tensor, weights: Tensor, size: int) -> Tensor:
    """The sum of the weights at each place; places that are negative count nowhere."""
    return _segment_sum(weights, places, num_segments=size)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: Count = 0) -> Tensor:
    """How often each number from 0 on is among the input, or the sum of its weights. The input must be concrete."""
    if input.ndim != 1:
        raise ValueError(f"For 'bincount', 'input' must have 1 dimension, but got {input.ndim}.")
    if weights is not None and tuple(weights.shape) != tuple(input.shape):
        raise ValueError(
            f"For 'bincount', 'weights' must have the shape of 'input', {tuple(input.shape)}, "
            f"but got {tuple(weights.shape)}."
        )
    array = _concrete("bincount", input).astype(np.int64)
    if array.size and array.min() < 0:
        raise ValueError(
            f"For 'bincount', the elements of 'input' must not be negative, but got {array.min()}."
        )
    size = max(int(array.max()) + 1 if array.size else 0, minlength)
    require_memory("bincount", size, 8)
    if weights is None:
        weights = raw("Ones")(shape=input.shape, dtype=_core.float32)
    if size == 0:
        return raw("Zeros")(shape=(0,), dtype=_core.float32)
    if weights.dtype not in (_core.float32, _core.float64):
        weights = _cast(weights, dtype=_core.float32)
    return _counted(_cast(input, dtype=_core.int64), weights, size)


def _bincount(array: Tensor, size: Tensor | int, weights: Tensor) -> Tensor:
    """The sum of the weights of each number below `size`; no weights count as ones."""
    length = _one_int("Bincount", "size", size)
    if weights.size == 0:
        weights = raw("Ones")(shape=array.shape, dtype=weights.dtype)
    inside = bound.less(array, length)
    places = where(inside, array, -1)
    return _counted(_reshape(places, shape=(-1,)), _reshape(weights, shape=(-1,)), length)


def _in_range(
    x: Tensor, low: Tensor, high: Tensor, bins: int, clipped: bool
) -> tuple[Tensor, Tensor]:
    """The bin of each element, and whether it is in the range; the last bin has the upper end too."""
    scaled = (x - low) * float(bins) / (high - low)
    inside = bound.logical_and(bound.greater_equal(x, low), bound.less_equal(x, high))
    limited = bound.minimum(bound.maximum(bound.floor(scaled), 0), float(bins - 1))
    places = _cast(where(bound.isnan(x), 0.0, limited), dtype=_core.int32)
    return (places, inside) if not clipped else (places, bound.logical_not(bound.isnan(x)))


def histc(input: Tensor, bins: PositiveInt = 100, min: Real = 0.0, max: Real = 0.0) -> Tensor:
    """How many elements fall into each of equal bins of [min, max], or of the range of the elements if both are 0."""
    if min > max:
        raise ValueError(
            f"For 'histc', 'min' must not be greater than 'max', but got {min} and {max}."
        )
    require_memory("histc", bins, 16)
    flat = _reshape(input, shape=(-1,))
    if flat.dtype not in (_core.float32, _core.float64):
        flat = _cast(flat, dtype=_core.float32)
    made = flat.dtype if is_floating_point(input) else input.dtype
    if min == max and flat.size == 0:
        return raw("Zeros")(shape=(bins,), dtype=made)
    if min == max == 0:
        low, high = bound.reduce_min(flat), bound.reduce_max(flat)
    else:
        low, high = Tensor(float(min), flat.dtype), Tensor(float(max), flat.dtype)
    alone = bound.equal(low, high)
    low, high = where(alone, low - 1.0, low), where(alone, high + 1.0, high)
    places, inside = _in_range(flat, low, high, bins, False)
    ones = raw("Ones")(shape=flat.shape, dtype=_core.int32)
    counts = _counted(where(inside, places, -1), ones, bins)
    return _cast(counts, dtype=made)


def _histogram_fixed_width(
    x: Tensor, range: Tensor, nbins: PositiveInt = 100, dtype: DType | str = "int32"
) -> Tensor:
    """How many elements fall into each of equal bins of a range; those outside count at its ends."""
    require_memory("histogram_fixed_width", nbins, 16)
    flat = _cast(_reshape(x, shape=(-1,)), dtype=_core.float32)
    ends = _cast(range, dtype=_core.float32)
    places, inside = _in_range(flat, ends[0], ends[1], nbins, True)
    ones = raw("Ones")(shape=flat.shape, dtype=_core.int32)
    counts = _counted(where(inside, places, -1), ones, nbins)
    return counts if dtype in ("int32", _core.int32) else _cast(counts, dtype=_core.int64)


def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """For each row, whether the element that its target names is among its k largest."""
    if x1.ndim != 2 or tuple(x2.shape) != (x1.shape[0],):
        raise ValueError(
            "For 'intopk', 'x1' must be a matrix and 'x2' have an element for each of its rows, but got shapes "
            f"{tuple(x1.shape)} and {tuple(x2.shape)}."
        )
    known = bound.logical_and(bound.greater_equal(x2, 0), bound.less(x2, x1.shape[1]))
    at = _reshape(where(known, x2, 0), shape=(-1, 1))
    chosen = raw("GatherD")(x1, at, dim=1)
    above = _cast(bound.greater(x1, chosen), dtype=_core.int32)
    rank = bound.reduce_sum(above, 1)
    fits = bound.logical_and(bound.less(rank, k), _reshape(bound.isfinite(chosen), shape=(-1,)))
    return bound.logical_and(fits, known)


FACES = {
    "SearchSorted(dtype=None, right=False)(sorted_sequence, values, sorter=None)": _search_sorted,
    "Bucketize(boundaries)(input)": _bucketize,
    "LowerBound(out_type=None)(sorted_x, values)": _bound_of(False),
    "UpperBound(out_type=None)(sorted_x, values)": _bound_of(True),
    "Bincount()(array, size, weights)": _bincount,
    "Histogram(bins=100, min=0.0, max=0.0)(x@input)": "histc",
    "HistogramFixedWidth(nbins, dtype='int32')(x, range)": _histogram_fixed_width,
    "InTopK(k)(x1, x2)": "intopk",
}
METHODS = ("bincount", "histc")
__all__ = ["bincount", "bucketize", "histc", "intopk", "searchsorted"]

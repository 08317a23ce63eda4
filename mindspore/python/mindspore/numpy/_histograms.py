"""Positions in sorted arrays, and how many elements there are of each kind."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Count, Real
from mindspore.common._size import require_memory
from mindspore.numpy.dtypes import float32, int32, promoted
from mindspore.numpy.utils import (
    Array,
    array_of,
    as_tensor,
    cast,
    floating,
    of_one_type,
    require_integers,
)
from mindspore.ops._bind import raw
from mindspore.ops.function.index_func import _concrete

_segment_sum = raw("UnsortedSegmentSum")


def searchsorted(
    a: Array, v: Array, side: Literal["left", "right"] = "left", sorter: Array | None = None
) -> Tensor:
    """Where values would go into a sorted vector: before equal elements, or behind them with side 'right'. With a `sorter`, its
    positions sort the vector."""
    if a.ndim != 1:
        raise ValueError(
            f"For 'searchsorted', 'a' must have one dimension, but got shape {a.shape}."
        )
    a, v = of_one_type([a, v])
    return ops.reshape(a.searchsorted(ops.ravel(v), side, sorter), v.shape)


def digitize(x: Array, bins: Array, right: bool = False) -> Tensor:
    """The number of the bin that each element lies in, by edges that rise or fall; the right edge belongs to it with `right`."""
    if bins.ndim != 1:
        raise ValueError(
            f"For 'digitize', 'bins' must have one dimension, but got shape {bins.shape}."
        )
    n = bins.shape[0]
    if n == 0:
        return ops.zeros(x.shape, int32)
    rising = searchsorted(bins, x, "left" if right else "right")
    # Falling edges rise from behind.
    falling = n - searchsorted(ops.flip(bins, (0,)), x, "left" if right else "right")
    return cast(ops.where(bins[0] > bins[n - 1], falling, rising), int32)


def bincount(
    x: Array, weights: Array | None = None, minlength: Count = 0, length: Count | None = None
) -> Tensor:
    """How often each number from 0 on is in a vector, or the sum of the weights there, as Float32. There are as many as the
    largest needs, `minlength` at least, or exactly `length`: without that, `x` must be known while compiling."""
    require_integers("bincount", "x", x)
    if x.ndim != 1:
        raise ValueError(f"For 'bincount', 'x' must have one dimension, but got shape {x.shape}.")
    if weights is not None and weights.shape != x.shape:
        raise ValueError(
            f"For 'bincount', 'weights' must have the shape of 'x', but got {weights.shape} and {x.shape}."
        )
    if length is None:
        known = _concrete("bincount", x)
        if known.size and known.min() < 0:
            raise ValueError(f"For 'bincount', 'x' must not be negative, but got {known.min()}.")
        length = max(int(known.max()) + 1 if known.size else 0, minlength)
    values = ops.ones(x.shape, float32) if weights is None else cast(weights, float32)
    return _summed(values, x, length)


def _summed(values: Tensor, places: Tensor, count: int) -> Tensor:
    """The sums of values by their places; those out of range are left out."""
    places = cast(places, int32)
    outside = ops.logical_or(places < 0, places >= count)
    return _segment_sum(values, ops.where(outside, count, places), num_segments=count + 1)[:count]


# ---- histograms -----------------------------------------------------------------------------------------------------------
def histogram_bin_edges(
    a: Array,
    bins: Count | Sequence[Real] | Tensor = 10,
    range: Sequence[Real] | None = None,
    weights: Array | None = None,
) -> Tensor:
    """The edges of so many bins of one width over a range, by default that of the elements; `bins` as they are where they are
    given as edges."""
    del weights
    if not isinstance(bins, int):
        edges = array_of("histogram_bin_edges", "bins", bins)
        if edges.ndim != 1:
            raise ValueError(
                f"For 'histogram_bin_edges', 'bins' must be a number or a vector, but got shape {edges.shape}."
            )
        return edges
    if bins < 1:
        raise ValueError(f"For 'histogram_bin_edges', 'bins' must be positive, but got {bins}.")
    require_memory("histogram_bin_edges", bins, 64)
    low, high = _limits(cast(a, promoted(a.dtype, float32)), range)
    shares = Tensor(np.arange(bins + 1) / bins, low.dtype)
    return low * (1 - shares) + high * shares


def _limits(a: Tensor, limits: Any) -> tuple[Tensor, Tensor]:
    """The ends of the range of a histogram, half an element around it where they are equal."""
    if limits is not None:
        if len(limits) != 2 or limits[0] > limits[1]:
            raise ValueError(
                f"For 'histogram_bin_edges', 'range' must be a least and a largest number, but got {limits}."
            )
        low, high = (ops.full((), float(v), dtype=a.dtype) for v in limits)
    elif a.size == 0:
        low, high = ops.zeros((), a.dtype), ops.zeros((), a.dtype)
        return low - 0.5, high + 0.5
    else:
        low, high = ops.amin(a), ops.amax(a)
    same = low == high
    return ops.where(same, low - 0.5, low), ops.where(same, high + 0.5, high)


def _bins_of(x: Tensor, edges: Tensor) -> Tensor:
    """The number of the bin of each element; -1 out of all of them. The last edge belongs to the last bin."""
    x, edges = of_one_type([x, edges])
    n = edges.shape[0]
    place = edges.searchsorted(x, "right") - 1
    place = ops.where(x == edges[n - 1], n - 2, place)
    return ops.where(ops.logical_and(place >= 0, place <= n - 2), place, -1)


def histogram(
    a: Array,
    bins: Count | Sequence[Real] | Tensor = 10,
    range: Sequence[Real] | None = None,
    weights: Array | None = None,
    density: bool = False,
) -> tuple[Tensor, Tensor]:
    """How many elements lie in each bin, or what they weigh, as Float32, and the edges of the bins; with `density`, so that the
    area is 1."""
    flat = ops.ravel(a)
    sample = ops.reshape(flat, (-1, 1))
    counts, (edges,) = _counted("histogram", sample, (bins,), (range,), weights, density)
    return counts, edges


def _counted(
    name: str, sample: Tensor, bins: Any, ranges: Any, weights: Any, density: bool
) -> tuple[Tensor, list[Tensor]]:
    columns = ops.unbind(sample, 1)
    edges = [histogram_bin_edges(c, b, r) for c, b, r in zip(columns, bins, ranges)]
    sizes = [e.shape[0] - 1 for e in edges]
    if weights is not None and weights.size != sample.shape[0]:
        raise ValueError(
            f"For '{name}', 'weights' must have {sample.shape[0]} elements, but got shape {weights.shape}."
        )
    place: Any = 0
    outside: Any = False
    for column, edge, size in zip(columns, edges, sizes):
        each = _bins_of(column, edge)
        outside = ops.logical_or(each < 0, outside)
        place = place * size + each
    total = int(np.prod(sizes))
    values = (
        ops.ones((sample.shape[0],), float32)
        if weights is None
        else cast(ops.ravel(weights), float32)
    )
    counts = ops.reshape(_summed(values, ops.where(outside, -1, place), total), tuple(sizes))
    if density:
        counts = counts / ops.sum(counts)
        for axis, edge in enumerate(edges):
            widths = ops.diff(floating(edge))
            counts = counts / cast(
                ops.reshape(widths, (-1,) + (1,) * (len(sizes) - axis - 1)), float32
            )
    return counts, edges


def histogramdd(
    sample: Tensor | Sequence[Any],
    bins: Count | Sequence[Any] | Tensor = 10,
    range: Sequence[Any] | None = None,
    weights: Array | None = None,
    density: bool = False,
) -> tuple[Tensor, list[Tensor]]:
    """How many points lie in each bin of a grid, as Float32, and the edges along each axis. The points are the rows of a matrix,
    or are given as a list of their coordinates along each axis."""
    if isinstance(sample, Tensor):
        points = ops.reshape(sample, (-1, 1)) if sample.ndim < 2 else sample
    else:
        points = ops.t(ops.atleast_2d(array_of("histogramdd", "sample", sample)))
    rank = points.shape[1]
    each: list[Any] = [bins] * rank if isinstance(bins, int) else list(bins)
    if len(each) != rank:
        raise ValueError(
            f"For 'histogramdd', 'bins' must be a number, or one or edges for each of {rank} axes, but got {len(each)}."
        )
    ranges = [None] * rank if range is None else list(range)
    if len(ranges) != rank:
        raise ValueError(
            f"For 'histogramdd', 'range' must have a pair for each of {rank} axes, but got {len(ranges)}."
        )
    return _counted("histogramdd", points, each, ranges, weights, density)


def histogram2d(
    x: Array,
    y: Array,
    bins: Count | Sequence[Any] | Tensor = 10,
    range: Sequence[Any] | None = None,
    weights: Array | None = None,
    density: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """How many points lie in each bin of a plane, as Float32, and the edges along both axes. One vector of edges holds for
    both."""
    both = bins
    if not isinstance(bins, int):
        listed = as_tensor(bins) if isinstance(bins, Tensor) else bins
        if isinstance(listed, Tensor) or len(listed) not in (1, 2):
            both = (listed, listed)
        elif len(listed) == 1:
            both = (listed[0], listed[0])
    sample = ops.stack(of_one_type([ops.ravel(x), ops.ravel(y)]), 1)
    counts, edges = histogramdd(sample, both, range, weights, density)
    return counts, edges[0], edges[1]


__all__ = [
    "bincount",
    "digitize",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "searchsorted",
]
check_functions(sys.modules[__name__], __all__)

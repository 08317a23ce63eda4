"""Segments whose numbers ascend: how many there are the last number says, so it must be concrete. The sums, extremes and products
of slices whose numbers are in any order are ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore._core import Tensor
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.index_func import _concrete
from mindspore.ops.function.math_func import where

_reshape = raw("Reshape")


def _segments(name: str, x: Tensor, ids: Tensor) -> int:
    numbers = _concrete(name, ids)
    if numbers.ndim != 1 or x.ndim == 0 or len(numbers) != x.shape[0]:
        raise ValueError(
            f"For '{name}', 'segment_ids' must have one number for each slice of the input, but got shapes "
            f"{tuple(ids.shape)} and {tuple(x.shape)}."
        )
    if len(numbers) == 0 or numbers[0] < 0 or (np.diff(numbers) < 0).any():
        raise ValueError(
            f"For '{name}', the numbers of segments must ascend from 0 on or above, but got {numbers.tolist()[:8]}."
        )
    return int(numbers[-1]) + 1


def _sizes(x: Tensor, ids: Tensor, count: int) -> Tensor:
    """How many slices each segment has, in a shape that broadcasts with the slices."""
    ones = raw("Ones")(shape=ids.shape, dtype=x.dtype)
    sizes = raw("UnsortedSegmentSum")(ones, ids, num_segments=count)
    return _reshape(sizes, shape=(count,) + (1,) * (x.ndim - 1))


def _mean(name: str, x: Tensor, ids: Tensor) -> Tensor:
    count = _segments(name, x, ids)
    sums = raw("UnsortedSegmentSum")(x, ids, num_segments=count)
    means = sums / bound.maximum(_sizes(x, ids, count), 1)
    return means if means.dtype is x.dtype else raw("Cast")(means, dtype=x.dtype)


def _joined(name: str, op: str, empty: int | None) -> Callable:
    def join(input_x: Tensor, segment_ids: Tensor) -> Tensor:
        """The slices that share a segment joined into one."""
        count = _segments(name, input_x, segment_ids)
        made = raw(op)(input_x, segment_ids, num_segments=count)
        if empty is None:
            return made
        return where(bound.equal(_sizes(input_x, segment_ids, count), 0), empty, made)

    return join


def _segment_mean(input_x: Tensor, segment_ids: Tensor) -> Tensor:
    """The means of the slices that share a segment."""
    return _mean("SegmentMean", input_x, segment_ids)


def sparse_segment_mean(x: Tensor, indices: Tensor, segment_ids: Tensor) -> Tensor:
    """The means of chosen slices of the first axis that share a segment."""
    if tuple(indices.shape) != tuple(segment_ids.shape):
        raise ValueError(
            "For 'sparse_segment_mean', 'indices' and 'segment_ids' must have the same shape, but got "
            f"{tuple(indices.shape)} and {tuple(segment_ids.shape)}."
        )
    return _mean("sparse_segment_mean", raw("Gather")(x, indices, axis=0), segment_ids)


def _ragged_range(starts: Tensor, limits: Tensor, deltas: Tensor, Tsplits: Any) -> Any:
    """Ranges, one behind the other, and where each begins."""
    vectors = {x.shape for x in (starts, limits, deltas) if x.ndim}
    if len(vectors) > 1 or any(len(shape) > 1 for shape in vectors):
        raise ValueError(
            "For 'RaggedRange', the inputs must be scalars or vectors of one length, but got shapes "
            f"{starts.shape}, {limits.shape} and {deltas.shape}."
        )
    arrays = [_concrete("RaggedRange", t) for t in (starts, limits, deltas)]
    if any(np.iscomplexobj(a) or not np.isfinite(a).all() for a in arrays):
        raise ValueError("For 'RaggedRange', the numbers must be real and finite.")
    if (arrays[2] == 0).any():
        raise ValueError("For 'RaggedRange', the steps must not be 0, but got 0.")
    ranges = [
        np.arange(*bounds) for bounds in zip(*map(np.atleast_1d, np.broadcast_arrays(*arrays)))
    ]
    splits = np.cumsum([0, *map(len, ranges)])
    values = np.concatenate([np.zeros(0), *ranges])
    return Tensor(splits, Tsplits), Tensor(values, starts.dtype)


FACES = {
    "SegmentSum()(input_x, segment_ids)": _joined("SegmentSum", "UnsortedSegmentSum", None),
    "SegmentProd()(input_x, segment_ids)": _joined("SegmentProd", "UnsortedSegmentProd", None),
    "SegmentMax()(input_x, segment_ids)": _joined("SegmentMax", "UnsortedSegmentMax", 0),
    "SegmentMin()(input_x, segment_ids)": _joined("SegmentMin", "UnsortedSegmentMin", 0),
    "SegmentMean()(input_x, segment_ids)": _segment_mean,
    "RaggedRange(Tsplits)(starts, limits, deltas)": _ragged_range,
}
__all__ = ["sparse_segment_mean"]

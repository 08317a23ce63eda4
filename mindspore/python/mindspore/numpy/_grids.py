"""Coordinates of grids."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Count
from mindspore.common._size import require_memory
from mindspore.numpy.dtypes import Dtype, float32, int32, promoted
from mindspore.numpy.utils import Array, along, cast, of_one_shape, require_axes


def _spread(name: str, vectors: Sequence[Tensor], sparse: bool) -> list[Tensor]:
    """Vectors, each along an axis of its own."""
    placed = [along(v, i, len(vectors)) for i, v in enumerate(vectors)]
    return placed if sparse else of_one_shape(name, placed)


def meshgrid(
    *xi: Array, sparse: bool = False, indexing: Literal["xy", "ij"] = "xy"
) -> list[Tensor]:
    """The coordinates of a grid over vectors, an array for each of its axes; in 'xy' the first vector lies along the second
    axis. Sparse ones have one element along the other axes."""
    grids = _spread("meshgrid", [ops.reshape(x, (-1,)) for x in xi], sparse)
    if indexing == "ij" or len(xi) < 2:
        return grids
    return [ops.swapaxes(x, 0, 1) for x in grids]


def ix_(*args: Array) -> tuple[Tensor, ...]:
    """Vectors, each along an axis of its own, that select all combinations of their positions; those of truth values become
    the positions where they hold."""
    for x in args:
        if x.ndim != 1:
            raise ValueError(
                f"For 'ix_', the arrays must have one dimension, but got shape {x.shape}."
            )
    places = [ops.nonzero(x)[:, 0] if str(x.dtype) == "Bool" else x for x in args]
    return tuple(_spread("ix_", places, True))


def indices(
    dimensions: Sequence[Count], dtype: Dtype = int32, sparse: bool = False
) -> list[Tensor]:
    """The coordinates of all elements of a shape, an array for each axis."""
    require_axes("indices", "dimensions", dimensions)
    require_memory("indices", max(dimensions, default=0), 16)
    vectors = [Tensor(np.arange(n), dtype or int32) for n in dimensions]
    return _spread("indices", vectors, sparse)


class _Grid:
    """Coordinates by slices: `grid[0:3, 0:1:5j]`, where an imaginary step is a number of points, of which the last is the end."""

    def __init__(self, sparse: bool):
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        slices = key if isinstance(key, tuple) else (key,)
        vectors = [_points(s) for s in slices]
        if not isinstance(key, tuple):
            return vectors[0]
        if self._sparse:
            return _spread("ogrid", vectors, True)
        dtype = promoted(*(v.dtype for v in vectors))
        return ops.stack(_spread("mgrid", [cast(v, dtype) for v in vectors], False), axis=0)


def _points(key: Any) -> Tensor:
    if not isinstance(key, slice) or key.stop is None:
        raise TypeError(f"For 'mgrid', there must be slices that have an end, but got {key!r}.")
    start = 0 if key.start is None else key.start
    step = 1 if key.step is None else key.step
    if isinstance(step, complex):
        count = math.floor(abs(step))
        require_memory("mgrid", count, 64)
        return Tensor(np.linspace(start, key.stop, count), float32)
    if step == 0:
        raise ValueError("For 'mgrid', the step must not be 0, but got 0.")
    require_memory("mgrid", max(0, (key.stop - start) / step), 16)
    points = np.arange(start, key.stop, step)
    return Tensor(points, int32 if points.dtype.kind in "iu" else float32)


mgrid, ogrid = _Grid(sparse=False), _Grid(sparse=True)

__all__ = ["indices", "ix_", "meshgrid", "mgrid", "ogrid"]
check_functions(sys.modules[__name__], __all__)

"""Shapes of arrays, and how they are joined, cut, repeated and looked up."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Ints, Sizes
from mindspore.common._size import broadcast_shapes
from mindspore.numpy._applied import (
    apply_along_axis,
    apply_over_axes,
    check_places,
    choose,
    piecewise,
    select,
    where,
)
from mindspore.numpy._sets import intersect1d, unique
from mindspore.numpy.dtypes import int64
from mindspore.numpy.utils import (
    Array,
    Arrays,
    axes_of,
    axis_of,
    cast,
    of_one_shape,
    of_one_type,
    require_axes,
    require_integers,
)
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _ints

_gather, _gather_d, _tile = raw("Gather"), raw("GatherD"), raw("Tile")


# ---- shapes ---------------------------------------------------------------------------------------------------------------
def reshape(x: Array, new_shape: Sizes) -> Tensor:
    """The same elements in another shape."""
    return ops.reshape(x, _ints("reshape", new_shape))


def ravel(x: Array) -> Tensor:
    """All elements in one axis."""
    return ops.ravel(x)


def transpose(a: Array, axes: Sequence[int] | None = None) -> Tensor:
    """The axes in another order; reversed where none is given."""
    return ops.permute(a, tuple(range(a.ndim))[::-1] if axes is None else tuple(axes))


def swapaxes(x: Array, axis1: int, axis2: int) -> Tensor:
    """Two axes in each other's place."""
    return ops.swapaxes(x, axis1, axis2)


def moveaxis(a: Array, source: Ints, destination: Ints) -> Tensor:
    """Axes moved to other places, the others in their order."""
    return ops.moveaxis(a, source, destination)


def rollaxis(x: Array, axis: int, start: int = 0) -> Tensor:
    """An axis moved in front of the one at `start`."""
    rank = x.ndim
    place = axis_of("rollaxis", axis, rank)
    if not -rank <= start <= rank:
        raise ValueError(f"For 'rollaxis', 'start' must be in [{-rank}, {rank}], but got {start}.")
    start += rank if start < 0 else 0
    return ops.moveaxis(x, place, start - 1 if place < start else start)


def expand_dims(a: Array, axis: Ints) -> Tensor:
    """New axes of one element at these places of the result."""
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    for place in sorted(axes_of("expand_dims", axis, a.ndim + count)):
        a = ops.expand_dims(a, place)
    return a


def squeeze(a: Array, axis: Ints | None = None) -> Tensor:
    """Without axes of one element: the given ones, or all."""
    return ops.squeeze(a) if axis is None else ops.squeeze(a, axis)


def _each(name: str, arrays: tuple) -> Any:
    made = [getattr(ops, name)(x) for x in arrays]
    return made[0] if len(made) == 1 else made


def atleast_1d(*arys: Array) -> Any:
    """Arrays with at least one axis: a list, where there are several."""
    return _each("atleast_1d", arys)


def atleast_2d(*arys: Array) -> Any:
    """Arrays with at least two axes: a list, where there are several."""
    return _each("atleast_2d", arys)


def atleast_3d(*arys: Array) -> Any:
    """Arrays with at least three axes: a list, where there are several."""
    return _each("atleast_3d", arys)


def broadcast_to(array: Array, shape: Sizes) -> Tensor:
    """An array spread to a shape."""
    sizes = _ints("broadcast_to", shape)
    if broadcast_shapes("broadcast_to", tuple(array.shape), sizes) != sizes:
        raise ValueError(
            f"For 'broadcast_to', shape {array.shape} must broadcast to 'shape', but got {sizes}."
        )
    return ops.broadcast_to(array, sizes)


def broadcast_arrays(*args: Array) -> list[Tensor]:
    """Arrays spread to the shape that they have together."""
    return of_one_shape("broadcast_arrays", args)


def size(a: Array, axis: int | None = None) -> int:
    """How many elements there are, or how many along an axis."""
    return int(a.size) if axis is None else a.shape[axis_of("size", axis, a.ndim)]


def shape(a: Array) -> tuple[int, ...]:
    """The sizes of the axes."""
    return tuple(a.shape)


def array_str(a: Tensor) -> str:
    """The elements as text."""
    return str(a.asnumpy())


# ---- joining --------------------------------------------------------------------------------------------------------------
def _some(name: str, arrays: list) -> list[Tensor]:
    if not arrays:
        raise ValueError(f"For '{name}', there must be an array, but got none.")
    return of_one_type(arrays)


def concatenate(arrays: Arrays, axis: int | None = 0) -> Tensor:
    """Arrays joined along an axis; flattened first for None."""
    parts = _some("concatenate", arrays)
    if axis is None:
        return ops.concat([ops.ravel(x) for x in parts], 0)
    return ops.concat(parts, axis)


def append(arr: Array, values: Array, axis: int | None = None) -> Tensor:
    """An array with others behind it, along an axis; both flattened for None."""
    return concatenate([arr, values], axis)


def stack(arrays: Arrays, axis: int = 0) -> Tensor:
    """Arrays of one shape along a new axis."""
    return ops.stack(_some("stack", arrays), axis)


def hstack(tup: Arrays) -> Tensor:
    """Arrays joined along the second axis; vectors along the first."""
    return ops.hstack(_some("hstack", tup))


def vstack(tup: Arrays) -> Tensor:
    """Arrays joined along the first axis; vectors are rows."""
    return ops.vstack(_some("vstack", tup))


def dstack(tup: Arrays) -> Tensor:
    """Arrays joined along the third axis."""
    return ops.dstack(_some("dstack", tup))


def column_stack(tup: Arrays) -> Tensor:
    """Arrays joined along the second axis; vectors are columns."""
    return ops.column_stack(_some("column_stack", tup))


# ---- cutting --------------------------------------------------------------------------------------------------------------
def array_split(x: Array, indices_or_sections: Ints, axis: int = 0) -> Any:
    """Pieces of nearly one size, or a list of pieces that end at given positions."""
    if isinstance(indices_or_sections, int):
        return ops.tensor_split(x, indices_or_sections, axis)
    total = x.shape[axis_of("array_split", axis, x.ndim)]
    edges = [0, *(slice(0, i).indices(total)[1] for i in indices_or_sections), total]
    if edges == sorted(edges):
        return list(ops.split(x, [b - a for a, b in itertools.pairwise(edges)], axis))
    return list(ops.tensor_split(x, indices_or_sections, axis))


def split(x: Array, indices_or_sections: Ints, axis: int = 0) -> Any:
    """Pieces of one size, or a list of pieces that end at given positions."""
    return _even("split", x, indices_or_sections, axis)


def _even(name: str, x: Tensor, sections: Any, axis: int) -> Any:
    total = x.shape[axis_of(name, axis, x.ndim)]
    if isinstance(sections, int) and sections > 0 and total % sections:
        raise ValueError(
            f"For '{name}', the size of the axis must be a multiple of {sections}, but got {total}."
        )
    return array_split(x, sections, axis)


def hsplit(x: Array, indices_or_sections: Ints) -> Any:
    """Pieces along the second axis; of a vector, along the first."""
    return _even("hsplit", x, indices_or_sections, 0 if x.ndim == 1 else 1)


def vsplit(x: Array, indices_or_sections: Ints) -> Any:
    """Pieces along the first axis."""
    return _even("vsplit", x, indices_or_sections, 0)


def dsplit(x: Array, indices_or_sections: Ints) -> Any:
    """Pieces along the third axis."""
    return _even("dsplit", x, indices_or_sections, 2)


# ---- repeating and turning ------------------------------------------------------------------------------------------------
def tile(a: Array, reps: Ints) -> Tensor:
    """The array repeated so often along each axis, counted from the last."""
    counts = _ints("tile", reps)
    counts = (1,) * (a.ndim - len(counts)) + counts
    return ops.tile(ops.reshape(a, (1,) * (len(counts) - a.ndim) + tuple(a.shape)), counts)


def repeat(a: Array, repeats: Ints, axis: int | None = None) -> Tensor:
    """Every slice of an axis repeated in place; of all elements for None."""
    return ops.repeat_interleave(a, repeats, axis)


def flip(m: Array, axis: Ints | None = None) -> Tensor:
    """Axes reversed; all of them for None."""
    return ops.flip(m, axes_of("flip", axis, m.ndim))


def fliplr(m: Array) -> Tensor:
    """The second axis reversed."""
    return flip(m, 1)


def flipud(m: Array) -> Tensor:
    """The first axis reversed."""
    return flip(m, 0)


def rot90(a: Array, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """A plane turned k times by 90 degrees, from the first axis towards the second."""
    return ops.rot90(a, k, axes_of("rot90", axes, a.ndim))


def roll(a: Array, shift: Ints, axis: Ints | None = None) -> Tensor:
    """Elements moved along axes; those that leave at one end enter at the other."""
    if axis is None:
        return ops.reshape(roll(ops.ravel(a), shift, 0), a.shape)
    steps = dict.fromkeys(axes_of("roll", None, a.ndim), 0)
    try:
        pairs = np.broadcast(_ints("roll", shift), _ints("roll", axis))
    except ValueError:
        raise ValueError(
            f"For 'roll', 'shift' and 'axis' must have one length, but got {shift} and {axis}."
        ) from None
    for step, place in pairs:
        steps[axis_of("roll", place, a.ndim)] += int(step)
    return ops.roll(a, list(steps.values()), list(steps))


# ---- looking up -----------------------------------------------------------------------------------------------------------
def take(
    a: Array,
    indices: Array,
    axis: int | None = None,
    mode: Literal["raise", "wrap", "clip"] = "clip",
) -> Tensor:
    """Slices of an axis at positions, of the flattened array for None. Negative positions count from the end; others out of
    range are those of the ends ('clip'), counted on ('wrap'), or an error ('raise')."""
    require_integers("take", "indices", indices)
    if axis is None:
        a, axis = ops.ravel(a), 0
    place = axis_of("take", axis, a.ndim)
    count = a.shape[place]
    if mode == "raise":
        check_places("take", indices, count, -count)
    return _gather(a, _counted(indices, count, mode), axis=place)


def _counted(places: Tensor, count: int, mode: str) -> Tensor:
    """Positions in [0, count)."""
    if mode == "wrap":
        return ops.floor_mod(places, count)
    from_start = ops.where(places < 0, places + count, places)
    return ops.clamp(from_start, 0, count - 1)


def take_along_axis(arr: Array, indices: Array, axis: int | None) -> Tensor:
    """For every position of the indices, the element of the axis that they name; the other axes broadcast."""
    require_integers("take_along_axis", "indices", indices)
    if axis is None:
        arr, axis = ops.ravel(arr), 0
    if arr.ndim != indices.ndim:
        raise ValueError(
            "For 'take_along_axis', 'arr' and 'indices' must have as many dimensions as each other, "
            f"but got shapes {arr.shape} and {indices.shape}."
        )
    place = axis_of("take_along_axis", axis, arr.ndim)
    others = [tuple(1 if i == place else n for i, n in enumerate(x.shape)) for x in (arr, indices)]
    rest = broadcast_shapes("take_along_axis", *others)
    arr, indices = (
        ops.broadcast_to(x, (*rest[:place], x.shape[place], *rest[place + 1 :]))
        for x in (arr, indices)
    )
    count = arr.shape[place]
    return _gather_d(arr, ops.where(indices < 0, indices + count, indices), dim=place)


def argwhere(a: Array) -> Tensor:
    """The coordinates of the elements that are not zero, one row each."""
    return ops.nonzero(a)


def unravel_index(
    indices: Array, shape: Sequence[int] | int, order: Literal["C", "F"] = "C"
) -> tuple[Tensor, ...]:
    """The coordinates in a shape of positions in the flattened array; positions out of range are those of the ends."""
    require_integers("unravel_index", "indices", indices)
    sizes = _ints("unravel_index", shape)
    require_axes("unravel_index", "shape", sizes)
    total = math.prod(sizes)
    rest = _counted(cast(indices, int64 if total >= 1 << 31 else None), total, "clip")
    found = []
    for n in reversed(sizes) if order == "C" else sizes:
        found.append(ops.floor_mod(rest, n))
        rest = ops.floor_divide(rest, n)
    return tuple(found[::-1] if order == "C" else found)


def ravel_multi_index(
    multi_index: Array,
    dims: Sequence[int],
    mode: Literal["clip", "wrap", "raise"] = "clip",
    order: Literal["C", "F"] = "C",
) -> Tensor:
    """The positions in the flattened array of coordinates in a shape; one row of coordinates for each axis."""
    require_integers("ravel_multi_index", "multi_index", multi_index)
    if multi_index.ndim == 0 or multi_index.shape[0] != len(dims):
        raise ValueError(
            f"For 'ravel_multi_index', 'multi_index' must have {len(dims)} rows, but got shape {multi_index.shape}."
        )
    require_axes("ravel_multi_index", "dims", dims)
    rows = ops.unbind(multi_index, 0)
    total: Any = ops.zeros_like(rows[0])
    axes = range(len(dims)) if order == "C" else range(len(dims))[::-1]
    for i in axes:
        if mode == "raise":
            check_places("ravel_multi_index", rows[i], dims[i], 0)
        place = (
            ops.floor_mod(rows[i], dims[i])
            if mode == "wrap"
            else ops.clamp(rows[i], 0, dims[i] - 1)
        )
        total = total * dims[i] + place
    return total


__all__ = [
    "append",
    "apply_along_axis",
    "apply_over_axes",
    "argwhere",
    "array_split",
    "array_str",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "choose",
    "column_stack",
    "concatenate",
    "dsplit",
    "dstack",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "intersect1d",
    "moveaxis",
    "piecewise",
    "ravel",
    "ravel_multi_index",
    "repeat",
    "reshape",
    "roll",
    "rollaxis",
    "rot90",
    "select",
    "shape",
    "size",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "take",
    "take_along_axis",
    "tile",
    "transpose",
    "unique",
    "unravel_index",
    "vsplit",
    "vstack",
    "where",
]
check_functions(sys.modules[__name__], __all__)

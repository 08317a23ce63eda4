"""Joining, cutting, rolling and repeating tensors along axes in their 2.x forms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mindspore._core import SymbolicInt, Tensor
from mindspore.common._kinds import Ints, PositiveInt, Sizes
from mindspore.common._size import require_memory
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import (
    _axis,
    _ints,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    swapaxes,
)

_reshape, _concat, _reverse = raw("Reshape"), raw("Concat"), raw("ReverseV2")
_slice, _split_v = raw("Slice"), raw("SplitV")
_expand_dims, _broadcast_to = raw("ExpandDims"), raw("BroadcastTo")
_identity = raw("Identity")


_MOST_PIECES = 1 << 20


def _some(name: str, tensors: Sequence[Tensor]) -> Sequence[Tensor]:
    if not tensors:
        raise ValueError(f"For '{name}', there must be a tensor, but got {tensors!r}.")
    return tensors


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along the second axis; vectors along the first."""
    parts = [atleast_1d(x) for x in _some("hstack", tensors)]
    return _concat(parts, axis=0 if parts[0].ndim == 1 else 1)


def vstack(inputs: Sequence[Tensor]) -> Tensor:
    """Joined along the first axis; vectors are rows."""
    return _concat([atleast_2d(x) for x in _some("vstack", inputs)], axis=0)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along the third axis."""
    return _concat([atleast_3d(x) for x in _some("dstack", tensors)], axis=2)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Joined along the second axis; vectors are columns."""
    columns = [
        _reshape(x, shape=(x.size, 1)) if x.ndim < 2 else x for x in _some("column_stack", tensors)
    ]
    return _concat(columns, axis=1)


def _cut(x: Tensor, sizes: list[int], axis: int) -> tuple[Tensor, ...]:
    if len(sizes) == 1:
        return (x,)
    return tuple(_split_v(x, size_splits=sizes, split_dim=axis, num_split=len(sizes)))


def split(tensor: Tensor, split_size_or_sections: Sizes, axis: int = 0) -> tuple[Tensor, ...]:
    """Pieces of a size (the last one may be smaller), or of given sizes."""
    axis = _axis("split", axis, tensor.ndim)
    total = tensor.shape[axis]
    if isinstance(split_size_or_sections, (int, SymbolicInt)):
        size = split_size_or_sections
        if size <= 0:
            raise ValueError(f"For 'split', the size of a piece must be positive, but got {size}.")
        return _cut(tensor, [min(size, total - i) for i in range(0, total, size)] or [0], axis)
    sizes = list(_ints("split", split_size_or_sections))
    if sum(sizes) != total or min(sizes, default=-1) < 0:
        raise ValueError(f"For 'split', the sizes must sum to {total}, but got {sizes}.")
    return _cut(tensor, sizes, axis)


def chunk(input: Tensor, chunks: PositiveInt, axis: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` pieces of one size, the last one smaller."""
    axis = _axis("chunk", axis, input.ndim)
    return split(input, max(1, -(-input.shape[axis] // chunks)), axis)


def tensor_split(input: Tensor, indices_or_sections: Sizes, axis: int = 0) -> tuple[Tensor, ...]:
    """Pieces of nearly one size, or pieces that end at given positions."""
    axis = _axis("tensor_split", axis, input.ndim)
    total = input.shape[axis]
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        if not 0 < n <= _MOST_PIECES:
            raise ValueError(
                f"For 'tensor_split', the number of pieces must be in [1, {_MOST_PIECES}], but got {n}."
            )
        return _cut(input, [total // n + (i < total % n) for i in range(n)], axis)
    edges = [slice(0, i).indices(total)[1] for i in _ints("tensor_split", indices_or_sections)]
    starts, ends = [0, *edges], [*edges, total]
    return tuple(narrow(input, axis, a, max(b - a, 0)) for a, b in zip(starts, ends))


def hsplit(input: Tensor, indices_or_sections: Sizes) -> tuple[Tensor, ...]:
    """Pieces along the second axis; of a vector, along the first."""
    return tensor_split(input, indices_or_sections, 0 if input.ndim == 1 else 1)


def vsplit(input: Tensor, indices_or_sections: Sizes) -> tuple[Tensor, ...]:
    """Pieces along the first axis."""
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input: Tensor, indices_or_sections: Sizes) -> tuple[Tensor, ...]:
    """Pieces along the third axis."""
    return tensor_split(input, indices_or_sections, 2)


def narrow(input: Tensor, axis: int, start: int, length: int) -> Tensor:
    """`length` slices of an axis from `start` on."""
    axis = _axis("narrow", axis, input.ndim)
    begin = [0] * input.ndim
    size = list(input.shape)
    begin[axis], size[axis] = start, length
    return _slice(input, begin=begin, size=size)


def roll(input: Tensor, shifts: Sizes, dims: Ints | None = None) -> Tensor:
    """Elements moved along axes; those that leave at one end enter at the other."""
    if dims is None:
        flat = roll(_reshape(input, shape=(-1,)), shifts, 0)
        return _reshape(flat, shape=input.shape)
    steps, axes = _ints("roll", shifts), _ints("roll", dims)
    if len(steps) != len(axes):
        raise ValueError(
            "For 'roll', 'shifts' and 'dims' must have one length, "
            f"but got {len(steps)} and {len(axes)}."
        )
    for step, dim in zip(steps, axes):
        axis = _axis("roll", dim, input.ndim)
        total = input.shape[axis]
        step = step % total if total else 0
        if step:
            parts = narrow(input, axis, total - step, step), narrow(input, axis, 0, total - step)
            input = _concat(parts, axis=axis)
    return _identity(input)


def fliplr(input: Tensor) -> Tensor:
    """The second axis reversed."""
    return _reverse(input, axis=(1,))


def flipud(input: Tensor) -> Tensor:
    """The first axis reversed."""
    return _reverse(input, axis=(0,))


def rot90(input: Tensor, k: int, dims: Sequence[int]) -> Tensor:
    """A plane turned k times by 90 degrees, from the first axis towards the second."""
    if len(dims) != 2:
        raise ValueError(f"For 'rot90', 'dims' must name two axes, but got {dims}.")
    a, b = (_axis("rot90", d, input.ndim) for d in dims)
    if a == b:
        raise ValueError(f"For 'rot90', 'dims' must name two axes, but got {dims}.")
    if k % 4 == 0:
        return _identity(input)
    if k % 4 == 2:
        return _reverse(input, axis=(a, b))
    if k % 4 == 1:
        return swapaxes(_reverse(input, axis=(b,)), a, b)
    return _reverse(swapaxes(input, a, b), axis=(b,))


def repeat_interleave(input: Tensor, repeats: Sizes, axis: int | None = None) -> Tensor:
    """Every slice of an axis repeated in place, as often as `repeats` says."""
    if axis is None:
        input, axis = _reshape(input, shape=(-1,)), 0
    axis = _axis("repeat_interleave", axis, input.ndim)
    times = _ints("repeat_interleave", repeats)
    if not times or min(times) < 0:
        raise ValueError(
            f"For 'repeat_interleave', 'repeats' must not be negative or empty, but got {times}."
        )
    shape = input.shape
    if len(times) == 1:
        spread = shape[: axis + 1] + times + shape[axis + 1 :]
        wide = _broadcast_to(_expand_dims(input, axis=axis + 1), shape=spread)
        joined = shape[:axis] + (shape[axis] * times[0],) + shape[axis + 1 :]
        return _identity(_reshape(wide, shape=joined))
    if len(times) != shape[axis]:
        raise ValueError(
            f"For 'repeat_interleave', 'repeats' must have 1 or {shape[axis]} entries, "
            f"but got {len(times)}."
        )
    require_memory("repeat_interleave", sum(times), 8)
    return raw("Gather")(input, Tensor(np.repeat(np.arange(shape[axis]), times)), axis=axis)


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Every slice of an axis repeated `rep` times in place."""
    return repeat_interleave(x, rep, axis)


METHODS = (
    "dsplit",
    "fliplr",
    "flipud",
    "hsplit",
    "narrow",
    "roll",
    "rot90",
    "tensor_split",
    "vsplit",
)
__all__ = [
    "chunk",
    "column_stack",
    "dsplit",
    "dstack",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "narrow",
    "repeat_elements",
    "repeat_interleave",
    "roll",
    "rot90",
    "split",
    "tensor_split",
    "vsplit",
    "vstack",
]

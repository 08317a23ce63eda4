"""Shapes, padding and diagonals in their 2.x forms: compositions that look at shapes and dtypes
only."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mindspore._core import Tensor
from mindspore.common._dtypes import COMPLEX
from mindspore.common._kinds import Ints, Real, Sizes
from mindspore.common._size import as_int, broadcast_shapes, is_int, require_memory
from mindspore.ops._bind import raw

_reshape, _transpose, _cast = raw("Reshape"), raw("Transpose"), raw("Cast")
_expand_dims, _concat, _stack = raw("ExpandDims"), raw("Concat"), raw("Stack")
_slice, _strided_slice, _split_v = raw("Slice"), raw("StridedSlice"), raw("SplitV")
_broadcast_to, _tile, _reverse = raw("BroadcastTo"), raw("Tile"), raw("ReverseV2")
_pad, _mirror_pad = raw("Pad"), raw("MirrorPad")
_diag, _select = raw("Diag"), raw("Select")
_WIDE_PAD = 1 << 20


def _axis(name: str, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"For '{name}', the axis must be in [{-rank}, {rank}), but got {axis}.")
    return axis % rank


def _ints(name: str, value: Any) -> tuple[int, ...]:
    """One int, several, or a concrete tensor of them, as a tuple."""
    if isinstance(value, Tensor):
        if value.ndim > 1:
            raise ValueError(
                f"For '{name}', a tensor of sizes must have one dimension, but got shape {value.shape}."
            )
        value = value.asnumpy().tolist()
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    for item in items:
        if not is_int(item):
            raise TypeError(f"For '{name}', the sizes must be ints, but got {type(item).__name__}.")
    return tuple(as_int(i) for i in items)


def _one_int(name: str, argument: str, value: Any) -> int:
    """An int, or a concrete tensor of one."""
    found = _ints(name, value)
    if len(found) != 1:
        raise ValueError(f"For '{name}', '{argument}' must be one integer, but got {len(found)}.")
    return found[0]


def _number(name: str, value: Real | Tensor) -> Any:
    """A number that is not complex, or that of a tensor."""
    if not isinstance(value, Tensor):
        return value
    if value.size != 1:
        raise ValueError(
            f"For '{name}', a tensor in place of a number must have one element, but got shape {value.shape}."
        )
    if value.dtype in COMPLEX:
        raise TypeError(
            f"For '{name}', a tensor in place of a number must be real, but got {value.dtype}."
        )
    return value.item()


def _star(name: str, values: tuple) -> tuple[int, ...]:
    """`f(2, 3)` and `f((2, 3))` alike."""
    return _ints(name, values[0] if len(values) == 1 else values)


# ---- shapes -----------------------------------------------------------------------------------
def flatten(
    input: Tensor, order: Literal["C", "F"] = "C", *, start_dim: int = 1, end_dim: int = -1
) -> Tensor:
    """Joins the axes from `start_dim` to `end_dim`; order 'F' reverses all axes first. A tensor of its own; the method gives a
    view."""
    return raw("Identity")(flattened(input, order, start_dim, end_dim))


def flattened(input: Tensor, order: str, start_dim: int, end_dim: int) -> Tensor:
    """A view with the axes from `start_dim` to `end_dim` joined."""
    rank = input.ndim
    if order == "F":
        input = _transpose(input, perm=list(range(rank))[::-1])
    if rank == 0:
        return _reshape(input, shape=(1,))
    if rank == 1 and start_dim == 1:
        return _reshape(input, shape=(-1,))
    first, last = _axis("flatten", start_dim, rank), _axis("flatten", end_dim, rank)
    if first > last:
        raise ValueError(
            "For 'flatten', 'start_dim' must not be after 'end_dim', "
            f"but got {start_dim} and {end_dim}."
        )
    joined = math.prod(input.shape[first : last + 1])
    return _reshape(input, shape=input.shape[:first] + (joined,) + input.shape[last + 1 :])


def ravel(input: Tensor) -> Tensor:
    """All elements in one axis."""
    return _reshape(input, shape=(-1,))


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Two axes in each other's place."""
    order = list(range(input.ndim))
    a, b = _axis("swapaxes", axis0, input.ndim), _axis("swapaxes", axis1, input.ndim)
    order[a], order[b] = b, a
    return _transpose(input, perm=order)


def swapdims(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two axes in each other's place."""
    return swapaxes(input, dim0, dim1)


def moveaxis(x: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Axes moved to other places, the others in their order."""
    rank = x.ndim
    sources = [_axis("moveaxis", a, rank) for a in _ints("moveaxis", source)]
    places = [_axis("moveaxis", a, rank) for a in _ints("moveaxis", destination)]
    if (
        len(sources) != len(places)
        or len({*sources}) < len(sources)
        or len({*places}) < len(places)
    ):
        raise ValueError(
            "For 'moveaxis', 'source' and 'destination' must name as many different axes, "
            f"but got {source} and {destination}."
        )
    order = [a for a in range(rank) if a not in sources]
    for place, axis in sorted(zip(places, sources)):
        order.insert(place, axis)
    return _transpose(x, perm=order)


def movedim(x: Tensor, source: Ints, destination: Ints) -> Tensor:
    """Axes moved to other places, the others in their order."""
    return moveaxis(x, source, destination)


def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; a vector stays as it is."""
    if input.ndim > 2:
        raise ValueError(f"For 't', 'input' must have at most 2 dimensions, but got {input.ndim}.")
    return input if input.ndim < 2 else _transpose(input, perm=(1, 0))


def atleast_1d(inputs: Tensor | Sequence[Tensor]) -> Any:
    """Tensors with at least one axis."""
    return _at_least(inputs, lambda x: _reshape(x, shape=(1,)) if x.ndim < 1 else x)


def atleast_2d(inputs: Tensor | Sequence[Tensor]) -> Any:
    """Tensors with at least two axes."""
    return _at_least(inputs, lambda x: _reshape(x, shape=(1, x.size)) if x.ndim < 2 else x)


def atleast_3d(inputs: Tensor | Sequence[Tensor]) -> Any:
    """Tensors with at least three axes."""

    def grow(x: Tensor) -> Tensor:
        if x.ndim < 2:
            return _reshape(x, shape=(1, x.size, 1))
        return _expand_dims(x, axis=2) if x.ndim == 2 else x

    return _at_least(inputs, grow)


def _at_least(inputs: Any, grow: Any) -> Any:
    return tuple(grow(x) for x in inputs) if isinstance(inputs, (tuple, list)) else grow(inputs)


def expand(input_x: Tensor, size: Sizes) -> Tensor:
    """The input spread to a shape; -1 keeps a size."""
    return _broadcast_to(input_x, shape=_ints("expand", size))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors spread to their common shape."""
    shape = broadcast_shapes("broadcast_tensors", *(tuple(x.shape) for x in tensors))
    return tuple(_broadcast_to(x, shape=shape) for x in tensors)


def meshgrid(
    *inputs: Tensor | Sequence[Tensor], indexing: Literal["xy", "ij"] = "xy"
) -> tuple[Tensor, ...]:
    """Coordinates of a grid whose axes are given by vectors."""
    vectors = [x for given in inputs for x in ([given] if isinstance(given, Tensor) else given)]
    for x in vectors:
        if x.ndim > 1:
            raise ValueError(
                f"For 'meshgrid', the inputs must have at most 1 dimension, but got shape {tuple(x.shape)}."
            )
    order = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        order[0], order[1] = 1, 0
    shape = tuple(vectors[i].size for i in order)
    grids = []
    for i, x in enumerate(vectors):
        place = [1] * len(vectors)
        place[order.index(i)] = x.size
        grids.append(_broadcast_to(_reshape(x, shape=place), shape=shape))
    return tuple(grids)


# ---- padding ----------------------------------------------------------------------------------
_PAD_MODES = {"reflect": "REFLECT", "replicate": "EDGE", "circular": "CIRCULAR"}


def pad(
    input_x: Tensor,
    padding: Sizes,
    mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
    value: Real | Tensor | None = None,
) -> Tensor:
    """Elements around the last axes: `padding` is (before, after) of the last axis, then of the one
    before it, and so on. Negative numbers cut off."""
    numbers = _ints("pad", padding)
    rank = input_x.ndim
    if len(numbers) % 2 or len(numbers) > 2 * rank:
        raise ValueError(
            f"For 'pad', 'padding' must hold pairs for at most {rank} axes, "
            f"but got {len(numbers)} numbers."
        )
    if mode != "constant" and value is not None:
        raise ValueError(f"For 'pad', 'value' must be None in mode {mode!r}, but got {value!r}.")
    pairs = [(0, 0)] * rank
    for i in range(0, len(numbers), 2):
        pairs[rank - 1 - i // 2] = (numbers[i], numbers[i + 1])
    if any(n < 0 for pair in pairs for n in pair):
        begin = [max(-a, 0) for a, _ in pairs]
        size = [n - max(-a, 0) - max(-b, 0) for n, (a, b) in zip(input_x.shape, pairs)]
        if min(size) < 0:
            raise ValueError(
                "For 'pad', no axis may become negative, "
                f"but got shape {input_x.shape} and {numbers}."
            )
        input_x = _slice(input_x, begin=begin, size=size)
    grow = [max(n, 0) for pair in pairs for n in pair]
    if not any(grow):
        return raw("Identity")(input_x)
    if mode == "constant":
        return _pad(input_x, paddings=grow, value=0.0 if value is None else value)
    if (
        max(grow) > _WIDE_PAD
    ):  # the kernel lists where each element comes from, before there is a result
        sizes = [n if isinstance(n, int) and n > 0 else 1 for n in input_x.shape]
        wide = [n + grow[2 * i] + grow[2 * i + 1] for i, n in enumerate(sizes)]
        require_memory("pad", math.prod(wide), input_x.itemsize)
    return _mirror_pad(input_x, paddings=grow, mode=_PAD_MODES[mode])


# ---- diagonals ----------------------------------------------------------------------------------
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis."""
    rank = input.ndim
    a, b = _axis("diagonal", dim1, rank), _axis("diagonal", dim2, rank)
    if a == b:
        raise ValueError(f"For 'diagonal', the axes must differ, but got {dim1} and {dim2}.")
    rows, columns = input.shape[a], input.shape[b]
    first = max(-offset, 0) * columns + max(offset, 0)
    count = max(0, min(rows - max(-offset, 0), columns - max(offset, 0)))
    rest = [i for i in range(rank) if i not in (a, b)]
    lead = tuple(input.shape[i] for i in rest)
    flat = _reshape(_transpose(input, perm=[*rest, a, b]), shape=(*lead, rows * columns))
    if count == 0:
        return _slice(flat, begin=(0,) * flat.ndim, size=(*lead, 0))
    zeros = [0] * len(lead)
    end = first + (count - 1) * (columns + 1) + 1
    return _strided_slice(
        flat, begin=[*zeros, first], end=[*lead, end], strides=[1] * len(lead) + [columns + 1]
    )


def diag(input: Tensor) -> Tensor:
    """All elements on the diagonal of a tensor that has every axis twice: of a vector, a matrix."""
    if input.ndim < 2:
        return _diag(input)
    return _reshape(_diag(_reshape(input, shape=(-1,))), shape=input.shape * 2)


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices with the last axis on a diagonal."""
    rank = input.ndim + 1
    if rank == 1:
        raise ValueError("For 'diag_embed', 'input' must have a dimension, but got a scalar.")
    n = input.shape[-1] + abs(offset)
    require_memory("diag_embed", n * n, 1)
    spread = _pad(input, paddings=[0, 0] * (input.ndim - 1) + [max(offset, 0), max(-offset, 0)])
    mask = Tensor(np.eye(n, k=offset, dtype=bool))
    columns = _broadcast_to(_expand_dims(spread, axis=-2), shape=(*input.shape[:-1], n, n))
    square = _select(_broadcast_to(mask, shape=columns.shape), columns, raw("ZerosLike")(columns))
    return moveaxis(
        square, (-2, -1), (_axis("diag_embed", dim1, rank), _axis("diag_embed", dim2, rank))
    )


def block_diag(*inputs: Tensor) -> Tensor:
    """Matrices along the diagonal of a larger one."""
    blocks = [atleast_2d(x) for x in inputs]
    columns = sum(x.shape[1] for x in blocks)
    rows, first = [], 0
    for x in blocks:
        rows.append(_pad(x, paddings=(0, 0, first, columns - first - x.shape[1])))
        first += x.shape[1]
    return _concat(rows, axis=0)


METHODS = ("diag", "moveaxis", "movedim", "ravel", "swapaxes", "swapdims", "t")
__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_tensors",
    "diag",
    "diag_embed",
    "diagonal",
    "expand",
    "flatten",
    "meshgrid",
    "moveaxis",
    "movedim",
    "pad",
    "ravel",
    "swapaxes",
    "swapdims",
    "t",
]

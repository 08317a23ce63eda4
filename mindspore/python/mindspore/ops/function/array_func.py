"""Shapes, padding and diagonals in their 2.x forms: compositions that look at shapes and dtypes
only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore._core import SymbolicInt, Tensor
from mindspore.common._size import as_int, broadcast_shapes, is_int
from mindspore.ops._bind import raw

_reshape, _transpose, _cast = raw("Reshape"), raw("Transpose"), raw("Cast")
_expand_dims, _concat, _stack = raw("ExpandDims"), raw("Concat"), raw("Stack")
_slice, _strided_slice, _split_v = raw("Slice"), raw("StridedSlice"), raw("SplitV")
_broadcast_to, _tile, _reverse = raw("BroadcastTo"), raw("Tile"), raw("ReverseV2")
_pad, _mirror_pad = raw("Pad"), raw("MirrorPad")
_diag, _select = raw("Diag"), raw("Select")


def _axis(name: str, axis: Any, rank: int) -> int:
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"For '{name}', the axis must be an int, but got {type(axis).__name__}.")
    if not -rank <= axis < rank:
        raise ValueError(f"For '{name}', the axis must be in [{-rank}, {rank}), but got {axis}.")
    return axis % rank


def _ints(name: str, value: Any) -> tuple[int, ...]:
    """One int, several, or a concrete tensor of them, as a tuple."""
    if isinstance(value, Tensor):
        value = value.asnumpy().tolist()
    items = (value,) if isinstance(value, (int, SymbolicInt)) else tuple(value)
    for item in items:
        if not is_int(item):
            raise TypeError(f"For '{name}', the sizes must be ints, but got {type(item).__name__}.")
    return tuple(as_int(i) for i in items)


def _star(name: str, values: tuple) -> tuple[int, ...]:
    """`f(2, 3)` and `f((2, 3))` alike."""
    return _ints(name, values[0] if len(values) == 1 else values)


# ---- shapes -----------------------------------------------------------------------------------
def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Joins the axes from `start_dim` to `end_dim`; order 'F' reverses all axes first."""
    if order not in ("C", "F"):
        raise ValueError(f"For 'flatten', 'order' must be 'C' or 'F', but got {order!r}.")
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


def moveaxis(x: Tensor, source: Any, destination: Any) -> Tensor:
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


def movedim(x: Tensor, source: Any, destination: Any) -> Tensor:
    """Axes moved to other places, the others in their order."""
    return moveaxis(x, source, destination)


def t(input: Tensor) -> Tensor:
    """The transpose of a matrix; a vector stays as it is."""
    if input.ndim > 2:
        raise ValueError(f"For 't', 'input' must have at most 2 dimensions, but got {input.ndim}.")
    return input if input.ndim < 2 else _transpose(input, perm=(1, 0))


def atleast_1d(inputs: Any) -> Any:
    """Tensors with at least one axis."""
    return _at_least(inputs, lambda x: _reshape(x, shape=(1,)) if x.ndim < 1 else x)


def atleast_2d(inputs: Any) -> Any:
    """Tensors with at least two axes."""
    return _at_least(inputs, lambda x: _reshape(x, shape=(1, x.size)) if x.ndim < 2 else x)


def atleast_3d(inputs: Any) -> Any:
    """Tensors with at least three axes."""

    def grow(x: Tensor) -> Tensor:
        if x.ndim < 2:
            return _reshape(x, shape=(1, x.size, 1))
        return _expand_dims(x, axis=2) if x.ndim == 2 else x

    return _at_least(inputs, grow)


def _at_least(inputs: Any, grow: Any) -> Any:
    return tuple(grow(x) for x in inputs) if isinstance(inputs, (tuple, list)) else grow(inputs)


def expand(input_x: Tensor, size: Any) -> Tensor:
    """The input spread to a shape; -1 keeps a size."""
    return _broadcast_to(input_x, shape=_ints("expand", size))


def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Tensors spread to their common shape."""
    shape = broadcast_shapes(*(tuple(x.shape) for x in tensors))
    return tuple(_broadcast_to(x, shape=shape) for x in tensors)


def meshgrid(*inputs: Tensor, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Coordinates of a grid whose axes are given by vectors."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"For 'meshgrid', 'indexing' must be 'xy' or 'ij', but got {indexing!r}.")
    if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)):
        inputs = tuple(inputs[0])
    order = list(range(len(inputs)))
    if indexing == "xy" and len(inputs) > 1:
        order[0], order[1] = 1, 0
    shape = tuple(inputs[i].size for i in order)
    grids = []
    for i, x in enumerate(inputs):
        place = [1] * len(inputs)
        place[order.index(i)] = x.size
        grids.append(_broadcast_to(_reshape(x, shape=place), shape=shape))
    return tuple(grids)


# ---- padding ----------------------------------------------------------------------------------
_PAD_MODES = {"reflect": "REFLECT", "replicate": "EDGE", "circular": "CIRCULAR"}


def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Elements around the last axes: `padding` is (before, after) of the last axis, then of the one
    before it, and so on. Negative numbers cut off."""
    numbers = _ints("pad", padding)
    rank = input_x.ndim
    if len(numbers) % 2 or len(numbers) > 2 * rank:
        raise ValueError(
            f"For 'pad', 'padding' must hold pairs for at most {rank} axes, "
            f"but got {len(numbers)} numbers."
        )
    if mode != "constant" and mode not in _PAD_MODES:
        raise ValueError(
            f"For 'pad', 'mode' must be 'constant' or one of {list(_PAD_MODES)}, but got {mode!r}."
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
        return input_x
    if mode == "constant":
        return _pad(input_x, paddings=grow, value=0.0 if value is None else value)
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
    n = input.shape[-1] + abs(offset)
    rank = input.ndim + 1
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

"""Shapes, joining, cutting, padding and creation in their 2.x forms: compositions that look at
shapes and dtypes only."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.ops._bind import raw

_reshape, _transpose, _cast = raw("Reshape"), raw("Transpose"), raw("Cast")
_expand_dims, _concat, _stack = raw("ExpandDims"), raw("Concat"), raw("Stack")
_slice, _strided_slice, _split_v = raw("Slice"), raw("StridedSlice"), raw("SplitV")
_broadcast_to, _tile, _reverse = raw("BroadcastTo"), raw("Tile"), raw("ReverseV2")
_pad, _mirror_pad, _fill, _range = raw("Pad"), raw("MirrorPad"), raw("Fill"), raw("Range")
_diag, _diag_part, _one_hot = raw("Diag"), raw("DiagPart"), raw("OneHot")
_eye, _select = raw("Eye"), raw("Select")


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
    items = (value,) if isinstance(value, int) else tuple(value)
    for item in items:
        if isinstance(item, bool) or not isinstance(item, (int, np.integer)):
            raise TypeError(f"For '{name}', the sizes must be ints, but got {type(item).__name__}.")
    return tuple(int(i) for i in items)


def _star(name: str, values: tuple) -> tuple[int, ...]:
    """`f(2, 3)` and `f((2, 3))` alike."""
    return _ints(name, values[0] if len(values) == 1 else values)


def _tensors(name: str, tensors: Any) -> list[Tensor]:
    if not isinstance(tensors, (tuple, list)) or not tensors:
        raise TypeError(
            f"For '{name}', the tensors must be a tuple or list that is not empty, but got {tensors!r}."
        )
    return list(tensors)


# ---- shapes -----------------------------------------------------------------------------------
def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Joins the axes from `start_dim` to `end_dim`; order 'F' reads columns first."""
    if order not in ("C", "F"):
        raise ValueError(f"For 'flatten', 'order' must be 'C' or 'F', but got {order!r}.")
    rank = input.ndim
    if order == "F":
        input = _transpose(input, perm=[0, *range(rank - 1, 0, -1)])
    if rank == 0:
        return _reshape(input, shape=(1,))
    if rank == 1 and start_dim == 1:
        return _reshape(input, shape=(-1,))
    first, last = _axis("flatten", start_dim, rank), _axis("flatten", end_dim, rank)
    if first > last:
        raise ValueError(
            f"For 'flatten', 'start_dim' must not be after 'end_dim', but got {start_dim} and {end_dim}."
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
    shape = np.broadcast_shapes(*(tuple(x.shape) for x in tensors))
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


# ---- joining and cutting ------------------------------------------------------------------------
def hstack(tensors: Any) -> Tensor:
    """Joined along the second axis; vectors along the first."""
    parts = [atleast_1d(x) for x in _tensors("hstack", tensors)]
    return _concat(parts, axis=0 if parts[0].ndim == 1 else 1)


def vstack(inputs: Any) -> Tensor:
    """Joined along the first axis; vectors are rows."""
    return _concat([atleast_2d(x) for x in _tensors("vstack", inputs)], axis=0)


def dstack(tensors: Any) -> Tensor:
    """Joined along the third axis."""
    return _concat([atleast_3d(x) for x in _tensors("dstack", tensors)], axis=2)


def column_stack(tensors: Any) -> Tensor:
    """Joined along the second axis; vectors are columns."""
    columns = [
        _reshape(x, shape=(x.size, 1)) if x.ndim < 2 else x
        for x in _tensors("column_stack", tensors)
    ]
    return _concat(columns, axis=1)


def _cut(x: Tensor, sizes: list[int], axis: int) -> tuple[Tensor, ...]:
    if len(sizes) == 1:
        return (x,)
    return tuple(_split_v(x, size_splits=sizes, split_dim=axis, num_split=len(sizes)))


def split(tensor: Tensor, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Pieces of a size (the last one may be smaller), or of given sizes."""
    axis = _axis("split", axis, tensor.ndim)
    total = tensor.shape[axis]
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if size <= 0:
            raise ValueError(f"For 'split', the size of a piece must be positive, but got {size}.")
        return _cut(tensor, [min(size, total - i) for i in range(0, total, size)] or [0], axis)
    sizes = list(_ints("split", split_size_or_sections))
    if sum(sizes) != total or min(sizes, default=-1) < 0:
        raise ValueError(f"For 'split', the sizes must sum to {total}, but got {sizes}.")
    return _cut(tensor, sizes, axis)


def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` pieces of one size, the last one smaller."""
    if isinstance(chunks, bool) or not isinstance(chunks, int) or chunks <= 0:
        raise ValueError(f"For 'chunk', 'chunks' must be a positive int, but got {chunks!r}.")
    axis = _axis("chunk", axis, input.ndim)
    return split(input, max(1, -(-input.shape[axis] // chunks)), axis)


def tensor_split(input: Tensor, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Pieces of nearly one size, or pieces that end at given positions."""
    axis = _axis("tensor_split", axis, input.ndim)
    total = input.shape[axis]
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        if n <= 0:
            raise ValueError(
                f"For 'tensor_split', the number of pieces must be positive, but got {n}."
            )
        return _cut(input, [total // n + (i < total % n) for i in range(n)], axis)
    edges = [slice(0, i).indices(total)[1] for i in _ints("tensor_split", indices_or_sections)]
    starts, ends = [0, *edges], [*edges, total]
    return tuple(narrow(input, axis, a, max(b - a, 0)) for a, b in zip(starts, ends))


def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Pieces along the second axis; of a vector, along the first."""
    return tensor_split(input, indices_or_sections, 0 if input.ndim == 1 else 1)


def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Pieces along the first axis."""
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Pieces along the third axis."""
    return tensor_split(input, indices_or_sections, 2)


def narrow(input: Tensor, axis: int, start: int, length: int) -> Tensor:
    """`length` slices of an axis from `start` on."""
    axis = _axis("narrow", axis, input.ndim)
    begin = [0] * input.ndim
    size = list(input.shape)
    begin[axis], size[axis] = start, length
    return _slice(input, begin=begin, size=size)


def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Elements moved along axes; those that leave at one end enter at the other."""
    if dims is None:
        flat = roll(_reshape(input, shape=(-1,)), shifts, 0)
        return _reshape(flat, shape=input.shape)
    steps, axes = _ints("roll", shifts), _ints("roll", dims)
    if len(steps) != len(axes):
        raise ValueError(
            f"For 'roll', 'shifts' and 'dims' must have one length, but got {len(steps)} and {len(axes)}."
        )
    for step, dim in zip(steps, axes):
        axis = _axis("roll", dim, input.ndim)
        total = input.shape[axis]
        step = step % total if total else 0
        if step:
            parts = narrow(input, axis, total - step, step), narrow(input, axis, 0, total - step)
            input = _concat(parts, axis=axis)
    return input


def fliplr(input: Tensor) -> Tensor:
    """The second axis reversed."""
    return _reverse(input, axis=(1,))


def flipud(input: Tensor) -> Tensor:
    """The first axis reversed."""
    return _reverse(input, axis=(0,))


def rot90(input: Tensor, k: int, dims: Any) -> Tensor:
    """A plane turned k times by 90 degrees, from the first axis towards the second."""
    a, b = (_axis("rot90", d, input.ndim) for d in _ints("rot90", dims))
    if k % 4 == 0:
        return input
    if k % 4 == 2:
        return _reverse(input, axis=(a, b))
    if k % 4 == 1:
        return swapaxes(_reverse(input, axis=(b,)), a, b)
    return _reverse(swapaxes(input, a, b), axis=(b,))


def repeat_interleave(input: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """Every slice of an axis repeated in place, as often as `repeats` says."""
    if axis is None:
        input, axis = _reshape(input, shape=(-1,)), 0
    axis = _axis("repeat_interleave", axis, input.ndim)
    times = _ints("repeat_interleave", repeats)
    if min(times) < 0:
        raise ValueError(
            f"For 'repeat_interleave', 'repeats' must not be negative, but got {times}."
        )
    shape = input.shape
    if len(times) == 1:
        spread = shape[: axis + 1] + times + shape[axis + 1 :]
        wide = _broadcast_to(_expand_dims(input, axis=axis + 1), shape=spread)
        return _reshape(wide, shape=shape[:axis] + (shape[axis] * times[0],) + shape[axis + 1 :])
    if len(times) != shape[axis]:
        raise ValueError(
            f"For 'repeat_interleave', 'repeats' must have 1 or {shape[axis]} entries, but got {len(times)}."
        )
    return raw("Gather")(input, Tensor(np.repeat(np.arange(shape[axis]), times)), axis=axis)


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Every slice of an axis repeated `rep` times in place."""
    return repeat_interleave(x, rep, axis)


# ---- padding ----------------------------------------------------------------------------------
_PAD_MODES = {"reflect": "REFLECT", "replicate": "EDGE", "circular": "CIRCULAR"}


def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Elements around the last axes: `padding` is (before, after) of the last axis, then of the one
    before it, and so on. Negative numbers cut off."""
    numbers = _ints("pad", padding)
    rank = input_x.ndim
    if len(numbers) % 2 or len(numbers) > 2 * rank:
        raise ValueError(
            f"For 'pad', 'padding' must hold pairs for at most {rank} axes, but got {len(numbers)} numbers."
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
                f"For 'pad', no axis may become negative, but got shape {input_x.shape} and {numbers}."
            )
        input_x = _slice(input_x, begin=begin, size=size)
    grow = [max(n, 0) for pair in pairs for n in pair]
    if not any(grow):
        return input_x
    if mode == "constant":
        return _pad(input_x, paddings=grow, value=0.0 if value is None else value)
    return _mirror_pad(input_x, paddings=grow, mode=_PAD_MODES[mode])


# ---- creation ---------------------------------------------------------------------------------
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of one repeated value; without a dtype, Int64 for ints, Bool for truth values, else
    Float32."""
    if dtype is None:
        kinds = {bool: _core.bool, int: _core.int64}
        dtype = kinds.get(type(fill_value), _core.float32)
    return _fill(dtype=dtype, shape=_ints("full", size), value=fill_value)


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of one repeated value in the shape, and by default the dtype, of another."""
    return _fill(dtype=input.dtype if dtype is None else dtype, shape=input.shape, value=fill_value)


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """Numbers from `start` (0) up to, but without, `end`."""
    if end is None:
        start, end = 0, start
    start, end, step = (v.item() if isinstance(v, Tensor) else v for v in (start, end, step))
    return _range(start=start, end=end, step=step, maxlen=1 << 40, dtype=dtype)


def logspace(
    start: Any, end: Any, steps: int, base: int = 10, *, dtype: Any = _core.float32
) -> Tensor:
    """Powers of a base whose exponents have equal distances."""
    return _cast(float(base) ** raw("LinSpace")(float(start), float(end), num=steps), dtype=dtype)


def one_hot(
    indices: Tensor, depth: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1
) -> Tensor:
    """A new axis that holds `on_value` at the index and `off_value` elsewhere."""
    dtype = on_value.dtype if isinstance(on_value, Tensor) else None
    if dtype is None:
        dtype = (
            _core.int64
            if isinstance(on_value, int) and isinstance(off_value, int)
            else _core.float32
        )
    on, off = (v if isinstance(v, Tensor) else Tensor(v, dtype) for v in (on_value, off_value))
    return _one_hot(indices, on, off, depth=depth, axis=axis)


def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = _core.int64) -> Tensor:
    """Coordinates of the lower triangle of a matrix."""
    return Tensor(np.stack(np.tril_indices(row, offset, col)), dtype)


def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = _core.int64) -> Tensor:
    """Coordinates of the upper triangle of a matrix."""
    return Tensor(np.stack(np.triu_indices(row, offset, col)), dtype)


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
    """A matrix with a vector on its diagonal, or the diagonal of a matrix."""
    return _diag(input) if input.ndim == 1 else _diag_part(input)


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


# ---- methods whose arguments differ from the functions' ---------------------------------------
def _method_reshape(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape."""
    return _reshape(self, shape=_star("reshape", shape))


def _method_view(self: Tensor, *shape: Any) -> Tensor:
    """The same elements in another shape."""
    return _reshape(self, shape=_star("view", shape))


def _method_transpose(self: Tensor, *axes: Any) -> Tensor:
    """Axes in another order; reversed where none is given."""
    if not axes or axes == (None,):
        return _transpose(self, perm=list(range(self.ndim))[::-1])
    order = _star("transpose", axes)
    if len(order) == 2 and self.ndim != 2:
        return swapaxes(self, *order)
    return _transpose(self, perm=order)


def _method_permute(self: Tensor, *axis: Any) -> Tensor:
    """Axes in another order."""
    return _transpose(self, perm=_star("permute", axis))


def _method_expand(self: Tensor, *size: Any) -> Tensor:
    """Spread to a shape; -1 keeps a size."""
    return _broadcast_to(self, shape=_star("expand", size))


def _method_expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Spread to the shape of another tensor."""
    return _broadcast_to(self, shape=other.shape)


def _method_view_as(self: Tensor, other: Tensor) -> Tensor:
    """The same elements in the shape of another tensor."""
    return _reshape(self, shape=other.shape)


def _method_repeat(self: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """Every element, or slice of an axis, repeated in place."""
    return repeat_interleave(self, repeats, axis)


def _method_flatten(
    self: Tensor, order: str = "C", *, start_dim: int = 0, end_dim: int = -1
) -> Tensor:
    """All elements in one axis, or the axes from `start_dim` to `end_dim` joined."""
    return flatten(self, order, start_dim=start_dim, end_dim=end_dim)


def _method_fill(self: Tensor, value: Any) -> Tensor:
    """A tensor of one repeated value in this shape and dtype."""
    return full_like(self, value)


def _method_fills(self: Tensor, value: Any) -> Tensor:
    """A tensor of one repeated value in this shape and dtype."""
    return full_like(self, value)


def _method_new_zeros(self: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """Zeros of a shape, by default in this dtype."""
    return _fill(dtype=dtype or self.dtype, shape=_star("new_zeros", size), value=0.0)


def _method_new_ones(self: Tensor, *size: Any, dtype: Any = None) -> Tensor:
    """Ones of a shape, by default in this dtype."""
    return _fill(dtype=dtype or self.dtype, shape=_star("new_ones", size), value=1.0)


def _method_diagonal(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis."""
    return diagonal(self, offset, axis1, axis2)


def _method_trace(
    self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None
) -> Tensor:
    """The sum of a diagonal."""
    total = raw("ReduceSum")(diagonal(self, offset, axis1, axis2), axis=(-1,))
    return total if dtype is None else _cast(total, dtype=dtype)


_AS_METHODS = (
    _method_reshape, _method_view, _method_transpose, _method_permute, _method_expand, _method_expand_as,
    _method_view_as, _method_repeat, _method_flatten, _method_fill, _method_fills, _method_new_zeros,
    _method_new_ones, _method_diagonal, _method_trace,
)  # fmt: skip
for _function in _AS_METHODS:
    _function.__name__ = _function.__name__.removeprefix("_method_")

METHODS = (
    "chunk", "diag", "dsplit", "fliplr", "flipud", "hsplit", "moveaxis", "movedim", "narrow", "ravel",
    "repeat_interleave", "roll", "rot90", "split", "swapaxes", "swapdims", "t", "tensor_split", "vsplit",
    *_AS_METHODS,
)  # fmt: skip
__all__ = [
    "arange", "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors", "chunk",
    "column_stack", "diag", "diag_embed", "diagonal", "dsplit", "dstack", "expand", "flatten", "fliplr",
    "flipud", "full", "full_like", "hsplit", "hstack", "logspace", "meshgrid", "moveaxis", "movedim",
    "narrow", "one_hot", "pad", "ravel", "repeat_elements", "repeat_interleave", "roll", "rot90", "split",
    "swapaxes", "swapdims", "t", "tensor_split", "tril_indices", "triu_indices", "vsplit", "vstack",
]  # fmt: skip

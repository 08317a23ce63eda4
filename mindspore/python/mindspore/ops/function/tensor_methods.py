"""Tensor methods on shapes and positions, where these take other arguments than the functions do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._kinds import Ints, Number, Sizes
from mindspore.common._size import broadcast_shapes
from mindspore.ops._bind import raw
from mindspore.ops._forms import method
from mindspore.ops.function.array_func import _star, diagonal, flattened, swapaxes
from mindspore.ops.function.index_func import _scatter_elements, index_add, index_select
from mindspore.ops.function.join_func import chunk, repeat_interleave, split

_reshape, _transpose, _cast, _concat = raw("Reshape"), raw("Transpose"), raw("Cast"), raw("Concat")
_broadcast_to, _gather, _gather_d = raw("BroadcastTo"), raw("Gather"), raw("GatherD")
_SMALL = (_core.bool, _core.int8, _core.int16, _core.int32)
_UNSIGNED = (_core.uint8, _core.uint16, _core.uint32)


# ---- shapes ---------------------------------------------------------------------------------------
def _method_reshape(self: Tensor, *sizes: Sizes, shape: Sizes | None = None) -> Tensor:
    """The same elements in another shape."""
    return _reshape(self, shape=_star("reshape", sizes if shape is None else (*sizes, shape)))


def _method_view(self: Tensor, *sizes: Sizes, shape: Sizes | None = None) -> Tensor:
    """The same elements in another shape."""
    return _reshape(self, shape=_star("view", sizes if shape is None else (*sizes, shape)))


def _method_transpose(
    self: Tensor, *axes: Sizes | None, dim0: int | None = None, dim1: int | None = None
) -> Tensor:
    """Axes in another order; reversed where none is given. Two of more axes change places."""
    if dim0 is not None or dim1 is not None:
        axes = (*axes, *(d for d in (dim0, dim1) if d is not None))
    if not axes or axes == (None,):
        return _transpose(self, perm=list(range(self.ndim))[::-1])
    order = _star("transpose", axes)
    if len(order) == 2 and self.ndim != 2:
        return swapaxes(self, *order)
    return _transpose(self, perm=order)


def _method_permute(self: Tensor, *axis: Sizes, dims: Sizes | None = None) -> Tensor:
    """Axes in another order; reversed where none is given."""
    axis = axis if dims is None else (*axis, dims)
    order = _star("permute", axis) if axis else range(self.ndim)[::-1]
    return _transpose(self, perm=list(order))


def _method_expand(self: Tensor, *size: Sizes) -> Tensor:
    """Spread to a shape; -1 keeps a size."""
    return _broadcast_to(self, shape=_star("expand", size))


def _method_expand_as(self: Tensor, other: Tensor) -> Tensor:
    """Spread to the shape of another tensor."""
    return _broadcast_to(self, shape=other.shape)


def _method_view_as(self: Tensor, other: Tensor) -> Tensor:
    """The same elements in the shape of another tensor."""
    return _reshape(self, shape=other.shape)


def _method_flatten(
    self: Tensor,
    *args: int | Literal["C", "F"],
    order: Literal["C", "F"] = "C",
    start_dim: int = 0,
    end_dim: int = -1,
) -> Tensor:
    """All elements in one axis, or the axes from `start_dim` to `end_dim` joined: `flatten(1)`,
    `flatten(1, 2)`; order 'F', first or by name, reverses the axes before that."""
    axes: tuple[Any, ...] = args
    if args and isinstance(args[0], str):
        order, *axes = args  # type: ignore[assignment]
    if len(axes) > 2:
        raise TypeError(f"For 'flatten', at most two axes must be given, but got {len(axes)}.")
    ends = (*axes, *(start_dim, end_dim)[len(axes) :])
    return flattened(self, order, ends[0], ends[1])


def _method_resize(self: Tensor, *new_shape: Ints) -> Tensor:
    """As many elements as another shape wants: without the last ones, or with zeros behind them."""
    shape = _star("resize", new_shape)
    if min(shape, default=0) < 0:
        raise ValueError(f"For 'resize', the sizes must not be negative, but got {shape}.")
    flat, count = _reshape(self, shape=(-1,)), int(np.prod(shape))
    missing = count - flat.shape[0]
    if missing > 0:
        flat = _concat([flat, raw("Fill")(dtype=self.dtype, shape=(missing,), value=0.0)], axis=0)
    cut = raw("Slice")(flat, begin=(0,), size=(count,))
    return raw("Identity")(_reshape(cut, shape=shape))


def _method_repeat(self: Tensor, repeats: Sizes, axis: int | None = None) -> Tensor:
    """Every element, or slice of an axis, repeated in place."""
    return repeat_interleave(self, repeats, axis)


# ---- diagonals ------------------------------------------------------------------------------------
def _method_diagonal(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis."""
    return diagonal(self, offset, axis1, axis2)


def _method_trace(
    self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DType | None = None
) -> Tensor:
    """The sum of a diagonal; of integers as Int64, where no dtype is given."""
    if dtype is None and self.dtype in _SMALL + _UNSIGNED:
        dtype = _core.int64
    line = diagonal(self, offset, axis1, axis2)
    return raw("ReduceSum")(line if dtype is None else _cast(line, dtype=dtype), axis=(-1,))


# ---- positions ------------------------------------------------------------------------------------
def _method_scatter_add(
    self: Tensor, dim: int | Tensor, index: Tensor, src: Tensor | None = None
) -> Tensor:
    """The tensor with elements of `src` added along an axis at the positions of the index; or,
    `scatter_add(indices, updates)`, with updates at coordinates."""
    if src is None:
        return raw("TensorScatterAdd")(self, dim, index)
    return _scatter_elements(self, index, src, axis=dim, reduction="add")


def _method_index_add(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1
) -> Tensor:
    """The tensor with the slices of `source` added at positions of an axis."""
    return index_add(self, index, source if alpha == 1 else source * alpha, dim)


def _method_gather(
    self: Tensor, input_indices: Tensor | int, axis: int | Tensor, batch_dims: int = 0
) -> Tensor:
    """Slices of an axis by their positions; or, `gather(dim, index)`, elements along a dimension."""
    if isinstance(axis, Tensor):
        return _gather_d(self, axis, dim=input_indices)
    return _gather(self, input_indices, axis=axis, batch_dims=batch_dims)


def _method_take(
    self: Tensor,
    indices: Tensor | Ints,
    axis: int | None = None,
    mode: Literal["clip", "wrap", "raise"] = "clip",
) -> Tensor:
    """Elements of the flattened tensor, or slices of an axis. Positions out of range are those of the
    ends ('clip'), counted on from the other end ('wrap') or an error ('raise')."""
    indices = indices if isinstance(indices, Tensor) else Tensor(indices, _core.int64)
    if axis is None:
        self, axis = _reshape(self, shape=(-1,)), 0
    if mode != "raise" and -self.ndim <= axis < self.ndim:
        size = self.shape[axis]
        indices = indices % size if mode == "wrap" else indices.clip(-size, size - 1)
    return _gather(self, indices, axis=axis)


def _method_choose(
    self: Tensor, choices: Tensor | Sequence[Any], mode: Literal["clip", "wrap", "raise"] = "clip"
) -> Tensor:
    """Of several tensors of one dtype, which broadcast, the element of the one that each number names. Numbers
    out of range name the first or last ('clip'), are counted on ('wrap') or an error ('raise')."""
    made = [c if isinstance(c, Tensor) else Tensor(c) for c in choices]
    shape = broadcast_shapes("choose", self.shape, *(c.shape for c in made))
    options = raw("Stack")([_broadcast_to(c, shape=shape) for c in made], axis=0)
    number = _broadcast_to(_cast(self, dtype=_core.int64), shape=shape)
    if mode != "raise":
        number = number % len(made) if mode == "wrap" else number.clip(0, len(made) - 1)
    return _gather_d(options, number.expand_dims(0), dim=0).squeeze(0)


def _method_searchsorted(
    self: Tensor,
    v: Tensor | Number | Sequence[Any],
    side: Literal["left", "right"] = "left",
    sorter: Tensor | None = None,
) -> Tensor:
    """Where values would go into the last, sorted, axis: before equal elements, or behind them with side 'right'. With
    a `sorter`, its positions sort the axis."""
    values = v if isinstance(v, Tensor) else Tensor(v)
    row = self if sorter is None else _gather_d(self, sorter, dim=self.ndim - 1)
    if self.ndim == 1 and not (row.is_symbolic or values.is_symbolic):
        found = np.searchsorted(row.asnumpy(), values.asnumpy(), side)
        return Tensor(np.asarray(found, np.int32))
    row, each = row.expand_dims(-2), values.expand_dims(-1)
    before = row < each if side == "left" else row <= each
    return before.astype(_core.int32).sum(-1, dtype=_core.int32)


def _method_itemset(self: Tensor, *args: Any) -> Tensor:
    """The tensor with one element replaced: that at a place, counted through all elements or given by
    coordinates; the only one, of a vector, where no place is given."""
    if len(args) not in (1, 2):
        raise ValueError(f"For 'itemset', there must be a place and a value, but got {args}.")
    if len(args) == 1 and self.shape != (1,):
        raise IndexError(
            f"For 'itemset', the place may be left out where the shape is (1,), but got {self.shape}."
        )
    place, value = args if len(args) == 2 else (0, *args)
    if not isinstance(value, (int, float, complex, np.generic, Tensor)):
        raise TypeError(
            f"For 'itemset', the value must be a number, but got {type(value).__name__}."
        )
    changed = raw("Identity")(self if isinstance(place, tuple) else _reshape(self, shape=(-1,)))
    changed[place] = value
    return _reshape(changed, shape=self.shape)


METHODS = [
    method(function)
    for function in (
        _method_reshape,
        _method_view,
        _method_transpose,
        _method_permute,
        _method_expand,
        _method_expand_as,
        _method_view_as,
        _method_flatten,
        _method_resize,
        _method_repeat,
        _method_diagonal,
        _method_trace,
        _method_choose,
        _method_searchsorted,
        _method_itemset,
    )
]
METHODS += [
    method(_method_scatter_add, indices="dim", updates="index"),
    method(_method_index_add, indices="index", y="source", axis="dim"),
    method(_method_take, index="indices"),
    method(_method_gather, dim="input_indices", index="axis"),
    method(index_select, dim="axis"),
    method(repeat_interleave, dim="axis"),
    method(chunk, dim="axis"),
    method(split, dim="axis", split_size="split_size_or_sections"),
]
Tensor.T = property(METHODS[2], doc="Reversed axes.")  # type: ignore[attr-defined]
__all__: list[str] = []

"""Elements written at positions, and tensors filled with one value: what the primitives of several releases call by their own names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._indexing import getitem, index_update
from mindspore.common._kinds import Ints, Number, Real
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.array_func import _ints, _one_int
from mindspore.ops.function.index_func import _along, index_add, index_fill
from mindspore.ops.function.math_func import where

_reshape, _cast, _broadcast = raw("Reshape"), raw("Cast"), raw("BroadcastTo")
_assign, _scatter_elements = raw("Assign"), raw("TensorScatterElements")


# ---- rows -----------------------------------------------------------------------------------------
def _rows(name: str, x: Tensor, v: Tensor, indices: Ints) -> Tensor:
    """Positions of the first axis, spread over the rows that are written."""
    places = _ints(name, indices)
    wanted = (len(places), *x.shape[1:])
    if tuple(v.shape) != wanted:
        raise ValueError(
            f"For '{name}', 'v' must have shape {wanted}, a row for each index, but got {tuple(v.shape)}."
        )
    if any(not 0 <= p < x.shape[0] for p in places):
        raise ValueError(f"For '{name}', 'indices' must be in [0, {x.shape[0]}), but got {places}.")
    return _along(Tensor(np.array(places, np.int64)), 0, tuple(x.shape))


def inplace_add(x: Tensor, v: Tensor, indices: Ints) -> Tensor:
    """`x` with rows added at positions of the first axis."""
    return _scatter_elements(x, _rows("inplace_add", x, v, indices), v, axis=0, reduction="add")


def inplace_sub(x: Tensor, v: Tensor, indices: Ints) -> Tensor:
    """`x` with rows taken away at positions of the first axis."""
    at = _rows("inplace_sub", x, v, indices)
    return _scatter_elements(x, at, -v, axis=0, reduction="add")


def inplace_update(x: Tensor, v: Tensor, indices: Ints) -> Tensor:
    """`x` with rows at positions of the first axis replaced."""
    return _scatter_elements(x, _rows("inplace_update", x, v, indices), v, axis=0)


def _inplace_update(x: Tensor, indices: Ints, v: Tensor) -> Tensor:
    """`x` with rows at positions of the first axis replaced."""
    return inplace_update(x, v, indices)


def inplace_index_add(var: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor:
    """Adds slices to a Parameter at positions of an axis."""
    return _assign(var, index_add(var, indices, updates, axis))


# ---- elements -------------------------------------------------------------------------------------
def _scatter_add_with_axis(
    input_x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0
) -> Tensor:
    """`input_x` with elements added where indices are their coordinates along an axis."""
    return _scatter_elements(input_x, indices, updates, axis=axis, reduction="add")


def _scatter_non_aliasing_add(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """`input_x`, a Parameter, to which slices are added at coordinates."""
    return raw("ScatterNdAdd")(input_x, indices, updates)


def put(x: Tensor, places: Tensor, values: Tensor, accumulate: bool) -> Tensor:
    """The tensor with values at places, which count through all elements."""
    flat = _reshape(x, shape=(-1,))
    values = _broadcast(_cast(values, dtype=x.dtype), shape=places.shape)
    places = _reshape(places, shape=(-1, 1))
    scatter = raw("TensorScatterAdd" if accumulate else "TensorScatterUpdate")
    return _reshape(scatter(flat, places, _reshape(values, shape=(-1,))), shape=x.shape)


def _index_put(x1: Tensor, x2: Tensor, indices: Sequence[Tensor], accumulate: int = 0) -> Tensor:
    """`x1` with elements at the positions of `indices` replaced by, or increased by, those of `x2`."""
    if not accumulate:
        return index_update(x1, tuple(indices), x2)
    numbers = Tensor(np.arange(x1.size).reshape(x1.shape))
    return put(x1, getitem(numbers, tuple(indices)), x2, True)


def _index_fill(x: Tensor, dim: int | Tensor, index: Tensor, value: Tensor | Number) -> Tensor:
    """`x` with the slices at positions of an axis set to one value."""
    return index_fill(x, _one_int("IndexFill", "dim", dim), index, value)


def masked_scattered(x: Tensor, mask: Tensor, updates: Tensor) -> Tensor:
    """`x` with the elements of `updates`, in their order, where the mask holds."""
    if mask.dtype is not _core.bool:
        raise TypeError(f"For 'masked_scatter', 'mask' must be of Bool, but got {mask.dtype}.")
    mask = _reshape(_broadcast(mask, shape=x.shape), shape=(-1,))
    order = raw("CumSum")(_cast(mask, dtype=_core.int64), axis=0) - 1
    order = bound.minimum(bound.maximum(order, 0), max(updates.size - 1, 0))
    items = raw("Gather")(_reshape(updates, shape=(-1,)), order, axis=0)
    chosen = where(mask, _cast(items, dtype=x.dtype), _reshape(x, shape=(-1,)))
    return _reshape(chosen, shape=x.shape)


def _fill_diagonal(input_x: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """`input_x` with one number on the main diagonal; with `wrap`, of a tall matrix, again below each square."""
    return input_x.copy().fill_diagonal_(fill_value, wrap)


def _copy_with_slice(x: Tensor, y: Tensor) -> Tensor:
    """Gives a Parameter the elements of another tensor."""
    return _assign(x, y)


def tensor_slice(input: Tensor, begin: Ints, size: Ints) -> Tensor:
    """The elements of a box, from `begin` on."""
    return raw("Slice")(input, begin=begin, size=size)


# ---- rows that are looked up ----------------------------------------------------------------------
def _embedding_lookup(
    input_params: Tensor, input_indices: Tensor, offset: int | Tensor = 0
) -> Tensor:
    """The rows at the indices less an offset; zeros for indices that have none."""
    if not input_params.ndim:
        raise ValueError("For 'EmbeddingLookup', 'input_params' must have rows, but got a scalar.")
    first = _one_int("EmbeddingLookup", "offset", offset)
    places = input_indices - first if first else input_indices
    rows = input_params.shape[0]
    known = bound.logical_and(bound.greater_equal(places, 0), bound.less(places, rows))
    found = raw("Gather")(input_params, where(known, places, 0), axis=0)
    spread = (*places.shape, *(1,) * (input_params.ndim - 1))
    return where(_reshape(known, shape=spread), found, Tensor(0, input_params.dtype))


def _sparse_to_dense(indices: Tensor, values: Tensor, sparse_shape: Ints) -> Tensor:
    """Zeros of a shape with values at coordinates."""
    return raw("ScatterNd")(indices, values, shape=sparse_shape)


# ---- filled tensors -------------------------------------------------------------------------------
def fills(x: Tensor, value: Real | Tensor) -> Tensor:
    """One number in the shape and dtype of a tensor."""
    if isinstance(value, Tensor):
        if value.ndim:
            raise ValueError(
                f"For 'fills', 'value' must be a number or have no dimension, but got shape {tuple(value.shape)}."
            )
        return _broadcast(_cast(value, dtype=x.dtype), shape=x.shape)
    return _broadcast(_cast(Tensor(value), dtype=x.dtype), shape=x.shape)


def _fill(shape: Ints | Tensor, value: Tensor) -> Tensor:
    """One element in a shape."""
    if value.size != 1:
        raise ValueError(
            f"For 'FillV2', 'value' must have one element, but got shape {tuple(value.shape)}."
        )
    return _broadcast(_reshape(value, shape=()), shape=_ints("FillV2", shape))


def _identities(x: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The same tensors."""
    return tuple(raw("Identity")(t) for t in x)


def accumulate_n(x: Sequence[Tensor]) -> Tensor:
    """The sum of tensors of one shape."""
    if not x:
        raise ValueError("For 'accumulate_n', 'x' must have a tensor, but got none.")
    return raw("AddN")(list(x))


def _expand(x: Tensor, shape: Ints | Tensor) -> Tensor:
    """A tensor spread to a shape, of which -1 keeps what is there."""
    sizes = _ints("Expand", shape)
    lead = len(sizes) - x.ndim
    return _broadcast(x, shape=[x.shape[i - lead] if n == -1 else n for i, n in enumerate(sizes)])


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """A tensor spread to the shape of another."""
    return _broadcast(input, shape=other.shape)


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """A tensor in the shape of another."""
    return _reshape(input, shape=other.shape)


FACES: dict[str, Callable | str] = {
    "InplaceAdd(indices)(x, input_v@v)": "inplace_add",
    "InplaceSub(indices)(x, input_v@v)": "inplace_sub",
    "InplaceUpdate(indices)(x, v)": "inplace_update",
    "InplaceUpdateV2()(x, indices, v)": _inplace_update,
    "InplaceIndexAdd(axis)(var, indices, updates)": "inplace_index_add",
    "ScatterAddWithAxis(axis=0)(input_x, indices, updates)": _scatter_add_with_axis,
    "ScatterNonAliasingAdd()(input_x, indices, updates)": _scatter_non_aliasing_add,
    "IndexPut(accumulate=0)(x1, x2, indices)": _index_put,
    "IndexFill()(x, dim, index, value)": _index_fill,
    "MaskedScatter()(x, mask, updates)": masked_scattered,
    "FillDiagonal(fill_value, wrap=False)(input_x)": _fill_diagonal,
    "CopyWithSlice()(x, y)": _copy_with_slice,
    "EmbeddingLookup()(input_params, input_indices, offset)": _embedding_lookup,
    "SparseToDense()(indices, values, sparse_shape)": _sparse_to_dense,
    "Fills()(x, value)": "fills",
    "FillV2()(shape, value)": _fill,
    "IdentityN()(x)": _identities,
    "AccumulateNV2()(x)": "accumulate_n",
    "Expand()(x, shape)": _expand,
}
__all__ = [
    "accumulate_n",
    "expand_as",
    "fills",
    "inplace_add",
    "inplace_index_add",
    "inplace_sub",
    "inplace_update",
    "tensor_slice",
    "view_as",
]

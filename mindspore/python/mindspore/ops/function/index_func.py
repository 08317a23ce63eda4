"""Reading and writing at positions in their 2.x forms. What depends on values (nonzero, unique,
masked_select) needs concrete tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._dtypes import of_dtype
from mindspore.common._kinds import Count, Ints, Number
from mindspore.common._size import broadcast_shapes, require_memory
from mindspore.common.parameter import Parameter
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _axis

_gather, _gather_d, _gather_nd = raw("Gather"), raw("GatherD"), raw("GatherNd")
_scatter_elements, _scatter_nd = raw("TensorScatterElements"), raw("ScatterNd")
_reshape, _broadcast_to, _select, _cast = (
    raw(n) for n in ("Reshape", "BroadcastTo", "Select", "Cast")
)


def _concrete(name: str, x: Tensor) -> np.ndarray:
    if x.is_symbolic:
        raise _late.compiler.Unsupported(
            f"For '{name}', the input must be known while compiling, since the shape of the result "
            "depends on it, "
            "but got a tensor that is not. Use ops.where with a mask, or call it outside the "
            "compiled function."
        )
    return x.asnumpy()


def gather_d(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """For every position of the index, the element whose coordinate along `dim` it is."""
    return _gather_d(x, index, dim=dim)


def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """For every position of the index, the element whose coordinate along `dim` it is."""
    return _gather_d(input, index, dim=dim)


def scatter(input: Tensor, axis: int, index: Tensor, src: Tensor | Number) -> Tensor:
    """The input with elements along an axis replaced at the positions of the index."""
    if not isinstance(src, Tensor):
        src = _broadcast_to(of_dtype("scatter", src, input.dtype), shape=index.shape)
    return _scatter_elements(input, index, src, axis=axis)


def index_select(input: Tensor, axis: int, index: Tensor) -> Tensor:
    """The slices of an axis at positions held by a vector."""
    if index.ndim != 1:
        raise ValueError(
            f"For 'index_select', 'index' must have 1 dimension, but got {index.ndim}."
        )
    return _gather(input, index, axis=axis)


def _along(index: Tensor, axis: int, shape: tuple[int, ...]) -> Tensor:
    """A vector of positions along an axis, spread over the other axes."""
    place = [1] * len(shape)
    place[axis] = index.shape[0]
    sizes = list(shape)
    sizes[axis] = index.shape[0]
    return _broadcast_to(_reshape(index, shape=place), shape=sizes)


def index_add(
    x: Tensor,
    indices: Tensor,
    y: Tensor,
    axis: int,
    use_lock: bool = True,
    check_index_bound: bool = True,
) -> Tensor:
    """`x` with the slices of `y` added at positions of an axis; a Parameter is written to."""
    del use_lock, check_index_bound
    axis = _axis("index_add", axis, x.ndim)
    if indices.ndim != 1:
        raise ValueError(
            f"For 'index_add', 'indices' must have 1 dimension, but got {indices.ndim}."
        )
    added = _scatter_elements(x, _along(indices, axis, x.shape), y, axis=axis, reduction="add")
    return raw("Assign")(x, added) if isinstance(x, Parameter) else added


def index_fill(x: Tensor, axis: int, index: Tensor | Ints, value: Tensor | Number) -> Tensor:
    """`x` with the slices at positions of an axis set to one value."""
    places = index if isinstance(index, Tensor) else Tensor(index, _core.int64)
    where = _along(_reshape(places, shape=(-1,)), _axis("index_fill", axis, x.ndim), x.shape)
    if not isinstance(value, Tensor):
        value = of_dtype("index_fill", value, x.dtype)
    value = _cast(value, dtype=x.dtype)
    return _scatter_elements(x, where, _broadcast_to(value, shape=where.shape), axis=axis)


def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements of the flattened input."""
    return _gather(_reshape(input, shape=(-1,)), index, axis=0)


def masked_fill(input_x: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """The input with one value where the mask is true."""
    shape = broadcast_shapes("masked_fill", tuple(input_x.shape), tuple(mask.shape))
    value = (
        _cast(value, dtype=input_x.dtype)
        if isinstance(value, Tensor)
        else of_dtype("masked_fill", value, input_x.dtype)
    )
    if tuple(input_x.shape) != shape:
        input_x = _broadcast_to(input_x, shape=shape)
    return _select(mask, value, input_x)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements where the mask is true, as a vector. The mask must be concrete."""
    shape = broadcast_shapes("masked_select", tuple(input.shape), tuple(mask.shape))
    positions = np.flatnonzero(np.broadcast_to(_concrete("masked_select", mask), shape))
    flat = _reshape(_broadcast_to(input, shape=shape), shape=(-1,))
    return _gather(flat, Tensor(positions.astype(np.int64)), axis=0)


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Coordinates of the elements that are not zero: one row each, or one vector for each axis."""
    if input.ndim == 0:
        raise ValueError("For 'nonzero', 'input' must have a dimension, but got a scalar.")
    array = _concrete("nonzero", input)
    if array.ndim > 1:  # a quarter of the time that np.nonzero takes
        positions = np.unravel_index(np.flatnonzero(array), array.shape)
    else:
        positions = np.nonzero(array)
    if as_tuple:
        return tuple(Tensor(p.astype(np.int64)) for p in positions)
    return Tensor(np.stack(positions, axis=-1).astype(np.int64))


def unique(input: Tensor) -> tuple[Tensor, Tensor]:
    """The different elements in order of appearance, and which of them each element is."""
    array = _concrete("unique", input).ravel()
    if array.size >= _SORTED_BY_KERNEL and input.dtype not in _NOT_SORTED:
        ordered, places = raw("Sort")(_reshape(input, shape=(-1,)), axis=0, descending=False)
        first, inverse = _groups(ordered.asnumpy(), places.asnumpy())
    else:
        _, first, inverse = np.unique(array, return_index=True, return_inverse=True)
        inverse = inverse.ravel()
    appears = np.zeros(array.size, np.int32)
    appears[first] = 1
    rank = np.cumsum(appears, dtype=np.int32) - 1  # at its first appearance, that of a value
    values = _gather(_reshape(input, shape=(-1,)), Tensor(np.flatnonzero(appears)), axis=0)
    index = _core.int64 if input.dtype is _core.int64 else _core.int32
    return values, Tensor(rank[first][inverse].reshape(tuple(input.shape)), index)


_SORTED_BY_KERNEL = 1024  # from so many elements on
_NOT_SORTED = (_core.bool, _core.complex64, _core.complex128)


def _groups(ordered: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each value appears first, and which value each element is; of sorted values and the places they come from."""
    before, after = ordered[:-1], ordered[1:]
    starts = np.empty(ordered.size, bool)
    starts[0] = True
    # Each nan equals the other ones.
    np.logical_and(before != after, (before == before) | (after == after), out=starts[1:])
    inverse = np.empty(ordered.size, np.int32)
    inverse[places] = np.cumsum(starts, dtype=np.int32) - 1
    return places[starts], inverse


def sequence_mask(lengths: Tensor, maxlen: Count | None = None) -> Tensor:
    """A new last axis that is true at positions less than the length."""
    if maxlen is None:
        maxlen = int(_concrete("sequence_mask", lengths).max(initial=0))
    require_memory("sequence_mask", maxlen, 8)
    positions = Tensor(np.arange(maxlen), lengths.dtype)
    return raw("Less")(positions, raw("ExpandDims")(lengths, axis=-1))


def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Tensor:
    """The input with one slice of an axis replaced."""
    from mindspore.common._indexing import index_update

    axis = _axis("select_scatter", axis, input.ndim)
    return index_update(input, (slice(None),) * axis + (index,), src)


def slice_scatter(
    input: Tensor,
    src: Tensor,
    axis: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """The input with a strided slice of an axis replaced."""
    from mindspore.common._indexing import index_update

    axis = _axis("slice_scatter", axis, input.ndim)
    return index_update(input, (slice(None),) * axis + (slice(start, end, step),), src)


METHODS = (
    "gather_elements",
    "scatter",
    "index_fill",
    "masked_fill",
    "masked_select",
    "nonzero",
    "unique",
    "select_scatter",
    "slice_scatter",
)
__all__ = [
    "gather_d",
    "gather_elements",
    "index_add",
    "index_fill",
    "index_select",
    "masked_fill",
    "masked_select",
    "nonzero",
    "scatter",
    "select_scatter",
    "sequence_mask",
    "slice_scatter",
    "take",
    "unique",
]

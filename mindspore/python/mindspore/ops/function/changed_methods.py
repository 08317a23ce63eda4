"""Tensor methods that give a changed copy where others write into the tensor, and segments of a tensor put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mindspore._core import Tensor
from mindspore.common._kinds import Ints, Number, Real
from mindspore.context import checked_device
from mindspore.ops import function as composed
from mindspore.ops._bind import raw
from mindspore.ops._forms import method
from mindspore.ops.function.array_classes import reverse_sequence
from mindspore.ops.function.array_func import _axis
from mindspore.ops.function.put_func import _fill_diagonal, _index_put, _inplace_update


def _check_same_dtype(name: str, argument: str, value: Tensor, x: Tensor) -> None:
    if value.dtype is not x.dtype:
        raise TypeError(
            f"For 'Tensor.{name}', '{argument}' must have the dtype of the tensor, {x.dtype}, but got {value.dtype}."
        )


def _method_index(self: Tensor, indices: Sequence[Tensor]) -> Tensor:
    """The elements that tensors of places, or of truth values, choose along the first dimensions."""
    return self[tuple(indices)]


def _method_index_put(
    self: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False
) -> Tensor:
    """A copy with values at places; or with values added, also where places are named more than once."""
    _check_same_dtype("index_put", "values", values, self)
    return _index_put(self, values, indices, int(accumulate))


def _method_fill_diagonal(self: Tensor, fill_value: Real, wrap: bool = False) -> Tensor:
    """A copy with one number on the main diagonal; with `wrap`, of a tall matrix, again below each square."""
    return _fill_diagonal(self, fill_value, wrap)


def _method_inplace_update(self: Tensor, v: Tensor, indices: Ints | Tensor) -> Tensor:
    """A copy with the rows of `v` at positions of the first axis."""
    if not isinstance(indices, Tensor):
        return _inplace_update(self, indices, v)
    wanted = (*indices.shape, *self.shape[1:])
    if tuple(v.shape) != wanted:
        raise ValueError(
            f"For 'Tensor.inplace_update', 'v' must have shape {wanted}, a row for each index, but got {tuple(v.shape)}."
        )
    _check_same_dtype("inplace_update", "v", v, self)
    return _index_put(self, v, (indices,))


def _method_masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """A copy that has the elements of `source`, in their order, where the mask holds."""
    return self.copy().masked_scatter_(mask, source)  # type: ignore[attr-defined]


def _method_kthvalue(
    self: Tensor, k: int, dim: int = -1, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """The k-th smallest element along a dimension, and where it stands."""
    axis = _axis("kthvalue", dim, self.ndim)
    size = self.shape[axis] if self.ndim else 1
    if not 1 <= k <= size:
        raise ValueError(f"For 'Tensor.kthvalue', 'k' must be in [1, {size}], but got {k}.")
    values, places = self.sort(axis)
    found = (
        [x.narrow(axis, k - 1, 1) for x in (values, places.long())]
        if self.ndim
        else [values, places.long()]
    )
    value, place = found if keepdim or not self.ndim else [x.squeeze(axis) for x in found]
    return value, place


def _method_reverse_sequence(
    self: Tensor, seq_lengths: Tensor, seq_dim: int = 0, batch_dim: int = 0
) -> Tensor:
    """The first elements of an axis in reverse order, as many as a length for each batch says."""
    return reverse_sequence(self, seq_lengths, seq_dim, batch_dim)


def _method_soft_shrink(self: Tensor, lambd: Number = 0.5) -> Tensor:
    """Elements moved towards zero by a number; what would pass it is zero."""
    return raw("SoftShrink")(self, lambd=lambd)


def _method_to_(self: Tensor, device: str, non_blocking: bool = False) -> Tensor:
    """The tensor itself, which must be on that device already: a tensor keeps its place."""
    del non_blocking
    if checked_device("Tensor.to_", "device", device) != self.device:
        raise NotImplementedError(
            f"For 'Tensor.to_', 'device' must be that of the tensor, {self.device}, but got {device}; 'move_to' gives "
            "a copy there."
        )
    return self


def _scattering(kind: str) -> Callable:
    def change(self: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        return getattr(composed, f"tensor_scatter_{kind}")(self, indices, updates)

    change.__name__ = f"scatter_{kind}"
    change.__doc__ = f"A copy in which updates meet the elements at coordinates by '{kind}'."
    return method(change)


def _by_segments(kind: str) -> Callable:
    def join(self: Tensor, segment_ids: Tensor, num_segments: int) -> Tensor:
        return getattr(composed, f"unsorted_segment_{kind}")(self, segment_ids, num_segments)

    join.__name__ = f"unsorted_segment_{kind}"
    join.__doc__ = f"The '{kind}' of the slices that bear each number."
    return method(join)


METHODS = [
    method(function)
    for function in (
        _method_index,
        _method_index_put,
        _method_fill_diagonal,
        _method_inplace_update,
        _method_masked_scatter,
        _method_kthvalue,
        _method_reverse_sequence,
        _method_soft_shrink,
        _method_to_,
    )
]
METHODS += [*map(_scattering, ("div", "max", "min", "mul", "sub"))]
METHODS += [*map(_by_segments, ("max", "min", "prod"))]
__all__: list[str] = []

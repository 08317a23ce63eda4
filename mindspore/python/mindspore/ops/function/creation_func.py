"""Tensors made from numbers in their 2.x forms."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._kinds import Count, Real, Sizes
from mindspore.common._size import require_memory
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _ints, _number, _star

_fill, _range, _one_hot, _cast = raw("Fill"), raw("Range"), raw("OneHot"), raw("Cast")
_broadcast_to = raw("BroadcastTo")


def full(size: Sizes, fill_value: Real | Tensor, *, dtype: DType | None = None) -> Tensor:
    """A tensor of one repeated value; without a dtype, Int64 for ints, Bool for truth values, else
    Float32."""
    if dtype is None:
        kinds = {bool: _core.bool, int: _core.int64}
        dtype = kinds.get(type(fill_value), _core.float32)
    return _filled(dtype, _ints("full", size), fill_value)


def full_like(input: Tensor, fill_value: Real | Tensor, *, dtype: DType | None = None) -> Tensor:
    """A tensor of one repeated value in the shape, and by default the dtype, of another."""
    return _filled(input.dtype if dtype is None else dtype, input.shape, fill_value)


def _filled(dtype: Any, shape: Any, value: Any) -> Tensor:
    if isinstance(value, Tensor) and value.dtype in (_core.int64, _core.uint64):
        value = value.item()
    if type(value) is int and abs(value) > 1 << 53:  # a float would lose digits
        return _broadcast_to(Tensor(value, dtype), shape=shape)
    return _fill(dtype=dtype, shape=shape, value=value)


def arange(
    start: Real | Tensor = 0,
    end: Real | Tensor | None = None,
    step: Real | Tensor = 1,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Numbers from `start` (0) up to, but without, `end`."""
    if end is None:
        start, end = 0, start
    start, end, step = (_number("arange", v) for v in (start, end, step))
    return _range(start=start, end=end, step=step, maxlen=1 << 40, dtype=dtype)


def logspace(
    start: Real | Tensor,
    end: Real | Tensor,
    steps: int,
    base: Real = 10,
    *,
    dtype: DType | None = _core.float32,
) -> Tensor:
    """Powers of a base whose exponents have equal distances."""
    first, last = (float(_number("logspace", v)) for v in (start, end))
    return _cast(float(base) ** raw("LinSpace")(first, last, num=steps), dtype=dtype)


def one_hot(
    indices: Tensor,
    depth: int,
    on_value: Real | Tensor = 1,
    off_value: Real | Tensor = 0,
    axis: int = -1,
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


def tril_indices(
    row: Count, col: Count, offset: int = 0, *, dtype: DType | None = _core.int64
) -> Tensor:
    """Coordinates of the lower triangle of a matrix."""
    require_memory("tril_indices", row * col, 16)
    return Tensor(np.stack(np.tril_indices(row, _cut(offset, row, col), col)), dtype)


def triu_indices(
    row: Count, col: Count, offset: int = 0, *, dtype: DType | None = _core.int64
) -> Tensor:
    """Coordinates of the upper triangle of a matrix."""
    require_memory("triu_indices", row * col, 16)
    return Tensor(np.stack(np.triu_indices(row, _cut(offset, row, col), col)), dtype)


def _cut(offset: int, rows: int, columns: int) -> int:
    """The diagonal that divides a matrix as one does that may lie outside of it."""
    return max(-rows - 1, min(offset, columns + 1))


def _method_fill(self: Tensor, value: Real | Tensor) -> Tensor:
    """A tensor of one repeated value in this shape and dtype."""
    return full_like(self, value)


def _method_fills(self: Tensor, value: Real | Tensor) -> Tensor:
    """A tensor of one repeated value in this shape and dtype."""
    return full_like(self, value)


def _method_new_zeros(self: Tensor, *size: Sizes, dtype: DType | None = None) -> Tensor:
    """Zeros of a shape, by default in this dtype."""
    return _fill(dtype=dtype or self.dtype, shape=_star("new_zeros", size), value=0.0)


def _method_new_ones(self: Tensor, *size: Sizes, dtype: DType | None = None) -> Tensor:
    """Ones of a shape, by default in this dtype."""
    return _fill(dtype=dtype or self.dtype, shape=_star("new_ones", size), value=1.0)


for _function in (_method_fill, _method_fills, _method_new_zeros, _method_new_ones):
    _function.__name__ = _function.__name__.removeprefix("_method_")

METHODS = (_method_fill, _method_fills, _method_new_zeros, _method_new_ones)
__all__ = ["arange", "full", "full_like", "logspace", "one_hot", "tril_indices", "triu_indices"]

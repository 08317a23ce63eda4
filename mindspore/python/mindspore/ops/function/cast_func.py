"""Conversions between dtypes, and questions about them: mostly Tensor methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import _core, context
from mindspore._core import DType, Tensor
from mindspore.common._dtypes import COMPLEX, FLOATS, HALVES, SIGNED
from mindspore.ops._bind import bound


def _dtype(name: str, dtype: Any) -> DType:
    """The dtype that a dtype, a NumPy or Python type, or a name stands for."""
    if isinstance(dtype, DType):
        return dtype
    try:
        if isinstance(dtype, str):
            dtype = getattr(_core, dtype.lower(), None) or np.dtype(dtype)
        return _core.dtype_of(dtype)
    except TypeError:
        raise TypeError(f"For '{name}', 'dtype' must be a dtype, but got {dtype!r}.") from None


def astype(self: Tensor, dtype: DType | str, copy: bool = True) -> Tensor:
    """The elements converted to `dtype`; itself where it has it and `copy` is false."""
    wanted = _dtype("astype", dtype)
    return self if self.dtype == wanted and not copy else bound.cast(self, wanted)


def to(self: Tensor, dtype: DType | str) -> Tensor:
    """The elements converted to `dtype`, or on the device of that name."""
    if isinstance(dtype, str) and context.names_device(dtype):
        return self.move_to(dtype)
    wanted = _dtype("to", dtype)
    return self if self.dtype == wanted else bound.cast(self, wanted)


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """`input` converted to the dtype of `other`."""
    return bound.cast(input, other.dtype)


def _type(self: Tensor, dtype: DType | str | None = None) -> Any:
    """The name of the dtype, or the tensor converted to the one given."""
    return str(self.dtype) if dtype is None else bound.cast(self, _dtype("type", dtype))


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating one."""
    return input.dtype in FLOATS


def _in_float32(x: Tensor) -> Tensor:
    """Half types as Float32, for what needs more digits on the way."""
    return bound.cast(x, _core.float32) if x.dtype in HALVES else x


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is a complex one."""
    return input.dtype in COMPLEX


def is_signed(self: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return self.dtype in (*FLOATS, *COMPLEX, *SIGNED)


def _conversion(name: str, dtype: DType) -> Any:
    def convert(self: Tensor) -> Tensor:
        return bound.cast(self, dtype)

    convert.__name__ = name
    convert.__doc__ = f"The elements converted to {dtype}."
    return convert


_type.__name__ = "type"

__all__ = ["is_complex", "is_floating_point", "type_as"]

METHODS = [
    "is_complex",
    "is_floating_point",
    "type_as",
    astype,
    to,
    _type,
    is_signed,
    _conversion("bool", _core.bool),
    _conversion("byte", _core.uint8),
    _conversion("short", _core.int16),
    _conversion("int", _core.int32),
    _conversion("long", _core.int64),
    _conversion("half", _core.float16),
    _conversion("bfloat16", _core.bfloat16),
    _conversion("float", _core.float32),
    _conversion("double", _core.float64),
]

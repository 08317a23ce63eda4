"""The kinds of numbers, as tuples of dtypes to ask `x.dtype in FLOATS` of; and a check of them."""

from __future__ import annotations

from mindspore import _core
from mindspore._core import Tensor

HALVES = (_core.float16, _core.bfloat16)
FLOATS = (*HALVES, _core.float32, _core.float64)
COMPLEX = (_core.complex64, _core.complex128)
SIGNED = (_core.int8, _core.int16, _core.int32, _core.int64)
UNSIGNED = (_core.uint8, _core.uint16, _core.uint32, _core.uint64)
INTEGERS = (*SIGNED, *UNSIGNED)


def require_same_dtype(name: str, x: Tensor, y: Tensor) -> None:
    """Refuse two tensors of different dtypes."""
    if x.dtype != y.dtype:
        raise TypeError(
            f"For '{name}', the inputs must have the same dtype, but got {x.dtype} and {y.dtype}."
        )

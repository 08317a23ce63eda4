"""The kinds of numbers, as tuples of dtypes to ask `x.dtype in FLOATS` of; and a check of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor

HALVES = (_core.float16, _core.bfloat16)
FLOATS = (*HALVES, _core.float32, _core.float64)
COMPLEX = (_core.complex64, _core.complex128)
# Nothing is gained by computing in float32 for these.
FULL = (_core.float32, _core.float64, *COMPLEX)
SIGNED = (_core.int8, _core.int16, _core.int32, _core.int64)
UNSIGNED = (_core.uint8, _core.uint16, _core.uint32, _core.uint64)
INTEGERS = (*SIGNED, *UNSIGNED)


def wide(x: Tensor) -> Tensor:
    """The tensor, of half precision in float32: squares and sums there neither overflow nor vanish before they are rounded."""
    return x.astype(_core.float32) if x.dtype in HALVES else x


def floating(x: Tensor) -> Tensor:
    """What is computed with: floats as `wide` has them, complex numbers as they are, integers and truth values in float32."""
    return x if x.dtype in FULL else x.astype(_core.float32)


def rounded(x: Tensor, *inputs: Tensor) -> Tensor:
    """A result that was computed from `wide` inputs, back in their half precision."""
    kinds = [t.dtype for t in inputs if t.dtype in (*FLOATS, *COMPLEX)]
    back = bool(kinds) and kinds[0] in HALVES and all(kind == kinds[0] for kind in kinds)
    return x.astype(kinds[0]) if back and x.dtype != kinds[0] else x


def unwrapped(x: Tensor) -> Tensor:
    """Integers in a dtype that differences of them fit: small ones in int32, uint32 in int64."""
    if x.dtype in (_core.int8, _core.int16, _core.uint8, _core.uint16):
        return x.astype(_core.int32)
    return x.astype(_core.int64) if x.dtype == _core.uint32 else x


def of_dtype(name: str, value: Any, dtype: DType) -> Tensor:
    """A number, or numbers, as a tensor of the dtype of what it is written to: a complex one does not lose its imaginary part there."""
    several = isinstance(value, (list, tuple, np.ndarray, np.generic))
    is_complex = isinstance(value, complex) or (several and np.iscomplexobj(value))
    if is_complex and dtype not in COMPLEX:
        got = "complex numbers" if several else repr(value)
        raise TypeError(
            f"For '{name}', 'value' must be real where it goes into a tensor of {dtype}, but got {got}. "
            "Take its .real, or convert the tensor to complex64 first."
        )
    return Tensor(value, dtype)


def require_same_dtype(name: str, x: Tensor, y: Tensor) -> None:
    """Refuse two tensors of different dtypes."""
    if x.dtype != y.dtype:
        raise TypeError(
            f"For '{name}', the inputs must have the same dtype, but got {x.dtype} and {y.dtype}."
        )

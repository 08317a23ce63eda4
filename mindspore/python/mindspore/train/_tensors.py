"""Tensors as checkpoint files hold them: (name, type name, shape, buffer), and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor

TEXT = "str"
Entry = tuple[str, str, list[int], np.ndarray]

_TYPES = {
    "Bool": mstype.bool_, "Int8": mstype.int8, "Int16": mstype.int16, "Int32": mstype.int32,
    "Int64": mstype.int64, "UInt8": mstype.uint8, "UInt16": mstype.uint16,
    "UInt32": mstype.uint32, "UInt64": mstype.uint64, "Float16": mstype.float16,
    "BFloat16": mstype.bfloat16, "Float32": mstype.float32, "Float64": mstype.float64,
    "Complex64": mstype.complex64, "Complex128": mstype.complex128,
}  # fmt: skip
_NAMES = {value: key for key, value in _TYPES.items()}

# Names that programs written for 1.x import.
tensor_to_ms_type = dict(_TYPES)
tensor_to_np_type = {
    name: np.dtype(name.lower()).type for name in _TYPES if name not in ("BFloat16",)
}


def type_name(dtype: Any) -> str:
    """The name of a type in files, e.g. "Float32"."""
    return _NAMES[dtype]


def bits_of(tensor: Tensor) -> np.ndarray:
    """The elements as an array that owns or shares their memory; bfloat16 as its bits in uint16."""
    if tensor.dtype == mstype.bfloat16:
        wide = np.ascontiguousarray(tensor.astype(mstype.float32).asnumpy())
        return (wide.reshape(-1).view(np.uint32) >> 16).astype(np.uint16).reshape(wide.shape)
    return np.ascontiguousarray(tensor.asnumpy())


def entry_of(name: str, tensor: Tensor) -> Entry:
    """What the writer takes for a tensor."""
    return name, type_name(tensor.dtype), [int(d) for d in tensor.shape], bits_of(tensor)


def text_entry(name: str, text: str) -> Entry:
    """What the writer takes for a text: its characters in UTF-32."""
    return name, TEXT, [0], np.frombuffer(text.encode("utf-32-le"), np.uint8)


def tensor_of(dtype: str, array: np.ndarray) -> Tensor:
    """The tensor for what the reader gave; it shares the memory."""
    if dtype == "BFloat16":
        wide = (array.reshape(-1).astype(np.uint32) << 16).view(np.float32).reshape(array.shape)
        return Tensor.from_numpy(wide).astype(mstype.bfloat16)
    return Tensor.from_numpy(array)


def text_of(array: np.ndarray) -> str:
    """The text for what the reader gave."""
    return array.tobytes().decode("utf-32-le")

"""What a Tensor says of its memory and of how it was made, and how its bytes leave and come."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._checked import checked
from mindspore.common._kinds import Count
from mindspore.common._refused import refused_attributes
from mindspore.common._symbol import symbolic_shape
from mindspore.common.dtype import dtype_to_nptype


def _stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements lie between neighbours along a dimension, or along each."""
    steps = [step // self.itemsize for step in self.strides]
    if dim is None:
        return steps
    if not -self.ndim <= dim < self.ndim:
        raise IndexError(
            f"For 'stride', 'dim' must be in [{-self.ndim}, {self.ndim}), but got {dim}."
        )
    return steps[dim]


def _data_ptr(self: Tensor) -> int:
    """The address of the first element; of a tensor on a device, in its memory."""
    return self.asnumpy().__array_interface__["data"][0]


def _requires_grad_(self: Any, requires_grad: bool = True) -> Any:
    """The tensor itself; a Parameter is trained from now on, or is not."""
    if hasattr(self, "requires_grad"):
        self.requires_grad = requires_grad
    return self


def _get_bytes(self: Tensor) -> bytes:
    """The elements as bytes, one after the other."""
    return self.asnumpy().tobytes()


def _convert_bytes_to_tensor(data: bytes, shape: Sequence[Count], dtype: DType) -> Tensor:
    """A tensor of the elements that bytes are."""
    kind: Any = np.dtype(dtype_to_nptype(dtype))
    expected = math.prod(shape) * kind.itemsize
    if len(data) != expected:
        raise ValueError(
            f"For 'convert_bytes_to_tensor', there must be {expected} bytes for shape {tuple(shape)} and "
            f"{dtype}, but got {len(data)}."
        )
    return Tensor(np.frombuffer(data, kind).reshape(shape).copy(), dtype)


def _assign_value(self: Tensor, value: Tensor) -> Tensor:
    """The tensor itself, with the value of another one."""
    return self._write(value)


def _set_dtype(self: Tensor, dtype: DType) -> DType:
    """The dtype, in which the elements of the tensor are from now on."""
    self._assign_value(_core.op("Cast")(self, dtype=dtype))
    return dtype


def _set_const_arg(self: Tensor, const_arg: bool = True) -> Tensor:
    """The tensor itself. Whether a compiled function takes it as a constant is seen from its use."""
    return self


def _method(name: str, function: Callable) -> Callable:
    """It under its name, with its arguments checked."""
    function.__name__ = function.__qualname__ = name
    return checked(function)


_FUNCTIONS: dict[str, Callable] = {
    "stride": _stride,
    "requires_grad_": _requires_grad_,
    "assign_value": _assign_value,
    "assign_value_cpp": _assign_value,
    "set_dtype": _set_dtype,
    "set_const_arg": _set_const_arg,
}
FACTS: dict[str, Any] = {
    **{name: _method(name, function) for name, function in _FUNCTIONS.items()},
    "nelement": lambda self: int(self.size),
    "storage_offset": lambda self: 0,
    "data_ptr": _data_ptr,
    "is_meta": False,
    "is_pinned": lambda self: False,
    "is_shared": lambda self: False,
    "is_init": lambda self: False,
    "init_finished": True,
    "init_flag": False,
    "delta_seed": 0,
    "param_info": None,
    "symbolic_shape": property(symbolic_shape),
    "to_dlpack": lambda self: self.__dlpack__(),
    "get_bytes": _get_bytes,
    "convert_bytes_to_tensor": staticmethod(
        _method("convert_bytes_to_tensor", _convert_bytes_to_tensor)
    ),
    "index_of_parent_": None,
    "parent_tensor_": None,
    **dict.fromkeys(
        ("set_cast_dtype", "set_init_flag", "set_param_info"), lambda self, *args: None
    ),
    **refused_attributes("Tensor"),
    "offload_file_path": lambda self: "",
    "wait_pipeline": lambda self: None,
    "data_sync": lambda self, *args: _core.synchronize(),
    "pin_memory": lambda self: self,
}

"""The Python parts of Tensor: how it is made from data, printed, pickled, indexed; its methods come from ops."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.common import _printing
from mindspore.common._checked import check_value
from mindspore.common._kinds import Ints
from mindspore.common._size import require_memory
from mindspore.common._symbol import Symbol, describe
from mindspore.common._tensor_facts import FACTS
from mindspore.context import HOST, checked_device

Tensor = _core.Tensor


class _Shape(tuple):
    """`x.shape` is a tuple; the first releases spelled it `x.shape()`, so it may be called."""

    __slots__ = ()

    def __call__(self) -> tuple:
        return self

    def __reduce__(self):
        return (tuple, (tuple(self),))


class _Size(int):
    """`x.size` is an int that may be called."""

    __slots__ = ()

    def __call__(self) -> int:
        return int(self)

    def __reduce__(self):
        return (int, (int(self),))


def _sort_arguments(
    input_data=None, dtype=None, shape=None, init=None, internal=False, const_arg=False, device=None
):
    """The spellings of Tensor(...): data and dtype, or an initializer with shape and dtype."""
    del internal, const_arg
    device = None if device is None else checked_device("Tensor", "device", device)
    if input_data is None and init is None and dtype is not None and _is_open(shape):
        sizes = [None if s == -1 or isinstance(s, Symbol) else s for s in shape]
        return describe(_core.placeholder(dtype, sizes), shape), None, None
    if input_data is None and init is None and dtype is not None and shape is None:
        return _core.placeholder_of_any_rank(dtype), None, None
    if _is_open(shape):
        raise ValueError(
            "For 'Tensor', a 'shape' with None describes an input: it needs 'dtype' and no data, "
            f"but got shape {shape}."
        )
    if init is not None:
        if input_data is not None or shape is None or dtype is None:
            raise ValueError(
                "For 'Tensor', 'init' must come with 'shape' and 'dtype', and without data, "
                f"but got shape {shape}, dtype {dtype} and {'' if input_data is not None else 'no '}data."
            )
        from mindspore.common.initializer import initializer

        return initializer(init, shape, dtype), dtype, device
    if input_data is not None and shape is not None:
        raise ValueError(
            f"For 'Tensor', 'shape' must be left out where data is given, but got {shape}."
        )
    if input_data is None:
        if shape is not None and dtype is not None:
            sizes = check_value(Ints, shape, "shape", "Tensor")
            require_memory("Tensor", math.prod((sizes,) if isinstance(sizes, int) else sizes), 8)
            return np.zeros(sizes, _core.numpy_dtype(dtype)), dtype, device
        raise TypeError(
            "For 'Tensor', 'input_data' must be given, or 'shape', 'dtype' and 'init', but got none of them."
        )
    return input_data, dtype, device


def _is_open(shape) -> bool:
    """Whether sizes are left to the calls of a compiled function."""
    if not isinstance(shape, (tuple, list)):
        return False
    return any(s is None or s == -1 or isinstance(s, Symbol) for s in shape)


_lost: set[str] = set()  # devices of the process that this one was forked from
os.register_at_fork(after_in_child=lambda: _lost.update(set(_core.backends()) - {HOST}))


def _repr(self: Tensor) -> str:
    facts = f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, value="
    if self.is_symbolic:
        return f"{facts}<known at run time>)"
    if _lost and self.device in _lost:
        return f"{facts}<on {self.device}, which a forked process does not have>)"
    short = self.dtype is _core.bfloat16
    array = self.asnumpy().astype(np.float32) if short else self.asnumpy()
    text = _printing.elements(array, plain=short)
    return f"{facts}{' ' if self.ndim < 2 else chr(10)}{text})"


def _str(self: Tensor) -> str:
    if self.is_symbolic:
        return _repr(self)
    if self.dtype is _core.bfloat16:
        return _printing.decimals(self.asnumpy().astype(np.float32))
    return str(self.asnumpy())


def _format(self: Tensor, spec: str) -> str:
    return format(self.item(), spec) if spec else str(self)


def _shared_array(self: Tensor) -> np.ndarray | None:
    """An array over its memory; None where there can be none."""
    array = self.asnumpy()
    return array if not array.size or np.may_share_memory(array, self.asnumpy()) else None


def _array(self: Tensor, dtype=None, copy=None):
    array = self.asnumpy()
    converts = dtype is not None and array.dtype != dtype
    if copy is False and (converts or _shared_array(self) is None):
        raise ValueError(
            "For 'Tensor.__array__', 'copy' must not be False where a copy is needed: for another dtype, "
            f"device or order of elements, but got {self.dtype} on {self.device} and dtype {dtype}."
        )
    if converts:
        return array.astype(dtype)
    return array.copy() if copy else array


def _reduce(self: Tensor):
    return (_rebuild, (type(self), self.asnumpy(), dict(getattr(self, "__dict__", {}))))


def _rebuild(cls, array, state):
    tensor = Tensor.__new__(cls, array) if cls is not Tensor else Tensor(array)
    if state:
        tensor.__dict__.update(state)
    return tensor


def _iter(self: Tensor):
    if self.ndim == 0:
        raise TypeError(
            "For 'Tensor', iteration needs at least one dimension, but got a 0-d tensor."
        )
    return (self[i] for i in range(self.shape[0]))


def _reversed(self: Tensor):
    return (self[i] for i in range(len(self) - 1, -1, -1))


def _contains(self: Tensor, item) -> bool:
    """Whether an element equals the item, or any does that comes to stand beside its elements."""
    equal = self == item
    return bool(_core.op("ReduceAny")(equal)) if isinstance(equal, Tensor) else equal


def _round(self: Tensor, digits: int = 0):
    if self.is_symbolic and _core.is_weak(self):  # a number, of which Python makes an int
        return round(self.item(), digits)
    return self.round(digits)


# What an array and a tensor make with an operator is a tensor. Ufuncs that are called otherwise look at values and give arrays.
_OPERATORS = {
    np.add: "__radd__",
    np.subtract: "__rsub__",
    np.multiply: "__rmul__",
    np.divide: "__rtruediv__",
    np.floor_divide: "__rfloordiv__",
    np.remainder: "__rmod__",
    np.power: "__rpow__",
    np.matmul: "__rmatmul__",
    np.bitwise_and: "__rand__",
    np.bitwise_or: "__ror__",
    np.bitwise_xor: "__rxor__",
    np.equal: "__eq__",
    np.not_equal: "__ne__",
    np.greater: "__lt__",
    np.greater_equal: "__le__",
    np.less: "__gt__",
    np.less_equal: "__ge__",
}


def _array_ufunc(self: Tensor, ufunc, method: str, *inputs, **kwargs):
    operator = _OPERATORS.get(ufunc) if method == "__call__" and not kwargs else None
    if operator and not isinstance(inputs[0], Tensor):
        return getattr(self, operator)(inputs[0])
    arrays = [x.asnumpy() if isinstance(x, Tensor) else x for x in inputs]
    return getattr(ufunc, method)(*arrays, **kwargs)


def _getitem(x: Tensor, key):
    from mindspore.common import _indexing

    _core.register_python("getitem", _indexing.getitem)
    return _indexing.getitem(x, key)


def _setitem(x: Tensor, key, value):
    from mindspore.common import _indexing

    _core.register_python("setitem", _indexing.index_update)
    return _indexing.index_update(x, key, value)


def _parameter_assign(parameter: Tensor, value: Tensor) -> None:
    _core.op("Assign")(parameter, value)


def _deepcopy(self: Tensor, memo):
    copy = Tensor.__new__(type(self), self.asnumpy())
    if _core.stays(self):
        _core.keep_on(copy, self.device)
    state = getattr(self, "__dict__", None)
    if state:
        import copy as copying

        copy.__dict__.update(copying.deepcopy(state, memo))
    memo[id(self)] = copy
    return copy


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor that shares the memory of a NumPy array (where its layout allows)."""
    if not isinstance(array, np.ndarray):
        raise TypeError(
            f"For 'from_numpy', 'array' must be a numpy.ndarray, but got {type(array).__name__}."
        )
    return _core.from_numpy(array)


def tensor(input_data=None, dtype=None, shape=None, init=None, const_arg=False):
    """Makes a Tensor; the function form of the class."""
    return Tensor(input_data, dtype, shape, init, const_arg=const_arg)


def is_tensor(obj) -> bool:
    """Whether an object is a Tensor."""
    return isinstance(obj, Tensor)


def copy(self: Tensor) -> Tensor:
    """A tensor of the same value, which in-place changes of this one leave alone."""
    return _core.op("Identity")(self)


_HOST_DLPACK = (1, 0)


def _dlpack(self: Tensor, *, stream=None, max_version=None, dl_device=None, copy=None):
    del stream, max_version
    _require_host(self, "__dlpack__")
    if dl_device is not None and tuple(dl_device) != _HOST_DLPACK:
        raise BufferError(
            f"For 'Tensor.__dlpack__', 'dl_device' must be {_HOST_DLPACK}, {HOST}, but got {dl_device}."
        )
    if copy is False and _shared_array(self) is None:
        raise BufferError(
            "For 'Tensor.__dlpack__', 'copy' must not be False where the tensor is a view that others see."
        )
    array = self.asnumpy()
    if array.dtype.kind not in "biufc":
        raise BufferError(
            f"For 'Tensor.__dlpack__', the dtype must be one that NumPy has, but got {self.dtype}."
        )
    return (array.copy() if copy else array).__dlpack__()


def _dlpack_device(self: Tensor) -> tuple[int, int]:
    _require_host(self, "__dlpack_device__")
    return _HOST_DLPACK


def _require_host(self: Tensor, what: str) -> None:
    if self.device != HOST:
        raise BufferError(
            f"For 'Tensor.{what}', the memory must be on {HOST}, but this tensor is on {self.device}: "
            f"x.move_to('{HOST}') gives a copy that can be shared."
        )


def _move_to(self: Tensor, to: str, blocking: bool = True) -> Tensor:
    """A copy of the tensor on a device, where it stays."""
    del blocking  # whoever needs the value waits for it
    return _core.move_to(self, checked_device("Tensor.move_to", "to", to))


class _Exporter:
    """A capsule as an object that gives it."""

    def __init__(self, capsule: Any):
        self.capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def _from_dlpack(dlpack: Any) -> Tensor:
    """A tensor that shares the memory of a DLPack capsule, or of an object that gives one."""
    exporter = dlpack if hasattr(dlpack, "__dlpack__") else _Exporter(dlpack)
    try:
        return _core.from_numpy(np.from_dlpack(exporter))
    except (TypeError, AttributeError, RuntimeError, ValueError, BufferError) as error:
        kind = type(dlpack).__name__
        raise TypeError(
            f"For 'from_dlpack', 'dlpack' must be a DLPack capsule of the CPU that was not used yet, in memory as NumPy can read "
            f"it, but got {dlpack if kind == 'PyCapsule' else kind}."
        ) from error


def frombuffer(
    buffer: Any, *, dtype: Any = None, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A tensor over the memory of an object such as a bytearray, of `count` elements from byte `offset` on."""
    del requires_grad
    try:
        kind = np.dtype(np.float32) if dtype is None else _core.numpy_dtype(_core.dtype_of(dtype))
    except TypeError:
        raise TypeError(f"For 'frombuffer', 'dtype' must be a dtype, but got {dtype!r}.") from None
    try:
        if len(memoryview(buffer)) == 0:
            raise ValueError("there is nothing in it")
        array = np.frombuffer(buffer, kind, count, offset)
    except (TypeError, AttributeError) as error:
        raise TypeError(
            f"For 'frombuffer', 'buffer' must be an object that gives its memory, but got {type(buffer).__name__}."
        ) from error
    except ValueError as error:
        raise ValueError(
            f"For 'frombuffer', 'buffer' must hold what is asked for: {error}."
        ) from None
    return Tensor.from_numpy(array if array.flags.writeable else array.copy())


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Two tensors take over the values of each other, shapes and dtypes too."""
    for name, value in (("t1", t1), ("t2", t2)):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"For 'swap_tensors', '{name}' must be a Tensor, but got {type(value).__name__}."
            )
    kept = copy(t1)
    t1._assign_value(t2)
    t2._assign_value(kept)


# What the class has beside the methods that ops give it.
_MEMBERS: dict[str, Any] = {
    "__str__": _str,
    "__format__": _format,
    "__array__": _array,
    "__reduce__": _reduce,
    "__iter__": _iter,
    "__deepcopy__": _deepcopy,
    "__copy__": lambda self: Tensor.__new__(type(self), self.asnumpy()),
    "__round__": _round,
    "__complex__": lambda self: complex(self.item()),
    "__reversed__": _reversed,
    "__contains__": _contains,
    "__array_ufunc__": _array_ufunc,
    "__dlpack__": _dlpack,
    "__dlpack_device__": _dlpack_device,
    "device": property(_core.device_of),
    "move_to": _move_to,
    "from_numpy": staticmethod(from_numpy),
    "from_dlpack": staticmethod(_from_dlpack),
    "copy": copy,
    "clone": copy,
    "tolist": lambda self: self.asnumpy().tolist(),
    "nbytes": property(lambda self: self.size * self.itemsize),
    "dim": lambda self: self.ndim,
    "ndimension": lambda self: self.ndim,
    "numel": lambda self: int(self.size),
    "data": property(lambda self: self),
    "init_data": lambda self, *args, **kwargs: self,
    "has_init": False,
    "init": None,
    "value": lambda self: self,
    "flush_from_cache": lambda self: None,
    "is_contiguous": lambda self: True,
    "contiguous": lambda self: self,
    "const_arg": False,
    "virtual_flag": False,
    "adapter_flag": False,
    **FACTS,
}

# What the core calls.
_CALLED: dict[str, Any] = {
    "shape": _Shape,
    "size": _Size,
    "new": _sort_arguments,
    "repr": _repr,
    "getitem": _getitem,
    "setitem": _setitem,
    "parameter_assign": _parameter_assign,
}


def _install() -> None:
    for name, member in _MEMBERS.items():
        setattr(Tensor, name, member)
    Tensor.__module__ = "mindspore.common.tensor"
    Tensor.__name__ = "Tensor"  # alone, as Python's own messages name it
    Tensor.__array_priority__ = 1000.0
    for name, function in _CALLED.items():
        _core.register_python(name, function)


_install()

__all__ = ["Tensor", "from_numpy", "is_tensor", "swap_tensors", "tensor"]

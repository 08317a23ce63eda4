"""The Python parts of Tensor: how it is made from data, printed, pickled, indexed; its methods come from ops."""

from __future__ import annotations

import math

import numpy as np

from mindspore import _core
from mindspore.common._checked import check_value
from mindspore.common._kinds import Ints
from mindspore.common._size import require_memory

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
    del internal, const_arg, device
    if input_data is None and init is None and dtype is not None and _is_open(shape):
        return _core.placeholder(dtype, [None if s == -1 else s for s in shape]), None
    if input_data is None and init is None and dtype is not None and shape is None:
        return _core.placeholder_of_any_rank(dtype), None
    if _is_open(shape):
        raise ValueError(
            "For 'Tensor', a 'shape' with None describes an input: it needs 'dtype' and no data, "
            f"but got shape {shape}."
        )
    if init is not None:
        from mindspore.common.initializer import initializer

        return initializer(init, shape, dtype if dtype is not None else _core.float32), dtype
    if input_data is None:
        if shape is not None and dtype is not None:
            sizes = check_value(Ints, shape, "shape", "Tensor")
            require_memory("Tensor", math.prod((sizes,) if isinstance(sizes, int) else sizes), 8)
            return np.zeros(sizes, _core.numpy_dtype(dtype)), dtype
        raise TypeError(
            "For 'Tensor', 'input_data' must be given, or 'shape', 'dtype' and 'init', but got none of them."
        )
    return input_data, dtype


def _is_open(shape) -> bool:
    """Whether sizes are left to the calls of a compiled function."""
    return isinstance(shape, (tuple, list)) and any(s is None or s == -1 for s in shape)


def _repr(self: Tensor) -> str:
    if self.is_symbolic:
        return f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, value=<known at run time>)"
    array = self.asnumpy()
    if self.dtype is _core.bfloat16:
        array = array.astype(np.float32)
    text = np.array2string(array, separator=", ", prefix=" ")
    if self.ndim == 0:
        return f"Tensor(shape=[], dtype={self.dtype}, value= {text})"
    return f"Tensor(shape={list(self.shape)}, dtype={self.dtype}, value=\n{text})"


def _str(self: Tensor) -> str:
    if self.is_symbolic:
        return _repr(self)
    array = self.asnumpy()
    return str(array.astype(np.float32) if self.dtype is _core.bfloat16 else array)


def _array(self: Tensor, dtype=None, copy=None):
    array = self.asnumpy()
    if dtype is not None and array.dtype != dtype:
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


def _dlpack(self: Tensor, *, stream=None, max_version=None, dl_device=None, copy=None):
    del stream, max_version, dl_device, copy
    return self.asnumpy().__dlpack__()


def _from_dlpack(source) -> Tensor:
    """A tensor over the memory of any array that speaks DLPack."""
    return _core.from_numpy(np.from_dlpack(source))


def _install() -> None:
    for name, function in {
        "__str__": _str,
        "__format__": lambda self, spec: format(self.item(), spec) if spec else _str(self),
        "__array__": _array,
        "__reduce__": _reduce,
        "__iter__": _iter,
        "__deepcopy__": _deepcopy,
        "__copy__": lambda self: Tensor.__new__(type(self), self.asnumpy()),
        "__round__": lambda self, digits=0: round(self.item(), digits),
        "__dlpack__": _dlpack,
        "__dlpack_device__": lambda self: (1, 0),
        "from_numpy": staticmethod(from_numpy),
        "from_dlpack": staticmethod(_from_dlpack),
        "copy": copy,
        "clone": copy,
        "tolist": lambda self: self.asnumpy().tolist(),
        "nbytes": property(lambda self: self.size * self.itemsize),
        "dim": lambda self: self.ndim,
        "ndimension": lambda self: self.ndim,
        "numel": lambda self: self.size,
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
    }.items():
        setattr(Tensor, name, function)
    Tensor.__module__ = "mindspore.common.tensor"
    Tensor.__array_priority__ = 1000.0
    # NumPy must not take an operator over element by element: array + tensor asks the tensor.
    Tensor.__array_ufunc__ = None
    for what, function in {
        "shape": _Shape,
        "size": _Size,
        "new": _sort_arguments,
        "repr": _repr,
        "getitem": _getitem,
        "setitem": _setitem,
        "parameter_assign": _parameter_assign,
    }.items():
        _core.register_python(what, function)


_install()

__all__ = ["Tensor", "from_numpy", "is_tensor", "tensor"]

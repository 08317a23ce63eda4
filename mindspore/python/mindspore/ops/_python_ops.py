"""Primitives and functions that concern Python values rather than elements: shapes, dtypes, structure, effects."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import DType as ElementType
from mindspore._core import Tensor
from mindspore.common import dtype as mstype
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Real
from mindspore.common._size import range_length
from mindspore.common._tree import rebuild
from mindspore.ops import _collectives, _effects, _recurrent_ops
from mindspore.ops._effects import print_  # noqa: F401 - one of FUNCTIONS
from mindspore.ops._user_primitive import DECLARED
from mindspore.ops.primitive import PythonPrimitive


class Shape(PythonPrimitive):
    """The shape of a tensor as a tuple."""

    def __call__(self, x: Tensor) -> tuple:
        return shape(x)


class DType(PythonPrimitive):
    """The dtype of a tensor."""

    def __call__(self, x: Tensor) -> Any:
        return dtype(x)


class Rank(PythonPrimitive):
    """The number of dimensions."""

    def __call__(self, x: Tensor) -> int:
        return rank(x)


class Size(PythonPrimitive):
    """The number of elements."""

    def __call__(self, x: Tensor) -> int:
        return int(x.size)


class DynamicShape(PythonPrimitive):
    """The shape of a tensor as an Int64 tensor."""

    def __call__(self, input_x: Tensor) -> Tensor:
        return Tensor(np.array(input_x.shape, np.int64))


TensorShape = DynamicShape


class TupleToArray(PythonPrimitive):
    """Numbers as a tensor."""

    def __call__(self, x: Sequence[Real]) -> Tensor:
        return tuple_to_array(x)


class ScalarToTensor(PythonPrimitive):
    """A number as a 0-d tensor."""

    def __call__(self, x: Real, dtype: ElementType = _core.float32) -> Tensor:
        return scalar_to_tensor(x, dtype)


ScalarToArray = ScalarToTensor


class Partial(PythonPrimitive):
    """A function with its first arguments given."""

    def __call__(self, fn: Callable, *args: Any) -> Any:
        return partial(fn, *args)


class Depend(PythonPrimitive):
    """Its first input, computed after the second."""

    def __call__(self, value: Any, expr: Any) -> Any:
        return depend(value, expr)


class ControlDepend(PythonPrimitive):
    """Says that the second input comes after the first, which holds anyway: effects happen in program order."""

    _constructor = [("depend_mode", 0, True)]

    def __call__(self, src: Any, dst: Any) -> Any:
        del src
        return dst


class MakeTuple(PythonPrimitive):
    """Its arguments as a tuple."""

    def __call__(self, *items: Any) -> tuple:
        return items


def shape(input_x: Tensor) -> tuple:
    """The shape of a tensor as a tuple."""
    return tuple(input_x.shape)


def dtype(input_x: Tensor) -> Any:
    """The dtype of a tensor."""
    return input_x.dtype


def rank(input_x: Tensor) -> int:
    """The number of dimensions."""
    return input_x.ndim


def size(input_x: Tensor) -> int:
    """The number of elements."""
    return int(input_x.size)


def numel(input: Tensor) -> int:
    """The number of elements."""
    return int(input.size)


def tuple_to_array(input_x: Sequence[Real] | range) -> Tensor:
    """Numbers as a tensor: Int32 for ints, Float32 for floats."""
    integers = np.array(input_x).dtype.kind == "i"
    return Tensor(list(input_x), _core.int32 if integers else None)


def scalar_to_tensor(input_x: Real, dtype: ElementType = _core.float32) -> Tensor:
    """A number as a 0-d tensor."""
    return Tensor(input_x, dtype)


scalar_to_array = scalar_to_tensor


def identity(x: Any) -> Any:
    """Its argument, whatever it is."""
    return x


def depend(value: Any, expr: Any) -> Any:
    """`value`, after `expr`: effects happen in program order anyway."""
    del expr
    return value


def stop_gradient(value: Any) -> Any:
    """The value, tensor or structure of tensors, through which no gradient flows."""
    if isinstance(value, (tuple, list, dict)):
        return rebuild(value, stop_gradient)
    return _core.op("StopGradient")(value) if isinstance(value, Tensor) else value


def partial(fn: Callable, *args: Any) -> Any:
    """A function with its first arguments given."""
    return functools.partial(fn, *args)


_MOST_NUMBERS = 1 << 24


def make_range(*args: int) -> tuple:
    """`range(...)` as a tuple."""
    if not 1 <= len(args) <= 3:
        raise TypeError(
            f"For 'make_range', the call must be make_range([start,] stop[, step]), but got {len(args)} arguments."
        )
    if len(args) == 3 and args[2] == 0:
        raise ValueError("For 'make_range', the step must not be 0, but got 0.")
    numbers = range(*args)
    count = range_length(numbers.start, numbers.stop, numbers.step)
    if count > _MOST_NUMBERS:
        raise ValueError(
            f"For 'make_range', there must be at most {_MOST_NUMBERS} numbers, but got {count}."
        )
    return tuple(numbers)


def tuple_len(x: Sequence[Any]) -> int:
    """The length of a tuple or list."""
    return len(x)


def is_tensor(obj: Any) -> bool:
    """Whether an object is a Tensor."""
    return isinstance(obj, Tensor)


def typeof(x: Any) -> Any:
    """The type of a tensor, which tells that of its elements, or of another value: a float is one of 32 bits in
    computations."""
    if isinstance(x, float):
        return mstype.float32
    return mstype.get_py_obj_dtype(x)


def is_instance(value: Any, kind: type | Sequence[type]) -> bool:
    """Whether a value is of a type."""
    return isinstance(value, kind if isinstance(kind, type) else tuple(kind))


def add_flags(fn: Callable | None = None, **flags: Any) -> Any:
    """Marks a function or cell with flags of the first releases; kept, not needed."""
    if fn is None:
        return lambda f: add_flags(f, **flags)
    if isinstance(fn, type) or not hasattr(fn, "__dict__"):
        raise TypeError(f"For 'add_flags', 'fn' must be a function or a Cell, but got {fn!r}.")
    vars(fn)["_func_graph_flags"] = {**getattr(fn, "_func_graph_flags", {}), **flags}
    return fn


def core(fn: Callable | None = None, **flags: Any) -> Any:
    """A marker of the first releases; see `add_flags`."""
    return add_flags(fn, **flags)


FUNCTIONS = (
    "shape",
    "dtype",
    "rank",
    "size",
    "numel",
    "tuple_to_array",
    "scalar_to_tensor",
    "scalar_to_array",
    "identity",
    "depend",
    "stop_gradient",
    "partial",
    "make_range",
    "tuple_len",
    "is_tensor",
    "print_",
    "typeof",
    "is_instance",
    "add_flags",
    "core",
)
check_functions(sys.modules[__name__], FUNCTIONS)
CLASSES: dict[str, type] = {
    c.__name__: c
    for c in (
        Shape,
        DType,
        Rank,
        Size,
        DynamicShape,
        TupleToArray,
        ScalarToTensor,
        Partial,
        MakeTuple,
        Depend,
        ControlDepend,
    )
}
CLASSES.update(_effects.CLASSES)
CLASSES.update(_collectives.CLASSES)
CLASSES.update(_recurrent_ops.CLASSES)
CLASSES.update(TensorShape=DynamicShape, ScalarToArray=ScalarToTensor)
DECLARED.update(CLASSES)

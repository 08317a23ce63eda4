"""What the functions of this package share: arguments that are given as numbers, lists or arrays become tensors, which then
have one dtype or one shape."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias

import numpy as np

from mindspore import _core, ops
from mindspore._core import SymbolicInt, Tensor
from mindspore.common._checked import check_value
from mindspore.common._dtypes import COMPLEX, FLOATS
from mindspore.common._kinds import Called, Real, Refused, Taken
from mindspore.common._size import broadcast_shapes
from mindspore.numpy.dtypes import (
    Dtype,
    bool_,
    float16,
    float32,
    int8,
    int32,
    int64,
    number_type,
    promoted,
    uint8,
)

_RAGGED = Refused(ValueError, "hold items of one shape")
_NO_NUMBERS = Refused(TypeError, "hold numbers or Tensors alone")


# ---- arguments ------------------------------------------------------------------------------------------------------------
def as_tensor(value: Any) -> Any:
    """A tensor, number, NumPy array, or nested tuples and lists of those as a tensor. Python's numbers have 32 bits there where
    they fit into these; an array keeps its dtype."""
    if isinstance(value, Tensor):
        return ops.cast(value, _strong(value.dtype)) if _core.is_weak(value) else value
    if isinstance(value, SymbolicInt):
        return value.as_tensor(floating=False)
    if isinstance(value, np.ndarray):
        return Tensor(value)
    if not isinstance(value, (tuple, list)):
        known = isinstance(value, (int, float, np.number, np.bool_))
        return Tensor(value, number_type(value)) if known else _NO_NUMBERS
    if _holds_tensors(value):
        return _stacked(value)
    try:
        array = np.array(value)
    except ValueError:
        return _RAGGED
    if array.dtype.kind not in "biuf":
        return _NO_NUMBERS
    return Tensor(array, _listed_type(array))


_NUMBERS = {bool, int, float}


def _holds_tensors(items: tuple | list) -> bool:
    if set(map(type, items)) <= _NUMBERS:
        return False
    return any(
        _holds_tensors(v) if isinstance(v, (tuple, list)) else isinstance(v, (Tensor, SymbolicInt))
        for v in items
    )


def _strong(dtype: Any) -> Any:
    """The dtype of a tensor made of a number that is known at run time."""
    return {_core.int64: int32, _core.float64: float32}.get(dtype, dtype)


def _listed_type(array: np.ndarray) -> Any:
    if array.dtype.kind == "b":
        return bool_
    if array.dtype.kind == "f":
        return float32
    return int32 if not array.size or np.abs(array).max() < 1 << 31 else int64


def _stacked(items: Any) -> Any:
    """Tuples and lists that hold tensors as one tensor."""
    parts = [as_tensor(item) for item in items]
    for part in parts:
        if isinstance(part, Refused):
            return part
    if len({part.shape for part in parts}) > 1:
        return _RAGGED
    return ops.stack(of_one_type(parts), axis=0)


def _as_operand(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float)) else as_tensor(value)


def _as_list(value: Any) -> Any:
    """Arrays as a list of tensors: of numbers alone, those of one tensor, which is made faster than many."""
    if isinstance(value, Tensor) or (value and set(map(type, value)) <= _NUMBERS):
        return list(ops.unbind(as_tensor(value), 0))
    made = [as_tensor(v) for v in value]
    refused = next((m for m in made if isinstance(m, Refused)), None)
    return made if refused is None else dataclasses.replace(refused, of_items=True)


_GIVEN = Tensor | Real | Sequence[Any] | np.ndarray
_SAID = Called(
    "a Tensor, number, tuple, list or ndarray", "Tensors, numbers, tuples, lists or ndarrays"
)
# An argument that its function gets as a Tensor.
Array: TypeAlias = Annotated[Tensor, Taken(_GIVEN, as_tensor, ("Tensor",)), _SAID]
# One that it may get as a number, too.
Operand: TypeAlias = Annotated[Any, Taken(_GIVEN, _as_operand, ("Tensor", "float", "int")), _SAID]
# Several of them: as a list; those along the first axis of a tensor are such as well.
Arrays: TypeAlias = Annotated[
    list[Tensor],
    Taken(Tensor | Sequence[Any], _as_list),
    Called("a tuple or list of arrays", "tuples or lists of arrays"),
]


def array_of(name: str, argument: str, value: Any) -> Tensor:
    """What a function of the user gave, as a tensor."""
    return check_value(Array, value, argument, name)


# ---- dtypes ---------------------------------------------------------------------------------------------------------------
_SHORT = (bool_, int8, uint8)


def is_floating(x: Tensor) -> bool:
    """Whether the elements are floats."""
    return x.dtype in FLOATS


def is_inexact(x: Tensor) -> bool:
    """Whether the elements are floats or complex numbers."""
    return x.dtype in FLOATS or x.dtype in COMPLEX


def cast(x: Tensor, dtype: Any) -> Tensor:
    """The tensor in a dtype, if one is given."""
    return x if dtype is None or dtype is x.dtype else ops.cast(x, dtype)


def floating(x: Tensor) -> Tensor:
    """Integers and truth values as Float32."""
    return x if is_inexact(x) else ops.cast(x, float32)


def floating_short(x: Tensor) -> Tensor:
    """Integers and truth values as floats: those of 8 bits as Float16, the others as Float32."""
    return ops.cast(x, float16) if x.dtype in _SHORT else floating(x)


def of_one_type(arrays: Sequence[Tensor]) -> list[Tensor]:
    """Tensors in the dtype that holds the elements of all of them."""
    dtype = promoted(*dict.fromkeys(x.dtype for x in arrays))
    return [cast(x, dtype) for x in arrays]


def operands(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands of which one at least is a tensor. A number stays one where the other decides the dtype anyway: elsewhere it
    counts as a tensor of 32 bits."""
    if isinstance(x, Tensor) and isinstance(y, Tensor):
        return x, y
    if isinstance(x, Tensor):
        return x, _beside(y, x.dtype)
    y = as_tensor(y)
    return _beside(x, y.dtype), y


def _beside(number: Any, dtype: Any) -> Any:
    kind = number_type(number)
    return number if _decides(dtype, kind, _core.dtype_of(type(number))) else Tensor(number, kind)


@functools.cache
def _decides(dtype: Any, kind: Any, weak: Any) -> bool:
    """Whether a tensor's dtype makes the same of a number as of a tensor of that kind."""
    made = _core.promote(dtype, False, weak, True)
    return kind is not bool_ and made is promoted(dtype, kind)


def require_integers(name: str, argument: str, x: Tensor) -> None:
    """Refuses an array of anything but integers."""
    if is_inexact(x) or x.dtype is bool_:
        raise TypeError(f"For '{name}', '{argument}' must hold integers, but got {x.dtype}.")


# ---- functions of one and of two arguments ----------------------------------------------------------------------------------
def unary(name: str, op: Callable, rule: Callable[[Tensor], Tensor] | None = None) -> Any:
    """The function of this name that computes `op` of its argument, in the dtype that `rule` makes of it."""

    def function(x: Array, dtype: Dtype = None) -> Tensor:
        return cast(op(x if rule is None else rule(x)), dtype)

    return _named(function, name, op)


def binary(name: str, op: Callable, rule: Callable[[Tensor], Tensor] | None = None) -> Any:
    """The function of this name that computes `op` of two arguments, in the dtype that `rule` makes of theirs."""

    def function(x1: Operand, x2: Operand, dtype: Dtype = None) -> Tensor:
        x, y = operands(x1, x2) if rule is None else (rule(as_tensor(v)) for v in (x1, x2))
        return cast(op(x, y), dtype)

    return _named(function, name, op)


def _named(function: Callable, name: str, op: Callable) -> Callable:
    function.__name__ = function.__qualname__ = name
    function.__module__ = "mindspore.numpy"
    function.__doc__ = op.__doc__
    return function


MOST_AXES = 64  # as many as NumPy has


def require_axes(name: str, argument: str, sizes: Sequence[int]) -> None:
    """Refuses sizes of more axes than an array may have."""
    if len(sizes) > MOST_AXES:
        raise ValueError(
            f"For '{name}', '{argument}' must have at most {MOST_AXES} sizes, but got {len(sizes)}."
        )


# ---- shapes ---------------------------------------------------------------------------------------------------------------
def axis_of(name: str, axis: int, rank: int) -> int:
    """The number of an axis, which may be counted from the end."""
    if not -rank <= axis < rank:
        raise ValueError(f"For '{name}', the axis must be in [{-rank}, {rank}), but got {axis}.")
    return axis % rank


def axes_of(name: str, axis: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Several axes, each once; all for None."""
    if axis is None:
        return tuple(range(rank))
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    axes = tuple(axis_of(name, a, rank) for a in given)
    if len({*axes}) < len(axes):
        raise ValueError(f"For '{name}', the axes must differ, but got {axis}.")
    return axes


def of_one_shape(name: str, arrays: Sequence[Tensor]) -> list[Tensor]:
    """Tensors broadcast against each other."""
    shape = broadcast_shapes(name, *(tuple(x.shape) for x in arrays))
    return [x if tuple(x.shape) == shape else ops.broadcast_to(x, shape) for x in arrays]


def part(x: Tensor, axis: int, start: int | None, stop: int | None, step: int = 1) -> Tensor:
    """`x[..., start:stop:step]` along an axis that is not negative."""
    return x[(slice(None),) * axis + (slice(start, stop, step),)]


def along(vector: Tensor, axis: int, rank: int) -> Tensor:
    """A vector along one axis of so many."""
    return ops.reshape(vector, (1,) * axis + (-1,) + (1,) * (rank - axis - 1))

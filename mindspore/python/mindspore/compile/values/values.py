"""Values of the front end where ways of the program meet: what one of two branches has for a name, what may stand for it
afterwards, and how Python's numbers become tensors that yield to others as numbers do."""

from __future__ import annotations

import inspect
import math
import types
from typing import Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.structure import Structure, nodes, register

NUMBERS = (bool, int, float)
_DEFAULT = {bool: _core.bool, int: _core.int64, float: _core.float64}


_PLAIN = frozenset({str, bytes, types.MethodType, types.BuiltinMethodType})


class Undefined:
    """A name that has no single value here; reading it is the error, not having it."""

    def __init__(self, reason: str):
        self.reason = reason


class Choice:
    """One of several values that are not of one type, decided by a tensor: `options[index]`. What is done with it is done in
    a branch for each option; the front end's entry points see to that, and whatever else asks is refused."""

    __slots__ = ("index", "options")

    def __init__(self, index: Tensor, options: list):
        self.index, self.options = index, options

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise Unsupported(
            f"a tensor decides whether a value is {self.describe()}, but here one of them must be "
            "known while compiling"
        )

    def describe(self) -> str:
        """`None or Float32[3]`."""
        return " or ".join(dict.fromkeys(type_text(o) for o in self.options))

    __bool__ = __iter__ = __len__ = __getitem__ = __call__ = __contains__ = __index__ = _refuse

    def __getattr__(self, name: str) -> Any:
        self._refuse()


register(
    Choice,
    Structure(
        lambda v: (v.index, *v.options), lambda _, items: Choice(items[0], items[1:]), is_data=True
    ),
)


def index_among(value: Any, places: list) -> Tensor:
    """Which of several options a value is: its own options, or else it alone, are at these places among them."""
    if not isinstance(value, Choice):
        return Tensor(places[0], _core.int32)
    if places == list(range(len(places))):
        return value.index
    return ops.gather(Tensor(places, _core.int32), value.index, 0)


def is_symbolic(value: Any) -> bool:
    """A tensor that is known only at run time."""
    return isinstance(value, Tensor) and value.is_symbolic


def pick(condition: Any, value: Any, other: Any) -> Any:
    """As `ops.where`, whose check refuses what Python's comparisons of numbers give."""
    return inspect.unwrap(ops.where)(condition, value, other)


def require_plain(value: Any, what: str) -> None:
    """Refuses a value that holds a Choice where only tensors and Python values can pass."""
    for part in nodes(value):
        if isinstance(part, Choice):
            raise Unsupported(
                f"{what} must have one type, but a tensor decides whether it is {part.describe()}: the branches "
                "of a condition on a tensor must agree"
            )
        if isinstance(part, Undefined):
            raise Unsupported(f"{what} has no single value: {part.reason}")


def parts_of_number(value: Any) -> tuple:
    """What numbers of one type are told apart by: -0.0 is not 0.0, for they divide differently; one nan is as another."""
    if isinstance(value, complex):
        return (*parts_of_number(value.real), *parts_of_number(value.imag))
    if isinstance(value, float):
        return (value, math.copysign(1, value)) if value == value else ("nan",)
    return (value,)


def same_number(a: Any, b: Any) -> bool:
    """Whether two of Python's numbers cannot be told apart."""
    return type(a) is type(b) and parts_of_number(a) == parts_of_number(b)


def told_apart(key: Any) -> Any:
    """A key of a dict, or an item of a set, as something that equals only what cannot be told apart from it: 1 equals 1.0."""
    if isinstance(key, tuple):
        return (type(key), *map(told_apart, key))
    if isinstance(key, (*NUMBERS, complex)):
        return (type(key), *parts_of_number(key))
    return key


def are_equal(a: Any, b: Any) -> bool:
    """Whether two values without tensors cannot be told apart. The `==` of other classes is the program's to call."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(x is y or are_equal(x, y) for x, y in zip(a, b))
    if type(a) in (*NUMBERS, complex):
        return same_number(a, b)
    if type(a) is range:
        return (a.start, a.stop, a.step) == (b.start, b.stop, b.step)
    return type(a) in _PLAIN and bool(a == b)


def same_type(a: Any, b: Any) -> bool:
    """Whether two values are tensors of one type."""
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        return False
    return _core.type_text(a) == _core.type_text(b)


def type_text(value: Any) -> str:
    """A value in messages: `Float32[2, 3]`, `None`, `3`, `list`."""
    if isinstance(value, Tensor):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, Undefined):
        return "undefined"
    if isinstance(value, NUMBERS + (str, type(None))):
        return repr(value)
    name = getattr(value, "__name__", None)
    return f"'{name}'" if isinstance(name, str) else type(value).__name__


# ---- numbers ------------------------------------------------------------------------------------------------------------
def is_weak(value: Any) -> bool:
    """A Python number, or a tensor that stands for one."""
    return _core.is_weak(value) if isinstance(value, Tensor) else isinstance(value, NUMBERS)


def is_scalar(value: Any) -> bool:
    """A Python number or a 0-d tensor."""
    return isinstance(value, NUMBERS) or (isinstance(value, Tensor) and value.shape == ())


def dtype_of(value: Any) -> Any:
    """The dtype of a tensor or number."""
    return value.dtype if isinstance(value, Tensor) else _DEFAULT[type(value)]


def are_one_type(a: Any, b: Any) -> bool:
    """Whether one 0-d tensor can stand for either of two numbers or 0-d tensors, to whatever it is an operand. A number is
    exact in the tensor's dtype then: it has no dtype of its own, and where it is beside a tensor, nor has the result."""
    if is_weak(a) and is_weak(b):
        return dtype_of(a) is dtype_of(b)
    if dtype_of(a) is dtype_of(b) is _core.bool:
        return True  # it yields to every dtype
    number, tensor = (a, b) if is_weak(a) else (b, a)
    if isinstance(number, Tensor) or common_type(a, b)[0] is not tensor.dtype:
        return False
    return number != number or Tensor(number, tensor.dtype).item() == number


def common_type(a: Any, b: Any) -> tuple[Any, bool]:
    """(dtype, weak) of the 0-d tensor that stands for either of two numbers or 0-d tensors."""
    weak = is_weak(a) and is_weak(b)
    return _core.promote(dtype_of(a), is_weak(a), dtype_of(b), is_weak(b)), weak


def as_scalar(trace: _core.Trace, value: Any, dtype: Any, weak: bool) -> Tensor:
    """A number or 0-d tensor as a 0-d tensor of the current graph, of this dtype; weak only from weak."""
    if not isinstance(value, Tensor):
        if not weak:
            return Tensor(value, dtype)
        kind = {v: k for k, v in _DEFAULT.items()}[dtype]
        return trace.constant(kind(value))
    if weak:
        if value.dtype is dtype:
            return value
        return value * (1.0 if dtype is _core.float64 else 1)  # of weak tensors this is weak too
    if value.dtype is not dtype:
        value = ops.cast(value, dtype)
    return trace.strong(value)


def placeholder(trace: _core.Trace, value: Tensor) -> Tensor:
    """Zeros of a tensor's type, for a way on which they will not be read."""
    if is_weak(value):
        return as_scalar(trace, 0, value.dtype, True)
    return ops.zeros(tuple(value.shape), value.dtype)

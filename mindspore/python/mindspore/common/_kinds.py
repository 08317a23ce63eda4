"""What an annotation says an argument may be: for each kind a test, and the words of a message.

`kind_of` reads plain annotations (`Tensor`, `int | None`, `Sequence[int]`, `Literal["mean", "sum"]`, classes) and those with
conditions (`Annotated[int, Where(...)]`), of which the common ones have names here. Tuples and lists are taken alike where a
Sequence may be given; NumPy's numbers become Python's.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import math
import operator
import sys
import types
import typing
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeAlias, Union

import numpy as np

from mindspore import _core
from mindspore._core import QUICK, DType, SymbolicInt, Tensor
from mindspore.common import _late
from mindspore.common._dtypes import INTEGERS


@dataclasses.dataclass(frozen=True, eq=False)
class Refused:
    """What is given in place of a value that does not fit; `must` says what holds of the others: "be a positive int"."""

    error: type[Exception] | None
    must: str = ""
    of_items: bool = False


_LARGEST = int(sys.float_info.max)
TOO_LARGE = Refused(ValueError, f"be at most {sys.float_info.max:.3g}")
NO = Refused(TypeError)  # of another type, which messages call by the words of the kind
OTHER_SIZE = Refused(ValueError)  # of the type, but not of as many items as the kind says
UNKNOWN = Refused(None)  # a number that is known only when the graph under compilation runs


@dataclasses.dataclass(frozen=True)
class Kind:
    """Something that an argument may be. `take` gives the value to use for one that is given, or what is Refused."""

    text: str  # "an int"
    plural: str  # "ints"
    take: Callable[[Any], Any]
    quick: int = 0  # what _core recognises itself; see checked_function.cc
    items: int = 0


# ---- conditions on values -----------------------------------------------------------------------------------------------
@dataclasses.dataclass(frozen=True)
class Where:
    """A condition in an annotation: of the values of a type, those that pass. `must` says which they are, `error` by what others
    are refused."""

    test: Callable[[Any], Any]
    must: str
    error: type[Exception] = ValueError


@dataclasses.dataclass(frozen=True)
class Only:
    """Of the values of an annotation those of one type: a float where an int does not do."""

    type: type


@dataclasses.dataclass(frozen=True)
class Called:
    """What messages call the values of an annotation, in place of its own words."""

    text: str
    plural: str


@dataclasses.dataclass(frozen=True)
class Taken:
    """Where a function gets something else than it is given, as its annotation says: what may be given, as another one, and
    what makes of that what the function gets, or Refused. Values of the `quick` kinds it gets as they are."""

    given: Any
    make: Callable[[Any], Any]
    quick: tuple[str, ...] = ()


def within(low: float, high: float, closed: Literal["both", "left", "right", "none"]) -> Where:
    """Numbers between two bounds, of which those named belong to them."""
    left, right = closed in ("both", "left"), closed in ("both", "right")
    return Where(
        lambda x: (x >= low if left else x > low) and (x <= high if right else x < high),
        f"be in {'[' if left else '('}{low}, {high}{']' if right else ')'}",
    )


Number: TypeAlias = Annotated[bool | float | complex, Called("a number", "numbers")]
Real: TypeAlias = Annotated[bool | float, Called("a number", "numbers")]
Ints: TypeAlias = int | Sequence[int]
Sizes: TypeAlias = int | Sequence[int] | Tensor
PositiveInt: TypeAlias = Annotated[
    int,
    Where(lambda x: x > 0, "be a positive int"),
    Where(lambda x: not isinstance(x, int) or x < 1 << 63, "fit into 64 bits"),
]
Layers: TypeAlias = Annotated[PositiveInt, Where(lambda x: x <= 10000, "be at most 10000")]
Count: TypeAlias = Annotated[int, Where(lambda x: x >= 0, "not be negative")]
Finite: TypeAlias = Annotated[float, Where(math.isfinite, "be finite")]
NotNegative: TypeAlias = Annotated[Finite, Where(lambda x: x >= 0, "not be negative")]
NotPositive: TypeAlias = Annotated[Finite, Where(lambda x: x <= 0, "not be positive")]
Positive: TypeAlias = Annotated[Finite, Where(lambda x: x > 0, "be greater than 0")]
Float: TypeAlias = Annotated[float, Only(float)]
PositiveFloat: TypeAlias = Annotated[Float, Where(lambda x: x > 0, "be greater than 0")]
NotNegativeFloat: TypeAlias = Annotated[Float, Where(lambda x: x >= 0, "not be negative")]
Reduction: TypeAlias = Literal["none", "mean", "sum"]


IndexDType: TypeAlias = Annotated[
    DType,
    Where(
        lambda x: x in (_core.int16, _core.int32, _core.int64),
        "be one of Int16, Int32 and Int64",
        TypeError,
    ),
]


# ---- types ----------------------------------------------------------------------------------------------------------------
def _take_int(value: Any) -> Any:
    """As attributes of ops do: a tensor of one integer is that integer."""
    if isinstance(value, Tensor):
        if value.dtype not in INTEGERS or value.size != 1:
            return NO
        return UNKNOWN if value.is_symbolic else int(value.item())
    if isinstance(value, np.integer):
        return int(value)
    return value if isinstance(value, (int, SymbolicInt)) and not isinstance(value, bool) else NO


def _take_number(value: Any) -> Any:
    if isinstance(value, Tensor):  # a number that a tensor decides is an operand like any other
        return value if _core.is_weak(value) else NO
    if isinstance(value, np.floating):
        return float(value)
    if isinstance(value, float):
        return value
    integer = _take_int(value)
    return TOO_LARGE if isinstance(integer, int) and abs(integer) > _LARGEST else integer


def _take_complex(value: Any) -> Any:
    if isinstance(value, np.complexfloating):
        return complex(value)
    return value if isinstance(value, complex) else _take_number(value)


def _take_bool(value: Any) -> Any:
    return bool(value) if isinstance(value, (bool, np.bool_)) else NO


def _take_dtype(value: Any) -> Any:
    try:
        return _core.dtype_of(value)
    except TypeError:
        return NO


def _take_tensor(value: Any) -> Any:
    return value if isinstance(value, Tensor) and not _core.is_weak(value) else NO


_TYPES: dict[Any, Kind] = {
    Tensor: Kind("a Tensor", "Tensors", _take_tensor, QUICK["Tensor"]),
    type(None): Kind("None", "Nones", lambda v: v if v is None else NO, QUICK["None"]),
    bool: Kind("a bool", "bools", _take_bool, QUICK["bool"]),
    int: Kind("an int", "ints", _take_int, QUICK["int"]),
    float: Kind("a number", "numbers", _take_number, QUICK["float"] | QUICK["int"]),
    complex: Kind("a number", "numbers", _take_complex, QUICK["float"] | QUICK["int"]),
    str: Kind("a str", "strs", lambda v: v if isinstance(v, str) else NO, QUICK["str"]),
    DType: Kind("a dtype", "dtypes", _take_dtype, QUICK["DType"]),
    collections.abc.Callable: Kind("a function", "functions", lambda v: v if callable(v) else NO),
}
# What may be given where an annotation says that there are items, and how that is said.
_CONTAINERS: dict[Any, tuple[Any, str]] = {
    collections.abc.Sequence: ((tuple, list), "a tuple or list"),
    collections.abc.Iterable: ((collections.abc.Iterable,), "an iterable"),
    tuple: ((tuple,), "a tuple"),
    list: ((list,), "a list"),
}


def kind_of(annotation: Any) -> Kind | None:
    """What an annotation allows; None where that is anything."""
    if annotation in (Any, object):
        return None
    if (known := _TYPES.get(annotation)) is not None:
        return known
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (Union, types.UnionType):
        return _any_of([kind_of(a) for a in args])
    if origin is Annotated:
        return _annotated(args[0], args[1:])
    if origin is Literal:
        return _choice(args)
    if origin is collections.abc.Callable:
        return _TYPES[origin]
    if (origin or annotation) in _CONTAINERS:
        return _container(origin or annotation, args)
    return _instance(origin or annotation)


def _instance(kind: type) -> Kind:
    name = kind.__name__
    return Kind(
        f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}",
        f"{name}s",
        lambda v: v if isinstance(v, kind) else NO,
    )


def _choice(options: tuple) -> Kind:
    text = "one of " + ", ".join(map(repr, options))
    kinds = tuple({type(option) for option in options})

    other = Refused(ValueError, f"be {text}")

    def take(value: Any) -> Any:
        if type(value) in kinds and value in options:
            return value
        return other if isinstance(value, kinds) else NO

    return Kind(text, text, take)


def _any_of(kinds: list[Kind | None]) -> Kind | None:
    if None in kinds:
        return None
    ways = typing.cast("list[Kind]", kinds)
    *first, last = ways

    def take(value: Any) -> Any:
        result: Any = NO
        for way in ways:
            got = way.take(value)
            if not isinstance(got, Refused):
                return got
            result = got if got is not NO else result
        return result

    comma = "," if any(" or " in k.text for k in ways[:2]) else ""
    return Kind(
        ", ".join(k.text for k in first) + f"{comma} or {last.text}",
        " or ".join(k.plural for k in ways),
        take,
        functools.reduce(operator.or_, (k.quick for k in ways)),
        functools.reduce(operator.or_, (k.items for k in ways)),
    )


def _annotated(annotation: Any, notes: tuple) -> Kind | None:
    given = next((note.given for note in notes if isinstance(note, Taken)), annotation)
    kind = kind_of(given)
    if kind is None:
        return None
    for note in notes:
        if isinstance(note, Called):
            kind = dataclasses.replace(kind, text=note.text, plural=note.plural)
        elif isinstance(note, Where):
            kind = dataclasses.replace(kind, take=_conditional(kind.take, note), quick=0, items=0)
        elif isinstance(note, Only):
            kind = _instance(note.type)
        elif isinstance(note, Taken):
            quick = functools.reduce(operator.or_, (QUICK[name] for name in note.quick), 0)
            make = _converted(kind.take, note.make)
            kind = dataclasses.replace(kind, take=make, quick=quick, items=0)
    return kind


def _conditional(take: Callable[[Any], Any], condition: Where) -> Callable[[Any], Any]:
    other = Refused(condition.error, condition.must)

    def checked(value: Any) -> Any:
        got = take(value)
        return got if isinstance(got, Refused) or condition.test(got) else other

    return checked


def _converted(take: Callable[[Any], Any], make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def converted(value: Any) -> Any:
        got = take(value)
        return got if isinstance(got, Refused) else make(got)

    return converted


def _container(origin: Any, args: tuple) -> Kind:
    types_, text = _CONTAINERS[origin]
    item = kind_of(args[0]) if args else None
    if item is None or origin is collections.abc.Iterable:  # whose items a look would use up
        what = text.split(" ", 1)[1]
        return Kind(text, f"{what}s", lambda v: v if isinstance(v, types_) else NO)
    count = len(args) if origin is tuple and args[-1] is not Ellipsis else None
    take = item.take

    def take_all(value: Any) -> Any:
        if not isinstance(value, (tuple, list)) or not isinstance(value, types_):
            return NO
        if count is not None and len(value) != count:
            return OTHER_SIZE
        items = [take_or_leave(take, v) for v in value]
        for got in items:
            if isinstance(got, Refused):
                return dataclasses.replace(got, of_items=True) if got.must else got
        if all(a is b for a, b in zip(items, value)):
            return value
        return items if isinstance(value, list) else tuple(items)

    text = f"{text} of {item.plural if count is None else f'{count} {item.plural}'}"
    quick = item.quick if origin is collections.abc.Sequence else 0
    return Kind(text, text, take_all, items=quick)


def take_or_leave(take: Callable[[Any], Any], value: Any) -> Any:
    """As `take`; what stands for a value that is not decided while compiling goes as it is."""
    got = take(value)
    return value if isinstance(got, Refused) and isinstance(value, _late.undecided) else got


def described(value: Any, whole: bool = False) -> str:
    """What a message says was given: the type, and of sequences, and where the `whole` value matters, what it is."""
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        return type(value).__name__
    if _late.compiler is not None and (sample := _late.compiler.sample_of(value)) is not value:
        return type(sample).__name__
    if isinstance(value, (tuple, list)):
        inner = ", ".join(described(v, True) for v in value[:4]) + (
            ", ..." if len(value) > 4 else ""
        )
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if isinstance(value, int) and value.bit_length() > 256:  # Python may refuse to print it
        return f"an int of {value.bit_length()} bits"
    if whole and isinstance(value, DType):
        return str(value)
    if whole and isinstance(value, (bool, int, float, complex, str, np.generic)):
        text = repr(value)
        return text if len(text) <= 60 else text[:57] + "..."
    return type(value).__name__

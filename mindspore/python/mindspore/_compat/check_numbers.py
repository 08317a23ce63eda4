"""Checks of numbers, a part of `mindspore._checkparam`: an int or a float that relates to others."""

from __future__ import annotations

import enum
import functools
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np


class Rel(enum.IntEnum):
    """How a value must relate to another, or to two."""

    EQ = 1
    NE = 2
    LT = 3
    LE = 4
    GT = 5
    GE = 6
    INC_NEITHER = 7
    INC_LEFT = 8
    INC_RIGHT = 9
    INC_BOTH = 10
    IN = 11
    NOT_IN = 12


EQ, NE, LT, LE, GT, GE, INC_NEITHER, INC_LEFT, INC_RIGHT, INC_BOTH, IN, NOT_IN = Rel
_BINARY: dict[int, tuple[Callable[[Any, Any], bool], str]] = {
    EQ: (operator.eq, "equal to {}"),
    NE: (operator.ne, "different from {}"),
    LT: (operator.lt, "less than {}"),
    LE: (operator.le, "at most {}"),
    GT: (operator.gt, "greater than {}"),
    GE: (operator.ge, "at least {}"),
    IN: (lambda a, b: a in b, "one of {}"),
    NOT_IN: (lambda a, b: a not in b, "none of {}"),
}
_RANGES: dict[int, tuple[Callable, Callable, str]] = {
    INC_NEITHER: (operator.gt, operator.lt, "({}, {})"),
    INC_LEFT: (operator.ge, operator.lt, "[{}, {})"),
    INC_RIGHT: (operator.gt, operator.le, "({}, {}]"),
    INC_BOTH: (operator.ge, operator.le, "[{}, {}]"),
}
_NUMBERS = {int: "an int", float: "a float"}


def _refuse(kind: type, prim_name: Any, arg_name: Any, must: str, got: Any) -> Exception:
    owner = f"For '{prim_name}', " if prim_name else ""
    what = f"'{arg_name}'" if arg_name else "the value"
    return kind(f"{owner}{what} must {must}, but got {got}.")


def _typed(value: Any, kind: type, arg_name: Any, prim_name: Any) -> Any:
    """A number of a type; numbers of NumPy are such, bools are not."""
    accepted = {int: (int, np.integer), float: (float, np.floating)}.get(kind, kind)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, accepted):
        raise _refuse(
            TypeError, prim_name, arg_name, f"be {_NUMBERS.get(kind, kind)}", type(value).__name__
        )
    if isinstance(value, (float, np.floating)) and not math.isfinite(value):
        raise _refuse(ValueError, prim_name, arg_name, "be finite", value)
    return value


def _related(value: Any, other: Any, rel: int, arg_name: Any, prim_name: Any) -> Any:
    holds, text = _BINARY[rel]
    if not holds(value, other):
        raise _refuse(ValueError, prim_name, arg_name, f"be {text.format(other)}", value)
    return value


def _within(value: Any, low: Any, high: Any, rel: int, arg_name: Any, prim_name: Any) -> Any:
    above, below, text = _RANGES[rel]
    if not (above(value, low) and below(value, high)):
        raise _refuse(ValueError, prim_name, arg_name, f"be in {text.format(low, high)}", value)
    return value


def _either_order(check: Callable) -> Callable:
    """Takes the name in front of the value too, as the first releases had it."""
    before = list(inspect.signature(check).parameters).index("arg_name")

    @functools.wraps(check)
    def call(*args: Any, **kwargs: Any) -> Any:
        if (
            len(args) > before
            and isinstance(args[0], str)
            and not isinstance(args[1], (list, tuple))
        ):
            name, *rest = args
            args = (*rest[:before], name, *rest[before:])
        elif args and isinstance(args[0], str) and len(args) <= before and "arg_value" in kwargs:
            kwargs["arg_name"], args = args[0], args[1:]
        return check(*args, **kwargs)

    return call


# ---- numbers
@_either_order
def check_int(
    arg_value: Any, value: int, rel: int, arg_name: Any = None, prim_name: Any = None
) -> Any:
    """An int that relates to another number."""
    return _related(_typed(arg_value, int, arg_name, prim_name), value, rel, arg_name, prim_name)


check_integer = check_int


@_either_order
def check_float(
    arg_value: Any, value: float, rel: int, arg_name: Any = None, prim_name: Any = None
) -> Any:
    """A float that relates to another number."""
    return _related(_typed(arg_value, float, arg_name, prim_name), value, rel, arg_name, prim_name)


@_either_order
def check_int_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: int,
    arg_name: Any = None,
    prim_name: Any = None,
) -> Any:
    """An int between two others."""
    value = _typed(arg_value, int, arg_name, prim_name)
    return _within(value, lower_limit, upper_limit, rel, arg_name, prim_name)


@_either_order
def check_float_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: int,
    arg_name: Any = None,
    prim_name: Any = None,
) -> Any:
    """A float between two numbers."""
    value = _typed(arg_value, float, arg_name, prim_name)
    return _within(value, lower_limit, upper_limit, rel, arg_name, prim_name)


@_either_order
def check_number_range(
    arg_value: Any,
    lower_limit: Any,
    upper_limit: Any,
    rel: int,
    value_type: Any = None,
    arg_name: Any = None,
    prim_name: Any = None,
) -> Any:
    """A number between two others."""
    kind: Any = value_type if value_type is not None else (int, float)
    return _within(
        _typed(arg_value, kind, arg_name, prim_name),
        lower_limit,
        upper_limit,
        rel,
        arg_name,
        prim_name,
    )


def check_number(arg_name: Any, arg_value: Any, value: Any, rel: int, prim_name: Any = None) -> Any:
    """A number that relates to another."""
    return _related(arg_value, value, rel, arg_name, prim_name)


@_either_order
def check_equal_int(arg_value: Any, value: int, arg_name: Any = None, prim_name: Any = None) -> Any:
    """An int equal to another."""
    return check_int(arg_value, value, EQ, arg_name, prim_name)


def _signed(kind: type, rel: int) -> Callable:
    @_either_order
    def check(arg_value: Any, arg_name: Any = None, prim_name: Any = None) -> Any:
        return _related(_typed(arg_value, kind, arg_name, prim_name), 0, rel, arg_name, prim_name)

    return check


check_positive_int, check_positive_float = _signed(int, GT), _signed(float, GT)
check_non_negative_int, check_non_negative_float = _signed(int, GE), _signed(float, GE)
check_negative_int, check_negative_float = _signed(int, LT), _signed(float, LT)
check_non_positive_int, check_non_positive_float = _signed(int, LE), _signed(float, LE)
check_float_positive = check_positive_float


@_either_order
def check_float_legal_value(arg_value: Any, arg_name: Any = None, prim_name: Any = None) -> Any:
    """A finite float."""
    return _typed(arg_value, float, arg_name, prim_name)


@_either_order
def check_is_int(arg_value: Any, arg_name: Any = None, prim_name: Any = None) -> Any:
    """An int."""
    return _typed(arg_value, int, arg_name, prim_name)


@_either_order
def check_is_float(arg_value: Any, arg_name: Any = None, prim_name: Any = None) -> Any:
    """A float."""
    return _typed(arg_value, float, arg_name, prim_name)


def check_is_number(
    arg_value: Any, arg_type: type, arg_name: Any = None, prim_name: Any = None
) -> Any:
    """A number of a type."""
    return _typed(arg_value, arg_type, arg_name, prim_name)

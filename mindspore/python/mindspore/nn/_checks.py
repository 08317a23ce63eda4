"""Checks of constructor arguments, shared by all cells.

Every message names the cell and the argument: "For 'Conv2d', 'stride' must be ..., but got ...".
A wrong type is a TypeError, a wrong value of the right type a ValueError.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def type_name(value: Any) -> str:
    """How a value is shown in a message about its type."""
    return type(value).__name__


def is_int(value: Any) -> bool:
    """True for integers, but not for bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """True for integers and floats, but not for bool."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_bool(value: Any, name: str, owner: str) -> bool:
    """The value, if it is a bool."""
    if not isinstance(value, bool):
        raise TypeError(f"For '{owner}', '{name}' must be a bool, but got {type_name(value)}.")
    return value


def check_int(value: Any, name: str, owner: str) -> int:
    """The value, if it is an integer."""
    if not is_int(value):
        raise TypeError(f"For '{owner}', '{name}' must be an int, but got {type_name(value)}.")
    return int(value)


def check_positive_int(value: Any, name: str, owner: str) -> int:
    """The value, if it is an integer above zero."""
    if check_int(value, name, owner) <= 0:
        raise ValueError(f"For '{owner}', '{name}' must be a positive int, but got {value}.")
    return int(value)


def check_non_negative_int(value: Any, name: str, owner: str) -> int:
    """The value, if it is an integer not below zero."""
    if check_int(value, name, owner) < 0:
        raise ValueError(f"For '{owner}', '{name}' must not be negative, but got {value}.")
    return int(value)


def check_number(value: Any, name: str, owner: str) -> float:
    """The value as a float, if it is a finite number."""
    if not is_number(value):
        raise TypeError(
            f"For '{owner}', '{name}' must be an int or a float, but got {type_name(value)}."
        )
    if not math.isfinite(value):
        raise ValueError(f"For '{owner}', '{name}' must be finite, but got {value}.")
    return value


def check_float(value: Any, name: str, owner: str) -> float:
    """The value, if it is a float (integers are refused, as the API documents)."""
    if not isinstance(value, float):
        raise TypeError(f"For '{owner}', '{name}' must be a float, but got {type_name(value)}.")
    return value


def check_positive_float(value: Any, name: str, owner: str) -> float:
    """The value, if it is a float above zero."""
    if not check_float(value, name, owner) > 0.0:
        raise ValueError(f"For '{owner}', '{name}' must be greater than 0, but got {value}.")
    return value


def check_non_negative(value: Any, name: str, owner: str) -> float:
    """The value, if it is a number not below zero."""
    if check_number(value, name, owner) < 0:
        raise ValueError(f"For '{owner}', '{name}' must not be negative, but got {value}.")
    return value


def check_range(
    value: Any, low: float, high: float, name: str, owner: str, closed: str = "both"
) -> float:
    """The value, if it is a number between low and high; `closed` is both, left, right or none."""
    check_number(value, name, owner)
    left = value >= low if closed in ("both", "left") else value > low
    right = value <= high if closed in ("both", "right") else value < high
    if not (left and right):
        opening = "[" if closed in ("both", "left") else "("
        closing = "]" if closed in ("both", "right") else ")"
        raise ValueError(
            f"For '{owner}', '{name}' must be in {opening}{low}, {high}{closing}, but got {value}."
        )
    return value


def check_type(value: Any, types: type | tuple[type, ...], name: str, owner: str) -> Any:
    """The value, if it is an instance of one of the types."""
    if not isinstance(value, types):
        group = types if isinstance(types, tuple) else (types,)
        expected = " or ".join(t.__name__ for t in group)
        raise TypeError(f"For '{owner}', '{name}' must be {expected}, but got {type_name(value)}.")
    return value


def check_string(value: Any, choices: Iterable[str], name: str, owner: str) -> str:
    """The value, if it is one of the strings in choices."""
    options = list(choices)
    if not isinstance(value, str):
        raise TypeError(f"For '{owner}', '{name}' must be a str, but got {type_name(value)}.")
    if value not in options:
        listing = ", ".join(repr(option) for option in options)
        raise ValueError(f"For '{owner}', '{name}' must be one of {listing}, but got '{value}'.")
    return value


def int_tuple(value: Any, size: int, name: str, owner: str, minimum: int = 1) -> tuple[int, ...]:
    """A tuple of `size` integers from an integer or such a tuple, each at least `minimum`."""
    items = (value,) * size if is_int(value) else value
    fits = isinstance(items, (tuple, list)) and len(items) == size
    if not fits or not all(is_int(item) for item in items):
        raise TypeError(
            f"For '{owner}', '{name}' must be an int or a tuple of {size} ints, but got {value!r}."
        )
    if any(item < minimum for item in items):
        raise ValueError(
            f"For '{owner}', every size in '{name}' must be at least {minimum}, but got {value}."
        )
    return tuple(items)

"""Argument checks of the data pipeline, with the limits programs import from here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

INT32_MAX = 2147483647
INT32_MIN = -2147483648
UINT8_MAX = 255
UINT32_MAX = 4294967295
INT64_MAX = 9223372036854775807
INT64_MIN = -9223372036854775808
FLOAT_MAX_INTEGER = 16777216
POS_INT_MIN = 1


def check_type(op: str, name: str, value: Any, types: type | tuple[type, ...]) -> None:
    """Raise TypeError unless `value` has one of `types`; a bool is no int here."""
    allowed = types if isinstance(types, tuple) else (types,)
    if (isinstance(value, bool) and bool not in allowed) or not isinstance(value, allowed):
        names = " or ".join(t.__name__ for t in allowed)
        raise TypeError(f"For '{op}', {name} must be {names}, but got {type(value).__name__}.")


def check_int(op: str, name: str, value: Any, low: int, high: int = INT32_MAX) -> int:
    """Raise unless `value` is an int in [low, high]."""
    check_type(op, name, value, int)
    if not low <= value <= high:
        raise ValueError(f"For '{op}', {name} must be in [{low}, {high}], but got {value}.")
    return int(value)


def check_probability(op: str, name: str, value: Any) -> float:
    """Raise unless `value` is a number in [0, 1]."""
    check_type(op, name, value, (int, float))
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"For '{op}', {name} must be in [0, 1], but got {value}.")
    return float(value)


def check_names(op: str, name: str, value: Any) -> list[str]:
    """A column name or a list of distinct ones, as a list."""
    names = [value] if isinstance(value, str) else value
    check_type(op, name, names, (list, tuple))
    for item in names:
        if not isinstance(item, str) or not item:
            raise TypeError(f"For '{op}', {name} must hold non-empty str, but got {item!r}.")
    if len(set(names)) != len(names):
        raise ValueError(f"For '{op}', {name} must not repeat a name, but got {list(names)}.")
    return list(names)


def array_of(op: str, value: Any) -> np.ndarray:
    """The input of an operation as an array."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        kind = type(value).__name__
        raise ValueError(
            f"For '{op}', the input must be an array, or lists of equal lengths, but got a {kind} of which NumPy makes none."
        ) from None


def check_workers(op: str, count: Any) -> int | None:
    """A number of workers, or None for that of the configuration."""
    return None if count is None else check_int(op, "num_parallel_workers", count, 1)


# Keyword arguments that tune queues; they change nothing here.
_TUNING = {"max_rowsize", "offload", "max_row_size"}
# What the first releases called them.
_OLDER = {"columns_order": "column_order"}


def known_options(op: str, given: dict[str, Any], known: Sequence[str]) -> dict[str, Any]:
    """Keyword arguments that are known, without those that only tune; TypeError for any other."""
    given = {_OLDER.get(name, name): value for name, value in given.items()}
    for name in given:
        if name not in _TUNING and name not in known:
            raise TypeError(f"For '{op}', '{name}' is not one of its arguments.")
    return {name: value for name, value in given.items() if name in known}


def check_file_exists(op: str, path: str) -> None:
    """Raise ValueError when `path` is no file that can be read."""

    if not os.path.isfile(path):
        raise ValueError(f"For '{op}', the file must exist, but got '{path}'.")

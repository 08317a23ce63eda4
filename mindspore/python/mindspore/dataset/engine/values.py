"""Values as the pipeline carries them: arrays, one for each column of a row."""

from __future__ import annotations

from typing import Any

import numpy as np

Row = tuple[Any, ...]


def to_array(value: Any) -> Any:
    """A column value as the pipeline carries it: an array, or a dict passed through."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, dict):
        return value
    if isinstance(value, bytes):
        return np.array(value, dtype=np.bytes_)
    to_numpy = getattr(value, "asnumpy", None)
    array = to_numpy() if to_numpy is not None else np.asarray(value)
    if array.dtype == object:
        raise TypeError(
            "a column must be a number, a string, a NumPy array or a Tensor, but got "
            f"{type(value).__name__}"
            + (" with parts of different shapes" if isinstance(value, (list, tuple)) else "")
        )
    return array


def as_row(value: Any) -> Row:
    """What a user's source gave for one row."""
    if isinstance(value, tuple):
        return tuple([to_array(v) for v in value])
    return (to_array(value),)


def stack_dicts(column: str, rows: list[Any]) -> Any:
    """Dicts of arrays as one dict of batches; arrays of types that only NumPy knows, stacked."""
    first = rows[0]
    if not isinstance(first, dict):
        return np.stack(rows)
    try:
        return {key: stack_dicts(column, [row[key] for row in rows]) for key in first}
    except (KeyError, ValueError) as error:
        raise RuntimeError(
            f"For 'batch', the rows of column '{column}' must have the same keys and shapes, "
            f"but got {error}."
        ) from None

"""What is asked of graphs, checked before it goes anywhere."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import INT32_MAX, INT32_MIN, check_type
from mindspore.dataset.engine.graph_store import MOST


def whole_numbers(op: str, argument: str, value: Any, flat: bool = True) -> np.ndarray:
    """Ids, or other whole numbers, as an array; `flat` ones along one axis, with one at least."""
    check_type(op, argument, value, (list, np.ndarray))
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        array = np.array([], object)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(
            f"For '{op}', {argument} must hold whole numbers in one shape, but got {_shown(value)}."
        )
    if flat:
        array = np.squeeze(array) if array.ndim > 1 else array
        array = array.reshape(-1) if array.ndim == 0 else array
        if array.ndim != 1:
            raise ValueError(
                f"For '{op}', {argument} must have one axis, but got the shape {array.shape}."
            )
    if not array.size:
        if array.dtype == object:
            raise TypeError(
                f"For '{op}', {argument} must hold whole numbers in one shape, but got {_shown(value)}."
            )
        if argument != "edges":
            raise ValueError(f"For '{op}', {argument} must not be empty.")
    wide = array.size and (array.min() < INT32_MIN or array.max() > INT32_MAX)
    if wide:
        raise ValueError(f"For '{op}', {argument} must fit int32, but got {_shown(value)}.")
    return array.astype(np.int64)


def check_drawn(op: str, argument: str, numbers: list[int], nodes: int) -> None:
    """Raises unless so many ids may be drawn for so many nodes, hop by hop."""
    drawn, all_drawn = nodes, nodes
    for number in numbers:
        drawn *= number
        all_drawn += drawn
    if min(numbers) < 1 or all_drawn > MOST:
        raise ValueError(
            f"For '{op}', {argument} must be positive, and what is drawn for all nodes together at most {MOST} ids, "
            f"but got {numbers if len(numbers) > 1 else numbers[0]} for {nodes} nodes."
        )


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return f"{value!r:.60}"


def enum_member(op: str, argument: str, value: Any, kind: type[IntEnum]) -> IntEnum:
    """A member of an enum, or the number of one."""
    if isinstance(value, bool) or not isinstance(value, int) or value not in list(kind):
        names = ", ".join(f"{kind.__name__}.{member.name}" for member in kind)
        raise TypeError(f"For '{op}', {argument} must be one of {names}, but got {value!r}.")
    return kind(value)


def named_arrays(argument: str, value: Any) -> dict[str, np.ndarray]:
    """Features of Graph: arrays by their names."""
    if value is None:
        return {}
    check_type("Graph", argument, value, dict)
    for name, array in value.items():
        if not isinstance(name, str) or not isinstance(array, np.ndarray):
            raise TypeError(
                f"For 'Graph', {argument} must have names as keys and arrays as values, "
                f"but got {name!r} of {type(array).__name__}."
            )
        if array.dtype.kind not in "biufSU" or (
            array.dtype.kind in "SU" and argument != "graph_feat"
        ):
            raise TypeError(
                f"For 'Graph', {argument}['{name}'] must hold numbers, but got an array of {array.dtype}."
            )
    return dict(value)


def named_types(argument: str, value: Any) -> list[str] | None:
    """Types of Graph, one for each node or edge."""
    if value is None:
        return None
    check_type("Graph", argument, value, (list, np.ndarray))
    listed = value.tolist() if isinstance(value, np.ndarray) else value
    for entry in listed:
        if not isinstance(entry, str):
            raise TypeError(f"For 'Graph', {argument} must hold str, but got {entry!r:.60}.")
    return list(listed)

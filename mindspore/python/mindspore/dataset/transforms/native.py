"""Transforms that the engine does by itself: how they are told to it, and how they run alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from mindspore import _core
from mindspore.dataset.core.random import row_key, row_rng

# A number that is drawn for each value: its place, low, high, and whether it is an integer.
Draw = tuple[int, float, float, bool]
# Name and numbers; of random ones also the draws, and how probable it is that anything is done.
Spec = tuple[str, list[float]] | tuple[str, list[float], list[Draw], float]
_PACKAGE = "mindspore.dataset."
F = TypeVar("F", bound=Callable[..., Any])


def spec_of(operation: Any) -> list[Spec] | None:
    """What the engine does for an operation; None: only Python can."""
    if not type(operation).__module__.startswith(_PACKAGE):
        return None  # a class of the user's may do something else
    return _own_specs(operation)


def _own_specs(operation: Any) -> list[Spec] | None:
    parts = getattr(operation, "composed", None)
    if parts is not None:
        specs = [spec_of(part) for part in parts]
        return None if None in specs else [spec for part in specs for spec in part or ()]
    spec = getattr(operation, "spec", None)
    found = spec() if spec is not None else None
    if found is not None and operation.gives_arrays:
        return [("ToNumpy", []), found]
    return None if found is None else [found]


def engine_of(operation: Any) -> Any | None:
    """The engine's own operation, of those on text; None: there is none."""
    if not type(operation).__module__.startswith(_PACKAGE):
        return None
    made = getattr(operation, "engine", None)
    return None if made is None else made()


def chain_of(operations: Sequence[Callable[..., Any]]) -> Any:
    """The engine's chain for operations that all have a spec."""
    return _chain([spec for operation in operations for spec in spec_of(operation) or ()])


def _chain(specs: Sequence[Spec]) -> Any:
    return _core.dataset.Chain([whole(spec) for spec in specs])


def whole(spec: Spec) -> tuple[str, list[float], list[Draw], float]:
    """The spec with all its parts."""
    return (spec[0], spec[1], [], 1.0) if len(spec) == 2 else spec


def drawn(spec: Spec) -> list[float] | None:
    """The numbers for one value, where Python does the work; None: it stays as it is."""
    _, numbers, draws, probability = whole(spec)
    if probability < 1 and row_rng().random() >= probability:
        return None
    numbers = list(numbers)
    for place, low, high, integer in draws:
        rng = row_rng()
        numbers[place] = (
            float(rng.integers(int(low), int(high) + 1)) if integer else rng.uniform(low, high)
        )
    return numbers


def run(operation: Any, value: Any, draws: bool = False) -> Any:
    """One operation on one array. What a class of the user's made of it has asked for this itself."""
    chain = operation.__dict__.get("_chain")
    if chain is None:
        chain = operation.__dict__["_chain"] = _chain(_own_specs(operation) or ())
        if _is_all_engine(operation):
            operation.__dict__["_direct"] = _core.dataset.direct_call(chain)
    return chain.run(np.asarray(value), row_key() if draws else 0)


def all_engine(method: F) -> F:
    """Marks a method that does nothing with an image of two or three axes but to give it to `run`."""
    method.all_engine = True  # type: ignore[attr-defined]
    return method


def _is_all_engine(operation: Any) -> bool:
    methods = [getattr(type(operation), name, None) for name in ("_apply", "_image")]
    return all(method is None or hasattr(method, "all_engine") for method in methods)


def dtype_number(dtype: Any) -> int | None:
    """A type as the engine counts them; None for those that only NumPy knows."""
    number = _core.dataset.number_of_dtype(np.dtype(dtype))
    return None if number is None else int(number)

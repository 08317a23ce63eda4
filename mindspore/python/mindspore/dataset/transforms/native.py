"""Transforms that the engine does by itself: how they are told to it, and how they run alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.random import row_rng

Spec = tuple[str, list[float]]
_PACKAGE = "mindspore.dataset."


def spec_of(operation: Any) -> list[Spec] | None:
    """What the engine does for an operation; None: only Python can."""
    if not type(operation).__module__.startswith(_PACKAGE):
        return None  # a class of the user's may do something else
    parts = getattr(operation, "composed", None)
    if parts is not None:
        specs = [spec_of(part) for part in parts]
        return None if None in specs else [spec for part in specs for spec in part or ()]
    spec = getattr(operation, "spec", None)
    found = spec() if spec is not None else None
    return None if found is None else [found]


def chain_of(operations: Sequence[Callable[..., Any]]) -> Any:
    """The engine's chain for operations that all have a spec."""
    specs = [spec for operation in operations for spec in spec_of(operation) or ()]
    return _core.dataset.Chain(specs)


def run(operation: Any, value: Any, draws: bool = False) -> Any:
    """One operation on one array."""
    chain = operation.__dict__.get("_chain")
    if chain is None:
        chain = operation.__dict__["_chain"] = chain_of([operation])
    return chain.run(np.asarray(value), int(row_rng().integers(1 << 63)) if draws else 0)


def dtype_number(dtype: Any) -> int | None:
    """A type as the engine counts them; None for those that only NumPy knows."""
    number = _core.dataset.number_of_dtype(np.dtype(dtype))
    return None if number is None else int(number)

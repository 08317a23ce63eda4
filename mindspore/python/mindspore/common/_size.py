"""Sizes as Python sees them: ints, or symbolic ints where each call of a compiled function decides; and checks of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import SymbolicInt, Tensor


def is_int(value: Any) -> bool:
    """Whether a value is an int, of Python, NumPy or a symbolic one; not a bool."""
    return isinstance(value, (int, np.integer, SymbolicInt)) and not isinstance(
        value, (bool, np.bool_)
    )


def as_int(value: Any) -> Any:
    """The Python int; symbolic ones stay what they are."""
    return value if isinstance(value, SymbolicInt) else int(value)


def require_memory(name: str, items: float, item_size: int) -> None:
    """Raises MemoryError in the name of a function unless there may be so many items of so many bytes."""
    _core.require_memory(name, float(min(items, 1 << 60)) * item_size)


def slice_bounds(key: slice, size: Any) -> tuple[Any, Any, Any]:
    """Start, stop and step of a slice of an axis, clipped as `slice.indices` does, of sizes that may be symbolic."""
    step = 1 if key.step is None else key.step
    if not any(isinstance(v, SymbolicInt) for v in (key.start, key.stop, step, size)):
        return key.indices(size)
    low, high = (0, size) if step > 0 else (-1, size - 1)

    def clip(value: Any, default: Any) -> Any:
        if value is None:
            return default
        if value < 0:
            value = value + size
        return low if value < low else high if value > high else value

    return (
        clip(key.start, low if step > 0 else high),
        clip(key.stop, high if step > 0 else low),
        step,
    )


def range_length(start: Any, stop: Any, step: Any) -> Any:
    """How many numbers a range has, of numbers that may be symbolic."""
    span = stop - start if step > 0 else start - stop
    stride = step if step > 0 else -step
    return (span + stride - 1) // stride if span >= 0 else 0


def broadcast_shapes(name: str, *shapes: tuple) -> tuple:
    """NumPy's rule, of sizes that may be symbolic; `name` is the function that asks."""
    result: list[Any] = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        for i, size in enumerate(shape, len(result) - len(shape)):
            known = result[i]
            if not isinstance(size, SymbolicInt) and size == 1:
                continue
            if not isinstance(known, SymbolicInt) and known == 1:
                result[i] = size
            elif known == size or size == 1:
                continue
            elif known == 1:
                result[i] = size
            else:
                raise ValueError(
                    f"For '{name}', the shapes must broadcast, but got {', '.join(map(str, shapes))}."
                )
    return tuple(result)


def require_rank(name: str, argument: str, x: Tensor, rank: int) -> None:
    """Refuse a tensor of another number of dimensions."""
    if x.ndim != rank:
        raise ValueError(
            f"For '{name}', '{argument}' must have {rank} dimensions, but got shape {x.shape}."
        )

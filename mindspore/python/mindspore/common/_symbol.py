"""What is known of an open size in the description of an input: `Tensor(shape=(None, Symbol(divisor=8)), dtype=...)`."""

from __future__ import annotations

import weakref
from typing import Any

from mindspore._core import Tensor


class Symbol:
    """A size that changes from call to call, within bounds. What `set_inputs` or `input_signature` describes with it is checked at
    each call.

    Args:
        max (int): The largest size; no bound where it is smaller than `min`.
        min (int): The smallest size.
        divisor (int): Sizes are multiples of it, plus `remainder`.
        remainder (int): What is left when a size is divided by `divisor`.
        unique (bool): Whether all sizes that this object describes are one size.
    """

    def __init__(
        self,
        max: int = 0,
        min: int = 1,
        divisor: int = 1,
        remainder: int = 0,
        unique: bool = False,
        **kwargs: Any,
    ):
        del kwargs  # as in the public API, where releases to come may say more of a size
        numbers = {"max": max, "min": min, "divisor": divisor, "remainder": remainder}
        for name, value in numbers.items():
            if not isinstance(value, int):
                raise TypeError(
                    f"For 'Symbol', '{name}' must be an int, but got {type(value).__name__}."
                )
        if not isinstance(unique, bool):
            raise TypeError(
                f"For 'Symbol', 'unique' must be a bool, but got {type(unique).__name__}."
            )
        for name in ("min", "divisor"):
            if numbers[name] < 1:
                raise ValueError(
                    f"For 'Symbol', '{name}' must be at least 1, but got {numbers[name]}."
                )
        if not 0 <= remainder < divisor:
            raise ValueError(
                f"For 'Symbol', 'remainder' must be in [0, {divisor}), but got {remainder}."
            )
        self.max, self.min, self.divisor, self.remainder = max, min, divisor, remainder
        self.unique = unique

    def to_dict(self) -> dict[str, Any]:
        """What it says beyond "any size"; an `id` stands for one that is unique."""
        said: dict[str, Any] = {}
        if self.max > self.min:
            said["max"] = self.max
        if self.min > 1:
            said["min"] = self.min
        if self.divisor > 1:
            said |= {"divisor": self.divisor, "remainder": self.remainder}
        if self.unique:
            said["id"] = id(self)
        return said

    def __str__(self) -> str:
        return str(self.to_dict())

    def refusal(self, size: int) -> str | None:
        """What a size must be, where this one is not so."""
        if size < self.min:
            return f"at least {self.min}"
        if self.max > self.min and size > self.max:
            return f"at most {self.max}"
        if size % self.divisor != self.remainder:
            rest = f", plus {self.remainder}" if self.remainder else ""
            return f"a multiple of {self.divisor}{rest}"
        return None


_described: dict[int, tuple[Any, ...]] = {}  # by the id of a description that lives


def describe(description: Tensor, shape: Any) -> Tensor:
    """Notes the symbols in the shape of a description."""
    if any(isinstance(size, Symbol) for size in shape):
        _described[id(description)] = tuple(shape)
        weakref.finalize(description, _described.pop, id(description), None)
    return description


def symbols_of(description: Tensor) -> tuple[Any, ...]:
    """The sizes that a description was made with, if symbols are among them."""
    return _described.get(id(description), ())


def symbolic_shape(tensor: Tensor) -> list[Any] | None:
    """The sizes of a description, symbols as dicts; None of any other tensor."""
    sizes = symbols_of(tensor)
    if not sizes:
        return None
    return [size.to_dict() if isinstance(size, Symbol) else size for size in sizes]


__all__ = ["Symbol"]

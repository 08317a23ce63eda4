"""Checks of arguments that functions composed in Python share."""

from __future__ import annotations

from typing import Any

from mindspore._core import Tensor


def check_tensors(name: str, *values: Any) -> None:
    """Raise TypeError, in the name of the function, unless all values are Tensors."""
    for x in values:
        if not isinstance(x, Tensor):
            kind = type(x).__name__
            raise TypeError(f"For '{name}', the inputs must be Tensors, but got {kind}.")

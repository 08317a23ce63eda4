"""The two directions of differentiation as cells, the form of the earlier releases; `ops.jvp` and `ops.vjp` are functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.nn.cell import Cell
from mindspore.ops import jvp, vjp


class Jvp(Cell):
    """The value of a function and its derivative along a direction: called with the inputs and, last, the tangents.

    Args:
        fn: a function or Cell of tensors.
    """

    def __init__(self, fn: Callable) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        """(value, tangent)."""
        return jvp(self.fn, args[:-1], args[-1])


class Vjp(Cell):
    """The value of a function and the gradients of its inputs: called with the inputs and, last, the tangents of the value.

    Args:
        fn: a function or Cell of tensors.
    """

    def __init__(self, fn: Callable) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        """(value, gradient), with a tuple of gradients where there are several inputs."""
        value, back = vjp(self.fn, *args[:-1])
        gradients = back(args[-1])
        return value, gradients[0] if len(gradients) == 1 else gradients


__all__ = ["Jvp", "Vjp"]

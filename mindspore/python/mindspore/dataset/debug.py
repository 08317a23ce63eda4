"""Hooks that see what goes into the operations of map() and comes out, in debug mode.

config.set_debug_mode(True, debug_hook_list=[PrintMetaDataHook()])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.dataset.core.user_code import describe


class DebugHook(ABC):
    """Base of hooks: `compute` gets the columns, and gives them back."""

    def __init__(self, prev_op_name: str | None = None) -> None:
        self.prev_op_name = prev_op_name
        self.is_first_op = False

    @abstractmethod
    def compute(self, *args: Any) -> Any:
        """Look at the columns."""

    def set_previous_op_name(self, prev_op_name: str | None) -> None:
        """The operation that the columns come from or go to."""
        self.prev_op_name = prev_op_name

    def set_is_first(self, is_first_op: bool) -> None:
        """Whether the columns go into the operation."""
        self.is_first_op = is_first_op

    def _head(self) -> str:
        side = "INPUT" if self.is_first_op else "OUTPUT"
        return f"[Dataset debugger] Print the [{side}] of the operation [{self.prev_op_name}]."


class PrintDataHook(DebugHook):
    """Prints the columns."""

    def compute(self, *args: Any) -> Any:
        """Print the values, and give them back."""
        print(self._head())
        for number, value in enumerate(args):
            print(f"Column {number}. The data is [{value}].")
        return args


class PrintMetaDataHook(DebugHook):
    """Prints types and shapes of the columns."""

    def compute(self, *args: Any) -> Any:
        """Print what the values are, and give them back."""
        print(self._head())
        for number, value in enumerate(args):
            array = np.asarray(value)
            print(f"Column {number}. The dtype is [{array.dtype}]. The shape is [{array.shape}].")
        return args


def hooked(hooks: Sequence[Any], operation: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """The result of an operation, with the hooks called before and after it."""
    name = describe(operation)

    def look(columns: tuple[Any, ...], first: bool) -> None:
        for hook in hooks:
            hook.set_previous_op_name(name)
            hook.set_is_first(first)
            hook.compute(*columns)

    look(values, True)
    result = operation(*values)
    look(result if isinstance(result, tuple) else (result,), False)
    return result


__all__ = ["DebugHook", "PrintDataHook", "PrintMetaDataHook"]

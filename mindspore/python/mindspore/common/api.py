"""Compilation of functions, under the module path of the public API."""

from __future__ import annotations

import contextlib
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._mutable import marked
from mindspore.common._refused import refused
from mindspore.compile import JitFunction, jit, ms_function


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """Marks a value, a number or tensor or a structure of them, that may change between calls of a compiled function. The
    tensors of a tuple, list or dict that is marked have gradients, as tensors that are arguments have.

    Args:
        input_data: the value.
        dynamic_len: whether the length of a tuple or list may change.

    Returns:
        A copy of a tuple, list or dict, which is one in every respect; another value as it is.

    Examples:
        >>> ops.grad(lambda pair: pair[0] * pair[1])(mutable((Tensor(2.0), Tensor(3.0))))
    """
    if not isinstance(dynamic_len, bool):
        raise TypeError(
            f"For 'mutable', 'dynamic_len' must be a bool, but got {type(dynamic_len).__name__}."
        )
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        raise TypeError(
            "For 'mutable', with dynamic_len=True, 'input_data' must be a tuple or list, but got "
            f"{type(input_data).__name__}."
        )
    _check_mutable(input_data)
    return marked(input_data)


def _check_mutable(value: Any) -> None:
    if isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            _check_mutable(item)
    elif not isinstance(value, (bool, int, float, Tensor)):
        raise TypeError(
            "For 'mutable', 'input_data' must be a number, a Tensor or a tuple, list or dict of them, but got "
            f"{type(value).__name__}."
        )


def ms_class(cls: type) -> type:
    """Marks a class whose objects compiled functions may make and use; every class may."""
    if not isinstance(cls, type):
        raise TypeError(f"For 'jit_class', 'cls' must be a class, but got {type(cls).__name__}.")
    if isinstance(_late.cell_class, type) and issubclass(cls, _late.cell_class):
        raise TypeError(
            f"For 'jit_class', 'cls' must not be a Cell, which is compiled anyway, but got {cls.__name__}."
        )
    return cls


jit_class = ms_class


def ms_memory_recycle():
    """Gives freed memory that is kept for later use back to the system."""
    _core.empty_memory_cache()


class _PyNativeExecutor:
    """Eager execution, as scripts reach it."""

    def sync(self) -> None:
        """Waits until the device has done what it was given."""
        _core.synchronize()


class _CellGraphExecutor:
    """Compiled execution, as scripts reach it."""

    def compile(self, obj: Any, *args: Any, phase: str = "predict", **kwargs: Any) -> Any:
        """Compiles a cell for arguments like these, without running it; the phase, and that it was compiled."""
        obj.compile(*args, **kwargs)
        return phase, True

    def __call__(self, obj: Any, *args: Any, phase: str = "predict") -> Any:
        """Runs a cell."""
        return obj(*args)


class _no_grad(contextlib.ContextDecorator):
    """Gradients do not flow through what is computed in its block, or in the function that it decorates."""

    def __init__(self) -> None:
        self._open: list[Any] = []

    def __enter__(self) -> None:
        if _core.is_tracing():
            raise _late.compiler.Unsupported("a block of _no_grad")
        self._open.append(_core.NoRecord())
        self._open[-1].__enter__()

    def __exit__(self, *error: Any) -> None:
        self._open.pop().__exit__(*error)


_pynative_executor = _PyNativeExecutor()
_executor = _cell_graph_executor = _CellGraphExecutor()
cells_compile_cache: dict = {}  # of other builds; what is compiled is kept with the function here

__getattr__ = refused(__name__)
__all__ = ["JitFunction", "jit", "jit_class", "ms_class", "ms_function", "mutable"]

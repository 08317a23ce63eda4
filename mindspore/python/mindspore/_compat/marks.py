"""Marks of cells and functions that say how they are compiled or watched."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mindspore import Tensor, log, nn


def lazy_inline(fn: Callable | None = None, attrs: Any = None, policy: Any = None) -> Any:
    """Marks the constructor of a cell that is used many times. Equal cells are compiled once here anyway.

    Args:
        fn: the constructor.
        attrs: accepted.
        policy: None or "front".
    """
    del attrs
    if policy not in (None, "front"):
        raise ValueError(
            f"For 'lazy_inline', 'policy' must be None or 'front', but got {policy!r}."
        )
    return _marked("lazy_inline", fn)


def no_inline(fn: Callable | None = None) -> Any:
    """Marks a function whose calls are to stay calls. What is inlined is decided by its size and use here."""
    return _marked("no_inline", fn)


def _marked(name: str, fn: Any) -> Any:
    if fn is None:
        return lambda f: _marked(name, f)
    if not callable(fn):
        raise TypeError(f"For '{name}', 'fn' must be a function, but got {type(fn).__name__}.")

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    return fn if getattr(fn, "__name__", "") != "__init__" else call


def enable_dynamic(**kwargs: Any) -> Callable:
    """Marks a function some of whose arguments, named here by tensors of open shapes, differ in shape from call to call. A function is
    compiled for each shape that comes, and a shape that was seen before costs nothing.
    """
    for name, value in kwargs.items():
        items = value if isinstance(value, (tuple, list)) else [value]
        if not items or not all(isinstance(item, Tensor) for item in items):
            raise TypeError(
                f"For 'enable_dynamic', '{name}' must be a Tensor, or a tuple or list of Tensors, but got "
                f"{type(value).__name__}."
            )

    def mark(fn: Callable) -> Callable:
        known = inspect.signature(getattr(fn, "construct", fn)).parameters
        unknown = [name for name in kwargs if name not in known]
        if unknown:
            raise ValueError(
                f"For 'enable_dynamic', the names must be arguments of the function, {list(known)}, but got {unknown}."
            )
        return fn

    return mark


def set_dump(target: Any, enabled: bool = True) -> None:
    """Marks a cell or primitive whose values are to be dumped. Values are not dumped by this build: it says so, once."""
    from mindspore.ops import Primitive

    if not isinstance(target, (nn.Cell, Primitive)):
        raise TypeError(
            f"For 'set_dump', 'target' must be a Cell or Primitive, but got {type(target).__name__}."
        )
    if not isinstance(enabled, bool):
        raise TypeError(
            f"For 'set_dump', 'enabled' must be a bool, but got {type(enabled).__name__}."
        )
    if enabled:
        log.warn_once(
            "set_dump", "set_dump: values are not dumped here; print them with ops.Print."
        )

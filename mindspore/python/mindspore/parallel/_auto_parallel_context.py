"""The settings of parallel training as an object, the way older scripts reach them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import context

_get_auto_parallel_context = context.get_auto_parallel_context
_set_auto_parallel_context = context.set_auto_parallel_context
_reset_auto_parallel_context = context.reset_auto_parallel_context


class _AutoParallelContext:
    """Settings by method name: `get_parallel_mode()`, `set_device_num(8)`."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        verb, _, setting = name.partition("_")
        if verb == "get":
            return lambda: context.get_auto_parallel_context(setting)
        if verb == "set":
            return lambda value: context.set_auto_parallel_context(**{setting: value})
        raise AttributeError(name)


_instance = _AutoParallelContext()


def auto_parallel_context() -> _AutoParallelContext:
    """The settings of parallel training."""
    return _instance

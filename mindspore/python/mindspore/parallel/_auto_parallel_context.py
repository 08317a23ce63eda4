"""The settings of parallel training as an object, the way older scripts reach them."""

from __future__ import annotations

from mindspore import context


class _AutoParallelContext:
    """Reads settings by method name: `get_parallel_mode()`."""

    def __getattr__(self, name: str):
        if name.startswith("get_"):
            return lambda: context.get_auto_parallel_context(name[4:])
        raise AttributeError(name)


_instance = _AutoParallelContext()


def auto_parallel_context() -> _AutoParallelContext:
    """The settings of parallel training."""
    return _instance

"""Functions composed of ops in Python. They run as they are in both modes, so they look at shapes and dtypes, never values.
Each module lists what it gives in `__all__`, in METHODS which of it are Tensor methods too, and in CLASSES its primitives."""

from __future__ import annotations

import importlib
import pkgutil

from mindspore._core import Tensor
from mindspore.ops import _bind

functions: dict = {}


def _load() -> None:
    for module_info in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{__name__}.{module_info.name}")
        for name in module.__all__:
            functions[name] = getattr(module, name)
        _bind.classes.update(getattr(module, "CLASSES", {}))
        for name in getattr(module, "METHODS", ()):
            method = getattr(module, name) if isinstance(name, str) else name
            setattr(Tensor, method.__name__, method)


_load()


def __getattr__(name: str):
    """Every function by name, composed or not: `ops.function.broadcast_to`."""
    from mindspore.ops import _bind

    if name in functions:
        return functions[name]
    if name in _bind.functions:
        return _bind.functions[name]
    raise AttributeError(f"module 'mindspore.ops.function' has no attribute '{name}'")

"""Functions composed of ops in Python. They run as they are in both modes, so they look at shapes and dtypes, never values.
Each module lists what it gives in `__all__`, in METHODS which of it are Tensor methods too, in FACES the primitive classes of its
functions, and in CLASSES its other primitives. What it gives checks its arguments by their annotations."""

from __future__ import annotations

import importlib
import pkgutil
import sys

from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.ops import _bind
from mindspore.ops._faces import primitives_of

functions: dict = {}


def _load() -> None:
    for module_info in sorted(pkgutil.iter_modules(__path__), key=lambda m: m.name):
        module = importlib.import_module(f"{__name__}.{module_info.name}")
        functions.update(check_functions(module, module.__all__))
        _bind.classes.update(primitives_of(getattr(module, "FACES", {}), functions))
        _bind.classes.update(getattr(module, "CLASSES", {}))
        for method in check_functions(module, getattr(module, "METHODS", ())).values():
            setattr(Tensor, method.__name__, method)


_load()


def __getattr__(name: str):
    """Every function by name, composed or not, and what else `ops` calls so: `ops.function.broadcast_to`."""
    for named in (functions, _bind.functions, vars(sys.modules["mindspore.ops"])):
        if name in named and name[0] != "_":
            return named[name]
    raise AttributeError(f"module 'mindspore.ops.function' has no attribute '{name}'")

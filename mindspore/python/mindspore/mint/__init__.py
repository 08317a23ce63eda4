"""Functions in the later spelling: dimensions are `dim`, kept ones `keepdim`, and arguments stand in one order everywhere.

What ops give already under other names is a face of these (tables.py); what takes other arguments is in functions.py."""

from __future__ import annotations

import importlib
from typing import Any

from mindspore.mint import functions
from mindspore.mint._faces import attribute_of
from mindspore.mint.tables import FACES

_face = attribute_of(FACES, __name__, functions)
_MODULES = ("distributed", "linalg", "nn", "optim", "special")
__all__ = sorted({*FACES, *functions.__all__})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    return _face(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})

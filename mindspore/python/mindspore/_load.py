"""Finds the shared library of oneDNN before the extension needs it: it comes in a wheel of its own, beside this package or in
another directory of the import path."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_NAME = "libdnnl.so.3"


def load_libraries() -> None:
    """Loads oneDNN by its path; where it is not found, the dynamic linker gets its chance. The extension finds it by its name;
    to all other libraries its symbols stay unknown."""
    here = Path(__file__).resolve()
    candidates = [
        here.parents[3] / _NAME,
        here.parents[4] / _NAME if len(here.parents) > 4 else None,
        Path(sys.prefix) / "lib" / _NAME,
        Path(sys.base_prefix) / "lib" / _NAME,
    ]
    for path in candidates:
        if path is not None and path.exists():
            ctypes.CDLL(str(path), mode=os.RTLD_LOCAL)
            return

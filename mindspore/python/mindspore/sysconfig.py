"""Where a device that is built apart from this package finds what it needs: headers, the core library, a CMake package."""

from __future__ import annotations

import os

__all__ = ["get_cmake_dir", "get_include", "get_lib"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def get_include() -> str:
    """The folder of the C++ headers; `kernel/plugin.h` is the one to begin with."""
    return os.path.join(_PACKAGE, "include")


def get_lib() -> str:
    """The folder of `libms_core.so`."""
    return _PACKAGE


def get_cmake_dir() -> str:
    """The folder to give CMake as `mindspore_DIR`; `find_package(mindspore)` then defines `mindspore::core`."""
    return os.path.join(get_include(), "cmake")

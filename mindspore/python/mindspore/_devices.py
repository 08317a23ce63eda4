"""The devices that come with the package in libraries of their own: each is opened when a program first names it."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from pathlib import Path

from mindspore import _core

LIBRARIES = {"GPU": "libms_cuda.so"}

local_rank = 0  # of this process, among those of the machine that were started together
_numbers: dict[str, int] = {}  # of the devices that are open
_told: dict[str, bool] = {}  # settings about numbers, for devices that open later


def open_device(name: str, number: int | None) -> str:
    """Has the core open a device of the package; why it cannot be used here, '' where it can. Without a number, processes that
    were started together on a machine take one each, in turn.
    """
    path = Path(_core.__file__).with_name(LIBRARIES[name])
    if not path.is_file():
        return f"{path.name} is not in this installation"
    if name in _numbers:
        return ""
    try:
        own = -1 - local_rank if number is None else number
        library(name).ms_backend_prepare(":".join(vendor_folders()).encode(), own)
        _core.load_backend(str(path))
    except (OSError, ValueError, RuntimeError) as error:
        return _reason(str(error))
    _numbers[name] = int(facts(name)["number"]) if number is None else number
    for setting, value in _told.items():
        library(name).ms_backend_set(setting.encode(), int(value))
    return ""


def tell(setting: str, value: bool) -> None:
    """Has the devices of the package, those that are open and those that will be, keep to a setting about numbers."""
    _told[setting] = value
    for name in _numbers:
        library(name).ms_backend_set(setting.encode(), int(value))


def opened() -> list[str]:
    """The devices of the package that this process has opened."""
    return list(_numbers)


def number_of(name: str) -> int | None:
    """Which of the machine's devices of that name this process has open; None: none."""
    return _numbers.get(name)


def facts(name: str) -> dict[str, str]:
    """What an open device says of itself."""
    text = ctypes.create_string_buffer(1 << 12)
    library(name).ms_backend_facts(text, ctypes.c_size_t(len(text)))
    lines = text.value.decode(errors="replace").splitlines()
    return dict(line.split(": ", 1) for line in lines)


def library(name: str) -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(_core.__file__).with_name(LIBRARIES[name])))


def vendor_folders() -> list[str]:
    """Where the wheels of `mindspore[cuda]` have their libraries: nvidia/*/lib."""
    spec = importlib.util.find_spec("nvidia")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    return [
        str(folder) for root in roots for folder in sorted(Path(root).glob("*/lib"), reverse=True)
    ]


def _reason(text: str) -> str:
    """What the library found missing: without the lines of the program, and the frame that says which library it is."""
    text = text.partition("\n")[0]
    own = f"'{os.path.dirname(_core.__file__)}/"
    _, found, rest = text.partition("must be a library with a device, but ")
    return (rest if found and own in text else text).rstrip(".")

"""The device of tests/devices/fenced: memory that the host cannot touch, a stream that runs late. With MS_TEST_DEVICE=Fenced all
tests run on it."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

import cuda_device

from mindspore import _core, context

ROOT = Path(__file__).resolve().parent.parent
NAME = "Fenced"
WANTED = os.environ.get("MS_TEST_DEVICE", context.HOST)


def library() -> Path | None:
    """Where it was built, by scripts/test or scripts/dev; None: it was not."""
    given = os.environ.get("MS_FENCED_DEVICE")
    place = Path(given) if given else ROOT / "build" / "dev" / "libms_fenced.so"
    return place if place.is_file() else None


@functools.cache
def load() -> str:
    """Registers it; its name."""
    path = library()
    assert path, "the fenced device is not built: scripts/dev build _core ms_fenced"
    return _core.load_backend(str(path))


def use_what_is_wanted() -> None:
    """The device that MS_TEST_DEVICE names, from here on."""
    if WANTED == NAME:
        load()
    if WANTED == cuda_device.NAME:
        cuda_device.prepare()
        context.set_context(conv_allow_tf32=False)  # tests ask for all of Float32's bits
    context.set_context(device_target=WANTED)


def check() -> None:
    """Waits for the device, where it is there, and fails if its fence was touched."""
    if NAME in _core.backends():
        _core.synchronize(NAME)  # what is left to do, or found wrong, is its user's
        touched = faults()
        assert not touched, "\n".join(touched)
    cuda_device.check()


def faults() -> list[str]:
    """What the fence has stopped since the last call."""
    find = ctypes.CDLL(str(library())).fenced_faults
    find.restype, find.argtypes = ctypes.c_size_t, (ctypes.c_char_p, ctypes.c_size_t)
    text = ctypes.create_string_buffer(1 << 16)
    find(text, len(text))
    return text.value.decode(errors="replace").splitlines()

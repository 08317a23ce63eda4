"""The device GPU for tests: with MS_TEST_DEVICE=GPU all tests run on it. Where there is no GPU, or MS_CUDA_STUB=1 asks for it, its driver is the
stub of tests/devices/cuda_stub, which notes what a caller does that the real one forbids."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from mindspore import _devices

ROOT = Path(__file__).resolve().parent.parent
NAME = "GPU"
# Ops that only passes make, where a device has kernels for them: the GPU has none (backends/cuda/kernels/host.cc).
UNMADE = ("SGDRows", "UpdateGroup", "MatMulPacked", "PackMatrix", "BatchNormReluGrad")


def stub() -> Path | None:
    """Where the stub was built, by scripts/test or scripts/dev; None: it was not."""
    given = os.environ.get("MS_CUDA_STUB_LIBRARY")
    place = Path(given) if given else ROOT / "build" / "dev" / "libms_cuda_stub.so"
    return place if place.is_file() else None


def is_real() -> bool:
    """Whether tests run on a GPU."""
    return os.environ.get("MS_CUDA_STUB") != "1" and Path("/dev/nvidiactl").exists()


def is_there() -> bool:
    """Whether there is something to run tests on."""
    return is_real() or stub() is not None


def variables() -> dict[str, str]:
    """The environment of a program that is to use the device."""
    return {} if is_real() else {"MS_CUDA_DRIVER": str(stub())}


def prepare() -> None:
    """Before this process opens the device."""
    assert is_there(), "the stub of CUDA is not built: scripts/dev build _core ms_cuda_stub"
    os.environ.update(variables())


def is_stub() -> bool:
    return "MS_CUDA_DRIVER" in os.environ


def check() -> None:
    """Fails where the stub has refused something since the last call."""
    if is_stub() and _devices.number_of(NAME) is not None:
        found = faults()
        assert not found, "\n".join(found)


def faults() -> list[str]:
    find = ctypes.CDLL(os.environ["MS_CUDA_DRIVER"]).cuda_stub_faults
    find.restype, find.argtypes = ctypes.c_size_t, (ctypes.c_char_p, ctypes.c_size_t)
    text = ctypes.create_string_buffer(1 << 16)
    find(text, len(text))
    return text.value.decode(errors="replace").splitlines()

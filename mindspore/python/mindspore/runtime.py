"""What a device holds of memory, and waiting for it, as `mindspore.runtime` names it; `mindspore.hal` has the same functions.

Functions are about the device that is set unless another one is named. Allocated is what tensors hold, and compiled graphs, which keep
what a run needs until `empty_cache`. Idle are freed blocks that wait for the next request of their size: both together, the reserved bytes, stay within what was allocated at one time in the last seconds, or 64 MB.
"""

from __future__ import annotations

from typing import Any

from mindspore import _core
from mindspore._machine import (
    dispatch_threads_num,
    launch_blocking,
    set_cpu_affinity,
    set_kernel_launch_group,
    set_memory,
)
from mindspore._streams import (
    Event,
    Stream,
    StreamCtx,
    communication_stream,
    current_stream,
    default_stream,
    set_cur_stream,
)
from mindspore.common._refused import refused
from mindspore.context import checked_device

__getattr__ = refused(__name__)
__all__ = [
    "Event",
    "Stream",
    "StreamCtx",
    "communication_stream",
    "current_stream",
    "default_stream",
    "dispatch_threads_num",
    "empty_cache",
    "launch_blocking",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "set_cpu_affinity",
    "set_cur_stream",
    "set_kernel_launch_group",
    "set_memory",
    "synchronize",
]


def _device(device_target: str | None) -> str | None:
    if device_target is None:
        return None
    known = {name.upper(): name for name in _core.backends()}
    if isinstance(device_target, str):
        device_target = known.get(device_target.upper(), device_target)
    return checked_device("mindspore.runtime", "device_target", device_target)


def synchronize() -> None:
    """Waits until the device has done what it was given. What it found wrong is raised here, if nowhere before."""
    _core.synchronize()


def empty_cache() -> None:
    """Gives freed memory that is kept for later use back to the system."""
    _core.empty_memory_cache()


def memory_stats(device_target: str | None = None) -> dict[str, Any]:
    """The figures of this module in bytes, by name."""
    allocated, max_allocated, idle, max_reserved = _core.memory_stats(_device(device_target))
    return {
        "total_reserved_memory": allocated + idle,
        "total_allocated_memory": allocated,
        "total_idle_memory": idle,
        "max_reserved_memory": max_reserved,
        "max_allocated_memory": max_allocated,
    }


def memory_allocated(device_target: str | None = None) -> int:
    """Bytes that tensors and running graphs hold."""
    return memory_stats(device_target)["total_allocated_memory"]


def memory_reserved(device_target: str | None = None) -> int:
    """Allocated bytes, and those of freed blocks that are kept."""
    return memory_stats(device_target)["total_reserved_memory"]


def max_memory_allocated(device_target: str | None = None) -> int:
    """The most bytes that were allocated at one time, since the start or the last reset."""
    return memory_stats(device_target)["max_allocated_memory"]


def max_memory_reserved(device_target: str | None = None) -> int:
    """The most bytes that were reserved at one time, since the start or the last reset."""
    return memory_stats(device_target)["max_reserved_memory"]


def reset_max_memory_allocated(device_target: str | None = None) -> None:
    """From here on, `max_memory_allocated` counts anew."""
    _core.reset_peak_memory(_device(device_target))


def reset_max_memory_reserved(device_target: str | None = None) -> None:
    """From here on, `max_memory_reserved` counts anew."""
    _core.reset_peak_reserved(_device(device_target))


def reset_peak_memory_stats(device_target: str | None = None) -> None:
    """From here on, both maxima count anew."""
    reset_max_memory_allocated(device_target)
    reset_max_memory_reserved(device_target)


def memory_summary(device_target: str | None = None) -> str:
    """The same figures as a table."""
    stats = memory_stats(device_target)
    rows = [
        (key.replace("total_", "").replace("_", " "), f"{value / 2**20:,.1f} MB")
        for key, value in stats.items()
    ]
    line = "|" + "-" * 41 + "|"
    body = [f"| {name:<22}| {figure:>15} |" for name, figure in rows]
    return "\n".join([line, *body, line])

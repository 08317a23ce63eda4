"""Memory and processors that the run-time system may use, and what devices there are."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindspore import _core, context, log


def _positive(function: str, name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(
            f"For '{function}', '{name}' must be an int, but got {type(value).__name__}."
        )
    if value <= 0:
        raise ValueError(f"For '{function}', '{name}' must be greater than 0, but got {value}.")
    return value


def set_memory(
    init_size: str = "2GB",
    increase_size: str = "2GB",
    max_size: str = "1024GB",
    optimize_level: str = "O0",
    huge_page_reserve_size: str = "0GB",
) -> None:
    """Sets the most memory that tensors may take, as set_context(max_device_memory=...) does; memory is taken as it is needed,
    so the other sizes are only checked."""
    for name, value in (
        ("init_size", init_size),
        ("increase_size", increase_size),
        ("huge_page_reserve_size", huge_page_reserve_size),
    ):
        if not isinstance(value, str):
            raise TypeError(
                f"For 'set_memory', '{name}' must be a str, but got {type(value).__name__}."
            )
        if not re.fullmatch(r"\d+(\.\d+)? ?GB", value):
            raise ValueError(
                f"For 'set_memory', '{name}' must be a number with GB behind it, but got {value!r}."
            )
    context.set_context(max_device_memory=max_size, memory_optimize_level=optimize_level)


def dispatch_threads_num(threads_num: int) -> None:
    """How many threads may compute."""
    context.set_context(
        runtime_num_threads=_positive("dispatch_threads_num", "threads_num", threads_num)
    )


def launch_blocking() -> None:
    """Lets each op of eager code end before the next begins, as ops on the CPU do: what a device finds wrong is raised at its line."""
    context.set_context(pynative_synchronize=True)


def set_kernel_launch_group(thread_num: int = 2, kernel_group_num: int = 8) -> None:
    """How kernels are grouped when several threads launch them; one does here, which is said once."""
    _positive("set_kernel_launch_group", "thread_num", thread_num)
    _positive("set_kernel_launch_group", "kernel_group_num", kernel_group_num)
    log.warn_once(
        "set_kernel_launch_group", "set_kernel_launch_group: one thread launches kernels here."
    )


def set_cpu_affinity(
    enable_affinity: bool,
    affinity_cpu_list: Sequence[str] | None = None,
    module_to_cpu_dict: Any = None,
    bind_file: Any = None,
) -> None:
    """Binds all threads of this process to processors: those of a list such as ["0-3", "8-9"], or, without a list, those that it has.
    No more threads compute than there are processors then."""
    if not isinstance(enable_affinity, bool):
        raise TypeError(
            f"For 'set_cpu_affinity', 'enable_affinity' must be a bool, but got {type(enable_affinity).__name__}."
        )
    if module_to_cpu_dict or bind_file:
        raise ValueError(
            "For 'set_cpu_affinity', 'module_to_cpu_dict' and 'bind_file' must be None: all threads are bound alike."
        )
    if enable_affinity and affinity_cpu_list:
        _bind({n for text in affinity_cpu_list for n in _processors(text)})


def _bind(processors: set[int]) -> None:
    os.sched_setaffinity(0, processors)  # threads that this one starts inherit it
    for thread in os.listdir("/proc/self/task"):
        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
            os.sched_setaffinity(int(thread), processors)
    _core.set_num_threads(min(_core.num_threads(), len(os.sched_getaffinity(0))))


def _processors(text: Any) -> range:
    first, dash, last = str(text).partition("-")
    if not first.isdigit() or (dash and not last.isdigit()):
        raise ValueError(
            f"For 'set_cpu_affinity', 'affinity_cpu_list' must hold ranges such as '0-3', but got {text!r}."
        )
    return range(int(first), int(last or first) + 1)


# ---- devices
def _target(function: str, device_target: Any) -> str:
    if device_target is None:
        return _core.device()
    if device_target not in (*context.DEVICES, *_core.backends()):
        raise ValueError(
            f"For '{function}', 'device_target' must be one of {list(context.DEVICES)}, but got {device_target!r}."
        )
    return device_target


def _present(function: str, device_id: Any, device_target: Any) -> str:
    """The name of a device that is there."""
    _number(function, device_id)
    name = _target(function, device_target)
    if name not in _core.backends():
        raise ValueError(
            f"For '{function}', the device must be one of {_core.backends()}, but got {name!r}, which is not available."
        )
    return name


def is_available(device_target: str) -> bool:
    """Whether there is such a device."""
    return _target("is_available", device_target) in _core.backends()


def is_initialized(device_target: str) -> bool:
    """Whether such a device is in use."""
    return _target("is_initialized", device_target) == _core.device()


def device_count(device_target: str | None = None) -> int:
    """How many devices of a kind there are."""
    return int(_target("device_count", device_target) in _core.backends())


def get_device_name(device_id: int = 0, device_target: str | None = None) -> str:
    """The name of a device."""
    return _present("get_device_name", device_id, device_target)


class DeviceProperties(NamedTuple):
    """What a device is."""

    name: str
    total_memory: int  # bytes
    multi_processor_count: int


def get_device_properties(device_id: int = 0, device_target: str | None = None) -> DeviceProperties:
    """What a device is: its name, its memory in bytes, its processors. Only the host's is known: other devices do not tell."""
    name = _present("get_device_properties", device_id, device_target)
    if name != context.HOST:
        raise RuntimeError(
            f"For 'get_device_properties', the device must tell what it is, as {context.HOST!r} does, but got {name!r}."
        )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    memory = min(memory, _core.granted_by_control_groups("")[0])
    return DeviceProperties(name, memory, len(os.sched_getaffinity(0)))


def get_device_capability(device_id: int = 0, device_target: str | None = None) -> None:
    """The version of a chip, where it has one: the CPU has none."""
    _present("get_device_capability", device_id, device_target)


def get_arch_list(device_target: str | None = None) -> None:
    """The chips that kernels were made for, where these are chosen: for the CPU they are made where they run."""
    _present("get_arch_list", 0, device_target)


def _number(function: str, device_id: Any) -> None:
    if isinstance(device_id, bool) or not isinstance(device_id, int):
        raise TypeError(
            f"For '{function}', 'device_id' must be an int, but got {type(device_id).__name__}."
        )
    if device_id != 0:
        raise ValueError(
            f"For '{function}', 'device_id' must be 0, the only device, but got {device_id}."
        )

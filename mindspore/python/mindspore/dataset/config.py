"""Settings of the data pipeline, shared by all datasets of the process.

Settings that only tune parts which this version does not need (shared memory, NUMA binding, ...)
are kept and returned, so that programs that set them run unchanged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from enum import IntEnum
from typing import Any

from mindspore import _paths
from mindspore.common import seed as _global_seed

UINT32_MAX = 4294967295
INT32_MAX = 2147483647


class ErrorSamplesMode(IntEnum):
    """What map() does with a row that cannot be made: raise its error, give another one in its place, leave it out."""

    RETURN = 0
    REPLACE = 1
    SKIP = 2


_DEFAULTS: dict[str, Any] = {
    "seed": None,
    "num_parallel_workers": 8,
    "prefetch_size": 16,
    "monitor_sampling_interval": 1000,
    "callback_timeout": 60,
    "auto_num_workers": False,
    "numa_enable": False,
    "enable_shared_mem": True,
    "enable_autotune": False,
    "autotune_interval": 0,
    "autotune_prefix": None,
    "auto_offload": False,
    "enable_watchdog": True,
    "multiprocessing_timeout_interval": 300,
    "dynamic_shape": False,
    "fast_recovery": True,
    "debug_mode": False,
    "debug_hooks": [],
    "iterator_mode": {"do_copy": False, "parallel_convert": False},
    "error_samples_mode": ErrorSamplesMode.RETURN,
    "most_error_samples": None,
    "multiprocessing_start_method": "fork",
    "video_backend": "CV",
}
_settings: dict[str, Any] = dict(_DEFAULTS)


def _integer(name: str, value: Any, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"For '{name}', the value must be an int, but got {type(value).__name__}.")
    if not low <= value <= high:
        raise ValueError(f"For '{name}', the value must be in [{low}, {high}], but got {value}.")
    return value


def _boolean(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"For '{name}', the value must be a bool, but got {type(value).__name__}.")
    return value


def set_seed(seed: int) -> None:
    """Fix the order of every shuffle and the draws of every random transform of later iterators."""
    _settings["seed"] = _integer("set_seed", seed, 0, UINT32_MAX)


def get_seed() -> int:
    """The seed of the pipelines: the one set here, else mindspore.set_seed's, else 5489."""
    seed = _explicit_seed()
    return 5489 if seed is None else seed


def _explicit_seed() -> int | None:
    """The seed the user chose, here or with mindspore.set_seed; None without a choice."""
    seed = _settings["seed"]
    if seed is None:
        seed = _global_seed.get_seed()
    return None if seed is None else int(seed)


def set_num_parallel_workers(num: int) -> None:
    """Default number of workers of the operations that take one."""
    _settings["num_parallel_workers"] = _integer("set_num_parallel_workers", num, 1, INT32_MAX)


def get_num_parallel_workers() -> int:
    """Default number of workers."""
    return int(_settings["num_parallel_workers"])


def set_prefetch_size(size: int) -> None:
    """Number of rows an operation may prepare ahead."""
    _settings["prefetch_size"] = _integer("set_prefetch_size", size, 1, INT32_MAX)


def get_prefetch_size() -> int:
    """Number of rows an operation may prepare ahead."""
    return int(_settings["prefetch_size"])


def set_monitor_sampling_interval(interval: int) -> None:
    """Milliseconds between two samples of the pipeline monitor."""
    _settings["monitor_sampling_interval"] = _integer(
        "set_monitor_sampling_interval", interval, 1, INT32_MAX
    )


def get_monitor_sampling_interval() -> int:
    """Milliseconds between two samples of the pipeline monitor."""
    return int(_settings["monitor_sampling_interval"])


def set_callback_timeout(timeout: int) -> None:
    """Seconds a pipeline callback may take."""
    _settings["callback_timeout"] = _integer("set_callback_timeout", timeout, 1, INT32_MAX)


def get_callback_timeout() -> int:
    """Seconds a pipeline callback may take."""
    return int(_settings["callback_timeout"])


def set_multiprocessing_timeout_interval(interval: int) -> None:
    """Seconds after which a waiting worker is reported."""
    _settings["multiprocessing_timeout_interval"] = _integer(
        "set_multiprocessing_timeout_interval", interval, 1, INT32_MAX
    )


def get_multiprocessing_timeout_interval() -> int:
    """Seconds after which a waiting worker is reported."""
    return int(_settings["multiprocessing_timeout_interval"])


def set_autotune_interval(interval: int) -> None:
    """Steps between two adjustments of the automatic tuning; 0: once per epoch."""
    _settings["autotune_interval"] = _integer("set_autotune_interval", interval, 0, INT32_MAX)


def get_autotune_interval() -> int:
    """Steps between two adjustments of the automatic tuning."""
    return int(_settings["autotune_interval"])


def _switch(setting: str, doc: str) -> tuple[Callable[[bool], None], Callable[[], bool]]:
    """A setter and a getter of one boolean setting."""

    def setter(enable: bool) -> None:
        _settings[setting] = _boolean(setter.__name__, enable)

    def getter() -> bool:
        return bool(_settings[setting])

    setter.__name__, getter.__name__ = f"set_{setting}", f"get_{setting}"
    setter.__doc__ = getter.__doc__ = doc
    return setter, getter


set_auto_num_workers, get_auto_num_workers = _switch(
    "auto_num_workers", "Whether the number of workers is chosen automatically."
)
set_numa_enable, get_numa_enable = _switch(
    "numa_enable", "Whether workers are bound to NUMA nodes."
)
set_enable_shared_mem, get_enable_shared_mem = _switch(
    "enable_shared_mem", "Whether worker processes hand rows over through shared memory."
)
set_auto_offload, get_auto_offload = _switch(
    "auto_offload", "Whether transforms may run on the device."
)
set_enable_watchdog, get_enable_watchdog = _switch(
    "enable_watchdog", "Whether worker processes are watched."
)
set_dynamic_shape, get_dynamic_shape = _switch(
    "dynamic_shape", "Whether rows of one column may differ in shape."
)
set_fast_recovery, get_fast_recovery = _switch(
    "fast_recovery", "Whether a resumed pipeline may skip rows without the same random draws."
)


def set_debug_mode(debug_mode_flag: bool, debug_hook_list: list[Any] | None = None) -> None:
    """Run pipelines in the program's own thread, where a debugger can stop in their functions.

    The hooks (`mindspore.dataset.debug`) are called with what goes into and comes out of each operation of map().
    """
    flag = _boolean("set_debug_mode", debug_mode_flag)
    hooks = [] if debug_hook_list is None else debug_hook_list
    if not isinstance(hooks, list):
        raise TypeError(
            f"For 'set_debug_mode', debug_hook_list must be a list, but got {type(hooks).__name__}."
        )
    for hook in hooks:
        if not callable(getattr(hook, "compute", None)):
            raise TypeError(
                f"For 'set_debug_mode', debug_hook_list must hold DebugHook, but got {type(hook).__name__}."
            )
    _settings["debug_mode"], _settings["debug_hooks"] = flag, list(hooks)


def get_debug_mode() -> bool:
    """Whether the pipeline runs in debug mode."""
    return bool(_settings["debug_mode"])


def _debug_hooks() -> list[Any]:
    """The hooks of debug mode; none without it."""
    return list(_settings["debug_hooks"]) if _settings["debug_mode"] else []


def set_iterator_mode(do_copy: bool = False, parallel_convert: bool = False) -> None:
    """Whether iterators copy rows, and convert them in threads of their own: every row is memory of its own here."""
    _settings["iterator_mode"] = {
        "do_copy": _boolean("set_iterator_mode", do_copy),
        "parallel_convert": _boolean("set_iterator_mode", parallel_convert),
    }


def get_iterator_mode() -> dict[str, bool]:
    """What set_iterator_mode() was given."""
    return dict(_settings["iterator_mode"])


def get_enable_autotune() -> bool:
    """Whether automatic tuning is on."""
    return bool(_settings["enable_autotune"])


def set_enable_autotune(enable: bool, filepath_prefix: str | None = None) -> None:
    """Turn automatic tuning on or off: of the numbers of workers and of rows ahead, while iterators that are made later run.

    After each epoch what was found goes into the file `filepath_prefix`_RANK.json, which `load` takes; further pipelines
    have `filepath_prefix`_RANK_1.json and so on.
    """
    if filepath_prefix is not None:
        filepath_prefix = _paths.checked("set_enable_autotune", "filepath_prefix", filepath_prefix)
        folder = os.path.dirname(filepath_prefix) or "."
        if not os.path.isdir(folder):
            raise FileNotFoundError(
                f"For 'set_enable_autotune', the folder of 'filepath_prefix' must exist, but {folder!r} does not."
            )
    _settings["enable_autotune"] = _boolean("set_enable_autotune", enable)
    _settings["autotune_prefix"] = filepath_prefix if enable else None


def _autotune_prefix() -> str | None:
    """Where automatic tuning writes what it finds."""
    prefix = _settings["autotune_prefix"]
    return None if prefix is None else str(prefix)


def set_error_samples_mode(error_samples_mode: ErrorSamplesMode, most: int | None = None) -> None:
    """What later calls of map() do with rows that cannot be made, from the source to their operations.

    Args:
        error_samples_mode: RETURN raises the error, SKIP leaves the row out, REPLACE gives an earlier row once more at
            the end of the epoch. What was left out is said by the logger `mindspore.dataset`.
        most: How many rows of an epoch may fail; one more is an error. Default: any number.
    """
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        raise TypeError(
            "For 'set_error_samples_mode', error_samples_mode must be ErrorSamplesMode, but got "
            f"{type(error_samples_mode).__name__}."
        )
    if most is not None:
        most = _integer("set_error_samples_mode", most, 0, INT32_MAX)
    _settings["error_samples_mode"], _settings["most_error_samples"] = error_samples_mode, most


def get_error_samples_mode() -> ErrorSamplesMode:
    """What map() does with rows that cannot be made."""
    return ErrorSamplesMode(_settings["error_samples_mode"])


def _most_error_samples() -> int | None:
    """How many rows of an epoch may fail."""
    most = _settings["most_error_samples"]
    return None if most is None else int(most)


def set_multiprocessing_start_method(start_method: str) -> None:
    """How worker processes are started: "fork", "spawn" or "forkserver"."""
    if start_method not in ("fork", "spawn", "forkserver"):
        raise ValueError(
            "For 'set_multiprocessing_start_method', the method must be 'fork', 'spawn' or "
            f"'forkserver', but got {start_method!r}."
        )
    _settings["multiprocessing_start_method"] = start_method


def get_multiprocessing_start_method() -> str:
    """How worker processes are started."""
    return str(_settings["multiprocessing_start_method"])


def load(file: str) -> None:
    """Read settings from a JSON file, e.g. {"seed": 1, "numParallelWorkers": 4}."""
    with open(_paths.checked("load", "file", file), encoding="utf-8") as stream:
        content = json.load(stream)
    setters: dict[str, Callable[[int], None]] = {
        "seed": set_seed,
        "numParallelWorkers": set_num_parallel_workers,
        "prefetchSize": set_prefetch_size,
        "opConnectorSize": set_prefetch_size,
        "monitorSamplingInterval": set_monitor_sampling_interval,
    }
    for key, value in content.items():
        if key in setters:
            setters[key](value)

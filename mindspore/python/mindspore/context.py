"""Process-wide settings: the mode, the device, where graphs are saved. Unknown names are errors, names that belong to other
devices are accepted and kept, so that scripts written for them run."""

from __future__ import annotations

import difflib
import functools
import os
import re
import warnings
from collections.abc import Callable
from typing import Any

from mindspore import _core, _paths, _settings, tuning

HOST = "CPU"
GRAPH_MODE = 0
PYNATIVE_MODE = 1
# Values of the option `jit_config`-like memory settings in public scripts.
STRICT, COMPATIBLE, LAX = 0, 1, 2


class ParallelMode:
    """Names of the ways to train on several devices."""

    STAND_ALONE = "stand_alone"
    DATA_PARALLEL = "data_parallel"
    HYBRID_PARALLEL = "hybrid_parallel"
    SEMI_AUTO_PARALLEL = "semi_auto_parallel"
    AUTO_PARALLEL = "auto_parallel"
    MODE_LIST = [STAND_ALONE, DATA_PARALLEL, HYBRID_PARALLEL, SEMI_AUTO_PARALLEL, AUTO_PARALLEL]


_values: dict[str, Any] = dict(_settings.DEFAULTS)
_fast = os.environ.get("MS_FUSION") != "0"  # see fast()

_PARALLEL_PATHS = ("strategy_ckpt_load_file", "strategy_ckpt_save_file", "group_ckpt_save_file")
_parallel = dict(_settings.PARALLEL)


def _unknown(function: str, name: str, known: dict) -> ValueError:
    close = difflib.get_close_matches(name, known, 1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return ValueError(f"For '{function}', there is no setting '{name}'.{hint}")


def _set_mode(value: object) -> int:
    if isinstance(value, bool) or value not in (GRAPH_MODE, PYNATIVE_MODE):
        raise ValueError(
            f"For 'set_context', 'mode' must be GRAPH_MODE (0) or PYNATIVE_MODE (1), but got {value!r}."
        )
    _core.set_graph_mode(value == GRAPH_MODE)
    return int(value)  # type: ignore[call-overload]


def checked_device(function: str, argument: str, value: object) -> str:
    """The device of that name; an error that lists those that are present, if it is none of them."""
    names = _core.backends()
    if not isinstance(value, str):
        raise TypeError(
            f"For '{function}', '{argument}' must be a str, but got {type(value).__name__}."
        )
    if value in names:
        return value
    if value not in ("CPU", "GPU", "Ascend", "Davinci"):
        raise ValueError(
            f"For '{function}', '{argument}' must be one of {names}, but got '{value}'."
        )
    text = f"the device '{value}' is not available on this machine: this build has {names}"
    if not (_values["device_fallback"] or os.environ.get("MS_DEVICE_FALLBACK") == "1"):
        raise ValueError(
            f"For '{function}', {text}. Use {argument}='{names[0]}', or set MS_DEVICE_FALLBACK=1 in the "
            "environment to run on it instead."
        )
    _warn_of_fallback(f"{text}; '{names[0]}' is used instead.")
    return names[0]


def _set_device(value: object) -> str:
    device = checked_device("set_context", "device_target", value)
    _core.set_device(device)
    return device


def register_backend(path: str | os.PathLike) -> str:
    """Opens a library that holds a device and registers it, so that `set_device` takes its name, which is returned.

    Args:
        path: The library, built against the headers of this installation.
    """
    return _core.load_backend(os.path.abspath(_paths.checked("register_backend", "path", path)))


@functools.cache  # each text once
def _warn_of_fallback(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=6)


def _path_setter(name: str) -> Callable[[object], str]:
    return lambda value: _paths.checked("set_context", name, value)


def _set_threads(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(
            f"For 'set_context', 'runtime_num_threads' must be a non-negative int, but got {value!r}."
        )
    if value:
        _core.set_num_threads(value)
    return value


_UNITS = {"GB": 1 << 30, "MB": 1 << 20, "KB": 1 << 10}


def _set_device_memory(value: object) -> object:
    if not isinstance(value, str):
        raise TypeError(
            f"For 'set_context', 'max_device_memory' must be a str, but got {type(value).__name__}."
        )
    number, unit = value[:-2].strip(), value[-2:].upper()
    if unit not in _UNITS or not re.fullmatch(r"\d+(\.\d+)?", number) or float(number) == 0:
        raise ValueError(
            f"For 'set_context', 'max_device_memory' must be a number with GB, MB or KB behind it, but got {value!r}."
        )
    default = value == _settings.DEFAULTS["max_device_memory"]
    _core.set_memory_limit(0 if default else int(float(number) * _UNITS[unit]))
    return value


def _set_level(value: object) -> object:
    if value not in ("", "O0", "O1", "O2", "O3"):
        raise ValueError(
            f"For 'set_context', 'jit_level' must be 'O0', 'O1', 'O2' or 'O3', but got {value!r}."
        )
    return value


def _set_jit_config(value: object) -> dict:
    if not isinstance(value, dict):
        raise TypeError(
            f"For 'set_context', 'jit_config' must be a dict, but got {type(value).__name__}."
        )
    _set_level(value.get("jit_level", ""))
    return value


def _set_tune_budget(value: object) -> object:
    tuning.set_budget(tuning.seconds_of(value))
    return value


def place_of(name: str) -> tuple[dict, str, Any]:
    """Where a setting that compiled code depends on is kept: a dict, the key, and the value."""
    return _values, name, _values[name]


def fast() -> bool:
    """Whether graphs are compiled with the passes that only make them faster, of which fusion is the main one. They are
    off with enable_graph_kernel=False, at jit_level "O0", and with MS_FUSION=0 in the environment."""
    return _fast


def _decide_fast() -> None:
    global _fast
    level = _values["jit_config"].get("jit_level") or _values["jit_level"]
    _fast = _values["enable_graph_kernel"] and level != "O0" and os.environ.get("MS_FUSION") != "0"


def _save_graphs() -> None:
    """Graphs go to the folder after each pass that changes them, or nowhere (levels above 0 are all the same)."""
    wanted = _values["save_graphs"] not in (False, 0)
    folder = str(_values["save_graphs_path"]) if wanted else ""
    if wanted:
        os.makedirs(folder, exist_ok=True)
    _core.dump_graphs_to(folder)


_PATHS = (
    "save_graphs_path",
    "compile_cache_path",
    "save_dump_path",
    "print_file_path",
    "env_config_path",
)
_SETTERS = {
    "mode": _set_mode,
    "device_target": _set_device,
    "jit_level": _set_level,
    "jit_config": _set_jit_config,
    **{name: _path_setter(name) for name in _PATHS},
    "runtime_num_threads": _set_threads,
    "max_device_memory": _set_device_memory,
    "tune_budget": _set_tune_budget,
}


def set_context(**kwargs) -> None:
    """Changes settings by name, for example `set_context(mode=GRAPH_MODE, device_target="CPU")`."""
    for name in kwargs:
        if name not in _values:
            raise _unknown("set_context", name, _values)
    for name, value in sorted(kwargs.items(), key=lambda item: item[0] != "device_fallback"):
        setter = _SETTERS.get(name)
        _values[name] = setter(value) if setter else _settings.checked("set_context", name, value)
    if {"save_graphs", "save_graphs_path"} & set(kwargs):
        _save_graphs()
    _decide_fast()


def get_context(attr_key: str):
    """The value of a setting."""
    if attr_key not in _values:
        raise _unknown("get_context", attr_key, _values)
    return _values[attr_key]


def set_auto_parallel_context(**kwargs) -> None:
    """Changes settings of parallel training by name."""
    for name, value in list(kwargs.items()):
        if name not in _parallel:
            raise _unknown("set_auto_parallel_context", name, _parallel)
        if name in _PARALLEL_PATHS and value != "":
            kwargs[name] = _paths.checked("set_auto_parallel_context", name, value)
        else:
            _settings.checked_parallel("set_auto_parallel_context", name, value)
    _parallel.update(kwargs)


def get_auto_parallel_context(attr_key: str):
    """The value of a setting of parallel training."""
    if attr_key not in _parallel:
        raise _unknown("get_auto_parallel_context", attr_key, _parallel)
    return _parallel[attr_key]


def reset_auto_parallel_context() -> None:
    """Back to the defaults of parallel training."""
    _parallel.clear()
    _parallel.update(_settings.PARALLEL)


def set_ps_context(**kwargs) -> None:
    """Settings of parameter-server training; only switching it off is accepted."""
    for name, value in kwargs.items():
        if name not in _settings.SERVERS:
            raise _unknown("set_ps_context", name, _settings.SERVERS)
        if value and name.startswith("enable_"):
            raise ValueError(
                f"For 'set_ps_context', '{name}' must be False, since parameter-server training is not available in this "
                f"build, but got {value!r}."
            )


def get_ps_context(attr_key: str):
    """Parameter-server training is off."""
    if attr_key not in _settings.SERVERS:
        raise _unknown("get_ps_context", attr_key, _settings.SERVERS)
    return _settings.SERVERS[attr_key]


def reset_ps_context() -> None:
    """Parameter-server training stays off."""


def get_current_device() -> tuple[str, int]:
    """The device that is used, and its number."""
    return _core.device(), _values["device_id"]


def set_deterministic(deterministic: bool) -> None:
    """Whether the same program must give the same numbers; it does, either way."""
    if not isinstance(deterministic, bool):
        raise TypeError(
            f"For 'set_deterministic', 'deterministic' must be a bool, but got {type(deterministic).__name__}."
        )
    set_context(deterministic="ON" if deterministic else "OFF")


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """How deep calls may be nested when functions are compiled: kept; calls are not nested on the stack here."""
    if (
        isinstance(recursion_limit, bool)
        or not isinstance(recursion_limit, int)
        or recursion_limit < 1
    ):
        raise ValueError(
            f"For 'set_recursion_limit', 'recursion_limit' must be an int greater than 0, but got {recursion_limit!r}."
        )
    set_context(max_call_depth=recursion_limit)


def set_device(device_target: str, device_id: int = 0) -> None:
    """Chooses the device."""
    set_context(device_target=device_target, device_id=device_id)


__all__ = [
    "COMPATIBLE",
    "GRAPH_MODE",
    "LAX",
    "PYNATIVE_MODE",
    "STRICT",
    "ParallelMode",
    "get_auto_parallel_context",
    "get_context",
    "get_current_device",
    "get_ps_context",
    "register_backend",
    "reset_auto_parallel_context",
    "reset_ps_context",
    "set_auto_parallel_context",
    "set_context",
    "set_deterministic",
    "set_device",
    "set_ps_context",
    "set_recursion_limit",
]

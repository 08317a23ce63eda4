"""Process-wide settings: the mode, the device, where graphs are saved. Unknown names are errors, names that belong to other
devices are accepted and kept, so that scripts written for them run."""

from __future__ import annotations

import atexit
import contextlib
import difflib
import functools
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

from mindspore import (
    _core,
    _devices,
    _exit,
    _fusion,
    _parallel_settings,
    _paths,
    _settings,
    tuning,
)

HOST = "CPU"
GRAPH_MODE = 0
PYNATIVE_MODE = 1
# Values of the setting `jit_syntax_level`.
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

_FUSION = ("all_reduce_fusion_config", "comm_fusion")
_parallel = dict(_parallel_settings.DEFAULTS)
_joined: dict[str, int] = {}  # defaults of these, once processes have come together
_AUTO = (ParallelMode.SEMI_AUTO_PARALLEL, ParallelMode.AUTO_PARALLEL)
_planned = False  # see planned()
_chosen_number: int | None = (
    None  # None: a process that was started with others has a device of its own
)
# Settings in place of those of the process, for what one thread does meanwhile.
_own: ContextVar[dict[str, Any] | None] = ContextVar("settings of one network", default=None)
_at_reset: list[Callable[[], None]] = []


def _unknown(function: str, name: str, known: dict) -> ValueError:
    close = difflib.get_close_matches(name, known, 1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return ValueError(f"For '{function}', there is no setting '{name}'.{hint}")


def _check_mode(value: object) -> int:
    if isinstance(value, bool) or value not in (GRAPH_MODE, PYNATIVE_MODE):
        raise ValueError(
            f"For 'set_context', 'mode' must be GRAPH_MODE (0) or PYNATIVE_MODE (1), but got {value!r}."
        )
    return int(value)  # type: ignore[call-overload]


DEVICES = ("CPU", "GPU", "Ascend")  # that programs may name, whether or not they are here
_DEVICES = (*DEVICES, "Davinci")  # and by an older name


def names_device(name: str) -> bool:
    """Whether that is a device's name, here or elsewhere."""
    return name in _DEVICES or name in _core.backends()


def checked_device(function: str, argument: str, value: object) -> str:
    """The device of that name; an error that lists those that are present, if it is none of them."""
    names = _core.backends()
    if not isinstance(value, str):
        raise TypeError(
            f"For '{function}', '{argument}' must be a str, but got {type(value).__name__}."
        )
    if value in names:
        return value
    if value not in _DEVICES:
        raise ValueError(
            f"For '{function}', '{argument}' must be one of {names}, but got '{value}'."
        )
    text = f"the device '{value}' is not available on this machine: this build has {names}"
    if value in _devices.LIBRARIES:
        why = _devices.open_device(value, _chosen_number)
        if not why:
            atexit.register(report_late_errors, value, os.getpid())
            return value
        text += f", and {why}"
    if not (_values["device_fallback"] or os.environ.get("MS_DEVICE_FALLBACK") == "1"):
        raise ValueError(
            f"For '{function}', {text}. Use {argument}='{names[0]}', or set MS_DEVICE_FALLBACK=1 in the "
            "environment to run on it instead."
        )
    _warn_of_fallback(f"{text}; '{names[0]}' is used instead.")
    return names[0]


def _check_device(value: object) -> str:
    return checked_device("set_context", "device_target", value)


def register_backend(path: str | os.PathLike) -> str:
    """Opens a library that holds a device and registers it, so that `set_device` takes its name, which is returned.

    Args:
        path: The library, built against the headers of this installation.
    """
    known = set(_core.backends())
    name = _core.load_backend(os.path.abspath(_paths.checked("register_backend", "path", path)))
    if name not in known:
        atexit.register(report_late_errors, name, os.getpid())
    return name


def report_late_errors(device: str, process: int) -> None:
    """At the end of the process that opened the device: what it found wrong and nobody has heard of."""
    if os.getpid() != process:
        return
    try:
        _core.synchronize(device)
    except Exception as error:
        _exit.report(error, f"{type(error).__name__}: {error}")


@functools.cache  # each text once
def _warn_of_fallback(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=7)


def memory_limit() -> int:
    """The bytes that a device may hold; 0: no limit."""
    value = _values["max_device_memory"]
    return 0 if value == _settings.DEFAULTS["max_device_memory"] else _settings.bytes_of(value)


def _check_tune_budget(value: object) -> object:
    tuning.seconds_of(value)
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
    wanted = _values["save_graphs"] != 0
    folder = str(_values["save_graphs_path"]) if wanted else ""
    if wanted:
        os.makedirs(folder, exist_ok=True)
    _core.dump_graphs_to(folder)


_GRAPHS = {"save_graphs", "save_graphs_path"}
# All others are checked by what _settings says of them.
_CHECKS: dict[str, Callable[[object], Any]] = {
    "mode": _check_mode,
    "device_target": _check_device,
    "tune_budget": _check_tune_budget,
}
# What a setting does beside being kept.
_EFFECTS: dict[str, Callable[[Any], None]] = {
    "mode": lambda mode: _core.set_graph_mode(mode == GRAPH_MODE),
    "device_target": _core.set_device,
    "runtime_num_threads": lambda count: _core.set_num_threads(count) if count else None,
    "max_device_memory": lambda _: _core.set_memory_limit(memory_limit()),
    "pynative_synchronize": _core.set_launch_blocking,
    "tune_budget": lambda budget: tuning.set_budget(tuning.seconds_of(budget)),
    "conv_allow_tf32": lambda allowed: _devices.tell("conv_allow_tf32", allowed),
    "matmul_allow_tf32": lambda allowed: _devices.tell("matmul_allow_tf32", allowed),
    "deterministic": lambda value: _devices.tell("deterministic", value == "ON"),
}


def _checked_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """All of them, or an error of one before anything has changed."""
    global _chosen_number
    before, chosen = (
        {name: _values[name] for name in ("device_fallback", "device_id")},
        _chosen_number,
    )
    checked = dict(settings)
    try:
        for name in sorted(settings, key=lambda name: name not in before):
            own, value = _CHECKS.get(name), settings[name]
            checked[name] = own(value) if own else _settings.checked("set_context", name, value)
            if name in before:  # what naming a device depends on
                _values[name] = checked[name]
            if name == "device_id":
                _chosen_number = checked[name]
        _check_number(checked)
        return checked
    finally:
        _values.update(before)
        _chosen_number = chosen


def _check_number(settings: dict[str, Any]) -> None:
    """A process has one device of a name."""
    device = settings.get("device_target", _values["device_target"])
    number = _devices.number_of(device)
    if None not in (number, _chosen_number) and _chosen_number != number:
        raise ValueError(
            f"For 'set_context', 'device_id' must be {number}, the {device} that this process has opened, but got "
            f"{_chosen_number}. CUDA_VISIBLE_DEVICES says which are seen, before the first use."
        )


def set_context(**kwargs) -> None:
    """Changes settings by name, for example `set_context(mode=GRAPH_MODE, device_target="CPU")`."""
    global _chosen_number
    for name in kwargs:
        if name not in _values:
            raise _unknown("set_context", name, _values)
    wanted = _checked_settings(kwargs)
    number = _devices.number_of(wanted.get("device_target", _values["device_target"]))
    if "device_id" in wanted:
        _chosen_number = wanted["device_id"]
    elif number is not None:
        wanted["device_id"] = number
    before = {name: _values[name] for name in wanted}
    _values.update(wanted)
    try:  # a folder may be refused, and is so before anything else happens
        if _GRAPHS & wanted.keys():
            _save_graphs()
    except BaseException:
        _values.update(before)
        raise
    for name, effect in _EFFECTS.items():  # in this order, whatever the caller's
        if name in wanted:
            effect(wanted[name])
    _decide_fast()


def get_context(attr_key: str):
    """The value of a setting."""
    if attr_key not in _values:
        raise _unknown("get_context", attr_key, _values)
    return _values[attr_key]


def set_auto_parallel_context(**kwargs) -> None:
    """Changes settings of parallel training by name: docs/parallel.md has them."""
    global _planned
    wanted: dict[str, Any] = {}
    for name, value in kwargs.items():
        if name not in _parallel:
            raise _unknown("set_auto_parallel_context", name, _parallel)
        wanted |= _parallel_settings.checked(name, value)
    _check_place("set_auto_parallel_context", wanted)
    _check_rank(wanted)
    _in_force().update(wanted)
    _planned = _parallel["parallel_mode"] in _AUTO
    _tell_runtime()


def _check_place(function: str, settings: Mapping[str, Any]) -> None:
    """Processes that have come together have their numbers."""
    size = _joined.get("device_num", 1)
    for name, value in _joined.items():
        if size > 1 and settings.get(name, value) != value:
            what = "number of processes" if name == "device_num" else "rank of this process"
            raise ValueError(
                f"For '{function}', '{name}' must be {value}, the {what}, but got {settings[name]}: leave it out, init() knows it."
            )


def _check_rank(wanted: Mapping[str, Any]) -> None:
    """A process is one of those that there are, as soon as both are said."""
    settings = {**_in_force(), **wanted}
    rank, count = settings["global_rank"], settings["device_num"]
    if rank >= count and (count > 1 or "device_num" in wanted):
        raise ValueError(
            f"For 'set_auto_parallel_context', 'global_rank' must be in [0, {count}), as 'device_num' says, but got {rank}."
        )


def _in_force() -> dict[str, Any]:
    """The settings of parallel training that this thread goes by."""
    own = _own.get()
    return _parallel if own is None else own


def planned() -> bool:
    """Whether the parallel mode is one in which the compiler divides the work."""
    own = _own.get()
    return _planned if own is None else own["parallel_mode"] in _AUTO


def _tell_runtime() -> None:
    """How gradients are joined, and that random choices are those of this process's samples among those of all."""
    settings = _in_force()
    _fusion.apply(*(settings[name] for name in _FUSION))
    divided = settings["parallel_mode"] in ("data_parallel", "hybrid_parallel")
    _core.set_sample_part(_joined.get("global_rank", 0) if divided else 0, 1)


def get_auto_parallel_context(attr_key: str):
    """The value of a setting of parallel training."""
    if attr_key not in _parallel:
        raise _unknown("get_auto_parallel_context", attr_key, _parallel)
    return _parallel_settings.shown(attr_key, _in_force())


def at_reset(forget: Callable[[], None]) -> None:
    """Has a function called when the settings of parallel training go back to their defaults."""
    _at_reset.append(forget)


def reset_auto_parallel_context() -> None:
    """Back to the defaults of parallel training."""
    global _planned
    settings = _in_force()
    settings.clear()
    settings.update(_parallel_settings.DEFAULTS | _joined)
    _planned = _parallel["parallel_mode"] in _AUTO
    for forget in _at_reset:
        forget()
    _tell_runtime()


def set_operator_strategy(value: tuple[str, str]) -> None:
    """Where plans are written to, or read from."""
    _in_force()["operator_strategy"] = value


def joined() -> dict[str, int]:
    """The place of this process among those that have come together, as settings."""
    return dict(_joined)


@contextlib.contextmanager
def parallel_settings(settings: dict[str, Any]) -> Iterator[None]:
    """For what this thread does inside, all settings of parallel training are these. Other threads keep those of the process."""
    before = _own.set(dict(settings))
    _tell_runtime()
    try:
        yield
    finally:
        _own.reset(before)
        _tell_runtime()


def _note_processes(rank: int, size: int) -> None:
    """Takes the place among the processes that train together as the default of what asks for it."""
    for name, value in (("global_rank", rank), ("device_num", size)):
        if _parallel[name] == _parallel_settings.DEFAULTS[name]:
            _parallel[name] = value
        _joined[name] = value
    _check_place("init", _parallel)
    _tell_runtime()


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


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Chooses the device."""
    number = {} if device_id is None else {"device_id": device_id}
    set_context(device_target=device_target, **number)


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

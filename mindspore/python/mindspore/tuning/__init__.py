"""Tuning of generated kernels: its budget, and the file that keeps what it finds.

Kernels are tuned while a program runs, within a budget (`set_context(tune_budget="20s")`, `JitConfig(tune_budget=...)`, or
`MS_TUNE_BUDGET` in the environment); the core times ways to walk a kernel's loops on launches that are made anyway. What is
found goes to one JSON file, keyed by processor and kernel, which every later process reads. Files of several machines or
runs become one by `python -m mindspore.tuning merge OUT FILE...`; `python -m mindspore.tuning show [FILE]` prints one.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import math
import os
import platform
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mindspore import _core, _paths

_FORMAT = "mindspore tuning 1"
_UNITS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_MOST_BYTES = 1 << 26
_MOST_SECONDS = 1e9
_MOST_WAITING = 10.0  # seconds, for the file
_FIELDS = ("tuning", "first_ns", "best_ns", "trials", "complete")
Entry = dict[str, Any]
Entries = dict[str, dict[str, Entry]]  # by processor, then by kernel

_on_budget: list[Callable[[], None]] = []


# ---- the budget


def seconds_of(value: object, owner: str = "set_context") -> float:
    """A budget in seconds, of a number or of text such as "20s", "500ms" or "2min"."""
    seconds = -1.0
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = float(value) if value < _MOST_SECONDS else math.inf
    elif isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(ms|s|m|min|h|)\s*", value)
        seconds = float(match[1]) * _UNITS[match[2]] if match else -1.0
    else:
        raise TypeError(
            f"For '{owner}', 'tune_budget' must be a number of seconds or a str, but got {type(value).__name__}."
        )
    if not 0 <= seconds < _MOST_SECONDS:
        raise ValueError(
            f"For '{owner}', 'tune_budget' must be seconds that are not negative, or text such as '20s' or '500ms', "
            f"but got {value!r}."
        )
    return seconds


def set_budget(seconds: float) -> None:
    """Tuning may take that much time from now on: in making code, and in launches beyond what the best way takes."""
    _core.assembler.set_tuning_budget(seconds)
    for call in _on_budget:
        call()


def raise_budget(seconds: float) -> None:
    """At least that much time is left for tuning."""
    if seconds > _core.assembler.tuning_budget():
        set_budget(seconds)


def on_budget(call: Callable[[], None]) -> None:
    """`call` is told when there is a new budget."""
    _on_budget.append(call)


# ---- the file


def cache_path() -> Path | None:
    """The file of `MS_TUNE_CACHE`, or one in the user's cache folder; None where there is none."""
    return _paths.cache("MS_TUNE_CACHE", "tuning.json")


@functools.cache
def processor() -> str:
    """What distinguishes this processor from others that run the same code at other speeds."""
    facts = {}
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            name, colon, value = line.partition(":")
            if not colon:
                break  # one processor is enough
            facts[name.strip()] = value.strip()
    names = ("model name", "cpu family", "model", "stepping", "CPU implementer", "CPU part")
    found = [facts[name] for name in names if name in facts]
    return " / ".join(found) or platform.processor() or platform.machine()


def read(path: Path) -> Entries:
    """The entries of a file that are whole; a file that is missing or damaged has none."""
    try:
        with open(path, "rb") as file:
            data = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        return {}
    found: Entries = {}
    processors = data.get("processors")
    for name, kernels in processors.items() if isinstance(processors, dict) else ():
        for key, entry in kernels.items() if isinstance(kernels, dict) else ():
            if key.isascii() and _is_entry(entry):
                found.setdefault(name, {})[key] = {field: entry[field] for field in _FIELDS}
    return found


def _is_below(value: Any, end: float, *kinds: type) -> bool:
    return type(value) in kinds and 0 <= value < end


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    tuning, first, best, trials, complete = (entry.get(field) for field in _FIELDS)
    return (
        isinstance(tuning, str)
        and tuning.isascii()  # not every str has an encoding that the core could take
        and all(_is_below(ns, 1e18, int, float) for ns in (first, best))
        and _is_below(trials, 1 << 31, int)
        and isinstance(complete, bool)
    )


def gain(entry: Entry) -> float:
    """How many times as fast the kernel has become."""
    return entry["first_ns"] / entry["best_ns"] if entry["best_ns"] else 1.0


def merge(*parts: Entries) -> Entries:
    """All entries; of two for one kernel the complete one, then that of more trials, then the greater gain. The order of
    the parts does not matter."""

    def rank(entry: Entry) -> tuple[Any, ...]:
        return entry["complete"], entry["trials"], gain(entry), entry["tuning"]

    merged: Entries = {}
    for part in parts:
        for name, kernels in part.items():
            known = merged.setdefault(name, {})
            for key, entry in kernels.items():
                if key not in known or rank(entry) > rank(known[key]):
                    known[key] = entry
    return merged


def write(path: Path, entries: Entries) -> None:
    """The file as a whole: readers see the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".tuning-")
    try:
        with open(descriptor, "w") as file:
            json.dump({"format": _FORMAT, "processors": entries}, file, indent=1, sort_keys=True)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One process at a time adds to a file. TimeoutError where another one, of another machine maybe, does not come to an end."""
    path.parent.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + _MOST_WAITING
    with open(path.with_name(path.name + ".lock"), "w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise TimeoutError(f"another process holds {lock.name}") from None
                time.sleep(0.01)
        yield


def add(path: Path, entries: Entries) -> None:
    """Adds entries to a file that other processes may be adding to as well."""
    with _locked(path):
        write(path, merge(read(path), entries))


def load() -> None:
    """Gives the core what is known of this processor. Never raises: tuning may have been of no use."""
    path = cache_path()
    known = read(path).get(processor(), {}) if path else {}
    if known:
        _core.assembler.load_tunings(known)


def save() -> None:
    """Adds what the core has found to the file. Never raises: it may not be writable."""
    found = _core.assembler.take_tunings()
    path = cache_path()
    if found and path:
        with contextlib.suppress(OSError):
            add(path, {processor(): found})

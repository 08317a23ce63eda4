"""Draws of the user's functions from `random` and `numpy.random`.

Both modules have one state for the whole process, which a worker seeds for each row and puts back
afterwards: so a row gets the same numbers whichever worker has it, and the program outside keeps its
own. Only functions that may draw pay for that.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import random
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np

_lock = threading.Lock()
_held = threading.local()  # `here`: whether this thread has the lock
_outside: list[Any] = []  # states of both generators before they were seeded, the program's first
_MASK = (1 << 32) - 1

_QUIET_MODULES = {"numpy", "math", "operator", "cmath"}
_LOUD_BUILTINS = {"exec", "eval", "__import__", "compile", "getattr", "globals", "vars"}
_KNOWN_ATTRIBUTES = frozenset(
    name for kind in (np.ndarray, np.float32, str, bytes, list, dict, tuple) for name in dir(kind)
) | frozenset(name for name in dir(np) if "rand" not in name.lower())
_PLAIN = (
    int,
    float,
    complex,
    str,
    bytes,
    bool,
    type(None),
    np.ndarray,
    np.generic,
    range,
    np.dtype,
)


class seeded:
    """Both global generators as they are for one row; nobody else draws from them meanwhile."""

    # No generator either, which would set attributes of the function's error: some refuse that.
    def __init__(self, key: int, number: int) -> None:
        self._seed = (key ^ (number * 0x9E3779B97F4A7C15)) & ((1 << 64) - 1)

    def __enter__(self) -> None:
        _take()
        try:
            self._before = random.getstate(), np.random.get_state()
            _outside.append(self._before)
            random.seed(self._seed)
            np.random.seed([self._seed & _MASK, self._seed >> 32])
        except BaseException:  # Ctrl-C
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            _restore(self._before)
            if _outside:
                _outside.pop()
        finally:
            _give()


def _restore(state: Any) -> None:
    random.setstate(state[0])
    np.random.set_state(state[1])


def _take() -> None:
    _lock.acquire()
    _held.here = True


def _give() -> None:
    if _held.here:  # else it was taken before a fork
        _held.here = False
        _lock.release()


def _after_fork() -> None:
    """In the child: who seeded in another thread is not there to give back what it took.

    A function of a new process never ends what this thread was in, so nothing is taken here either.
    """
    global _lock
    _lock = threading.Lock()
    if getattr(_held, "here", False):
        _held.here = False
    elif _outside:
        _restore(_outside[0])
        _outside.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class let_go:
    """While a function that is seeded waits for another pipeline, whose functions draw as well."""

    # No generator, which would cost each row of a pipeline a microsecond.
    def __enter__(self) -> None:
        self._gave = getattr(_held, "here", False)
        if self._gave:
            _give()

    def __exit__(self, *_: object) -> None:
        if self._gave:
            _take()


def may_draw(function: Any) -> bool:
    """Whether a function may draw from the global generators: False only where that can be told."""
    return not _quiet(function, set())


def asks_row(function: Any) -> bool:
    """Whether a function may ask which row it works on, as the random transforms of the package do."""
    return not _quiet(function, _Strict())


class _Strict(set[int]):
    """What was seen on the way, where transforms of the package are not quiet either."""


def _quiet(value: Any, seen: set[int]) -> bool:
    """Whether calling it, or what it holds, draws nothing."""
    if isinstance(value, _PLAIN):
        return True
    if id(value) in seen:
        return True
    seen.add(id(value))
    if isinstance(value, (list, tuple)):
        return all(_quiet(item, seen) for item in value[:16])
    if isinstance(value, dict):
        return all(_quiet(item, seen) for item in list(value.values())[:16])
    if isinstance(value, types.ModuleType):
        return value.__name__ in _QUIET_MODULES
    if isinstance(value, types.FunctionType):
        return _quiet_code(value.__code__, _Scope(value), seen)
    if isinstance(value, types.MethodType):
        function: Any = value.__func__
        return _quiet_code(function.__code__, _Scope(function, value.__self__), seen)
    return _quiet_object(value, seen)


def _quiet_object(value: Any, seen: set[int]) -> bool:
    if isinstance(value, (np.ufunc, types.BuiltinFunctionType)):
        owner = getattr(value, "__module__", None) or ""
        return owner.split(".")[0] in _QUIET_MODULES | {"builtins"} and "random" not in owner
    if isinstance(value, type):
        return value in (int, float, complex, str, bytes, bool, list, dict, tuple, set) or (
            issubclass(value, np.generic)
        )
    own = type(value).__module__ or ""
    if own.startswith("mindspore.dataset."):
        return not isinstance(seen, _Strict) and all(
            _quiet(part, seen) for part in getattr(value, "transforms", ())
        )
    if own.startswith("mindspore."):
        return "dtype" in own or own == "mindspore._core"
    call = type(value).__dict__.get("__call__")
    return isinstance(call, types.FunctionType) and _quiet(types.MethodType(call, value), seen)


class _Scope:
    """What the names of a function mean."""

    def __init__(self, function: types.FunctionType, owner: Any = None) -> None:
        self.globals = function.__globals__
        self.owner = owner
        self.cells = [c.cell_contents for c in function.__closure__ or () if _filled(c)]
        self.cells += list(function.__defaults__ or ())


def _filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _quiet_code(code: types.CodeType, scope: _Scope, seen: set[int]) -> bool:
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return (
        all(_quiet(value, seen) for value in scope.cells)
        and all(_quiet_name(name, scope, seen) for name in code.co_names)
        and all(_quiet_code(c, scope, seen) for c in inner)
    )


def _quiet_name(name: str, scope: _Scope, seen: set[int]) -> bool:
    if scope.owner is not None:
        found = getattr(scope.owner, name, _Scope)
        if found is not _Scope:
            return _quiet(found, seen)
    if name in scope.globals:
        return _quiet(scope.globals[name], seen)
    if hasattr(builtins, name):
        return name not in _LOUD_BUILTINS
    return name in _KNOWN_ATTRIBUTES


def drawing(function: Any) -> Callable[..., Any]:
    """The context in which to call a function for a row: `seeded`, or nothing."""
    return seeded if may_draw(function) else _nothing


_NOTHING = contextlib.nullcontext()


def _nothing(key: int, number: int) -> contextlib.nullcontext[None]:
    return _NOTHING

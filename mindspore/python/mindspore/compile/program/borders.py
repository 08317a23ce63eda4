"""The borders between a program that is traced and the compiler, marked where they are crossed. An operation of the program is applied
to its values inside `with program_operation:`; what library code asks of the compiler meanwhile stands inside `with compiler_work:`.
The first border that an exception leaves says whose it is, and what has left none is the compiler's (see failures.py)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from mindspore.compile.program.marks import mark, original_of

_Function = TypeVar("_Function", bound=Callable)
_Error = TypeVar("_Error", bound=BaseException)
_HARMLESS = (list, tuple, range)  # to loop over them raises nothing
# What the core says first of a failure of its own (python/errors.cc).
_INTERNAL = "internal error: "


def _mark(error: BaseException, of_program: bool) -> None:
    error = original_of(error)
    if isinstance(error, Exception) and "_ms_of_program" not in error.__dict__:
        ours = isinstance(error, RuntimeError) and str(error).startswith(_INTERNAL)
        mark(error, "_ms_of_program", of_program and not ours)


def marked(error: BaseException) -> bool | None:
    """Whether an exception is the program's; None where it has left no border."""
    return original_of(error).__dict__.get("_ms_of_program")


class _Border:
    """What is inside of `with border:` is the program's, or the compiler's."""

    __slots__ = ("of_program",)

    def __init__(self, of_program: bool):
        self.of_program = of_program

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        # The end of an iterator is no failure.
        if error is not None and (self.of_program or kind is not StopIteration):
            _mark(error, self.of_program)


program_operation, compiler_work = _Border(True), _Border(False)


def of_program(error: _Error) -> _Error:
    """An error that Python would raise here, for the compiler to raise."""
    _mark(error, True)
    return error


def program_error(kind: type[_Error], text: str) -> _Error:
    """The same, of this kind and with this text."""
    return of_program(kind(text))


def of_compiler(error: _Error) -> _Error:
    """An error that comes out of what the compiler does by itself."""
    _mark(error, False)
    return error


def serves(function: _Function) -> _Function:
    """Decorates what library code calls while a program is traced."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with compiler_work:
            return function(*args, **kwargs)

    return call  # type: ignore[return-value]


# ---- operations that many places apply ----------------------------------------------------------------------------------
# These are passed often: `try` costs nothing where nothing is raised, `with` does.
def plainly(function: Callable, args: Iterable, kwargs: dict) -> Any:
    """`function(*args, **kwargs)`."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        _mark(error, True)
        raise


def read(owner: Any, name: str) -> Any:
    """`owner.name`. What stands for a value may lack what the value has."""
    try:
        return getattr(owner, name)
    except Exception as error:
        _mark(error, not type(owner).__module__.startswith("mindspore.compile"))
        raise


def is_true(value: Any) -> bool:
    """`bool(value)`."""
    return plainly(bool, (value,), {})


def each(items: Iterable) -> Iterator:
    """The items of an iterable, each when it is asked for."""
    if type(items) in _HARMLESS:
        return iter(items)
    with program_operation:
        return _guarded(iter(items))


def _guarded(iterator: Iterator) -> Iterator:
    while True:
        with program_operation:
            try:
                item = next(iterator)
            except StopIteration:
                return
        yield item


def listed(items: Iterable) -> list:
    """`list(items)`."""
    return plainly(list, (items,), {})

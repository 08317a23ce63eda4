"""Functions that check their arguments by their annotations before they run: `For 'softplus', 'input' must be a Tensor, but got
int.` in both modes. `checked` makes them; the modules that give public functions apply it to all they give."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._kinds import (
    UNKNOWN,
    Kind,
    Refused,
    described,
    kind_of,
    take_or_leave,
)

F = TypeVar("F", bound=Callable)
_Entry = tuple[str, int, int, Any]  # what _core knows of a parameter; see checked_function.cc


def checked(function: F) -> F:
    """The function, which refuses arguments that do not fit their annotations; its name, signature and text are as they were."""
    made: Any = _core.checked_function(function, _read)
    functools.update_wrapper(made, function)
    return made


def check_functions(module: Any, given: Iterable[str | Callable]) -> dict[str, Callable]:
    """Functions of a module by name, with their arguments checked; in the module they take the places of the plain ones."""
    found: dict[str, Callable] = {}
    made: dict[Callable, Callable] = {}
    for entry in given:
        function = getattr(module, entry) if isinstance(entry, str) else entry
        name = entry if isinstance(entry, str) else function.__name__
        if isinstance(function, types.FunctionType):
            plain, function = function, made.get(function) or checked(function)
            made[plain] = function
            for place in (name, plain.__qualname__):
                if getattr(module, place, None) is plain:
                    setattr(module, place, function)
        found[name] = function
    return found


def check_methods(owner: type, names: Iterable[str]) -> None:
    """Lets methods that a class of this package defines check their arguments; users write their own as they like."""
    if not owner.__module__.startswith("mindspore."):
        return
    for name in names:
        method = vars(owner).get(name)
        if isinstance(method, types.FunctionType):
            setattr(owner, name, checked(method))


def kinds_of(function: Callable) -> dict[str, Kind | None]:
    """What each parameter of a function may be; None for anything."""
    hints = typing.get_type_hints(function, include_extras=True)
    return {name: kind_of(hints.get(name, Any)) for name in inspect.signature(function).parameters}


_PLACES = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
)


def _read(function: Callable) -> tuple[list[_Entry], list[_Entry], list[_Entry], list[_Entry]]:
    """The parameters that may be given by position, those by keyword alone, *args and **kwargs."""
    found: dict[Any, list[_Entry]] = {kind: [] for kind in _PLACES}
    kinds = kinds_of(function)
    method = next(iter(kinds), "") in ("self", "cls")
    for name, parameter in inspect.signature(function).parameters.items():
        kind = kinds[name]
        check = None if kind is None else _check_of(function, method, parameter, kind)
        quick = (kind.quick, kind.items) if kind is not None else (0, 0)
        found[parameter.kind].append((name, *quick, check))
    only, both, named, rest, others = found.values()
    return only + both, named, rest, others


def _check_of(
    function: Callable, method: bool, parameter: inspect.Parameter, kind: Kind
) -> Callable[[Any, Any], tuple]:
    """What _core asks of a value that it does not know to fit."""

    def check(value: Any, first: Any) -> tuple[type | None, Any]:
        got = take_or_leave(kind.take, value)
        if not isinstance(got, Refused):
            return None, got
        if value is parameter.default:
            return None, value
        owner = _shown_name(function, first if method else None)
        return _refusal(owner, parameter.name, kind, got, value)

    return check


def check_value(annotation: Any, value: Any, name: str, owner: str) -> Any:
    """The value to use for one that an annotation allows; an error in the name of its owner for others."""
    kind = _known_kind(annotation)
    got = take_or_leave(kind.take, value)
    if isinstance(got, Refused):
        error, text = _refusal(owner, name, kind, got, value)
        raise error(text)
    return got


_known_kind: Callable[[Any], Any] = functools.cache(kind_of)


def _refusal(
    owner: str, name: str, kind: Kind, got: Refused, value: Any
) -> tuple[type[Exception], str]:
    """The exception that says what must hold, and what came."""
    each = "every item of " if got.of_items else ""
    what = f"For '{owner}', {each}'{name}' must"
    if got is UNKNOWN:
        return _late.compiler.Unsupported, (
            f"{what} be known while compiling, but it is a tensor whose value is known only at run time."
        )
    came = described(value, bool(got.must))
    return got.error or TypeError, f"{what} {got.must or f'be {kind.text}'}, but got {came}."


def _shown_name(function: Callable, owner: Any) -> str:
    """The function's name, in front of it the class of an object that has it; of what a class is called for, the class."""
    if owner is None or isinstance(owner, Tensor):
        return function.__name__
    name = (owner if isinstance(owner, type) else type(owner)).__name__
    return name if function.__name__ in _CALLED else f"{name}.{function.__name__}"


_CALLED = ("__new__", "__init__", "__call__", "construct")

"""Primitive classes of functions, from a table of signatures: `"Cummax(axis)(input)"` takes the axis when it is made and the
input when it is called, and calls a function that takes both. `shown@own` is a parameter that the function calls `own`;
`shown@_` one that says nothing. Nothing here knows any op."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

from mindspore.common._checked import checked
from mindspore.ops._bind import _split_signature
from mindspore.ops.primitive import PythonPrimitive

_OWN = "__is__"  # what `@` is written as where Python reads the signature


class FunctionPrimitive(PythonPrimitive):
    """A primitive whose call is a function of what it was made with and of what it is called with."""

    _function: Callable
    _own: dict[str, str] = {}  # what the function calls its parameters
    _call: Callable

    def _bind(self) -> None:
        super()._bind()
        own = self._own  # None leaves the default to the function
        chosen = ((own.get(k, "_"), v) for k, v in self.attrs.items() if v is not None)
        given = {k: v for k, v in chosen if k != "_"}
        self._call = functools.partial(type(self)._function, **given)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        if named:
            named = {self._own.get(name, name): value for name, value in named.items()}
        return self._call(*inputs, **named)


def primitives_of(
    faces: Mapping[str, Callable | str], functions: Mapping[str, Callable]
) -> dict[str, type]:
    """The classes of a table, by name; a function stands in it itself, or by its name."""
    made = {}
    for signature, entry in faces.items():
        name, groups = _split_signature(signature.replace("@", _OWN))
        function = functions[entry] if isinstance(entry, str) else entry
        made[name] = _class(name, _renamed(function, name), groups)
    return made


def _renamed(function: Callable, name: str) -> Callable:
    """The function, which checks its arguments in the name of the class."""
    plain = inspect.unwrap(function)
    if not isinstance(plain, types.FunctionType):
        return function
    copy = types.FunctionType(
        plain.__code__, plain.__globals__, name, plain.__defaults__, plain.__closure__
    )
    functools.update_wrapper(copy, plain)
    copy.__name__, copy.__kwdefaults__ = name, plain.__kwdefaults__
    del copy.__wrapped__  # type: ignore[attr-defined]
    return checked(copy)


def _class(name: str, function: Callable, groups: list) -> type:
    own: dict[str, str] = {}
    parameters = []
    constructor = groups[0] if len(groups) > 1 else []
    for declared, default, has_default in [*constructor, *groups[-1]]:
        shown, _, inner = declared.partition(_OWN)
        own[shown] = inner or shown
        parameters.append((shown, default, has_default))
    return type(
        name,
        (FunctionPrimitive,),
        {
            "__doc__": function.__doc__,
            "__module__": "mindspore.ops.operations",
            "_function": staticmethod(function),
            "_constructor": parameters[: len(constructor)],
            "_own": own,
        },
    )

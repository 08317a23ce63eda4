"""Objects that remember what they were made with, so that a pipeline can be written down and made again."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def _bound(signature: inspect.Signature, args: Any, kwargs: Any) -> dict[str, Any] | None:
    """The arguments by name, without self; None where they do not fit, which the call itself will tell."""
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    found = dict(list(bound.arguments.items())[1:])
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            found.update(found.pop(parameter.name, {}))
    return found


class Recorded:
    """Base of classes whose objects keep the arguments of the outermost __init__ as `_arguments`."""

    _arguments: tuple[str, dict[str, Any]] | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        made = vars(cls).get("__init__")
        if made is None:
            return
        signature = inspect.signature(made)

        @functools.wraps(made)
        def init(self: Any, *args: Any, **given: Any) -> None:
            if self._arguments is None:
                found = _bound(signature, (self, *args), given)
                self._arguments = (type(self).__name__, found or {})
            made(self, *args, **given)

        cls.__init__ = init  # type: ignore[method-assign]


def recorded(method: F) -> F:
    """A method whose result keeps the method's name and arguments."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(self: Any, *args: Any, **given: Any) -> Any:
        result = method(self, *args, **given)
        found = _bound(signature, (self, *args), given) or {}
        result._arguments = (method.__name__, found)
        result._made_of = self
        return result

    return call  # type: ignore[return-value]

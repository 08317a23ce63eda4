"""Functions defined inside compiled code, and the scopes that they see."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mindspore.compile.program.borders import serves
from mindspore.compile.program.source import docstring
from mindspore.compile.values.structure import Structure, register

if TYPE_CHECKING:
    from mindspore.compile.walk.frame import Frame
    from mindspore.compile.walk.tracer import Tracer


class Scope:
    """The variables of a call under compilation, and the scope around it. What evaluates in it is a Frame."""

    tracer: Tracer
    env: dict[str, Any]
    parent: Any

    def outward(self) -> Iterator[Any]:
        """This scope, and those around it."""
        scope: Any = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def eval(self, node: Any) -> Any:
        """The value of an expression."""
        raise NotImplementedError


register(Scope, Structure(lambda v: (v.env,) if v.parent is None else (v.env, v.parent)))


class NestedFunction:
    """A function defined inside compiled code. Library code may call it like any function. Its `__dict__` holds what programs put
    there, and functools.wraps copies, alone."""

    __slots__ = (
        "__dict__",
        "__name__",
        "__weakref__",
        "defaults",
        "doc",
        "frame",
        "keyword_defaults",
        "node",
    )

    def __init__(self, frame: Frame, node: Any, name: str):
        self.frame, self.node, self.__name__ = frame, node, name
        self.doc = docstring(node)
        arguments = node.args
        self.defaults = [frame.eval(d) for d in arguments.defaults]
        self.keyword_defaults = {
            a.arg: frame.eval(d)
            for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)
            if d is not None
        }

    @serves
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.frame.tracer.call(self, list(args), kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    @property
    def __doc__(self) -> Any:  # type: ignore[override]
        return self.doc

    @__doc__.setter
    def __doc__(self, text: Any) -> None:
        self.doc = text


register(
    NestedFunction,
    Structure(
        lambda v: (v.frame, v.defaults, v.keyword_defaults, *([v.__dict__] if v.__dict__ else ())),
        sample=lambda _: lambda: None,
    ),
)

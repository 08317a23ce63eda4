"""Objects that lines between two graphs give: stand-ins whose every use is such a line too (compile/versions/breaks.py)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore.compile.program.borders import compiler_work, serves
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.foreign import reads_array
from mindspore.compile.values.operators import ARITHMETIC, function_of
from mindspore.compile.values.structure import holds

if TYPE_CHECKING:
    from mindspore.compile.versions.breaks import Session


def decides() -> Unsupported:
    """The reason why a line must run eagerly that looks at such an object."""
    return Unsupported("a value that came out of the graph decides what this line does")


class HostValue:
    """A Python object that a step gave. Whatever is done to it is done when its time comes."""

    __slots__ = ("session", "slot")

    def __init__(self, session: Session, slot: int):
        object.__setattr__(self, "session", session)
        object.__setattr__(self, "slot", slot)

    def __getattr__(self, name: str) -> Any:
        return _step(self, getattr, name)

    def __setattr__(self, name: str, value: Any) -> None:
        _step(self, setattr, name, value)

    @serves
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        session = self.session
        return session.call(decides(), self, args, kwargs, reads_array(session.value(self)))

    def __hash__(self) -> int:
        raise decides()


def _step(host: HostValue, function: Callable, *args: Any) -> Any:
    with compiler_work:
        return host.session.operate(function, host, *args)


def has_host(value: Any) -> bool:
    """A HostValue, a structure that holds one, or a method of one."""
    return holds(value, _is_host)


def _is_host(value: Any) -> bool:
    return isinstance(value, HostValue)


def _define_operators() -> None:
    def forward(function: Callable) -> Callable:
        return lambda self, *args: _step(self, function, *args)

    def reflected(function: Callable) -> Callable:
        return lambda self, other: _step(self, lambda a, b: function(b, a), other)

    for name in ARITHMETIC.values():
        function = function_of(name)
        setattr(HostValue, f"__{name}__", forward(function))
        setattr(HostValue, f"__r{name}__", reflected(function))
    for name in "neg pos invert abs eq ne lt le gt ge getitem setitem delitem contains".split():
        setattr(HostValue, f"__{name}__", forward(getattr(operator, name)))
    for name, builtin in (("bool", bool), ("int", int), ("len", len), ("index", operator.index)):
        setattr(HostValue, f"__{name}__", forward(builtin))
    HostValue.__iter__ = lambda self: iter(_step(self, list))  # type: ignore[attr-defined]


_define_operators()

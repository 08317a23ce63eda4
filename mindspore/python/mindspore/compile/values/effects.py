"""What a compiled function does beside computing: text that holds the values of tensors, and calls of plain Python that must
happen when the graph runs, in program order - printing, logging, raising."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from mindspore import _core
from mindspore._core import SymbolicInt, Tensor
from mindspore.compile.program.errors import Unsupported, locate
from mindspore.compile.program.marks import PREFIX, mark, original_of
from mindspore.compile.values.numbers import NumberDecides, NumberInput
from mindspore.compile.values.records import in_slots
from mindspore.compile.values.structure import (
    LEAF,
    Structure,
    attributes_of,
    holds,
    maker,
    register,
    structure_of,
)
from mindspore.compile.values.values import Choice

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer

_NOTHING = Tensor(False)  # an op has at least one input


class Text:
    """A string with values of tensors in it: `render(*values)`, known when the graph runs."""

    def __init__(self, render: Callable[..., str], *values: Any):
        self.render, self.values = render, values

    def __add__(self, other: Any) -> Text:
        return Text(lambda a, b: a + b, self, other)

    def __radd__(self, other: Any) -> Text:
        return Text(lambda a, b: a + b, other, self)

    def __mod__(self, other: Any) -> Text:
        return Text(lambda a, b: a % b, self, other)

    def __mul__(self, other: Any) -> Text:
        return Text(lambda a, b: a * b, self, other)

    __rmul__ = __mul__

    def __getattr__(self, name: str) -> Any:
        raise Unsupported(
            "a string that holds the value of a tensor can only be printed, logged or raised, but "
            f"its '{name}' is asked for"
        )

    def _refuse(self, *_: Any) -> Any:
        raise Unsupported(
            "a string that holds the value of a tensor can only be printed, logged or raised, but "
            "here it must be known"
        )

    __eq__ = __ne__ = __hash__ = __bool__ = __len__ = __contains__ = __getitem__ = _refuse  # type: ignore[assignment]
    __lt__ = __le__ = __gt__ = __ge__ = __iter__ = __float__ = __int__ = __index__ = _refuse


register(
    Text,
    Structure(lambda v: v.values, lambda v, items: Text(v.render, *items), sample=lambda _: ""),
)


def is_text(value: Any) -> bool:
    """A Text, or a structure that holds one."""
    return holds(value, lambda v: isinstance(v, Text))


def is_text_of(value: Any, tracer: Tracer) -> bool:
    """Whether what Python writes of a value is known when the graph runs."""
    return is_text(value) or tracer.has_traced(value) or holds(value, lambda v: _shows(v, tracer))


def _shows(value: Any, tracer: Tracer, around: tuple[int, ...] = ()) -> bool:
    """Whether an object that the program made has values of tensors among its attributes, or those of such an object."""
    state = _state_of(value, tracer)
    if state is None or id(value) in around:
        return False
    inside = (*around, id(value))
    return (
        holds(state, lambda v: isinstance(v, (Text, Choice)))
        or tracer.has_traced(state)
        or holds(state, lambda v: _shows(v, tracer, inside))
    )


def _state_of(value: Any, tracer: Tracer) -> dict | None:
    """The attributes of an object that the program made."""
    if id(value) not in tracer.made or isinstance(value, (type, BaseException)):
        return None
    return {**(attributes_of(tracer, value) or {}), **in_slots(value)}


class _Shown:
    """What an object that the program made is when text is made of it, or when it is handed to Python."""

    def __init__(self, kind: type, state: dict):
        self.kind, self.state = kind, state

    def again(self, items: list) -> _Shown:
        """Of other attributes."""
        return _Shown(self.kind, dict(zip(self.state, items)))

    def as_object(self, items: list) -> Any:
        """An object with these attributes, whatever its class makes of them."""
        made: Any = object.__new__(self.kind)
        for name, item in zip(self.state, items):
            object.__setattr__(made, name, item)
        return made


register(_Shown, Structure(lambda v: v.state.values(), _Shown.again, is_open=True))


def _as_shown(value: Any, tracer: Tracer, around: tuple[int, ...] = ()) -> Any:
    """The value as it is now, with what objects hold of the graph."""

    def make_leaf(v: Any) -> Callable[[Any], Any] | None:
        if isinstance(v, Tensor):  # a later change in place is not seen in the text
            now = _core.alias(v) if v.is_symbolic and not _core.is_weak(v) else v
            return lambda _: now
        if not _shows(v, tracer):
            return None
        if structure_of(v) is not LEAF or holds(
            _state_of(v, tracer), lambda part: isinstance(part, Choice)
        ):
            raise Unsupported(f"what a {type(v).__name__} holds must be known here")
        if id(v) in around:
            raise Unsupported("an object that holds itself would have to be made again")
        state = _as_shown(_state_of(v, tracer), tracer, (*around, id(v)))
        return lambda _: _Shown(type(v), state)

    return maker(value, make_leaf)(None)


def text_of(tracer: Tracer, render: Callable[..., str], *values: Any) -> Text:
    """The text that `render` makes of what the values are now."""
    return Text(render, *_as_shown(values, tracer))


def defer(value: Any, tracer: Tracer, tensors: list) -> Callable[[tuple], Any]:
    """A function that makes `value` again from the values of the traced tensors in it, which are appended to `tensors`."""

    def take(tensor: Tensor) -> int:
        tensors.append(tensor)
        return len(tensors) - 1

    def make_leaf(v: Any) -> Callable[[tuple], Any] | None:
        if isinstance(v, Tensor) and tracer.is_traced(v):
            at = take(v)
            if _core.is_weak(v):  # a Python number
                return lambda got: got[at].item()
            return lambda got: got[at]
        if isinstance(v, SymbolicInt):
            at = take(v.as_tensor())
            return lambda got: int(got[at])
        if isinstance(v, Text):
            parts = maker(tuple(v.values), make_leaf)
            return lambda got: v.render(*parts(got))
        if isinstance(v, NumberInput):
            raise NumberDecides
        if isinstance(v, _Shown):
            items = maker(list(v.state.values()), make_leaf)
            return lambda got: v.as_object(items(got))
        return None

    return maker(_as_shown(value, tracer), make_leaf)


def emit(tracer: Tracer, function: Callable, args: Any, kwargs: dict) -> None:
    """Calls `function` whenever the graph runs, at this place of the program."""
    tracer.acts = True
    tracer.emitted += 1
    _when_run(tracer, (tuple(args), dict(kwargs)), lambda a, k: function(*a, **k))


def _when_run(tracer: Tracer, value: Any, use: Callable[[Any, dict], Any]) -> None:
    """`use(*value)` when the graph runs, of what the value is now."""
    tensors: list = []
    build = defer(value, tracer, tensors)

    def run(*values: Any) -> None:
        use(*build(values))

    tracer.trace.host_call(run, tensors or [_NOTHING], [])


def contents_of_error(error: BaseException) -> tuple[tuple, dict]:
    """What the program put into an exception: its arguments and attributes."""
    attributes = getattr(error, "__dict__", {}).items()
    return error.args, {k: v for k, v in attributes if not k.startswith(PREFIX)}


def _another(error: BaseException, args: tuple, attributes: dict) -> BaseException:
    """An exception of the same type. Where the program says how those are made, that has been done, and is left out."""
    kind = type(error)
    if any(isinstance(f, types.FunctionType) for f in (kind.__init__, kind.__new__)):  # type: ignore[misc]
        base = next(b for b in kind.__mro__ if b.__module__ == "builtins")
        fresh = base.__new__(kind, *args)
        mark(fresh, "args", args)
    else:
        fresh = kind(*args)
    for name, value in attributes.items():
        mark(fresh, name, list(value) if name == "__notes__" else value)
    return fresh


def emit_raise(tracer: Tracer, error: BaseException) -> None:
    """Raises `error` when the graph runs and comes here."""
    original = original_of(error)
    places = getattr(error, "_ms_places", None) or tracer.error_places(error)

    def fail(args: tuple, attributes: dict) -> NoReturn:
        fresh = _another(original, args, attributes)
        raise locate(fresh, places, again=True) from original.__cause__

    _when_run(tracer, contents_of_error(original), fail)

"""What a compiled function does beside computing: text that holds the values of tensors, and calls of plain Python that must
happen when the graph runs, in program order - printing, logging, raising."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore import _core
from mindspore._core import SymbolicInt, Tensor
from mindspore.compile.program.errors import Unsupported, locate
from mindspore.compile.values.numbers import NumberDecides, NumberInput
from mindspore.compile.values.structure import Structure, holds, maker, register

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
        return None

    return maker(value, make_leaf)


def emit(tracer: Tracer, function: Callable, args: Any, kwargs: dict) -> None:
    """Calls `function` whenever the graph runs, at this place of the program."""
    tracer.acts = True
    tracer.emitted += 1
    tensors: list = []
    build = defer((tuple(args), dict(kwargs)), tracer, tensors)

    def run(*values: Any) -> None:
        a, k = build(values)
        function(*a, **k)

    tracer.trace.host_call(run, tensors or [_NOTHING], [])


def emit_raise(tracer: Tracer, error: BaseException) -> None:
    """Raises `error` when the graph runs and comes here."""
    original = getattr(error, "_ms_original", error)
    places = getattr(error, "_ms_places", None) or tracer.error_places(error)
    tensors: list = []
    build = defer(tuple(original.args), tracer, tensors)

    def run(*values: Any) -> None:
        fresh = original
        if tensors or is_text(original.args):
            fresh = type(original)(*build(values))
        raise locate(fresh, places, again=True) from original.__cause__

    tracer.trace.host_call(run, tensors or [_NOTHING], [])

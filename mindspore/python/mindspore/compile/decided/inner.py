"""Graphs inside the one that is being traced, and those among them that call themselves: a loop, and a function that recurses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore._core import Tensor
from mindspore.compile.program.errors import Unsupported

if TYPE_CHECKING:
    from mindspore import _core
    from mindspore.compile.decided.heap import Heap
    from mindspore.compile.walk.tracer import Tracer

_MAX_ROUNDS = 12


class Inner:
    """`with Inner(trace):` graphs that are begun have been ended afterwards, or are given up, and Parameters are what they were."""

    def __init__(self, trace: _core.Trace):
        self.trace, self.depth, self.environment = trace, trace.depth, trace.environment()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        while self.trace.depth > self.depth:
            self.trace.suspend()
        self.trace.restore(self.environment)


def until_settled(tracer: Tracer, heap: Heap, attempt: Callable[[], Any], refusal: str) -> Any:
    """What `attempt` gives, which calls a graph from within itself. What that takes and gives is not known before it has been traced:
    None says that something came up, for which the next attempt, from the same state, is prepared."""
    calls, places, limits = len(tracer.calls), len(tracer.places), len(tracer.limits)
    for _ in range(_MAX_ROUNDS):
        try:
            with Inner(tracer.trace):
                found = attempt()
        finally:
            heap.restore()
            del tracer.calls[calls:], tracer.places[places:], tracer.limits[limits:]
        if found is not None:
            return found
    raise Unsupported(refusal)


class Assigned:
    """The Parameters that such a graph assigns: their values are further inputs and outputs of it."""

    def __init__(self, trace: _core.Trace):
        self.trace = trace
        self.parameters: list[Any] = []

    def values(self) -> list[Tensor]:
        """What they hold now."""
        return [self.trace.lift(parameter) for parameter in self.parameters]

    def put(self, values: Any) -> None:
        """Gives them values, from an iterator."""
        for parameter, value in zip(self.parameters, values):
            self.trace.set_parameter(parameter, value)

    def others(self, changed: list) -> list[Any]:
        """Those of the changed Parameters that are not among them."""
        known = {id(parameter) for parameter in self.parameters}
        return [parameter for parameter, _ in changed if id(parameter) not in known]

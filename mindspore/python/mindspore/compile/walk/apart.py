"""A function of the program that is traced into a graph of its own: what is differentiated, mapped, or has a gradient of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from mindspore._core import Tensor
from mindspore.common._tree import flatten, refill
from mindspore.compile.decided.inner import Inner
from mindspore.compile.values.cells import refuse_changes
from mindspore.compile.values.values import require_plain
from mindspore.compile.walk.leaving import Leaving

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer

# A tensor whose type it has, or its dtype and shape.
Kind = Tensor | tuple[Any, Iterable]


class Apart:
    """`call`, which takes a list of tensors, as a graph from these, and Parameters, to the tensors in its value, the Parameters that it
    changed, and what leaves it otherwise. `name` is the graph's, `what` the function's in messages."""

    differentiated = True  # it is to be, or by what is around it
    graph: Any = None

    def __init__(
        self,
        tracer: Tracer,
        name: str,
        what: str,
        call: Callable[[list], Any],
        inputs: Iterable[Kind],
        weights: Iterable[tuple[Any, Kind]] = (),
    ):
        """`weights` are Parameters that become inputs, too, and what these are."""
        self.trace = trace = tracer.trace
        self.weight_values = [trace.lift(parameter) for parameter, _ in weights]
        cells = tracer.cells.mark()
        self.leaving = Leaving(tracer, what)
        tracer.in_gradient += self.differentiated
        try:
            with Inner(trace):
                self.graph = trace.begin(name)
                inner = [self._parameter(kind) for kind in inputs]
                for parameter, kind in weights:
                    trace.set_parameter(parameter, self._parameter(kind))
                start = trace.environment()
                self.value = call(inner)
                if self.differentiated:
                    require_plain(self.value, f"what {what} returns")
                refuse_changes(tracer, self.graph, cells, what)
                self.leaves = flatten(self.value)
                self.updated = trace.changed_since(start)
                self.left = self._leave()
                trace.end(self.outputs())
        except BaseException as error:
            self.leaving.refuse_after(self.graph, error)
            raise
        finally:
            tracer.in_gradient -= self.differentiated

    def _parameter(self, kind: Kind) -> Tensor:
        if isinstance(kind, Tensor):  # weak where it is
            return self.trace.parameter_like(kind)
        return self.trace.add_parameter(kind[0], list(kind[1]))

    def _leave(self) -> list:
        """What leaves the graph otherwise than as its value."""
        return self.leaving.end(self.graph, self.leaves, self.value)

    def outputs(self) -> list:
        """What the graph returns."""
        return self.leaves + self.rest()

    def rest(self) -> list:
        """What the graph returns beside the tensors of the value."""
        return [v for _, v in self.updated] + self.left

    def place(self, results: list) -> Any:
        """The value from the results of a call, and the Parameters that it changed."""
        own, count = len(self.leaves), len(self.leaves) + len(self.updated)
        for (parameter, _), value in zip(self.updated, results[own:count]):
            self.trace.set_parameter(parameter, value)
        self.leaving.put(results[:own], results[count:])
        return self.rebuilt(results)

    def rebuilt(self, results: list) -> Any:
        """The value from the results of a call."""
        return refill(self.value, results)

"""What a function that is traced into a graph of its own puts into lists, dicts, objects and variables around it. Such values belong
to that graph: they leave it as further outputs, and the outputs take their places; or the function is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.decided.heap import Heap, Outward
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.cells import TensorCells
from mindspore.compile.values.structure import Recipe, nodes, structure_of

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer


class Leaving:
    """Made before the function is traced. `graph` and `leaves` are set by `end`: the graph, and what it returns anyway."""

    def __init__(self, tracer: Tracer, what: str):
        self.tracer, self.what = tracer, what
        self.heap = Heap(tracer, [frame for frame, _ in tracer.places])
        self.outward = Outward(tracer, self.heap)
        self.graph: Any = None
        self.leaves: list[Tensor] = []
        self.tensors: list[Tensor] = []  # outputs beside the leaves

    def end(self, graph: Any, leaves: list[Tensor], value: Any = None) -> list[Tensor]:
        """Called at the end of the graph: what it must return beside its leaves, the tensors that structures of `value` hold."""
        self.graph, self.leaves = graph, leaves
        for key in self.changes():
            self.outward.change(self.heap.before[key][0], self._tensor)
        # What hides in objects, deques and the like that a value holds was made inside, and goes on outside.
        for part in nodes(value):
            if not (isinstance(part, Tensor) or structure_of(part).is_data):
                self.outward.recipe(part, self._tensor)
        return self.tensors

    def refuse(self, graph: Any) -> None:
        """Refuses a function that leaves tensors of its graph around it."""
        self.end(graph, [])
        self.refuse_tensors()

    def refuse_tensors(self) -> None:
        """After the end: refuses a function that leaves tensors of its graph around it."""
        if self.tensors or self.outward.puts:
            raise Unsupported(
                f"{self.what} puts a tensor into a list, dict, object or variable outside of it"
            )

    def refuse_after(self, graph: Any, error: BaseException) -> None:
        """Where the program raised: it may go on with what was left."""
        if isinstance(error, Exception) and not isinstance(error, Unsupported):
            self.refuse(graph)

    def refuse_all(self) -> None:
        """Refuses a function that changes anything around it: it stands for several calls."""
        if self.changes():
            raise Unsupported(f"{self.what} changes a list, dict, object or variable outside of it")

    def changes(self) -> dict[int, Any]:
        """What the containers around hold now, those that have changed, by id."""
        return {
            key: contents
            for key, contents in self.heap.changes().items()
            if not isinstance(self.heap.before[key][0], TensorCells)
        }

    def put(self, returned: list[Tensor], rest: list[Tensor]) -> None:
        """Puts the outputs of the graph, those of the leaves and the others, where tensors of the graph were left."""
        self.outward.put([*returned, *rest])

    def _tensor(self, value: Tensor) -> Recipe | None:
        if not value.is_symbolic or not self.tracer.trace.made_in(self.graph, value):
            return None
        if _core.value_id(value) in self.tracer.numbers:
            raise Unsupported(
                f"{self.what} puts a number that a tensor decides into a list, dict, object or variable outside of it"
            )
        known = [*self.leaves, *self.tensors]
        at = next((i for i, t in enumerate(known) if t is value), len(known))
        if at == len(known):
            self.tensors.append(value)
        return lambda outputs: outputs[at]

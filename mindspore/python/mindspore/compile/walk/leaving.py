"""What a function that is traced into a graph of its own puts into lists, dicts, objects and variables around it. Such values belong
to that graph: they leave it as further outputs, and the outputs take their places; or the function is refused."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.decided.heap import Heap, container_of, contents_of, parts_of, set_contents
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.cells import TensorCells
from mindspore.compile.values.effects import Text
from mindspore.compile.values.ranges import TracedRange
from mindspore.compile.values.values import Choice, children, rebuild

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer

Place = Callable[[list], Any]  # from the outputs to a value


class Leaving:
    """Made before the function is traced. `graph` and `leaves` are set by `end`: the graph, and what it returns anyway."""

    def __init__(self, tracer: Tracer, what: str):
        self.tracer, self.what = tracer, what
        self.heap = Heap(tracer, [frame for frame, _ in tracer.places])
        self.graph: Any = None
        self.leaves: list[Tensor] = []
        self.tensors: list[Tensor] = []  # outputs beside the leaves
        self._puts: list[tuple[Any, Place]] = []
        self._visited: set[int] = set()

    def end(self, graph: Any, leaves: list[Tensor], value: Any = None) -> list[Tensor]:
        """Called at the end of the graph: what it must return beside its leaves, the tensors that structures of `value` hold."""
        self.graph, self.leaves = graph, leaves
        for key, contents in self.changes().items():
            self._container(self.heap.before[key][0], contents)
        self._objects(value)
        return self.tensors

    def refuse(self, graph: Any) -> None:
        """Refuses a function that leaves tensors of its graph around it."""
        self.end(graph, [])
        self.refuse_tensors()

    def refuse_tensors(self) -> None:
        """After the end: refuses a function that leaves tensors of its graph around it."""
        if self.tensors or self._puts:
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
        outputs = [*returned, *rest]
        for container, place in self._puts:
            set_contents(container, place(outputs))

    # ---- finding what leaves ------------------------------------------------------------------------------------------
    def _objects(self, value: Any) -> None:
        """What hides in objects, deques and the like that a value holds: they were made inside, and go on outside."""
        parts = children(value)
        if parts is not None:
            for part in parts:
                self._objects(part)
        elif not isinstance(value, Tensor):
            self._leaves(value)

    def _container(self, container: Any, contents: Any) -> None:
        if id(container) in self._visited or isinstance(contents, set):
            return
        self._visited.add(id(container))
        if isinstance(contents, dict):
            named = {k: self._leaves(v) for k, v in contents.items()}
            if any(named.values()):
                self._puts.append(
                    (
                        container,
                        lambda outputs: {
                            k: v if (p := named[k]) is None else p(outputs)
                            for k, v in contents.items()
                        },
                    )
                )
            return
        places = [self._leaves(v) for v in contents]
        if any(places):
            self._puts.append((container, lambda outputs: _fill(contents, places, outputs)))

    def _leaves(self, value: Any) -> Place | None:
        """How a value is made of the outputs; None where nothing in it is to be replaced."""
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, (tuple, Choice)):
            items = list(value) if isinstance(value, tuple) else [value.index, *value.options]
            places = [self._leaves(v) for v in items]
            if not any(places):
                return None
            return lambda outputs: rebuild(value, _fill(items, places, outputs))
        container = container_of(self.tracer, value)
        if container is not None:
            if id(container) not in self.heap.before:
                self._container(container, contents_of(container))
            parts: list = (
                [value.parent] if container is not value and hasattr(value, "parent") else []
            )
        else:
            parts = [*parts_of(self.tracer, value), *_hidden(value)]
        if any(self._leaves(v) is not None for v in parts):
            raise Unsupported(
                f"{self.what} puts a {type(value).__name__} with tensors into a list, dict, object or variable outside of it"
            )
        return None

    def _tensor(self, value: Tensor) -> Place | None:
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


def _fill(items: list, places: list[Place | None], outputs: list) -> list:
    return [v if p is None else p(outputs) for v, p in zip(items, places)]


def _hidden(value: Any) -> list:
    """What else of the compiler's own values holds tensors."""
    if isinstance(value, Text):
        return list(value.values)
    if isinstance(value, (slice, TracedRange)):
        return [value.start, value.stop, value.step]
    if isinstance(value, types.BuiltinMethodType):
        return [value.__self__]
    return []

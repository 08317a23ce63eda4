"""What a branch may change in place: the variables of the calls under way and the lists, dicts, sets and objects made in the
trace. Each arm starts from the same contents; afterwards those that differ are joined in the objects themselves, so that
whoever shares one still does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore._core import Tensor
from mindspore.compile.program.errors import Inseparable
from mindspore.compile.values.foreign import ARRAYS, memory_of
from mindspore.compile.values.structure import (
    Recipe,
    attributes_of,
    contents_of,
    filled,
    holds,
    is_container,
    placed,
    reachable,
    rebuild,
    same_contents,
    set_contents,
    structure_of,
)

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer


class Heap:
    """The containers that are reachable where a branch begins, by id, with their contents then. Arrays among those contents are
    memory: they cannot differ by arm, and are put back where a change was tried."""

    def __init__(self, tracer: Tracer, roots: list):
        self.tracer = tracer
        self.before: dict[int, tuple[Any, Any]] = {}
        self.first_array = tracer.arrays_apart = len(tracer.changed_arrays)
        for value in reachable(tracer, [*roots, tracer.cells]):
            if is_container(value):
                self.before[id(value)] = (value, contents_of(value))

    def __contains__(self, value: Any) -> bool:
        return id(value) in self.before

    def restore(self) -> None:
        """Everything as it was."""
        for container, contents in self.before.values():
            if not same_contents(contents, container):
                set_contents(container, contents)
        for array, numbers in reversed(self._changed_arrays()):
            array[...] = numbers

    def _changed_arrays(self) -> list[tuple]:
        """The arrays that were there before, of those that have changed since."""
        changed = self.tracer.changed_arrays[self.first_array :]
        return [item for item in changed if self._holds_memory_of(item[0])]

    def _holds_memory_of(self, array: Any) -> bool:
        memory = memory_of(array)
        is_it = lambda v: isinstance(v, ARRAYS) and memory_of(v) is memory  # noqa: E731
        return any(holds(contents, is_it) for _, contents in self.before.values())

    def refuse_arrays(self) -> None:
        """After a way that a tensor decides, or that is taken several times."""
        if self._changed_arrays():
            raise Inseparable(
                "an array changes in place where a tensor decides whether, or how often"
            )

    def changes(self) -> dict[int, Any]:
        """The contents of what changed, by id."""
        self.refuse_arrays()
        return {
            key: contents_of(container)
            for key, (container, contents) in self.before.items()
            if not same_contents(contents, container)
        }

    def apply(self, changes: dict[int, Any]) -> None:
        """Everything as it was, but for these changes."""
        self.restore()
        for key, contents in changes.items():
            set_contents(self.before[key][0], contents)


Leaf = Callable[[Tensor], Recipe | None]


class Outward:
    """How values that a graph made are made of the outputs of its call: what can change is given other contents, in place; the rest
    is made again. `leaf` says where a tensor is among the outputs; None: it stays what it is. What the heap has, the graph did
    not make. (An object that held `leaf`, a method, would live on in a cycle, and keep tensors.)"""

    def __init__(self, tracer: Tracer, heap: Heap):
        self.tracer, self.heap = tracer, heap
        self.puts: list[tuple[Any, Recipe]] = []
        self._visited: dict[int, Any] = {}

    def recipe(self, value: Any, leaf: Leaf) -> Recipe | None:
        """How the value is made; None where nothing in it is another one."""
        if isinstance(value, Tensor):
            return leaf(value)
        structure = structure_of(value)
        own = value if structure.changes else attributes_of(self.tracer, value)
        if own is not None and own not in self.heap:
            self.change(own, leaf)
        if structure.changes:
            return None
        parts = list(structure.parts(value))
        recipes = [self.recipe(part, leaf) for part in parts]
        if structure.rebuild is None or not any(recipes):
            return None
        return lambda outputs: rebuild(value, filled(parts, recipes, outputs))

    def change(self, container: Any, leaf: Leaf) -> None:
        """What a container holds is looked at, too; once."""
        if id(container) in self._visited:
            return
        self._visited[id(container)] = container
        recipe = placed(contents_of(container), lambda part: self.recipe(part, leaf))
        if recipe is not None:
            self.puts.append((container, recipe))

    def put(self, outputs: list) -> None:
        """Gives the containers their contents."""
        for container, recipe in self.puts:
            set_contents(container, recipe(outputs))

"""The known ways of a program whose lines run in part eagerly: graphs, steps between them, and the kinds of what these give."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.program.borders import program_operation
from mindspore.compile.program.errors import Inseparable

# Results that decide where a path goes on.
DECIDING = (bool, int, type(None), type, np.dtype, type(Ellipsis), _core.DType)

_MAX_NODES = 8  # after results of one kind, for different facts

Before = dict[int, tuple]  # Parameters and their values before a run, by id


class Done:
    """What a run has done already: what its graphs and steps gave, and how things were before."""

    def __init__(self) -> None:
        self.results: list = []
        self.before: Before = {}
        self.random = _core.get_random_state()
        self.committed = False  # something was done that must not be done twice


class Step:
    """One call between two graphs: `build(slots)` gives function, arguments and keyword arguments. `pure`: it may be made
    again."""

    def __init__(self, build: Callable[[list], tuple], pure: bool):
        self.build, self.pure = build, pure

    def run(self, slots: list) -> tuple[tuple, Any]:
        """What kind of result came, and the result; an exception is a result."""
        function, args, kwargs = self.build(slots)
        try:
            result = [function(*args, **kwargs)]
        except Exception as error:
            return ("error", type(error)), error
        value = _shared_apart(result)[0]
        return kind_of(value), value


class Shared:
    """A list that something else holds too: what is done to it shows there, so that it is one object, not its items."""

    def __init__(self, value: Any):
        self.value = value


def unmarked(value: Any) -> Any:
    """A result without the mark that it is shared."""
    return value.value if isinstance(value, Shared) else value


def _references(items: Any) -> list[int]:
    """How many references there are to each of the items, this loop's among them."""
    return [sys.getrefcount(item) for item in items]


_UNSHARED = _references([[]])[0]  # to an item that only its container holds


def _shared_apart(items: Any) -> list:
    """The items of a fresh list or tuple, with shared lists, and tuples that hold lists, marked."""
    found: list = []
    for item, references in zip(items, _references(items)):
        if isinstance(item, (tuple, list)):
            shared = references > _UNSHARED
            if shared and holds_list(item):
                item = Shared(item)
            elif not shared:
                inner = _shared_apart(item)
                if any(a is not b for a, b in zip(inner, item)):
                    item = item._make(inner) if hasattr(item, "_make") else type(item)(inner)
        found.append(item)
    return found


def holds_list(value: Any) -> bool:
    """Whether a list is somewhere in a list or tuple, or is it."""
    return isinstance(value, list) or (isinstance(value, tuple) and any(map(holds_list, value)))


class Node:
    """A part of a path: a graph, then a step that leads to other nodes by the kind of its result; or, at the end, the value."""

    def __init__(self) -> None:
        self.facts: list = []
        self.guards: Any = None
        self.graph: Any = None
        self.changed: list = []  # Parameters that the graph changes
        self.acts = False  # it prints, say
        self.inputs: list[int] = []
        self.outputs: dict[int, int] | None = None  # of the graph: places by when they were made
        self.step: Step | None = None
        self.next: dict[tuple, list[Node]] = {}  # by the kind of the result; they differ in facts
        self.place: Callable[[list], Any] | None = None

    def holds(self) -> bool:
        """Whether what was read here is still true."""
        return self.guards is None or self.guards.check() < 0

    def after(self, kind: tuple) -> Node | None:
        """The part that goes on after a result of this kind and rests on what is true now. It becomes the first of its kind."""
        nodes = self.next.get(kind, [])
        found = next((node for node in nodes if node.holds()), None)
        if found is not None and found is not nodes[0]:
            nodes[:] = [found, *(node for node in nodes if node is not found)]
        return found

    def add(self, kind: tuple, node: Node) -> None:
        """Another part that goes on after results of this kind."""
        self.next[kind] = [node, *self.next.get(kind, ())][:_MAX_NODES]

    def run_graph(self, slots: list, before: Before | None = None) -> list:
        """The outputs of the graph, from and to the slots. `before` keeps what Parameters were."""
        if before is not None:
            for p in self.changed:
                before.setdefault(id(p), (p, p.copy()))
        try:
            inputs = [_input(slots[i]) for i in self.inputs] if self.graph else []
            with program_operation:
                outputs = self.graph.run(inputs) if self.graph else []
        except _core.SharedMemory:
            raise Inseparable("a view of a Parameter is used where that is updated") from None
        slots.extend(outputs)
        return outputs


def _input(value: Any) -> Tensor:
    """A slot's value for a graph: a tensor, or a Python number beside one."""
    return value if isinstance(value, Tensor) else Tensor(value, _core.float64)


def number_of(value: Any) -> Any:
    """A Python number that a graph gave as a tensor."""
    return value.item() if isinstance(value, Tensor) else value


def kind_of(value: Any) -> tuple:
    """What a path depends on of a result. Here and in `slots_of`, results are Python's real objects: a list or tuple is its items where
    nothing else holds it; what else there is, a dict say, is one object, whatever values/structure.py sees in it."""
    if isinstance(value, Tensor):
        return ("tensor", value.dtype, tuple(value.shape))
    if isinstance(value, (tuple, list)):
        return (type(value), *map(kind_of, value))
    if isinstance(value, DECIDING):
        return ("constant", type(value), value)
    return ("object", type(unmarked(value)))


def slots_of(value: Any, slots: list) -> None:
    """Puts a step's result into slots, in the order of Session._wrap."""
    if isinstance(value, (tuple, list)):
        for item in value:
            slots_of(item, slots)
    elif isinstance(value, Tensor) or not isinstance(value, DECIDING):
        slots.append(unmarked(value))


class Unknown(Exception):
    """A run left the known paths."""

    def __init__(self, done: Done):
        super().__init__()
        self.done = done


def follow(root: Node, inputs: list) -> Any:
    """Runs along the known paths, to the value at their end."""
    slots, done = list(inputs), Done()
    node: Node | None = root
    while node is not None and (node.place or node.step):
        try:
            outputs = node.run_graph(slots, done.before)
        except Inseparable:  # of these arguments; it is met again where the call is traced
            break
        if node.place is not None:
            return node.place(slots)
        assert node.step is not None
        kind, value = node.step.run(slots)
        done.results += [outputs, (kind, value)]
        done.committed |= node.acts or not node.step.pure
        if kind[0] != "error":
            slots_of(value, slots)
        node = node.after(kind)
    raise Unknown(done)

"""Graphs of a file that other graphs call: a call becomes the steps of what it calls, a choice a step with two bodies, and a
graph whose end calls itself again a step that is a loop: a simple one here, with several ways out in `tails`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore.train._mindir.control import Body, loop
from mindspore.train._mindir.images_read import Call
from mindspore.train._mindir.messages import MONADS, Monad
from mindspore.train._mindir.tails import (
    Choice,
    Function,
    Place,
    Tails,
    end_of,
    is_primitive,
    node_of,
)

if TYPE_CHECKING:
    from mindspore.train._mindir.reading import Reader, Slot

_DEEPEST = 64  # graphs in each other
_MOST_TIMES = 64  # nodes that calls may make of one node of the file, on average


class Scope:
    """Where steps go: the main graph, or a body. Values from around are taken in by number."""

    def __init__(self, level: int, inputs: int) -> None:
        self.level, self.inputs = level, inputs
        self.taken: dict[Slot, int] = {}
        self.steps: list[tuple[Any, list[int], dict]] = []

    def local(self, slot: Slot) -> int:
        """The place here of a value of here, or of around."""
        if slot.level == self.level:
            return slot.place
        return self.taken.setdefault(slot, self.inputs + len(self.taken))


class Calls:
    """What a reader needs for graphs that are called."""

    def __init__(self, reader: Reader, graphs: list[dict], nodes: int) -> None:
        self.reader = reader
        self.graphs: dict[str, dict] = {}
        for graph in graphs:
            if graph.get("name", "") in self.graphs:
                raise ValueError(f"there are two graphs of the name '{graph.get('name', ''):.100}'")
            self.graphs[graph.get("name", "")] = graph
        self.open: list[str] = []
        self.left = _MOST_TIMES * (nodes + 64)
        self.tails = Tails(self)

    def call(self, function: Any, arguments: list) -> Any:
        """What a function gives for arguments."""
        return self.tails.run(function, arguments, Place())

    def simple_loop(self, name: str, arguments: list) -> Any:
        """What a graph gives that is a loop with one way to the next turn and one out; None: it is none."""
        turn = _turn_of(self, name)
        return None if turn is None else _Loop(self, name, turn, arguments).value()

    def opened(self, name: str) -> _Opened:
        """Its nodes are being read."""
        return _Opened(self, name)

    def kinds_of_inputs(self, name: str) -> tuple:
        """The types of a graph's arguments."""
        return tuple(_kind(message) for message in self.graphs[name].get("input", []))

    def kinds_of_output(self, name: str) -> Any:
        """The type of a graph's value."""
        outputs = self.graphs[name].get("output", [])
        return _kind(outputs[0]) if outputs else None

    def bound(self, name: str, arguments: list) -> dict[str, Any]:
        """The names of a graph's inputs with their values."""
        inputs = [i.get("name", "") for i in self.graphs[name].get("input", [])]
        if len(inputs) != len(arguments):
            raise ValueError(
                f"the graph '{name:.100}' takes {len(inputs)} arguments, but is given {len(arguments)}"
            )
        return dict(zip(inputs, arguments))

    def body(self, scope: Scope, result: Any, around: list[Slot]) -> Body:
        """What a scope has become; `around` are the values around that its run is given."""
        first = scope.inputs + len(scope.taken)
        steps, result = self.reader.finished(scope.steps, result, first)
        return Body([around.index(slot) for slot in scope.taken], steps, result)


def _kind(message: dict) -> Any:
    """A TensorProto, a tuple of them, or None of what only keeps effects in order."""
    shown = message if "tensor" in message else message.get("attr_info", message)
    tensors = shown.get("tensor") or shown.get("tensors") or []
    if len(tensors) == 1:
        return tensors[0]
    if shown.get("type") in MONADS:
        return None
    if not shown.get("values"):
        raise ValueError("what a graph takes or gives must be tensors, or tuples of them")
    return tuple(_kind(value) for value in shown["values"])


def _around(scopes: Any) -> list[Slot]:
    return list(dict.fromkeys(slot for scope in scopes for slot in scope.taken))


class _Opened:
    """A graph whose nodes are being read."""

    def __init__(self, calls: Calls, name: str) -> None:
        self.calls, self.name = calls, name

    def __enter__(self) -> None:
        calls = self.calls
        if self.name not in calls.graphs:
            raise ValueError(f"there is no graph '{self.name:.100}'")
        if self.name in calls.open:
            raise ValueError(
                f"the graph '{self.name:.100}' calls itself otherwise than a loop does"
            )
        if len(calls.open) == _DEEPEST:
            raise ValueError(f"its graphs call each other more than {_DEEPEST} deep")
        calls.left -= len(calls.graphs[self.name].get("node", [])) + 1
        if calls.left < 0:
            raise ValueError("its graphs call each other too often")
        calls.open.append(self.name)

    def __exit__(self, *error: object) -> None:
        self.calls.open.pop()


# ---- loops


@dataclasses.dataclass(frozen=True)
class _Turn:
    """Of a graph that ends with a choice: the side that calls it again, and the name of the choice."""

    choice: str
    going: bool
    again: str  # the graph of that side
    same: frozenset[int]  # arguments that every turn has alike


def _turn_of(calls: Calls, name: str) -> _Turn | None:
    """How a graph is a loop; None: it is none."""
    graph = calls.graphs.get(name, {})
    called = str(end_of(graph).get("op_type", "")).removeprefix("REF::")
    switch = node_of(graph, called)
    if (
        not is_primitive(switch, "Switch")
        or len(switch.get("input", [])) != 3
        or end_of(graph).get("input")
    ):
        return None
    for going, side in ((True, switch["input"][1]), (False, switch["input"][2])):
        partial = node_of(graph, side)
        given = partial.get("input") or [""]
        again = calls.graphs.get(given[0], {})
        end = end_of(again)
        if is_primitive(partial, "Partial") and end.get("op_type") == f"REF::{name}":
            return _Turn(called, going, given[0], _same(graph, given[1:], again, end))
    return None


def _same(graph: dict, given: list[str], again: dict, end: dict) -> frozenset[int]:
    ours = [i.get("name", "") for i in graph.get("input", [])]
    theirs = dict(zip([i.get("name", "") for i in again.get("input", [])], given))
    pairs = zip(ours, end.get("input") or [])
    return frozenset(
        at for at, (mine, next_one) in enumerate(pairs) if theirs.get(next_one) == mine
    )


class _Loop:
    """A graph whose end calls it again."""

    def __init__(self, calls: Calls, name: str, turn: _Turn, arguments: list) -> None:
        self.calls, self.reader = calls, calls.reader
        self.name, self.turn, self.arguments = name, turn, arguments
        effects = {at for at, value in enumerate(arguments) if isinstance(value, Monad)}
        self.changing = [at for at in range(len(arguments)) if at not in turn.same | effects]

    def value(self) -> Any:
        """What it gives in the end."""
        reader = self.reader
        state = [reader.slot(self.arguments[at]) for at in self.changing]
        with _Opened(self.calls, self.name):
            test, choice = self._test()
            sides = (choice.yes, choice.no) if self.turn.going else (choice.no, choice.yes)
            for side in sides:
                if not isinstance(side, Function):
                    raise ValueError("a side of a loop must be a graph with arguments")
            inside, behind = ([v for v in side.arguments if self._moves(v, test)] for side in sides)
            condition = reader.slot(choice.condition)
            if not self.turn.going:
                condition = reader.step(Call(ops.logical_not, [condition], {}))
            found = (condition, tuple(inside), tuple(behind))
            result = (
                test.local(found[0]),
                tuple(test.local(slot) for slot in found[1]),
                tuple(test.local(slot) for slot in found[2]),
            )
            reader.leave(test)
            body = self._side(sides[0], inside, again=True)
            after = self._side(sides[1], behind, again=False)
        around = _around(scope for scope, _ in ((test, result), body, after))
        settings = {
            "count": len(state),
            "test": self.calls.body(test, result, around),
            "body": self.calls.body(*body, around),
            "after": self.calls.body(*after, around),
        }
        return reader.step(Call(loop, [*state, *around], settings))

    def _moves(self, value: Any, test: Scope) -> bool:
        """Whether a value is one of the scope of the test."""
        return getattr(value, "level", None) == test.level

    def _test(self) -> tuple[Scope, Choice]:
        reader = self.reader
        test = reader.enter(len(self.changing))
        arguments = list(self.arguments)
        for place, at in enumerate(self.changing):
            arguments[at] = reader.slot_at(place)
        graph = self.calls.graphs[self.name]
        known = self.calls.bound(self.name, arguments)
        end = end_of(graph)["output"][0]
        (choice,) = reader.walk(graph, known, [self.turn.choice], without=end)
        if not isinstance(choice, Choice):
            raise ValueError(f"the graph '{self.name:.100}' must end with a choice")
        return test, choice

    def _side(self, side: Function, moving: list, again: bool) -> tuple[Scope, Any]:
        """The body of a side: its scope, and the places of its results."""
        reader = self.reader
        scope = reader.enter(len(moving))
        places = {id(value): place for place, value in enumerate(moving)}
        arguments = [
            reader.slot_at(places[id(value)]) if id(value) in places else value
            for value in side.arguments
        ]
        if again:
            with _Opened(self.calls, side.graph):
                graph = self.calls.graphs[side.graph]
                end = end_of(graph)
                known = self.calls.bound(side.graph, arguments)
                values = reader.walk(graph, known, end.get("input"), without=end["output"][0])
                result: Any = tuple(scope.local(reader.slot(values[at])) for at in self.changing)
        else:
            result = reader.result(self.calls.call(Function(side.graph, tuple(arguments)), []))
        return reader.leave(scope), result


__all__ = ["Calls", "Choice", "Function", "Scope"]

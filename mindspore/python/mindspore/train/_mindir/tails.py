"""Graphs that end with a call, followed from graph to graph: a branch whose sides go on in the same graph joins there, and graphs
that come back to one of them are a loop, each turn of which says how it ended.

MindSpore writes what follows a branch in a loop as a graph that both sides call at their end, and `continue`, `break` and `return`
as such calls too.
"""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

from mindspore import _core
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.train._mindir.control import branch, turns
from mindspore.train._mindir.images_read import Call
from mindspore.train._mindir.messages import Monad, dtype_of

if TYPE_CHECKING:
    from mindspore.train._mindir.functions import Calls

_DEEPEST = 64  # choices in each other
_MOST_GRAPHS = 1000  # among which one is looked for
_DONE = -1  # how a turn ended: it is the last one; else the number of the loop that goes on


@dataclasses.dataclass(frozen=True)
class Function:
    """A graph with its first arguments."""

    graph: str
    arguments: tuple = ()


@dataclasses.dataclass(frozen=True)
class Choice:
    """One of two functions, by a condition."""

    condition: Any
    yes: Any
    no: Any


@dataclasses.dataclass
class _Open:
    """A loop whose turn is being read."""

    name: str
    values: list  # the arguments of the turn
    changing: list[int]  # which of them are new in every turn
    again: list[list] = dataclasses.field(default_factory=list)  # what its calls are given


@dataclasses.dataclass(frozen=True)
class Place:
    """Where calls at the end lead: to the graph `stop`, to one of the loops, or to a value."""

    loops: tuple[_Open, ...] = ()
    stop: str = ""
    kinds: Any = None  # messages of what comes out: the arguments of `stop`, or the value
    cut: frozenset[str] = frozenset()  # all loops around


class Tails:
    """What `Calls` needs for calls at the end of a graph.

    What comes out of a place without loops is a value, or the arguments of `stop`; else how the turn ended, the state of each loop,
    and that.
    """

    def __init__(self, calls: Calls) -> None:
        self.calls, self.reader = calls, calls.reader
        self._next: dict[str, tuple[str, ...]] = {}  # graphs that a graph calls at its end
        self._joins: dict[tuple, str] = {}

    # ---- which graphs follow which
    def comes_back(self, name: str, cut: frozenset[str]) -> bool:
        """Whether a graph is called again by calls at the end, otherwise than by a loop around."""
        return name in self._reached(self.following(name), cut)

    def following(self, name: str) -> tuple[str, ...]:
        """The graphs that a graph may call at its end; "" where it ends, or nobody knows."""
        if name not in self._next:
            graph = self.calls.graphs.get(name, {})
            self._next[name] = tuple(self._leading(graph, called_at(graph, self.calls), 0))
        return self._next[name]

    def _leading(self, graph: dict, called: str, depth: int) -> list[str]:
        if called in self.calls.graphs:
            return [called]
        node = node_of(graph, called)
        inputs = node.get("input") or []
        if is_primitive(node, "Partial") and inputs and depth < _DEEPEST:
            return self._leading(graph, inputs[0], depth + 1)
        if is_primitive(node, "Switch") and len(inputs) == 3 and depth < _DEEPEST:
            return [one for side in inputs[1:] for one in self._leading(graph, side, depth + 1)]
        return [""]

    def _reached(self, names: Any, cut: frozenset[str]) -> dict[str, str]:
        """The graphs that calls at the end reach, none beyond those that are cut, nearest first; of each, from where."""
        found: dict[str, str] = dict.fromkeys(names, "")
        todo = list(found)
        for name in todo:
            after = self.following(name) if name and name not in cut else ("",) if name else ()
            for one in after:
                if one not in found:
                    found[one] = name
                    todo.append(one)
        return found

    def join_of(self, one: str, other: str, cut: frozenset[str]) -> str:
        """The first graph that surely follows both, up to the loops around; "" if there is none."""
        key = (one, other, cut)
        if key not in self._joins:
            from_one = self._reached([one], cut)
            path: list[str] = []  # back from where it ends
            name = ""
            while name != one and len(path) < len(from_one) and "" in from_one:
                name = from_one[name]
                path.append(name)
            sure = (j for j in path[::-1] if j and not self._avoids(one, other, cut, j))
            self._joins[key] = next(sure, "") if len(from_one) < _MOST_GRAPHS else ""
        return self._joins[key]

    def _avoids(self, one: str, other: str, cut: frozenset[str], join: str) -> bool:
        """Whether a way to an end leads past a graph."""
        starts = [name for name in (one, other) if name != join]
        found, todo = set(starts), list(starts)
        for name in todo:
            if not name or name in cut:
                return True
            for after in self.following(name):
                if after not in found and after != join:
                    found.add(after)
                    todo.append(after)
        return False

    # ---- following them
    def run(self, function: Any, arguments: list, place: Place) -> Any:
        """What a call at the end gives."""
        while True:
            if isinstance(function, Choice):
                return self._chosen(function, arguments, place)
            if not isinstance(function, Function):
                raise ValueError("what is called is no graph")
            name, arguments = function.graph, [*function.arguments, *arguments]
            if name == place.stop:
                return self._ended(place, _DONE, tuple(arguments))
            for at, loop in enumerate(place.loops):
                if loop.name == name:
                    loop.again.append(arguments)
                    return self._ended(place, at, None)
            if name in place.cut:
                raise ValueError(f"the graph '{name:.100}' calls itself otherwise than a loop does")
            if self.comes_back(name, place.cut):
                return self._loop(name, arguments, place)
            value = self._walked(name, arguments)
            if not isinstance(value, _Going):
                return self._ended(place, _DONE, value)
            function, arguments = value.function, value.arguments

    def _walked(self, name: str, arguments: list) -> Any:
        """The nodes of a graph: its value, or the call at its end."""
        with self.calls.opened(name):
            graph = self.calls.graphs[name]
            known = self.calls.bound(name, arguments)
            called = called_at(graph, self.calls)
            if not called:
                return self.reader.walk(graph, known)[0]
            end = end_of(graph)
            names = [called, *(end.get("input") or [])]
            function, *given = self.reader.walk(graph, known, names, without=end["output"][0])
            return _Going(function, given)

    def _chosen(self, choice: Choice, arguments: list, place: Place) -> Any:
        if isinstance(choice.condition, bool):
            return self.run(choice.yes if choice.condition else choice.no, arguments, place)
        join = ""
        if isinstance(choice.yes, Function) and isinstance(choice.no, Function):
            join = self.join_of(choice.yes.graph, choice.no.graph, place.cut)
        within = place
        if join:
            within = Place(stop=join, kinds=self.calls.kinds_of_inputs(join), cut=place.cut)
        found = []
        for side in (choice.yes, choice.no):
            scope = self.reader.enter(0)
            value = self.run(side, arguments, within)
            found.append((self.reader.leave(scope), value))
        if join:
            return self.run(Function(join), self._joined(choice.condition, found), place)
        step = self._branch(choice.condition, found)
        if place.stop and not place.loops:
            return self._parts(step, place.kinds)
        return step

    def _branch(self, condition: Any, found: list) -> Any:
        """A step that gives what one of two scopes does."""
        made = [(scope, self._placed(scope, value)) for scope, value in found]
        around = list(dict.fromkeys(slot for scope, _ in found for slot in scope.taken))
        yes, no = (self.calls.body(scope, result, around) for scope, result in made)
        return self.reader.step(Call(branch, [condition, *around], {"yes": yes, "no": no}))

    def _placed(self, scope: Any, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._placed(scope, v) for v in value)
        return scope.local(self.reader.slot(value))

    def _joined(self, condition: Any, found: list) -> list:
        """The arguments of the graph where two sides join: those that differ come out of a branch."""
        one, other = (value for _, value in found)
        differ = [at for at in range(len(one)) if not _same(one[at], other[at])]
        joined = list(one)
        if differ:
            parts = [(scope, tuple(value[at] for at in differ)) for scope, value in found]
            step = self._branch(condition, parts)
            for number, at in enumerate(differ):
                joined[at] = self.reader.item(step, number)
        return joined

    # ---- loops
    def _loop(self, name: str, arguments: list, place: Place) -> Any:
        at, kinds = len(place.loops), place.kinds
        if not at and not place.stop:
            simple = self.calls.simple_loop(name, arguments)
            if simple is not None:
                return simple
            kinds = self.calls.kinds_of_output(name)
        changing: list[int] = []
        while True:
            loop, scope, result = self._turn(name, arguments, changing, place, kinds)
            more = {i for given in loop.again for i in _new(given, loop.values)} - set(changing)
            if not more:
                break
            changing = sorted({*changing, *more})
        state = [self.reader.slot(arguments[i]) for i in changing]
        around = list(scope.taken)
        settings = {"count": len(state), "own": at, "body": self.calls.body(scope, result, around)}
        out = self.reader.step(Call(turns, [*state, *around], settings))
        value = self.reader.item(out, at + 2)
        if place.stop and not at:
            return self._parts(value, kinds)
        if not at:
            return value
        return (*[self.reader.item(out, i) for i in range(at + 1)], value)

    def _turn(
        self, name: str, arguments: list, changing: list[int], place: Place, kinds: Any
    ) -> tuple:
        """A turn of a loop, as if only some arguments were new in every one: the loop, the scope of the turn, what comes out."""
        scope = self.reader.enter(len(changing))
        values = list(arguments)
        for number, argument in enumerate(changing):
            values[argument] = self.reader.slot_at(number)
        loop = _Open(name, values, changing)
        inner = Place((*place.loops, loop), place.stop, kinds, place.cut | {name})
        going = self._walked(name, values)
        if isinstance(going, _Going):
            ended = self.run(going.function, going.arguments, inner)
        else:
            ended = self._ended(inner, _DONE, going)
        result = self.reader.result(ended)
        self.reader.leave(scope)
        return loop, scope, result

    def _ended(self, place: Place, how: int, value: Any) -> Any:
        """What comes out of a place at the end of a way through it: of what is not there, the old states, and zeros."""
        if not place.loops:
            return value
        if how != _DONE:
            value = self._zeros(place.kinds)
        elif place.stop:
            value = tuple(v for v, kind in zip(value, place.kinds) if kind is not None)
        states = []
        for at, loop in enumerate(place.loops):
            values = loop.again[-1] if at == how else loop.values
            states.append(tuple(self.reader.slot(values[i]) for i in loop.changing))
        return (Tensor(how, mstype.int32), *states, value)

    def _parts(self, value: Any, kinds: tuple) -> tuple:
        """The arguments of a graph out of a tuple; what only keeps effects in order is not in it."""
        number, parts = itertools.count(), []
        for kind in kinds:
            parts.append(Monad() if kind is None else self.reader.item(value, next(number)))
        return tuple(parts)

    def _zeros(self, kinds: Any) -> Any:
        if isinstance(kinds, tuple):
            return tuple(self._zeros(kind) for kind in kinds if kind is not None)
        shape = () if kinds is None else kinds.get("dims", [])
        if kinds is None or len(shape) > 8 or any(not 0 <= size < 2**31 for size in shape):
            raise ValueError("a loop that is left in several ways must give tensors of known sizes")
        settings = {"dtype": dtype_of(kinds), "shape": tuple(shape), "value": 0.0}
        return self.reader.step(Call(_core.op("Fill"), [], settings))


@dataclasses.dataclass(frozen=True)
class _Going:
    """A call at the end of a graph."""

    function: Any
    arguments: list


def _new(given: list, values: list) -> list[int]:
    """Which arguments of the next turn are not those of this one."""
    return [i for i, value in enumerate(given) if not _same(value, values[i])]


def _same(one: Any, other: Any) -> bool:
    """Whether two values are one: never so for two tensors of the file, which may be equal."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, Function) and isinstance(other, Function):
        return one.graph == other.graph and _same(one.arguments, other.arguments)
    if isinstance(one, Choice) and isinstance(other, Choice):
        return all(
            _same(getattr(one, part), getattr(other, part)) for part in ("condition", "yes", "no")
        )
    if isinstance(one, Monad) and isinstance(other, Monad):
        return True
    if isinstance(one, Tensor) or isinstance(other, Tensor) or type(one) is not type(other):
        return one is other
    return bool(one == other)


# ---- the end of a graph
def node_of(graph: dict, name: str) -> dict:
    """The node that gives a value, behind those that only keep the order of effects."""
    nodes = {n["output"][0]: n for n in graph.get("node", []) if len(n.get("output", [])) == 1}
    for _ in range(len(nodes) + 1):
        node = nodes.get(name, {})
        if not is_primitive(node, "Depend"):
            return node
        name = (node.get("input") or [""])[0]
    return {}


def is_primitive(node: dict, primitive: str) -> bool:
    """Whether a node seems to be of this primitive."""
    # MindSpore names a primitive by what it is and a number; what it is decides when the node is read.
    return str(node.get("op_type", "")).removeprefix("REF::").split(":")[0] == primitive


def end_of(graph: dict) -> dict:
    """The node that gives the output of a graph."""
    outputs = graph.get("output", [])
    return node_of(graph, outputs[0].get("name", "")) if len(outputs) == 1 else {}


def called_at(graph: dict, calls: Calls) -> str:
    """The name of what a graph calls at its end: a graph, or a value that is one; "" if it does not end with a call."""
    called = str(end_of(graph).get("op_type", "")).removeprefix("REF::")
    made = {name for node in graph.get("node", []) for name in node.get("output", [])}
    known = called in calls.graphs or called in made
    return called if known and called not in calls.reader.primitives else ""


__all__ = ["Choice", "Function", "Place", "Tails", "end_of", "is_primitive", "node_of"]

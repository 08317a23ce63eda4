"""Functions that call themselves, directly or through others. What Python values decide is unrolled. A call with arguments of the
same types as one under way, where a tensor has decided since, gets a graph: calls inside are calls of that graph. Its
result type is what the ways that do not recurse return; it is parsed again until all ways agree."""

from __future__ import annotations

import copy
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.decided.carried import (
    bound,
    difference,
    matches,
    passed,
    require_apart,
    widen,
)
from mindspore.compile.decided.choices import Choices
from mindspore.compile.decided.fork import NeverEnds
from mindspore.compile.decided.heap import Heap
from mindspore.compile.decided.inner import Assigned, until_settled
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.structure import children, leaves_of, replace_leaves, shares
from mindspore.compile.values.values import is_weak, placeholder, require_plain, told_apart

if TYPE_CHECKING:
    from mindspore.compile.walk.frame import Frame
    from mindspore.compile.walk.tracer import Tracer

_UNROLLED = 3  # calls that differ in a number alone, before the number becomes a tensor
_UNKNOWN = object()
_DEFAULT = {int: _core.int64, float: _core.float64}


class Call:
    """A call under way."""

    def __init__(self, frame: Frame, node: Any, arms: int, graph: Any = None):
        self.frame, self.node, self.arms, self.graph = frame, node, arms, graph
        self.arguments = dict(frame.env)


class Recursion(Choices):
    """A storey of Tracer. `calls`: those under way, outermost first."""

    calls: list[Call]
    unrolled: set[int]  # functions whose numbers cannot become tensors, by id of the node

    def enter_call(self, frame: Frame, node: Any, run: Callable[[Any], Any]) -> Any:
        """The value of a call; `run(frame)` parses the body."""
        under_way = [c for c in self.calls if c.node is node]
        if under_way:
            graph = self._graph_for(frame, node, under_way, run)
            if graph is not None:
                return graph.call(frame.env)
        self.calls.append(Call(frame, node, self.arms))
        try:
            return run(frame)
        finally:
            self.calls.pop()

    def _graph_for(self, frame: Frame, node: Any, under_way: list[Call], run: Callable) -> Any:
        mine = _identity(frame)
        under_way = [c for c in under_way if _identity(c.frame) == mine]
        for call in under_way:
            if call.graph is not None and call.graph.takes(frame.env):
                return call.graph
        inner = max((i for i, c in enumerate(self.calls) if c.graph is not None), default=-1)
        since = [c for c in self.calls[inner + 1 :] if c in under_way and c.arms < self.arms]
        print_ = _print(frame.env)
        if any(_print(c.arguments) == print_ for c in since):
            return self._build(frame, node, frame.env, run)
        if len(since) >= _UNROLLED and id(node) not in self.unrolled:
            return self._widened(frame, node, since, run)
        return None

    def _widened(self, frame: Frame, node: Any, since: list[Call], run: Callable) -> Any:
        """A graph where arguments that are another number in each call are tensors."""
        last = since[-1].arguments
        names = [n for n, v in frame.env.items() if type(v) in _DEFAULT and v != last.get(n)]
        rest = {n: v for n, v in frame.env.items() if n not in names}
        if not names or _print(rest) != _print({n: last.get(n) for n in rest}):
            return None
        if any(type(last.get(n)) not in _DEFAULT for n in names):
            return None
        env = {n: self.trace.constant(v) if n in names else v for n, v in frame.env.items()}
        try:
            return self._build(frame, node, env, run)
        except (Unsupported, TypeError, ValueError, IndexError):
            self.unrolled.add(id(node))
            return None

    def _build(self, frame: Frame, node: Any, env: dict, run: Callable) -> Any:
        graph = RecursiveGraph(self.whole, frame, node, env, run)
        graph.build()
        return graph


class RecursiveGraph:
    """A function as a graph that may call itself."""

    def __init__(self, tracer: Tracer, frame: Frame, node: Any, env: dict, run: Callable):
        self.tracer, self.trace = tracer, tracer.trace
        self.frame, self.node, self.env, self.run = frame, node, env, run
        self.name = frame.source.name
        self.result: Any = _UNKNOWN
        self.captures: list = []
        self.assigned = Assigned(tracer.trace)
        # Of objects that others hold: which its arguments, and its results, may be; see aliases.py.
        self.given: frozenset[int] = frozenset()
        self.returned: frozenset[int] = frozenset()
        self.graph: Any = None

    def takes(self, env: dict) -> bool:
        """Whether these arguments are of the types of this graph's."""
        return list(env) == list(self.env) and matches(_values(self.env), _values(env))

    def call(self, env: dict) -> Any:
        """A call; inside the graph itself its result type may not be known yet."""
        trace = self.trace
        if self.result is _UNKNOWN:
            raise NeverEnds(unsettled=True)
        values = passed(trace, _values(self.env), _values(env))
        values += self.assigned.values()
        trace.capture(values)
        outputs = iter(trace.call(trace.partial(self.graph), values))
        value = bound(self.result, outputs)
        given = self._objects(_values(env))
        self.given |= given
        self._note(value, self.returned | given)
        self.assigned.put(outputs)
        return value

    # ---- building ---------------------------------------------------------------------------------------------------
    def build(self) -> None:
        """Parses the function until its result type and all that it reads from outside are known."""
        heap = Heap(self.tracer, [f for f, _ in self.tracer.places])
        refusal = f"the type of what '{self.name}' returns changes with every call of itself"
        until_settled(self.tracer, heap, lambda: self._attempt(heap) or None, refusal)

    def _attempt(self, heap: Heap) -> bool:
        trace = self.trace
        self.graph = trace.begin(self.name)
        trace.capture(self.captures)
        inputs = iter([trace.parameter_like(t) for t in leaves_of(_values(self.env))])
        frame = copy.copy(self.frame)
        given = self.given = self.given | self._objects(_values(self.env))
        frame.env = dict(zip(self.env, bound(_values(self.env), inputs)))
        self._note(_values(frame.env), given)
        frame.stack = []
        self.assigned.put([trace.parameter_like(value) for value in self.assigned.values()])
        if self.result is not _UNKNOWN:
            trace.declare_outputs(self.graph, leaves_of(self.result) + self.assigned.values())
        start = trace.environment()
        arguments = Heap(self.tracer, list(frame.env.values()))
        self.tracer.calls.append(Call(frame, self.node, self.tracer.arms, self))
        try:
            value = self.run(frame)
        except NeverEnds as end:
            if end.unsettled and self._is_outermost():
                raise Unsupported(
                    f"the recursion of '{self.name}' does not end: every way through it calls it again"
                ) from None
            raise
        if heap.changes() or arguments.changes():
            raise Unsupported(
                f"'{self.name}' calls itself as a tensor decides, and changes a variable or list of its caller"
            )
        returned = self.returned | self._objects(value)
        settled = (given, self.returned) == (self.given, returned)
        self.returned = returned
        return self._settle(value, trace.changed_since(start), settled)

    def _is_outermost(self) -> bool:
        """Whether no other recursion is waiting for its result."""
        return not any(
            c.graph is not None and c.graph is not self and c.graph.result is _UNKNOWN
            for c in self.tracer.calls
        )

    def _objects(self, value: Any) -> frozenset[int]:
        """The objects of outside that tensors of a value may be."""
        trace, aliases = self.trace, self.tracer.aliases
        found: frozenset[int] = frozenset()
        for leaf in leaves_of(value):
            if not is_weak(leaf) and not trace.made_in(self.graph, leaf):
                aliases.objects[id(leaf)] = leaf
                found |= {id(leaf)}
            found |= {
                k
                for k in aliases.origins.get(id(leaf), ())
                if not trace.made_in(self.graph, aliases.objects.get(k))
            }
        return found

    def _note(self, value: Any, origins: frozenset[int]) -> None:
        for leaf in leaves_of(value) if origins else ():
            self.tracer.aliases.note_ids(leaf, origins)

    def _settle(self, value: Any, changed: list, settled: bool) -> bool:
        """Ends the graph if nothing new came up."""
        trace = self.trace
        require_plain(value, f"what '{self.name}' returns")
        require_apart(value)
        new = self.assigned.others(changed)
        self.assigned.parameters += new
        if self.result is _UNKNOWN:
            self.result = value
            self._note_captures()
            return False
        if not matches(self.result, value):
            example = replace_leaves(self.result, lambda t: placeholder(trace, t))
            self.result = widen(trace, example, value, self._refuse)
            self._note_captures()
            return False
        outputs = passed(trace, self.result, value) + self.assigned.values()
        trace.capture(outputs)
        if self._note_captures() or new or not settled:
            return False
        trace.end(outputs)
        return True

    def _note_captures(self) -> bool:
        captures = self.trace.captures(self.graph)
        more = len(captures) > len(self.captures)
        self.captures = captures
        return more

    def _refuse(self, first: Any, second: Any) -> None:
        raise Unsupported(
            f"'{self.name}' calls itself as a tensor decides, so all ways through it must return one type, but it is "
            f"{difference(first, second)} a call of itself"
        )


def _values(env: dict) -> tuple:
    return tuple(env.values())


def _identity(frame: Frame) -> tuple:
    """What distinguishes functions of one text: the frame or cells that their free variables are in."""
    return (id(frame.parent), *(id(cell) for cell in frame.cells.values()))


def _print(value: Any) -> Any:
    """What two calls must agree in, to be the same call but for the values of tensors."""
    if isinstance(value, Tensor):
        return _core.type_text(value) if value.is_symbolic else ("tensor", _core.type_text(value))
    if isinstance(value, types.MethodType):
        return ("method", id(value.__self__), id(value.__func__))
    parts = children(value)
    if parts is not None:
        if shares(value):
            return ("object", id(value))
        keys = map(told_apart, value) if isinstance(value, dict) else ()
        return (type(value).__name__, *keys, *map(_print, parts))
    if isinstance(value, _EQUAL):
        return (type(value).__name__, told_apart(value))
    return ("object", id(value))


_EQUAL = (bool, int, float, str, bytes, type(None))

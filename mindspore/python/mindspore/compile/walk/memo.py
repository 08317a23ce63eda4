"""Equal cells compile once: a network of 48 equal layers is parsed as one layer and 48 calls of its graph, with Parameters passed as
arguments. Two cells are equal when all that `construct` could read is: attributes by value, sub-cells recursively, Parameters
by dtype and shape (`ccsrc/python/cell_print.cc`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._tree import flatten, rebuild
from mindspore.compile.decided.heap import Heap
from mindspore.compile.decided.inner import Inner
from mindspore.compile.values import guards as facts
from mindspore.compile.values.cells import TensorCells, refuse_changes
from mindspore.compile.values.compilable import BOOKKEEPING
from mindspore.compile.values.structure import (
    is_container,
    leaves_of,
    reachable,
    replace_leaves,
    shares,
    structure_of,
)
from mindspore.compile.values.values import Choice

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer

_DERIVED = frozenset({"_call", "_declared"})  # of Primitives: follow from what else they hold


def _is_parameter(tensor: Any) -> bool:
    return isinstance(tensor, _late.parameter_class)


def _inputs(args: list) -> list:
    """The tensors among the arguments. Parameters are what they are, for all of the equal cells."""
    return [t for t in flatten(args) if not _is_parameter(t)]


class ChangesArguments(Exception):
    """A cell changes its arguments or what else is outside of it, or may give one back: its graph alone would not show that to
    the caller."""


def _is_seen_around(around: Heap, tracer: Tracer, value: Any) -> bool:
    """Whether a call changed a container that it did not make, or gives one back."""
    if any(not isinstance(around.before[key][0], TensorCells) for key in around.changes()):
        return True
    return any(is_container(v) and id(v) in around.before for v in reachable(tracer, [value]))


def _holds_objects(tracer: Tracer, value: Any) -> bool:
    """Whether a value holds more than tensors, tuples, lists and dicts."""
    return any(not structure_of(v).is_data for v in reachable(tracer, [value]))


class Template:
    """The graph of a cell, to be called for every cell equal to it."""

    def __init__(self, tracer: Tracer, cell: Any, args: list, parameters: list, states: list):
        first_fact = len(tracer.guards.facts)
        current = [tracer.trace.lift(p) for p in parameters]
        with Inner(tracer.trace):
            self._trace(tracer, cell, args, list(zip(parameters, current)))
        self._keep_facts(tracer.guards.facts[first_fact:], states)

    def _trace(self, tracer: Tracer, cell: Any, args: list, parameters: list[tuple]) -> None:
        """`parameters` with their values."""
        trace, name = tracer.trace, type(cell).__name__
        self.graph = trace.begin(name)
        cells = tracer.cells.mark()
        inner = [trace.add_parameter(t.dtype, list(t.shape)) for t in _inputs(args)]
        for parameter, value in parameters:
            trace.set_parameter(parameter, trace.add_parameter(value.dtype, list(value.shape)))
        start = trace.environment()
        items = iter(inner)
        own = rebuild(args, lambda t: t if _is_parameter(t) else next(items))
        around = Heap(tracer, [*(frame for frame, _ in tracer.places), own])
        self.value = tracer.call_construct(cell, own, {})
        if any(id(t) in tracer.cells for t in inner):
            raise ChangesArguments
        if _is_seen_around(around, tracer, self.value):
            around.restore()
            raise ChangesArguments
        if shares(self.value) or _holds_objects(tracer, self.value):  # each cell makes its own
            raise ChangesArguments
        refuse_changes(tracer, self.graph, cells, f"'{name}'")
        self.leaves = leaves_of(self.value)
        own_parameters = [p for p, _ in parameters]
        # What the cell gives back as it came, an argument or a Parameter, is that object.
        place = {id(t): i for i, t in enumerate([*inner, *own_parameters])}
        self.same = [place.get(id(leaf)) for leaf in self.leaves]
        for leaf in self.leaves:
            others = tracer.aliases.of(leaf) - {id(leaf)}
            if others & place.keys() or id(_core.shows(leaf)) in place:
                raise ChangesArguments
        changed = trace.changed_since(start)
        # A Parameter from outside of the cell is the same for all of its equals.
        position = {id(p): i for i, p in enumerate(own_parameters)}
        self.updated = [(position.get(id(p), p), v) for p, v in changed]
        trace.end(self.leaves + [v for _, v in changed])

    def call(self, tracer: Tracer, args: list, parameters: list, states: list) -> Any:
        """The value of the cell with these Parameters and states, equal to the one this was made from."""
        trace = tracer.trace
        tracer.guards.repeat(self.members, states)
        for place in self.parents:
            tracer.guards.children(states[place])
        tensors = _inputs(args)
        outputs = trace.call(
            trace.partial(self.graph), tensors + [trace.lift(p) for p in parameters]
        )
        for (where, _), value in zip(self.updated, outputs[len(self.leaves) :]):
            trace.set_parameter(parameters[where] if isinstance(where, int) else where, value)
        known = [*tensors, *parameters]
        items = iter(
            [
                known[at] if at is not None else leaf if _is_parameter(leaf) else output
                for leaf, output, at in zip(self.leaves, outputs, self.same)
            ]
        )
        return replace_leaves(self.value, lambda _: next(items))

    def _keep_facts(self, found: list[tuple], states: list) -> None:
        """What was read of the first cell is a fact of its equals too: attributes, by the place of their state, and whose
        children."""
        place = {id(state): i for i, state in enumerate(states)}
        self.members: list[tuple[int, str]] = []
        self.parents: list[int] = []
        for kind, owner, key, _ in found:
            if kind == facts.MEMBERS | facts.OWNED:  # of a template inside
                self.members += [(place[id(owner[i])], k) for i, k in key if id(owner[i]) in place]
            elif id(owner) in place and kind == facts.ITEM | facts.OWNED:
                self.members.append((place[id(owner)], key))
            elif id(owner) in place and kind == facts.DICT | facts.OWNED:
                self.parents.append(place[id(owner)])


class Memo:
    """The templates of one compilation. The first of equal cells is parsed in place, the second makes the template."""

    def __init__(self) -> None:
        self.seen: set[tuple] = set()
        self.in_place: set[tuple] = set()  # parsed for each of the equal cells
        self.templates: dict[tuple, Template] = {}

    def call(self, tracer: Tracer, cell: Any, args: list, kwargs: dict) -> Any:
        """Calls a cell inside a network."""
        if (
            kwargs
            or not cell._cells
            or any(isinstance(a, Choice) for a in args)
            or any(_is_parameter(t) or id(t) in tracer.aliases.origins for t in flatten(args))
        ):
            return tracer.call_construct(cell, args, kwargs)
        made_of, parameters, states = _fingerprint(cell)
        key = (made_of, *(_argument(a) for a in args), bool(tracer.in_gradient))
        template = self.templates.get(key)
        if template is not None and not tracer.trace.sees(template.graph):
            template = None  # it stands in a branch that ended
        if template is None:
            if key not in self.seen:
                self.seen.add(key)
                return tracer.call_construct(cell, args, kwargs)
            if key in self.in_place:
                return tracer.call_construct(cell, args, kwargs)
            try:
                template = Template(tracer, cell, args, parameters, states)
            except ChangesArguments:
                self.in_place.add(key)
                return tracer.call_construct(cell, args, kwargs)
            self.templates[key] = template
        return template.call(tracer, args, parameters, states)


def _fingerprint(value: Any) -> tuple[tuple, list, list]:
    return _core.cell_print(value, _late.cell_class, BOOKKEEPING, _DERIVED)


def _argument(value: Any) -> Any:
    if isinstance(value, Tensor):
        return (
            value.dtype,
            tuple(value.shape),
            isinstance(value, _late.parameter_class) and id(value),
        )
    return _fingerprint(value)[0]

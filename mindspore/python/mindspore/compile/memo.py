"""Equal cells compile once: a network of 48 equal layers is parsed as one layer and 48 calls of its graph, with Parameters passed as
arguments. Two cells are equal when all that `construct` could read is: attributes by value, sub-cells recursively, Parameters
by dtype and shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._core import SymbolicInt, Tensor
from mindspore.common._tree import flatten, rebuild
from mindspore.compile import guards as facts
from mindspore.compile.cells import refuse_changes
from mindspore.compile.values import Choice, leaves_of, replace_leaves

# Names and bookkeeping, which no construct depends on.
_IGNORED = frozenset(
    {
        "_params",
        "_cells",
        "_param_prefix",
        "_compiled_versions",
        "_compiled_gradients",
        "_compiled_methods",
        "_strict",
        "cell_init_args",
        "_cell_init_args",
        "_instance_name",
        "instance_name",
    }
)
_VALUES = (bool, int, float, str, bytes, type(None), complex, SymbolicInt)


def _value_print(value: Any, parameter_class: type, cell_class: type) -> Any:
    if isinstance(value, parameter_class):
        return ("parameter", value.dtype, tuple(value.shape), value.requires_grad)
    if isinstance(value, cell_class):
        return cell_print(value, parameter_class, cell_class)
    if isinstance(value, _VALUES):
        return (type(value), value)
    if isinstance(value, (tuple, list)):
        return (type(value), *(_value_print(v, parameter_class, cell_class) for v in value))
    if isinstance(value, dict):
        return (
            dict,
            *((k, _value_print(v, parameter_class, cell_class)) for k, v in value.items()),
        )
    attributes = getattr(value, "attrs", None)
    if type(attributes) is dict and not isinstance(value, (Tensor, np.ndarray)):  # a Primitive
        return (type(value), _value_print(attributes, parameter_class, cell_class))
    return ("object", id(value))


def cell_print(cell: Any, parameter_class: type, cell_class: type) -> tuple:
    """A hashable value that equal cells share."""
    return (
        type(cell),
        *(
            (name, _value_print(value, parameter_class, cell_class))
            for name, value in cell.__dict__.items()
            if name not in _IGNORED
        ),
    )


class ChangesArguments(Exception):
    """A cell assigns to items of its arguments: its graph alone would not show that to the caller."""


class Template:
    """The graph of a cell, to be called for every cell equal to it."""

    def __init__(self, tracer: Any, cell: Any, args: list):
        trace = tracer.trace
        tensors = flatten(args)
        self.parameters = list(cell.get_parameters())
        self.states = [s for _, c in cell.cells_and_names() for s in (c.__dict__, c._cells)]
        first_fact = len(tracer.guards.facts)
        current = [trace.lift(p) for p in self.parameters]
        environment = trace.environment()
        self.graph = trace.begin(type(cell).__name__)
        cells = dict(tracer.cells)
        try:
            inner = [trace.add_parameter(t.dtype, list(t.shape)) for t in tensors]
            for parameter, value in zip(self.parameters, current):
                trace.set_parameter(parameter, trace.add_parameter(value.dtype, list(value.shape)))
            start = trace.environment()
            items = iter(inner)
            self.value = tracer.call_construct(cell, rebuild(args, lambda _: next(items)), {})
            if any(id(t) in tracer.cells for t in inner):
                raise ChangesArguments
            refuse_changes(tracer, self.graph, cells, f"'{type(cell).__name__}'")
            self.leaves = leaves_of(self.value)
            position = {id(p): i for i, p in enumerate(self.parameters)}
            changed = trace.changed_since(start)
            # A Parameter from outside of the cell is the same for all of its equals.
            self.updated = [(position.get(id(p), p), v) for p, v in changed]
            trace.end(self.leaves + [v for _, v in changed])
        except BaseException:
            trace.suspend()
            raise
        finally:
            trace.restore(environment)
        self.facts = tracer.guards.facts[first_fact:]

    def call(self, tracer: Any, cell: Any, args: list) -> Any:
        """The value of `cell`, equal to the one this was made from."""
        trace = tracer.trace
        parameters = list(cell.get_parameters())
        self._repeat_facts(tracer, cell)
        outputs = trace.call(
            trace.partial(self.graph), flatten(args) + [trace.lift(p) for p in parameters]
        )
        for (where, _), value in zip(self.updated, outputs[len(self.leaves) :]):
            trace.set_parameter(parameters[where] if isinstance(where, int) else where, value)
        items = iter(outputs)
        return replace_leaves(self.value, lambda _: next(items))

    def _repeat_facts(self, tracer: Any, cell: Any) -> None:
        """What was read of the first cell is a fact of this one too."""
        mine = [s for _, c in cell.cells_and_names() for s in (c.__dict__, c._cells)]
        same = dict(zip(map(id, self.states), mine))
        for kind, owner, key, _ in self.facts:
            if id(owner) not in same:
                continue
            own = same[id(owner)]
            if kind == facts.ITEM | facts.OWNED:
                tracer.guards.member(own, key, own.get(key, facts.MISSING))
            elif kind == facts.DICT | facts.OWNED:
                tracer.guards.children(own)


class Memo:
    """The templates of one compilation. The first of equal cells is parsed in place, the second makes the template."""

    def __init__(self, parameter_class: type, cell_class: type):
        self.classes = (parameter_class, cell_class)
        self.seen: set[tuple] = set()
        self.in_place: set[tuple] = set()  # parsed for each of the equal cells
        self.templates: dict[tuple, Template] = {}

    def call(self, tracer: Any, cell: Any, args: list, kwargs: dict) -> Any:
        """Calls a cell inside a network."""
        if (
            kwargs
            or not cell._cells
            or any(isinstance(a, Choice) for a in args)
            or len(list(cell.get_parameters())) != len({id(p) for p in cell.get_parameters()})
        ):
            return tracer.call_construct(cell, args, kwargs)
        key = (
            cell_print(cell, *self.classes),
            *(self._argument(a) for a in args),
            bool(tracer.in_gradient),
        )
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
                template = self.templates[key] = Template(tracer, cell, args)
            except ChangesArguments:
                self.in_place.add(key)
                return tracer.call_construct(cell, args, kwargs)
        return template.call(tracer, cell, args)

    def _argument(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return (
                value.dtype,
                tuple(value.shape),
                isinstance(value, self.classes[0]) and id(value),
            )
        return _value_print(value, *self.classes)

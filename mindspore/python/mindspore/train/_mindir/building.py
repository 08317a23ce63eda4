"""The nodes of a graph in a file: primitives applied to values, constants, tuples, calls of other graphs."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from mindspore.common.tensor import Tensor
from mindspore.train._mindir.messages import (
    CHOICE,
    GRAPH,
    TENSORS,
    TUPLE,
    attribute,
    type_message,
)

# Primitives of the older kind have their settings as attributes, the others as arguments.
_OLD, _NEW = 1, 2


class NotThere(Exception):
    """Why an op cannot go into a file."""


class Value(NamedTuple):
    """A value in the file: its name, and the type of its elements and its sizes."""

    name: str
    dtype: Any
    shape: tuple[int, ...]
    tensor: Tensor | None = None  # of a constant


class Closure(NamedTuple):
    """A function in the file: the name of what can be called, here the graph `graphs`, which may be one of several, and its
    first arguments, which a call gives with the others."""

    name: str
    graphs: tuple[str, ...]
    captures: tuple[Value, ...] = ()


class Primitives:
    """Those of a file, and numbers for the names in it."""

    def __init__(self) -> None:
        self.messages: list[dict] = []
        self.numbers = itertools.count()
        self._names: dict[str, str] = {}  # by what they are

    def name(self, primitive: str, old: dict | None) -> str:
        """The name of a primitive with these settings."""
        key = repr((primitive, old))
        if key not in self._names:
            name = self._names[key] = f"{primitive}:{len(self.messages)}"
            attributes = [attribute(key, value) for key, value in (old or {}).items()]
            kind = _NEW if old is None else _OLD
            self.messages.append(
                {"name": name, "op_type": primitive, "attribute": attributes, "prim_type": kind}
            )
        return self._names[key]


class Builder:
    """Collects the nodes of one graph."""

    def __init__(self, graph: str, primitives: Primitives) -> None:
        self.graph, self.primitives = graph, primitives
        self.nodes: list[dict] = []
        self._constants: dict[str, str] = {}

    def constant(self, value: Any) -> str:
        """The name of a Python value, which several nodes may read."""
        key = repr((type(value), value))
        if key not in self._constants:
            self._constants[key] = self._constant(value)
        return self._constants[key]

    def tensor(self, tensor: Tensor) -> Value:
        """A constant tensor."""
        return Value(self._constant(tensor), tensor.dtype, tuple(tensor.shape), tensor)

    def scalar(self, number: float, dtype: Any) -> Value:
        """A constant tensor of no dimensions."""
        return self.tensor(Tensor(number, dtype))

    def _constant(self, value: Any) -> str:
        name = f"Value_{next(self.primitives.numbers)}"
        attributes = [attribute("value", value)]
        self.nodes.append({"output": [name], "name": name, "op_type": "Constant", "attribute": attributes})  # fmt: skip
        return name

    def apply(
        self,
        primitive: str,
        inputs: list[Any],
        types: list[tuple],
        old: dict | None = None,
        several: bool = False,
        read: int | None = None,
    ) -> list[Value]:
        """The results of a primitive: of Values and, as constants, Python values. `old`: its attributes, if it is of that
        kind. `several`: the result is a tuple, whatever is in it, of which the first `read` are taken out."""
        names = [v.name if isinstance(v, Value) else self.constant(v) for v in inputs]
        shown = [_shape_of(dtype, shape) for dtype, shape in types]
        several = several or len(types) > 1
        name = self._apply(primitive, names, shown, old, several)
        if not several:
            return [Value(name, types[0][0], tuple(types[0][1]))]
        return [self._item(name, i, *one) for i, one in enumerate(types[:read])]

    def switch(self, condition: Value, sides: list[Closure]) -> Closure:
        """One of two functions that take no arguments but their captures."""
        graphs = tuple(graph for side in sides for graph in side.graphs)
        names = [condition.name, *map(self._function, sides)]
        return Closure(self._apply("Switch", names, [_one_of(graphs)], {}), graphs)

    def _function(self, function: Closure) -> str:
        """The name of a function as a value."""
        if len(function.graphs) > 1:
            return function.name
        names = [function.name, *[v.name for v in function.captures]]
        return self._apply("Partial", names, [_one_of(function.graphs)], {})

    def call(
        self, function: Closure, arguments: list[Value], types: list[tuple], taken: bool
    ) -> list[Value]:
        """The results of a function; `taken`: apart, if they are several."""
        shown = [_shape_of(*one) for one in types]
        kind = _tuple_of(shown) if len(types) > 1 else shown[0]
        names = [v.name for v in (*function.captures, *arguments)]
        name = self._node("Call", function.name, names, kind)
        if len(types) > 1 and taken:
            return [self._item(name, i, *one) for i, one in enumerate(types)]
        return [Value(name, dtype, tuple(shape)) for dtype, shape in types]

    def one(self, primitive: str, inputs: list[Any], like: Value, shape: Any = None) -> Value:
        """As apply, for one result of the dtype of `like`, and its shape unless another is given."""
        kind = (like.dtype, like.shape if shape is None else shape)
        return self.apply(primitive, inputs, [kind])[0]

    def tuple(self, values: list[Any]) -> Any:
        """A tuple; a name of something in it may stand for a tuple."""
        shown = [_shape_of(v.dtype, v.shape) if isinstance(v, Value) else v[1] for v in values]
        names = [v[0] for v in values]
        return self._apply("MakeTuple", names, shown, {}, whole=True), _tuple_of(shown)

    def _item(self, name: str, index: int, dtype: Any, shape: Any) -> Value:
        shown = [_shape_of(dtype, shape)]
        return Value(
            self._apply("TupleGetItem", [name, self.constant(index)], shown, {}),
            dtype,
            tuple(shape),
        )

    def _apply(
        self,
        primitive: str,
        names: list[str],
        shown: list[dict],
        old: dict | None,
        whole: bool = False,
    ) -> str:
        kind = _tuple_of(shown) if whole else shown[0]
        return self._node(primitive, self.primitives.name(primitive, old), names, kind)

    def _node(self, what: str, called: str, names: list[str], kind: dict) -> str:
        number = next(self.primitives.numbers)
        name = f"{self.graph}:{what}_{number}"
        node = {
            "input": names,
            "output": [name],
            "name": name,
            "op_type": f"REF::{called}",
            "attribute": [{**kind, "name": "shape"}],
            "domain": f"Default/{what}-op{number}",
        }
        self.nodes.append(node)
        return name


def _shape_of(dtype: Any, shape: Any) -> dict:
    return {"tensors": [type_message(dtype, shape)], "type": TENSORS}


def _one_of(graphs: tuple[str, ...]) -> dict:
    shown = [{"s": graph.encode(), "type": GRAPH} for graph in graphs]
    return {"values": shown, "type": CHOICE} if len(shown) > 1 else shown[0]


def _tuple_of(shown: list[dict]) -> dict:
    return {"values": shown, "type": TUPLE, "seq_info": {"is_dyn_len": 0}}

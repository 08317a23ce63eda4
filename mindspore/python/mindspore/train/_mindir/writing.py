"""From a network to a file: the graphs that the front end makes of it, node by node."""

from __future__ import annotations

from typing import Any

from mindspore import _core, version
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.compile.versions.captured import Captured, Graph, argument_names, capture
from mindspore.train._mindir import rules
from mindspore.train._mindir.building import Builder, Closure, NotThere, Primitives, Value
from mindspore.train._mindir.compositions import WRITERS
from mindspore.train._mindir.messages import tensor_message, type_message
from mindspore.train._mindir.rules import Argument, Rule

# What 2.10 writes there.
_IR_VERSION, _PRODUCER, _MODEL_VERSION, _MINDIR_VERSION = "1.1", "MindSpore", "2.10.0", 3

_SEVERAL = ("Split", "Unstack")  # a tuple, even of one


def write(net: Any, inputs: tuple, path: str) -> None:
    """Write the graph of `net(*inputs)`."""
    graph = capture(net, inputs, {*rules.by_op(), *WRITERS})
    if graph.problem:
        hint = " Call net.set_train(False) first." if net.training else ""
        raise ValueError(f"For 'export', '{type(net).__name__}' {graph.problem}.{hint}")
    _core.mindir.write(path, _Writer(net, graph).model())


class _Writer:
    def __init__(self, net: Any, graph: Captured):
        self.net, self.graph = net, graph
        self.primitives = Primitives()
        self.graphs = _names_of(graph.called)
        self.calling = _calling(graph.called)
        self.parameters: list[dict] = []
        self.inputs: list[dict] = []

    def model(self) -> dict:
        """The whole file."""
        main = self._main()
        functions = [self._function(graph) for graph in self.graph.called]
        return {
            "ir_version": _IR_VERSION,
            "producer_name": _PRODUCER,
            "producer_version": version.__version__,
            "model_version": _MODEL_VERSION,
            "graph": main,
            "functions": functions,
            "little_endian": 1,
            "primitives": self.primitives.messages,
            "mind_ir_version": _MINDIR_VERSION,
        }

    def _main(self) -> dict:
        nodes = _Nodes(self.graph.main, self.graph.result, Builder("main", self.primitives), self)
        count = sum(given for _, given in self.graph.inputs)
        names = iter(argument_names(self.net, count))
        for tensor, given in self.graph.inputs:
            nodes.values.append(self._input(tensor, next(names) if given else "", nodes.builder))
        nodes.write()
        order = {p.name: at for at, p in enumerate(self.net.get_parameters())}
        self.parameters.sort(key=lambda p: order.get(p["ref_key"], len(order)))
        output = nodes.output({i["name"] for i in self.inputs})
        return {
            "node": nodes.builder.nodes,
            "name": "main",
            "parameter": self.parameters,
            "input": self.inputs,
            "output": [output],
        }

    def _input(self, tensor: Tensor, given: str, builder: Builder) -> Value:
        """An argument of this name, a Parameter, or a tensor that does not change."""
        shape = tuple(tensor.shape)
        if given:
            name = f"main:{given}"
            self.inputs.append({"name": name, "tensor": [type_message(tensor.dtype, shape)]})
        elif isinstance(tensor, Parameter):
            name = f"main:{tensor.name}"
            weight = {"ref_key": tensor.name, "compression_type": 0}
            self.parameters.append({**tensor_message(tensor, name), **weight})
        else:
            return builder.tensor(tensor)
        return Value(name, tensor.dtype, shape)

    def _function(self, graph: Graph) -> dict:
        """A graph that is called."""
        name = self.graphs[graph.name]
        places = tuple(range(len(graph.outputs)))
        result = 0 if len(places) == 1 else places
        nodes = _Nodes(graph, result, Builder(name, self.primitives), self)
        inputs = []
        for at, kind in enumerate(graph.inputs):
            if kind is None:
                nodes.values.append(None)
                continue
            value = Value(f"{name}:x{at}", kind[0], tuple(kind[1]))
            nodes.values.append(value)
            inputs.append({"name": value.name, "tensor": [type_message(value.dtype, value.shape)]})
        nodes.write()
        output = nodes.output(set())
        return {"node": nodes.builder.nodes, "name": name, "input": inputs, "output": [output]}


class _Nodes:
    """Writes the nodes of one graph."""

    def __init__(self, graph: Graph, result: Any, builder: Builder, file: _Writer) -> None:
        self.graph, self.builder, self.file = graph, builder, file
        self.result = result  # places among the outputs, in tuples as they go out
        # By number; None: a result that no file can have.
        self.values: list[Value | Closure | None] = []
        self.end: dict | None = None  # a call that gives the whole result

    def write(self) -> None:
        """All nodes; the values of the inputs are there."""
        for node in self.graph.nodes:
            if isinstance(node, Tensor):
                self.values.append(self.builder.tensor(node))
            else:
                self.values.extend(self._node(*node))

    # ---- the end
    def output(self, given: set[str]) -> dict:
        """The output of the graph. `given`: names that may not be it."""
        if self.end is not None:
            name, kind = self.end["name"], self.end["attribute"][0]
            return {"name": name, "attr_info": {**kind, "name": name}}
        if not isinstance(self.result, int):
            name, kind = self._tuple(self.result)
            return {"name": name, "attr_info": {**kind, "name": name}}
        value = self._value(self.graph.outputs[self.result], "", "")
        if value.tensor is not None or value.name in given:
            value = self.builder.one("Identity", [value], value)
        return {"name": value.name, "tensor": [type_message(value.dtype, value.shape)]}

    def _tuple(self, places: tuple) -> tuple[str, dict]:
        parts: list[Any] = []
        for place in places:
            at = isinstance(place, int)
            parts.append(
                self._value(self.graph.outputs[place], "", "") if at else self._tuple(place)
            )
        return self.builder.tuple(parts)

    # ---- nodes
    def _value(self, number: int, op: str, place: str) -> Value:
        value = self.values[number]
        if isinstance(value, Closure):
            raise _refusal(op, "reads a function, which no tensor of a file is", place)
        if value is None:
            raise _refusal(op, "a result of another op that no file has", place)
        return value

    def _node(
        self, op: str, inputs: list[int], attributes: dict, types: list, place: str
    ) -> list[Any]:
        try:
            if op == "Partial":
                captures = [self._value(number, op, place) for number in inputs]
                graph = self.file.graphs[attributes["graph"]]
                return [Closure(graph, (graph,), tuple(captures))]
            if op == "Switch":
                condition = self._value(inputs[0], op, place)
                return [self.builder.switch(condition, [self._function(i) for i in inputs[1:]])]
            if op == "Call":
                return self._call(inputs, types, place)
            values = [self._value(number, op, place) for number in inputs]
            if op in WRITERS:
                return WRITERS[op](self.builder, values, attributes, types)
            rule = rules.by_op().get(op)
            if rule is None:
                raise NotThere("has no counterpart in MINDIR files")
            return list(self._by_rule(rule, values, attributes, types))
        except NotThere as reason:
            raise _refusal(op, str(reason), place) from None

    def _by_rule(
        self, rule: Rule, values: list[Value], attributes: dict, types: list
    ) -> list[Value]:
        operands = iter(values)

        def part(argument: Argument) -> Any:
            if argument.many:
                return Value(self.builder.tuple(list(operands))[0], None, ())
            if argument.name in attributes:
                return argument.shown(attributes[argument.name])
            return next(operands)

        arguments = [part(a) for a in rule.arguments]
        settings = {a.key: part(a) for a in rule.attributes}
        old = settings if rule.old or settings else None
        return self.builder.apply(rule.primitive, arguments, types, old, rule.op in _SEVERAL)

    # ---- functions
    def _call(self, inputs: list[int], types: list, place: str) -> list[Any]:
        function, *given = inputs
        arguments = [self._value(number, "Call", place) for number in given]
        if None in types:
            raise NotThere("gives a function, which no file has")
        called = self._function(function)
        # What gives its results as they come is a call at the end: so loops are known as such.
        first = len(self.values)
        end = self.graph.outputs == list(range(first, first + len(types)))
        around = self.file.graphs.get(self.graph.name, "")
        if not end and any(around in self.file.calling.get(one, ()) for one in called.graphs):
            raise NotThere(
                "is a function that calls itself otherwise than at its end, which MINDIR files do not have: write a loop"
            )
        whole = end and len(types) > 1 and self.result == tuple(range(len(types)))
        results = self.builder.call(called, arguments, types, taken=not whole)
        if whole:
            self.end = self.builder.nodes[-1]
        return results

    def _function(self, number: int) -> Closure:
        value = self.values[number]
        if not isinstance(value, Closure):
            raise NotThere("calls a function that is an argument or a result of another one")
        return value


def _calling(graphs: list[Graph]) -> dict[str, set[str]]:
    """Of each graph the graphs that its run may come to, by their names in the file."""
    names = _names_of(graphs)
    direct = {
        graph.name: {n[2]["graph"] for n in graph.nodes if not isinstance(n, Tensor) and n[0] == "Partial"}
        for graph in graphs
    }  # fmt: skip
    found = {}
    for name in direct:
        todo, seen = list(direct[name]), set(direct[name])
        for one in todo:
            todo += direct[one] - seen
            seen |= direct[one]
        found[names[name]] = {names[one] for one in seen}
    return found


def _names_of(graphs: list[Graph]) -> dict[str, str]:
    """A name in the file for each graph that is called."""
    return {graph.name: f"{at}_{graph.name}" for at, graph in enumerate(graphs, 1)}


def _refusal(op: str, reason: str, place: str) -> ValueError:
    where = f"\n  {place}" if place else ""
    return ValueError(f"For 'export', the op '{op}' {reason}.{where}")

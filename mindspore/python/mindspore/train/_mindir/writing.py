"""From a network to a file: the graph that the front end makes of it, node by node."""

from __future__ import annotations

from typing import Any

from mindspore import _core, version
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.compile.versions.captured import Captured, argument_names, capture
from mindspore.train._mindir import rules
from mindspore.train._mindir.building import Builder, NotThere, Value
from mindspore.train._mindir.compositions import WRITERS
from mindspore.train._mindir.messages import tensor_message, type_message
from mindspore.train._mindir.rules import Argument, Rule

# What 2.10 writes there.
_IR_VERSION, _PRODUCER, _MODEL_VERSION, _MINDIR_VERSION = "1.1", "MindSpore", "2.10.0", 3

_SEVERAL = ("Split", "Unstack")  # a tuple, even of one
_CONTROL = ("Partial", "Switch", "Call")


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
        self.builder = Builder()
        self.values: list[Value | None] = []  # by number; None: a result that no file can have
        self.parameters: list[dict] = []
        self.inputs: list[dict] = []

    def model(self) -> dict:
        """The whole file."""
        self._name_inputs()
        for node in self.graph.nodes:
            if isinstance(node, Tensor):
                self.values.append(self.builder.tensor(node))
            else:
                self.values.extend(self._node(*node))
        order = {p.name: at for at, p in enumerate(self.net.get_parameters())}
        self.parameters.sort(key=lambda p: order.get(p["ref_key"], len(order)))
        graph = {
            "node": self.builder.nodes,
            "name": "main",
            "parameter": self.parameters,
            "input": self.inputs,
            "output": [self._output()],
        }
        return {
            "ir_version": _IR_VERSION,
            "producer_name": _PRODUCER,
            "producer_version": version.__version__,
            "model_version": _MODEL_VERSION,
            "graph": graph,
            "little_endian": 1,
            "primitives": self.builder.primitives,
            "mind_ir_version": _MINDIR_VERSION,
        }

    def _name_inputs(self) -> None:
        count = sum(given for _, given in self.graph.inputs)
        names = iter(argument_names(self.net, count))
        for tensor, given in self.graph.inputs:
            self.values.append(self._input(tensor, next(names) if given else ""))

    def _input(self, tensor: Tensor, given: str) -> Value:
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
            return self.builder.tensor(tensor)
        return Value(name, tensor.dtype, shape)

    def _output(self) -> dict:
        result = self.graph.result
        if isinstance(result, int):
            value = self._value(self.graph.outputs[result], "", "")
            if value.tensor is not None or value.name in {i["name"] for i in self.inputs}:
                value = self.builder.one("Identity", [value], value)
            return {"name": value.name, "tensor": [type_message(value.dtype, value.shape)]}
        name, kind = self._tuple(result)
        return {"name": name, "attr_info": {**kind, "name": name}}

    def _tuple(self, places: tuple) -> tuple[str, dict]:
        parts: list[Any] = []
        for place in places:
            at = isinstance(place, int)
            parts.append(
                self._value(self.graph.outputs[place], "", "") if at else self._tuple(place)
            )
        return self.builder.tuple(parts)

    def _value(self, number: int, op: str, place: str) -> Value:
        value = self.values[number]
        if value is None:
            raise _refusal(op, "a result of another op that no file has", place)
        return value

    def _node(
        self, op: str, inputs: list[int], attributes: dict, types: list, place: str
    ) -> list[Value | None]:
        values = [self._value(number, op, place) for number in inputs]
        try:
            if op in WRITERS:
                return WRITERS[op](self.builder, values, attributes, types)
            rule = rules.by_op().get(op)
            if op in _CONTROL:
                raise NotThere(
                    "is control flow that a tensor decides, which this version does not write"
                )
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


def _refusal(op: str, reason: str, place: str) -> ValueError:
    where = f"\n  {place}" if place else ""
    return ValueError(f"For 'export', the op '{op}' {reason}.{where}")

"""From a file to a graph that runs: names are resolved, primitives become ops of ours, and everything is checked before."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from mindspore import _core, log
from mindspore.common.tensor import Tensor
from mindspore.train._mindir import rules
from mindspore.train._mindir.control import graph_of
from mindspore.train._mindir.functions import Calls, Scope
from mindspore.train._mindir.graph import Declared, MindIrGraph, Step
from mindspore.train._mindir.images_read import Call
from mindspore.train._mindir.messages import Monad, dtype_of, tensor_of, value_of
from mindspore.train._mindir.primitives import READERS
from mindspore.train._mindir.rules import Argument, Rule
from mindspore.train._mindir.tails import Choice, Function


@dataclasses.dataclass(frozen=True)
class Slot:
    """A value that exists when the graph runs, by its place in the main graph or, of a body, in that."""

    place: int
    level: int = 0


def read(path: str) -> MindIrGraph:
    """The graph of a file; ValueError for what is damaged, or not known."""
    model, checked = _core.mindir.read(path)
    if not checked:
        log.warn_once(
            "mindir.unchecked",
            f"'{path}' has no checksum, as MindSpore writes none: damage may go unseen.",
        )
    with _told(path):
        return Reader(model).graph()


@contextlib.contextmanager
def _told(path: str) -> Iterator[None]:
    """Errors tell the file. What a damaged file may raise that nobody thought of is no crash of the caller's."""
    try:
        yield
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        RecursionError,
        OverflowError,
    ) as error:
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        raise ValueError(
            f"For 'load', the MINDIR file '{path}' cannot be read: {reason}."
        ) from None


class Reader:
    """Goes through the nodes of a file."""

    def __init__(self, model: dict):
        self.model = model
        self.main: dict = model.get("graph", {})
        self.primitives = {p.get("name", ""): p for p in model.get("primitives", [])}
        self.known: dict[str, Any] = {}  # Slots, tuples of values, and Python values, by name
        self.constants: list[Tensor] = []
        self.scopes = [Scope(0, 0)]
        self.base = 0  # inputs and parameters; then constants follow, then steps
        self.fixed: set[int] = set()
        self._constant_slots: dict[int, int] = {}
        self._levels = 0
        graphs = [self.main, *model.get("functions", [])]
        nodes = [node for graph in graphs for node in graph.get("node", [])]
        self.calls = Calls(self, graphs[1:], len(nodes))
        # A graph may read a constant of another one.
        self.shared = {
            n["output"][0]: n for n in nodes if n.get("op_type") == "Constant" and n.get("output")
        }

    def graph(self) -> MindIrGraph:
        """The whole."""
        self._refuse()
        inputs = [self._input(message) for message in self.main.get("input", [])]
        parameters = self._parameters(len(inputs))
        self.base = len(inputs) + len(parameters)
        result = self.result(self.walk(self.main, self.known)[0])
        steps, result = self.finished(self.scopes[0].steps, result, self.base + len(self.constants))
        fixed = {name for at, name in enumerate(parameters, len(inputs)) if at in self.fixed}
        return graph_of(inputs, parameters, self.constants, steps, result, fixed)

    def walk(
        self, graph: dict, known: dict[str, Any], names: Any = None, without: str = ""
    ) -> list:
        """The values of some names, or of the output, of a graph whose inputs are known. What needs the value `without` is left out."""
        outputs = graph.get("output", [])
        if len(outputs) != 1:
            raise ValueError(f"a graph must have one output, but it has {len(outputs)}")
        before, self.known = self.known, known
        out = {without}
        for node in graph.get("node", []):
            if out.isdisjoint([*(node.get("input") or []), *node.get("output", [])]):
                self._node(node)
            else:
                out.update(node.get("output", []))
        found = [self.value(name) for name in names or [outputs[0].get("name", "")]]
        self.known = before
        return found

    # ---- where steps go
    def enter(self, inputs: int) -> Scope:
        """A body begins, with so many values of its own."""
        self._levels += 1
        self.scopes.append(Scope(self._levels, inputs))
        return self.scopes[-1]

    def leave(self, scope: Scope) -> Scope:
        """It ends."""
        self.scopes.remove(scope)
        return scope

    def slot_at(self, place: int) -> Slot:
        """A value that the current body is given."""
        return Slot(place, self.scopes[-1].level)

    def _refuse(self) -> None:
        if not self.main.get("node") and not self.main.get("output"):
            raise ValueError("it holds no graph")
        if not self.model.get("little_endian", 1):
            raise ValueError("its numbers are big-endian")
        if self.model.get("preprocessor"):
            raise ValueError("it prepares data, which this version does not read")
        if self.main.get("map_parameter"):
            raise ValueError("it holds parameters that are maps, which this version does not read")

    # ---- inputs and parameters
    def _input(self, message: dict) -> Declared:
        name, tensors = message.get("name", ""), message.get("tensor", [])
        if len(tensors) != 1:
            raise ValueError(f"the input '{name}' is no tensor")
        shape = tuple(tensors[0].get("dims", []))
        self._define(name, Slot(len(self.known)))
        return Declared(
            name.rpartition(":")[2], dtype_of(tensors[0]), None if shape == (-2,) else shape
        )

    def _parameters(self, first: int) -> dict[str, Tensor]:
        parameters: dict[str, Tensor] = {}
        for message in self.main.get("parameter", []):
            full = message.get("name", "")
            name = message.get("ref_key") or full.rpartition(":")[2]
            if name in parameters or not name:
                raise ValueError(f"there are two parameters of the name '{name}', or one without")
            self._define(full, Slot(first + len(parameters)))
            parameters[name] = tensor_of(message)
        return parameters

    def _define(self, name: str, value: Any) -> None:
        if not name or name in self.known:
            raise ValueError(f"the name '{name:.100}' is given twice, or to nothing")
        self.known[name] = value

    def value(self, name: str) -> Any:
        """What a name stands for here."""
        if name in self.known:
            return self.known[name]
        if name in self.calls.graphs:
            return Function(name)
        if name not in self.shared:
            raise ValueError(f"'{name:.100}' is read before there is such a value")
        self.known[name] = self._constant(self.shared[name])
        return self.known[name]

    # ---- nodes
    def _node(self, node: dict) -> None:
        outputs, kind = node.get("output", []), node.get("op_type", "")
        if len(outputs) != 1:
            raise ValueError(
                f"a node must have one output, but '{node.get('name', '')}' has {len(outputs)}"
            )
        if kind == "Constant":
            if self.known.get(outputs[0]) is None or self.scopes[0] is self.scopes[-1]:
                self._define(outputs[0], self._constant(node))
            return
        values = [self.value(name) for name in node.get("input") or []]
        called = kind.removeprefix("REF::")
        if called not in self.primitives and (called in self.known or called in self.calls.graphs):
            self._define(outputs[0], self.calls.call(self.value(called), values))
            return
        name, settings = self._primitive(kind)
        self._define(outputs[0], self._applied(name, values, settings))

    def _constant(self, node: dict) -> Any:
        for attribute in node.get("attribute", []):
            if attribute.get("name") == "value":
                return value_of(attribute)
        raise ValueError(f"the constant '{node.get('name', '')}' has no value")

    def _primitive(self, kind: str) -> tuple[str, dict]:
        reference = kind.removeprefix("REF::")
        found = self.primitives.get(reference)
        if found is None:
            raise ValueError(f"there is no primitive '{kind:.100}'")
        settings = {a.get("name", ""): a for a in found.get("attribute", [])}
        return found.get("op_type", ""), settings

    def _applied(self, name: str, values: list, settings: dict) -> Any:
        """What a primitive gives: nothing is left to do for those that only arrange values."""
        if name in ("Load", "Depend", "StopGradient") and values:
            if name != "StopGradient" or not isinstance(values[0], Slot):
                return values[0]
        if name == "UpdateState":
            return Monad()
        if name == "MakeTuple":
            return tuple(values)
        if name == "TupleGetItem":
            return self.item(*values)
        if name == "Partial" and values and isinstance(values[0], Function):
            return Function(values[0].graph, (*values[0].arguments, *values[1:]))
        if name == "Switch" and len(values) == 3:
            return Choice(*values)
        if name == "BatchNorm":  # its statistics are no weights
            self.fixed.update(v.place for v in values[3:5] if isinstance(v, Slot) and not v.level)
        plain = {key: value_of(message) for key, message in settings.items()}
        if name in READERS:
            call = READERS[name](values, plain)
        else:
            rule = rules.by_primitive().get(name)
            if rule is None:
                raise ValueError(f"there is no op like the primitive '{name:.100}'")
            call = _call(rule, values, plain)
        return self.step(call)

    def item(self, values: Any, index: Any) -> Any:
        """A part of a tuple."""
        if type(index) is not int:
            raise ValueError("a part of a tuple must have a number")
        if isinstance(values, Slot):
            return self.step(Call(_part, [values], {"index": index}))
        if not isinstance(values, tuple) or not -len(values) <= index < len(values):
            raise ValueError(f"there is no part {index} of a value that is read so")
        return values[index]

    def step(self, call: Call) -> Slot:
        """A step of the current graph or body."""
        scope = self.scopes[-1]
        inputs = [scope.local(self.slot(value)) for value in call.inputs]
        scope.steps.append((call.function, inputs, call.settings))
        return Slot(
            -len(scope.steps), scope.level
        )  # until the number of what comes before is known

    def slot(self, value: Any) -> Slot:
        """A value at run time; of a constant, that of its tensor."""
        if isinstance(value, Slot):
            return value
        if isinstance(value, (bool, int, float)):
            value = Tensor(value)
        if not isinstance(value, Tensor):
            raise ValueError(f"a {type(value).__name__} stands where a tensor must be")
        at = self._constant_slots.get(id(value))
        if at is None:
            at = self._constant_slots[id(value)] = len(self.constants)
            self.constants.append(value)
        return Slot(self.base + at)

    def result(self, value: Any) -> Any:
        """The places of a value of the current graph or body."""
        if isinstance(value, tuple):
            return tuple(self.result(v) for v in value)
        return self.scopes[-1].local(self.slot(value))

    # ---- the end
    def finished(self, made: list, result: Any, first: int) -> tuple[list[Step], Any]:
        """Steps with their final places, `first` being that of the first one."""

        def final(place: int) -> int:
            return place if place >= 0 else first - place - 1

        last: dict[int, int] = {}  # the last step that reads a result of another
        rows = [[final(i) for i in places] for _, places, _ in made]
        for at, row in enumerate(rows):
            last.update(dict.fromkeys((i for i in row if i >= first), at))
        result = _mapped(result, final)
        for place in _flat(result):
            last.pop(place, None)
        dead: dict[int, list[int]] = {}
        for place, at in last.items():
            dead.setdefault(at, []).append(place)
        steps = [
            Step(function, tuple(row), settings, tuple(dead.get(at, ())))
            for at, ((function, _, settings), row) in enumerate(zip(made, rows))
        ]
        return steps, result


def _part(values: Any, index: int) -> Any:
    return values[index]


def _mapped(value: Any, function: Any) -> Any:
    return (
        tuple(_mapped(v, function) for v in value) if isinstance(value, tuple) else function(value)
    )


def _flat(value: Any) -> list[int]:
    return [p for v in value for p in _flat(v)] if isinstance(value, tuple) else [value]


def _call(rule: Rule, values: list, plain: dict) -> Call:
    """The op of a primitive, its operands and settings."""
    attributes = rules.attributes_of(rule.op)
    operands: list = []
    settings: dict[str, Any] = {}
    # The older form of a primitive has its settings as attributes, under the names of the arguments.
    for at, argument in enumerate(rule.arguments):
        if at >= len(values):
            _setting(argument, attributes, plain, rule, settings)
        elif argument.many:
            operands += values[at] if isinstance(values[at], tuple) else [values[at]]
        elif argument.name in attributes:
            settings[argument.name] = argument.ours(_plain(values[at], argument, rule))
        else:
            operands.append(values[at])
    if len(values) > len(rule.arguments):
        raise ValueError(
            f"'{rule.primitive}' has {len(values)} arguments, but {len(rule.arguments)} are known"
        )
    for argument in rule.attributes:
        if argument.key in plain:
            settings[argument.name] = argument.ours(plain[argument.key])
    return Call(_core.op(rule.op), operands, settings)


def _setting(argument: Argument, attributes: Any, plain: dict, rule: Rule, settings: dict) -> None:
    if argument.name in plain and argument.name in attributes:
        settings[argument.name] = argument.ours(plain[argument.name])
    elif argument.name not in attributes:
        raise ValueError(f"'{rule.primitive}' lacks the argument '{argument.name}'")


def _plain(value: Any, argument: Argument, rule: Rule) -> Any:
    if isinstance(value, (Slot, Monad)):
        raise ValueError(f"'{argument.name}' of '{rule.primitive}' must be a constant")
    if isinstance(value, Tensor):
        return value.asnumpy().tolist() if value.ndim == 0 else tuple(value.asnumpy().tolist())
    return value

"""Lines that cannot be compiled run eagerly between compiled parts. The first run executes while it traces: at such a line the graph
so far is finished and run, the line's call is made on real values, and tracing goes on in a new graph whose inputs are the
values still alive. What was done is kept as a path of steps, which later runs follow; where a call gives a value of another
kind than before, they go back to tracing, with what has already been done.

A result that is not a tensor is a HostValue: whatever is done to it is such a step too. Results that decide (bool, int, None) are
part of the path."""

from __future__ import annotations

import contextlib
import gc
import types
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.program.borders import of_program, plainly
from mindspore.compile.program.errors import Inseparable, Unsupported, locate
from mindspore.compile.values.foreign import only_reads
from mindspore.compile.values.host_values import HostValue, decides
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.structure import holds, is_container, maker
from mindspore.compile.versions.path import DECIDING, Done, Node, Step, number_of, unmarked
from mindspore.compile.versions.remembered import Remembered

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer

_MAX_STEPS = 400  # in one run; more are a loop that is better off eager as a whole
_MAX_PATHS = 16
_MANY_ALIVE = 1000  # tensors


# A symbolic tensor, the slot of its value, whether it is weak, when it was made.
Kept = tuple[Tensor, int, bool, int]


def refuse_code(value: Any) -> bool:
    """Refuses functions of compiled code, and what leads to one or to a value of the graph: a gradient of it, say."""
    pending, seen = [value], set()
    while pending:
        v = pending.pop()
        if isinstance(v, NestedFunction):
            raise Unsupported(
                f"the function '{v.__name__}', which is defined in compiled code, would have to run eagerly"
            )
        if isinstance(v, _APART) or isinstance(v, _late.cell_class) or id(v) in seen:
            continue
        seen.add(id(v))
        if isinstance(v, Tensor):
            if v is not value and v.is_symbolic:
                raise Unsupported("an object that holds values of the graph would have to be used")
            continue
        pending += _inside(v)
    return False


def _is_mutable(value: Any) -> bool:
    """Whether a container that can change is in a structure, or is it."""
    if isinstance(value, tuple):
        return any(map(_is_mutable, value))
    return is_container(value)


_OWNERS = (HostValue, Tensor, list, tuple, dict, set, deque)  # of methods that are called
_PLAIN = (type, types.ModuleType, HostValue, str, int, float)
_APART = (*_PLAIN, types.BuiltinFunctionType, types.TracebackType, types.FrameType)


def _inside(value: Any) -> list:
    """What an object or function of any kind holds, known here or not, without running code of its class."""
    if not isinstance(value, types.FunctionType):
        return gc.get_referents(value)
    found = []
    for cell in value.__closure__ or ():
        with contextlib.suppress(ValueError):  # it has no value yet
            found.append(cell.cell_contents)
    return found


class Session:
    """A run that is traced part by part. Slots hold the real values: of the arguments that are tensors or records, of graphs'
    outputs, of steps' results."""

    def __init__(self, tracer: Tracer, inputs: list, records: list, root: Node, done: Done):
        self.tracer, self.slots = tracer, [*inputs, *records]
        self.first_record = len(inputs)  # among the slots
        self.root = self.node = root
        self.inputs = list(range(len(inputs)))  # slots of the inputs of the current trace
        self.done = list(done.results)  # of graphs and steps that this run has already made
        self.steps = 0
        self.committed = done.committed
        self.before, self.random = done.before, done.random
        self.first_fact = 0
        self.met_error = False  # a step gave an exception, another one on each run

    # ---- steps ------------------------------------------------------------------------------------------------------
    def possible(self) -> bool:
        """Whether a line can run eagerly here: on the main way of the program, where everything before has happened."""
        tracer = self.tracer
        if tracer.arms or tracer.in_gradient or tracer.trace.depth:
            return False
        return not tracer.cells.current(tracer.arguments)  # these go back to the caller at the end

    def call(self, reason: Unsupported, function: Any, args: Any, kwargs: Any, pure: bool) -> Any:
        """The result of a call that is made on real values; `reason` says why it must be."""
        endless = self.steps >= _MAX_STEPS and not self.committed
        if not self.possible() or endless or isinstance(reason, Inseparable):
            raise reason
        if isinstance(function, types.MethodType) and isinstance(function.__self__, Tensor):
            function, args = function.__func__, [function.__self__, *args]
        holds((function, tuple(args), dict(kwargs)), refuse_code)
        if not only_reads(function) and any(map(_is_mutable, [*args, *kwargs.values()])):
            raise Inseparable(
                "a list, dict or set made in compiled code is given to what may change or keep it"
            )
        self.steps += 1
        located: Any = locate(reason, self.tracer.error_places())
        self.tracer.warn_break(located)
        tensors = self._finish_graph()
        build = self._template((function, tuple(args), dict(kwargs)), tensors)
        self.committed |= not pure
        step = self.node.step = self.node.step or Step(build, pure)
        if self.done:
            kind, value = self.done.pop(0)
        else:
            kind, value = step.run(self.slots)
        self._enter(kind)
        self._begin_graph(tensors)
        if kind[0] == "error":
            self.met_error = True
            raise of_program(value)
        return self._wrap(value)

    def _enter(self, kind: tuple) -> None:
        ways = self.node.next
        # What was done already has led to the first one.
        known = ways[kind][0] if self.done and kind in ways else self.node.after(kind)
        if known is not None:
            self.node = known
            return
        before, self.node = self.node, Node()
        if kind in ways or len(ways) < _MAX_PATHS:
            before.add(kind, self.node)
        elif not self.committed:
            raise Unsupported(
                f"a line that runs eagerly gave more than {_MAX_PATHS} kinds of results"
            )

    def _finish_graph(self) -> list[Kept]:
        """Runs what has been traced; the symbolic tensors that are alive."""
        trace, node = self.tracer.trace, self.node
        self._keep_facts()
        kept: list[Kept] = []
        outputs: list[Tensor] = []
        live = trace.live()
        if len(live) > _MANY_ALIVE:
            # Most wait for the collector: they would be computed, kept and carried for nothing.
            live = None
            gc.collect()
            live = trace.live()
        places = {} if node.outputs is None else node.outputs
        for tensor, at, weak, when in live:
            if at < 0 and node.outputs is None:
                places[when] = len(outputs)
                outputs.append(tensor)
            if at >= 0:
                kept.append((tensor, self.inputs[at], weak, when))
            elif when in places:  # else it waits for the collector, as it did not the first time
                kept.append((tensor, len(self.slots) + places[when], weak, when))
        node.outputs = places
        effects = trace.has_effects
        changed = trace.finish(outputs)
        if node.graph is None and (outputs or changed or effects):
            node.inputs = list(self.inputs)
            node.graph = _core.compile(trace, self.tracer.device, self.tracer.fast)
            node.graph.replace(self.tracer.replaced)
            self.tracer.replaced = []
            node.changed = changed
        trace.close()
        node.acts = self.tracer.acts
        self.committed |= node.acts  # to raise, or not to, may be done again
        if self.done:  # an earlier attempt of this run did it
            self.slots.extend(self.done.pop(0))
        else:
            node.run_graph(self.slots, self.before)
        return kept

    def _begin_graph(self, tensors: list[Kept]) -> None:
        self.tracer.restart()
        self.inputs = []
        for tensor, slot, weak, when in tensors:
            self.tracer.trace.adopt(tensor, weak, when)
            self.inputs.append(slot)

    def _keep_facts(self) -> None:
        """What was read since the last step must hold when a later run comes here."""
        facts = self.tracer.guards.facts
        if not self.node.facts:
            self.node.facts = facts[self.first_fact :]
            self.node.guards = _core.Guards(self.node.facts)
        self.first_fact = len(facts)

    # ---- values -----------------------------------------------------------------------------------------------------
    def _template(self, value: Any, tensors: list[Kept]) -> Callable[[list], Any]:
        slots = {id(t): (slot, weak) for t, slot, weak, _ in tensors}
        given = self.tracer.given

        def make_leaf(v: Any) -> Callable[[list], Any] | None:
            if isinstance(v, HostValue):
                at = v.slot
                return lambda got: got[at]
            if isinstance(v, Tensor) and id(v) in slots:
                at, weak = slots[id(v)]
                return lambda got: number_of(got[at]) if weak else got[at]
            record = given.record(v)
            if record >= 0:
                at = self.first_record + record
                return lambda got: got[at]
            owner = getattr(v, "__self__", None)
            if isinstance(owner, _OWNERS) and not isinstance(v, type):
                inner = maker(owner, make_leaf)
                return lambda got: getattr(inner(got), v.__name__)
            return None

        return maker(value, make_leaf)

    def _wrap(self, value: Any) -> Any:
        """A result as tracing goes on with it; its tensors and objects lie in slots."""
        if isinstance(value, Tensor):
            self.slots.append(value)
            self.inputs.append(len(self.slots) - 1)
            return self.tracer.trace.add_parameter(value.dtype, list(value.shape))
        if isinstance(value, (tuple, list)):
            items = [self._wrap(v) for v in value]
            return value._make(items) if hasattr(value, "_make") else type(value)(items)
        if isinstance(value, DECIDING):
            return value
        self.slots.append(unmarked(value))
        return HostValue(self, len(self.slots) - 1)

    def value(self, host: HostValue) -> Any:
        """The real value behind a HostValue."""
        return self.slots[host.slot]

    def operate(self, function: Callable, *operands: Any) -> Any:
        """An operator with a HostValue. A number beside a tensor is an input of the graph, everything else a step."""
        if len(operands) == 2 and self.possible():
            a, b = operands
            if isinstance(a, Tensor) and isinstance(b, HostValue) and type(self.value(b)) is float:
                return plainly(function, [a, self._number(b)], {})
            if isinstance(b, Tensor) and isinstance(a, HostValue) and type(self.value(a)) is float:
                return plainly(function, [self._number(a), b], {})
        return self.call(decides(), function, operands, {}, _is_plain(self, operands))

    def _number(self, host: HostValue) -> Tensor:
        slot = host.slot
        self.inputs.append(slot)
        return self.tracer.trace.add_parameter(_core.float64, [], weak=True)

    # ---- the end ----------------------------------------------------------------------------------------------------
    def finish(self, value: Any) -> Any:
        """The value of the whole call, made of slots; later runs that come this way make it likewise."""
        build = self._template(value, self._finish_graph())
        self.node.place = build
        return build(self.slots)

    def fail(self, error: Remembered) -> None:
        """The call raises an error, and so do later runs that come this way."""
        self._finish_graph()
        if error.lasts and not self.met_error:
            self.node.place = error.raise_again

    def undo(self) -> bool:
        """Takes back what the finished parts did, so that the call can run again from its beginning; False if it cannot be."""
        if self.committed:
            return False
        for parameter, value in self.before.values():
            parameter._write(value)
        _core.set_random_state(*self.random)
        return True


def _is_plain(session: Session, values: Any) -> bool:
    """Numbers, strings and arrays: what is done to them can be done again."""
    for v in values:
        if isinstance(v, HostValue):
            v = session.value(v)
        root = type(v).__module__.split(".")[0]
        if root not in ("builtins", "numpy", "mindspore"):
            return False
    return True

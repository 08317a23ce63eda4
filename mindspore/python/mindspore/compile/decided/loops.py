"""A loop of the graph: `loop(carried) = condition(carried) ? body(carried) : carried`, where body ends by calling loop. The body is
parsed until what it changes - variables, items of lists, attributes, Parameters - is all carried, and the types repeat."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindspore import ops
from mindspore._core import Tensor
from mindspore.compile.decided.exits import CONTINUE, FALLS, Exit
from mindspore.compile.decided.fork import NeverEnds, goes_on
from mindspore.compile.decided.inner import Inner, until_settled
from mindspore.compile.decided.slots import Slots
from mindspore.compile.program.errors import Unsupported

if TYPE_CHECKING:
    from mindspore.compile.walk.frame import Frame


class BodyRaises(Exception):
    """Every way through the body raises an exception: there is at most one round."""


class GraphLoop:
    """Builds one loop for a frame. `tested`, `names`: variables that the test and the body assign."""

    def __init__(
        self, frame: Frame, node: Any, test: Callable, enter: Callable, tested: set, names: set
    ):
        self.frame, self.node, self.test, self.enter, self.tested = frame, node, test, enter, tested
        self.tracer, self.trace = frame.tracer, frame.tracer.trace
        self.slots = Slots(frame, names | tested)
        self.ways = frozenset({FALLS})  # in which a round may be left, and the loop
        self.endless = False  # its own condition is always true

    def build(self) -> Exit:
        """Emits the loop; how it was left: FALLS, BREAK and RETURN."""
        refusal = "the types of the variables of this loop change in every round, but they must stay the same"
        self.slots.put(until_settled(self.tracer, self.slots.heap, self._attempt, refusal))
        if self.endless and self.ways == {FALLS}:
            raise Unsupported(
                "this loop never ends: its condition is always true and nothing leaves it"
            )
        exit_ = Exit(self.ways, self.slots.state["exit"])
        return exit_.leaving() if self.endless else exit_

    # ---- one attempt ----------------------------------------------------------------------------------------------------
    def _attempt(self) -> list | None:
        """What the loop gives; None where the body showed that more must be carried, or with another type."""
        stack = self.frame.stack
        try:
            with Inner(self.trace):
                todo, outputs = self._trace_loop()
        except NeverEnds as end:
            if end.unsettled:
                raise
            raise BodyRaises from None
        finally:
            self.frame.stack = stack
        for prepare in todo:
            prepare()
        return outputs

    def _trace_loop(self) -> tuple[list, list | None]:
        """What to do before the next attempt, or what the loop gives."""
        trace = self.trace
        initial = self.slots.initial()
        loop = trace.begin("loop")
        inputs = [trace.parameter_like(t) for t in initial]
        self.slots.bind(inputs)
        condition = self._condition()
        head = [self.slots.value(t) for t in self.slots.now()]
        trace.capture(head)  # now: what calls the loop itself must know all of its captures
        environment = trace.environment()
        body = trace.begin("body")
        self._run_body()
        self.slots.heap.refuse_arrays()
        todo = self._note_exit() + self.slots.lacking(trace.changed_since(environment), loop)
        if todo:
            return todo, None
        trace.end(self._next_round(loop, inputs))
        trace.restore(environment)
        done = trace.begin("done")
        trace.end(head)
        trace.end(trace.call(trace.switch(condition, trace.partial(body), trace.partial(done)), []))
        trace.tag_loop(loop, body, done, -1)
        return [], trace.call(trace.partial(loop), initial)

    def _condition(self) -> Any:
        going = ops.equal(self.slots.state["exit"], int(FALLS)) if self.ways != {FALLS} else None
        self.endless = False
        if going is not None and self.tested:  # the test itself assigns: not after a break
            test = self.frame.choose(going, lambda: self.tracer.truth(self.test()), lambda: False)
        else:
            test = self.test()
        if self.tracer.is_undecided(test):
            test = self.tracer.truth(test)
            return test if going is None else ops.logical_and(going, test)
        if not test:
            raise Unsupported(
                "the condition of this loop is a tensor at first and a Python value later"
            )
        self.endless = True
        return Tensor(True) if going is None else going

    def _run_body(self) -> None:
        try:
            self._run_round()
        except Exception as error:
            if goes_on(self.tracer, error):
                raise
            raise BodyRaises from None

    def _run_round(self) -> None:
        frame = self.frame
        frame.stack = [("loop",)]
        self.enter()
        frame.push(self.node.body)
        self.left = frame.run_to(0)

    def _next_round(self, loop: Any, inputs: list) -> list:
        trace = self.trace
        self.tracer.mark(self.frame, self.node)  # the calls between rounds are the loop's
        trace.declare_outputs(loop, inputs)
        values = self.slots.now()
        trace.capture(values)
        return trace.call(trace.partial(loop), values)

    def _note_exit(self) -> list[Callable[[], None]]:
        """How the round was left is carried, too."""
        left = self.left.arrived(CONTINUE)
        self.slots.state["exit"] = left.kind
        if left.ways <= self.ways:
            return []
        return [lambda: setattr(self, "ways", self.ways | left.ways)]

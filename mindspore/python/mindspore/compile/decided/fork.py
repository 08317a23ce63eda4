"""A branch that a tensor decides: Call(Switch(condition, then, else)). Each arm is traced into a graph of its own from the same
state - variables, lists, Parameters - and what differs afterwards is joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.compile.decided.exits import FALLS, VALUE, Exit
from mindspore.compile.decided.heap import Heap
from mindspore.compile.decided.joins import Join
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.failures import failed, is_of_program
from mindspore.compile.program.marks import is_raised, original_of
from mindspore.compile.values.effects import emit_raise
from mindspore.compile.values.numbers import NumberDecides
from mindspore.compile.values.structure import Recipe, gathered, placed, set_contents

if TYPE_CHECKING:
    from mindspore.compile.walk.frame import Frame
    from mindspore.compile.walk.tracer import Tracer


class NeverEnds(BaseException):
    """What is being traced does not come to its end: every way of it raises, or waits for the result of a recursion that is
    not known yet (`unsettled`). The branch around it goes on with its other arm."""

    def __init__(self, unsettled: bool):
        super().__init__()
        self.unsettled = unsettled


class Arm:
    """One way through a branch, and what held at its end."""

    def __init__(self, graph: Any, side: int):
        self.graph, self.side = graph, side
        self.value: Any = None
        self.exit = Exit.by(FALLS)  # how an arm of statements left them
        self.parameters: list = []
        self.changed: dict[int, tuple] = {}
        self.heap: dict[int, Any] = {}
        self.dead = False  # it does not come to its end
        self.unsettled = False


class Fork:
    """Traces the arms, then joins them. `frame`: the call in which the branch stands."""

    def __init__(self, tracer: Tracer, frame: Frame, condition: Tensor):
        self.tracer, self.trace, self.condition = tracer, tracer.trace, condition
        self.frame, self.place = frame, tracer.place_text(frame)
        roots = [f for f, _ in tracer.places] + [frame]
        self.heap = Heap(tracer, roots)
        self.variables = {id(scope.env) for root in roots for scope in root.outward()}
        self.parameters = self.trace.environment()
        self.node = frame.node
        self._index: Tensor | None = None

    # ---- tracing ----------------------------------------------------------------------------------------------------
    def arm(self, side: int, run: Callable[[], Any]) -> Arm:
        """Traces the arm taken where the condition holds (side 0) or does not."""
        self.trace.restore(self.parameters)
        self.heap.restore()
        arm = Arm(self.trace.begin(("then", "else")[side]), side)
        self._trace(arm, run)
        return arm

    def resume(self, arm: Arm, run: Callable[[], Any]) -> None:
        """Goes on with an arm."""
        self.heap.apply(arm.heap)
        self.trace.restore(arm.parameters)
        self.trace.resume(arm.graph)
        self._trace(arm, run)

    def _trace(self, arm: Arm, run: Callable[[], Any]) -> None:
        trace, tracer = self.trace, self.tracer
        depth, calls, limits = trace.depth, len(tracer.places), len(tracer.limits)
        tracer.limits += tracer.limits_when(self.condition, arm.side == 0)
        tracer.arms += 1
        try:
            arm.value = self._run_or_raise(run, depth)
        except NeverEnds as end:
            if trace.depth > depth and not end.unsettled:
                raise Unsupported("every way through a nested graph raises an exception") from None
            arm.dead, arm.unsettled = True, end.unsettled
        finally:
            tracer.arms -= 1
            del tracer.limits[limits:], tracer.places[calls:]
            while trace.depth > depth:
                trace.suspend()
            arm.parameters = trace.environment()
            arm.changed = {id(p): (p, v) for p, v in trace.changed_since(self.parameters)}
            arm.heap = self.heap.changes()
            trace.suspend()
            trace.restore(self.parameters)

    def _run_or_raise(self, run: Callable[[], Any], depth: int) -> Any:
        """An exception is raised when the graph runs and takes this arm, not before."""
        try:
            return run()
        except Exception as error:
            if goes_on(self.tracer, error):
                raise
            if not is_of_program(error):
                raise failed(error) from error
            while self.trace.depth > depth:
                self.trace.suspend()
            self.frame.refuse_handlers()
            emit_raise(self.tracer, error)
            raise NeverEnds(False) from None

    # ---- joining ----------------------------------------------------------------------------------------------------
    def index(self) -> Tensor:
        """0 where the condition holds, else 1: what decides a Choice between the arms."""
        if self._index is None:
            self._index = ops.cast(ops.logical_not(self.condition), _core.int32)
            self.tracer.decide(self.condition, self._index, {0}, 2)
        return self._index

    def join(self, arms: list[Arm], gone: Sequence[bool] = (False, False)) -> Any:
        """Ends both arms and goes on after them, with the joined value. `gone`: arms that return, whose variables nobody
        reads any more."""
        if arms[0].dead and arms[1].dead:
            self._never_ends(arms)
        self.tracer.mark(self.frame, self.node)
        self.heap.restore()
        join = Join(self, arms)
        live = [not arm.dead for arm in arms]
        value = join.either(arms[0].value, arms[1].value, live)
        recipes = []
        for key in {**arms[0].heap, **arms[1].heap}:
            container, before = self.heap.before[key]
            x, y = (arm.heap.get(key, before) for arm in arms)
            recipes.append((container, self._contents(join, container, x, y, live, gone)))
        outputs = self._call(arms, join)
        result = value(outputs)
        for container, recipe in recipes:
            set_contents(container, recipe(outputs))
        join.finish(outputs)
        return result

    def _never_ends(self, arms: list[Arm]) -> None:
        unsettled = arms[0].unsettled or arms[1].unsettled
        if not unsettled:
            self.heap.restore()
            self._call(arms, Join(self, arms))  # it raises
        if not unsettled and not self.tracer.arms:
            raise Unsupported("both ways of a condition on a tensor raise an exception")
        raise NeverEnds(unsettled)

    def _contents(
        self, join: Join, container: Any, x: Any, y: Any, live: list, gone: Sequence[bool]
    ) -> Recipe:
        if container is self.frame.env and gone[0] != gone[1]:
            return self._variables_of_one(join, (x, y), 1 if gone[0] else 0)
        if live[0] and live[1]:
            return join.contents(container, x, y)
        kept, side = (x, 0) if live[0] else (y, 1)
        return placed(kept, lambda v: join.only(v, side)) or (lambda outputs: kept)

    def _variables_of_one(self, join: Join, both: tuple, side: int) -> Recipe:
        """The variables of the arm `side`; of the other, which returned, only what it returns."""
        recipes = {n: join.only(v, side) for n, v in both[side].items() if n != VALUE}
        has = [VALUE in variables for variables in both]
        if any(has):
            a, b = (variables.get(VALUE) for variables in both)
            recipes[VALUE] = join.either(a, b, has)
        return gathered(recipes)

    def _call(self, arms: list[Arm], join: Join) -> list:
        trace = self.trace
        before = {id(p): v for p, v in self.parameters}
        changed = {k: v for arm in arms if not arm.dead for k, v in arm.changed.items()}
        for arm in arms:
            trace.resume(arm.graph)
            trace.restore(arm.parameters)
            self.heap.apply(arm.heap)  # tensors that the arm changed in place have its values
            outputs = [pair[arm.side]() for pair in join.pairs]
            for key, (parameter, _) in changed.items():
                if key in arm.changed and not arm.dead:
                    outputs.append(arm.changed[key][1])
                else:
                    outputs.append(before.get(key, parameter))
            trace.restore(arm.parameters)
            trace.end(outputs)
            trace.restore(self.parameters)
            self.heap.restore()
        function = trace.switch(
            self.condition, trace.partial(arms[0].graph), trace.partial(arms[1].graph)
        )
        results = trace.call(function, [])
        for (parameter, _), value in zip(changed.values(), results[len(join.pairs) :]):
            trace.set_parameter(parameter, value)
        return results[: len(join.pairs)]


# Of the compiler, not of the program.
_OURS = (Unsupported, RecursionError, MemoryError, NumberDecides, _core.SymbolicSizeError)


def goes_on(tracer: Tracer, error: Exception) -> bool:
    """Whether what a tensor decides is given up for an error: it is the compiler's, or perhaps comes only because a number or size is
    not known in this attempt, since the program itself does not raise it, by `raise` or `assert`."""
    raised = is_raised(original_of(error))
    return isinstance(error, _OURS) or (tracer.tentative and not raised)

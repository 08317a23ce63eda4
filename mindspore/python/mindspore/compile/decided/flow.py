"""Control flow that a tensor decides, as statements see it. The arms of a branch run their own statements first. Where one of them
leaves (return, break, continue) and the other goes on, what is skipped becomes part of the other; where an arm leaves only
on some of its ways, what follows it is put under a condition. Either way it is parsed once."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

from mindspore import ops
from mindspore._core import Tensor
from mindspore.compile.decided.exits import (
    BREAK,
    FALLS,
    OURS,
    RETURN,
    VALUE,
    Exit,
    Landing,
    Return,
    Way,
    check_cut,
    holds,
    is_end,
    landing,
)
from mindspore.compile.decided.fork import Arm, Fork
from mindspore.compile.decided.heap import Heap
from mindspore.compile.decided.loops import BodyRaises, GraphLoop
from mindspore.compile.decided.parts import FramePart
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.source import stored_names
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.structure import reachable
from mindspore.compile.values.values import Choice

_MAX_NESTING = 64  # graphs inside graphs; beyond, what follows a branch is put under a condition


class Flow(FramePart):
    """A storey of Frame. The stack and its barriers: exits.py. A jump that reaches a barrier is noted in `exit`."""

    exit: Exit | None = None

    def push(self, statements: list[ast.stmt]) -> None:
        """These statements are run next."""
        if statements:
            self.stack.append(("block", statements, 0))

    # ---- branches -----------------------------------------------------------------------------------------------------
    def tensor_if(self, node: ast.If, test: Any) -> Any:
        """`if tensor:`. Where the arms cannot be compiled, the tensor's value may be known between two graphs."""
        first, second = (
            functools.partial(self._run_arm, functools.partial(self.push, body))
            for body in (node.body, node.orelse)
        )
        tracer, session = self.tracer, self.tracer.session
        condition = tracer.truth(test)
        if session is None or not session.possible():
            return self._branch(condition, first, second)
        stack, parameters = list(self.stack), tracer.trace.environment()
        emitted = tracer.emitted
        heap = Heap(tracer, [f for f, _ in tracer.places] + [self])
        try:
            return self._branch(condition, first, second)
        except Unsupported as reason:
            # What the arms print may be in the graph around them, where one of them goes on alone.
            if not session.possible() or (tracer.emitted > emitted and tracer.trace.has_effects):
                raise
            heap.restore()
            self.stack = stack
            tracer.trace.restore(parameters)
            taken = session.call(reason, bool, [condition], {}, True)
            self.push(node.body if taken else node.orelse)
            return None

    def choose(self, test: Any, first: Callable[[], Any], second: Callable[[], Any]) -> Any:
        """The value of one of two expressions."""
        fork = Fork(self.tracer, self.whole, self.tracer.truth(test))
        return fork.join([fork.arm(0, first), fork.arm(1, second)])

    def _run_arm(self, start: Callable[[], Any]) -> Exit:
        """Runs what `start` does, and pushes, as an arm."""
        base = len(self.stack)
        self.stack.append(("arm", False))
        start()
        return self.run_to(base)

    def _run_rest(self, base: int, exit_: Exit) -> Exit:
        """Goes on, as an arm, where an exit leads, with what is on the stack above `base`."""
        ends = is_end(self.stack, base)
        self.stack.insert(base, ("arm", ends))
        self._go_on(exit_)
        exit_ = self.run_to(base)
        if ends and exit_.way is FALLS:
            self.env[VALUE] = None
            return Exit.by(RETURN)
        return exit_

    def run_to(self, base: int) -> Exit:
        """Runs what is above the barrier at `base`."""
        self.run(base + 1)
        del self.stack[base:]
        exit_, self.exit = self.exit, None
        return exit_ or Exit.by(FALLS)

    def _step_arm(self, ends: bool) -> None:
        """The end of an arm."""

    def _trace_arm(self, fork: Fork, side: int, run: Callable[[], Exit]) -> Arm:
        """An arm of a fork, which leaves the stack as it is."""
        stack = self.stack
        self.stack = list(stack)
        arm = fork.arm(side, run)
        self.stack = stack
        return _left(arm)

    def _branch(self, condition: Tensor, first: Callable, second: Callable) -> Any:
        fork = Fork(self.tracer, self.whole, condition)
        arms = [self._trace_arm(fork, side, run) for side, run in enumerate((first, second))]
        for leaver, stayer in (arms, arms[::-1]):
            way = self._skips(leaver, stayer)
            if way not in (None, FALLS):
                self._extend(fork, leaver, stayer, landing(self.stack, way))
                break
        return self._join(fork, arms)

    def branch_on(self, choice: Any, start: Callable[[Any], None]) -> Any:
        """Goes on with `start` of the option that is taken, which pushes statements."""
        if not isinstance(choice, Choice):
            return start(choice)
        return self._branch_among(choice, self.tracer.allowed(choice), start)

    def _branch_among(self, choice: Choice, allowed: list[int], start: Callable) -> Any:
        if len(allowed) == 1:
            return start(choice.options[allowed[0]])
        middle = len(allowed) // 2

        def run(way: list[int]) -> Any:
            return self._run_arm(lambda: self._branch_among(choice, way, start))

        condition = self.tracer.below(choice, allowed[middle])
        return self._branch(condition, lambda: run(allowed[:middle]), lambda: run(allowed[middle:]))

    def _skips(self, leaver: Arm, stayer: Arm) -> Way | None:
        """How an arm jumps, where the other one goes on, or may."""
        if leaver.dead or stayer.dead or FALLS not in stayer.exit.ways:
            return None
        return leaver.exit.way if self.tracer.trace.depth < _MAX_NESTING else None

    def _extend(self, fork: Fork, leaver: Arm, stayer: Arm, there: Landing) -> None:
        """What the leaver skips becomes part of the stayer."""
        outer = self.stack
        arms = [stayer]
        if holds(outer, there.base, "with", "finally"):
            check_cut(outer, there.base, "with")
            arms = [leaver, stayer]  # the leaver's way, too, leads through what is there
        else:
            leaver.exit = there.left_of(leaver.exit)
        for arm in arms:
            self.stack = list(outer)
            fork.resume(arm, functools.partial(self._run_rest, there.base, arm.exit))
            _left(arm)
        self.stack = outer[: there.base]

    # ---- jumps --------------------------------------------------------------------------------------------------------
    def jump(self, way: Way) -> Any:
        """break, continue or return: unwinds the stack, down to where that leads."""
        again = ("leave", self.env[VALUE]) if way is RETURN else ("jump", way)
        there = landing(self.stack, way)
        if self.unwind(there.base, again):  # a `finally` on the way comes first
            return None
        if there.outside and there.base:
            self.exit = Exit.by(way)
        elif way is RETURN:
            return Return(self.env.pop(VALUE))
        return None

    def leave(self, value: Any) -> Any:
        """`return value`."""
        self.env[VALUE] = value
        return self.jump(RETURN)

    # ---- after a branch -------------------------------------------------------------------------------------------------
    def _join(self, fork: Fork, arms: list[Arm]) -> Any:
        """Joins the arms, which both have come to where the stack now stands, and goes on."""
        exits = [arm.exit for arm in arms if not arm.dead]
        ways = [exit_.way for exit_ in exits]
        if None not in ways and len(set(ways)) < 2:
            fork.join(arms)
            return self._go_on(exits[0])
        for arm in arms:
            arm.value = arm.exit.number()
        gone = [len(exits) > 1 and self._ends_in(arm) for arm in arms]
        kind = fork.join(arms, gone)
        return self._run_unless_left(Exit(frozenset().union(*(e.ways for e in exits)), kind))

    def _ends_in(self, arm: Arm) -> bool:
        """Whether an arm returns, and no function, which could read this frame's variables."""
        if arm.dead or arm.exit.way is not RETURN:
            return False
        returned = arm.heap.get(id(self.env), {}).get(VALUE)
        return not any(isinstance(v, NestedFunction) for v in reachable(self.tracer, [returned]))

    def _go_on(self, exit_: Exit) -> Any:
        """Goes on where an exit leads."""
        if exit_.way is None:
            return self._run_unless_left(exit_)
        return None if exit_.way is FALLS else self.jump(exit_.way)

    def _run_unless_left(self, exit_: Exit) -> Any:
        """Runs what follows where nothing was left, up to where the nearest of the jumps leads; from there on, up to the next."""
        while True:
            there = landing(self.stack, exit_.nearest)
            check_cut(self.stack, there.base, "with", "finally")
            ends = is_end(self.stack, there.base)
            if FALLS in exit_.ways and (len(self.stack) > there.base or ends):
                return self._run_under_condition(exit_, there)
            del self.stack[there.base :]
            exit_ = there.left_of(exit_)
            if exit_.way is not None:
                return self._go_on(exit_)
            if there.outside:
                self.exit = exit_
                return None

    def _run_under_condition(self, exit_: Exit, there: Landing) -> Any:
        """What follows, up to that place, is one arm of a branch; the other one leads there at once."""
        outer = self.stack
        fork = Fork(self.tracer, self.whole, ops.equal(exit_.kind, int(FALLS)))
        first = self._trace_arm(fork, 0, lambda: self._run_rest(there.base, Exit.by(FALLS)))
        second = self._trace_arm(fork, 1, lambda: there.left_of(exit_.leaving()))
        self.stack = outer[: there.base]
        return self._join(fork, [first, second])

    # ---- loops ------------------------------------------------------------------------------------------------------
    def tensor_while(self, node: ast.While) -> Any:
        """`while tensor:`."""
        names = stored_names([node.test]), stored_names(node.body)
        return self._loop(
            GraphLoop(self.whole, node, lambda: self.test(node.test), lambda: None, *names)
        )

    def tensor_for(self, node: ast.For, bounds: Any) -> Any:
        """`for i in range(tensor):`."""
        counter = f"{OURS}counter{node.lineno}.{node.col_offset}"
        self.env[counter] = bounds.first(self.tracer)

        def enter() -> None:
            value = self.env[counter]
            self.assign(node.target, value)
            self.env[counter] = value + bounds.step

        names = stored_names(node.body) | stored_names([node.target])
        test = lambda: bounds.goes_on(self.env[counter])  # noqa: E731
        signal = self._loop(GraphLoop(self.whole, node, test, enter, {counter}, names))
        self.env.pop(counter, None)
        return signal

    def _one_round(self, loop: GraphLoop) -> Any:
        """A loop whose body raises: a branch."""

        def start() -> None:
            loop.enter()
            self.push(loop.node.body)

        truth = self.tracer.truth(loop.test())
        self._branch(truth, lambda: self._run_arm(start), lambda: Exit.by(FALLS))
        self.push(loop.node.orelse)

    def _loop(self, loop: GraphLoop) -> Any:
        try:
            exit_ = loop.build()
        except BodyRaises:
            return self._one_round(loop)
        if not loop.node.orelse:
            exit_ = exit_.arrived(BREAK)
        if exit_.way is FALLS:
            self.push(loop.node.orelse)
            return None
        self.stack.append(("for", loop.node, [], 0))  # what a break leaves: here, the `else` alone
        return self._run_unless_left(exit_)


def _left(arm: Arm) -> Arm:
    """An arm of statements: what they gave is how they were left."""
    if not arm.dead:
        arm.exit, arm.value = arm.value, None
    return arm

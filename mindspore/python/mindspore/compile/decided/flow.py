"""Control flow that a tensor decides, as statements see it. The arms of a branch run their own statements first. Where one of them
leaves (return, break, continue) and the other goes on, what is skipped becomes part of the other; where an arm leaves only
on some of its ways, what follows it is put under a condition. Either way it is parsed once."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from typing import Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.compile.decided.exits import (
    BREAK,
    CONTINUE,
    FALLS,
    OURS,
    RETURN,
    VALUE,
    Mixed,
    Return,
    kinds_of,
)
from mindspore.compile.decided.fork import Arm, Fork
from mindspore.compile.decided.heap import Heap
from mindspore.compile.decided.loops import BodyRaises, GraphLoop
from mindspore.compile.decided.parts import FramePart
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.program.source import stored_names
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.structure import reachable
from mindspore.compile.values.values import Choice, pick

_MAX_NESTING = 64  # graphs inside graphs; beyond, what follows a branch is put under a condition


def _is_mixed(exit_: Any) -> bool:
    return isinstance(exit_, Mixed)


class Flow(FramePart):
    """A storey of Frame. Items ("arm", ends) and ("loop",) on the stack are barriers: what lies below belongs to a graph outside.
    An exit that reaches a barrier is noted in `self.exit`. `ends`: the function ends where the arm does."""

    exit: Any = None

    def push(self, statements: list[ast.stmt]) -> None:
        """These statements are run next."""
        if statements:
            self.stack.append(("block", statements, 0))

    # ---- branches -----------------------------------------------------------------------------------------------------
    def tensor_if(self, node: ast.If, test: Any) -> Any:
        """`if tensor:`. Where the arms cannot be compiled, the tensor's value may be known between two graphs."""
        first, second = (
            functools.partial(self._arm, functools.partial(self.push, body))
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

    def _arm(self, start: Callable[[], Any]) -> Any:
        """Runs what `start` does, and pushes, as an arm; how it was left."""
        base = len(self.stack)
        self.stack.append(("arm", False))
        start()
        return self._to_barrier(base)

    def _way(self, fork: Fork, side: int, run: Callable[[], Any]) -> Arm:
        """An arm of a fork, which leaves the stack as it is."""
        stack = self.stack
        self.stack = list(stack)
        arm = self._exit_of(fork.arm(side, run))
        self.stack = stack
        return arm

    def _rest(self, base: int, exit_: Any = FALLS) -> Any:
        """Runs what is on the stack above `base`; how it was left. `exit_`: of what came before."""
        ends = self._is_end(base)
        self.stack.insert(base, ("arm", ends))
        self._perform(exit_)
        exit_ = self._to_barrier(base)
        if ends and exit_ == FALLS:
            self.env[VALUE] = None
            return RETURN
        return exit_

    def _is_end(self, base: int) -> bool:
        """Whether the function ends when the stack is down to `base` items."""
        return base == 0 or self.stack[base - 1] == ("arm", True)

    def _to_barrier(self, base: int) -> Any:
        self.run(base + 1)
        del self.stack[base:]
        exit_, self.exit = self.exit, None
        return exit_ or FALLS

    def _step_arm(self, ends: bool) -> None:
        """The end of an arm."""

    def _branch(self, condition: Tensor, first: Callable, second: Callable) -> Any:
        fork = Fork(self.tracer, self.whole, condition)
        arms = [self._way(fork, side, run) for side, run in enumerate((first, second))]
        for leaver, stayer in (arms, arms[::-1]):
            if not leaver.dead and not stayer.dead and self._goes_on(leaver, stayer):
                self._extend(fork, leaver, stayer)
                break
        return self._meet(fork, arms)

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
            return self._arm(lambda: self._branch_among(choice, way, start))

        condition = self.tracer.below(choice, allowed[middle])
        return self._branch(condition, lambda: run(allowed[:middle]), lambda: run(allowed[middle:]))

    @staticmethod
    def _exit_of(arm: Arm) -> Arm:
        arm.exit, arm.value = (None if arm.dead else arm.value), None
        return arm

    def _goes_on(self, leaver: Arm, stayer: Arm) -> bool:
        return (
            not _is_mixed(leaver.exit)
            and leaver.exit != FALLS
            and FALLS in kinds_of(stayer.exit)
            and self.tracer.trace.depth < _MAX_NESTING
        )

    def _extend(self, fork: Fork, leaver: Arm, stayer: Arm) -> None:
        """What the leaver skips becomes part of the stayer."""
        base, landed = self._landing(leaver.exit)
        outer = self.stack
        arms = [stayer]
        if any(item[0] in ("with", "finally") for item in outer[base:]):
            self._check_cut(base, "with")
            arms = [leaver, stayer]  # the leaver's way, too, leads through what is there
        else:
            leaver.exit = landed
        for arm in arms:
            self.stack, exit_ = list(outer), arm.exit
            fork.resume(arm, functools.partial(self._rest, base, exit_))
            self._exit_of(arm)
        self.stack = outer[:base]

    # ---- where exits lead ---------------------------------------------------------------------------------------------
    def barrier(self) -> int:
        """The place of the innermost barrier on the stack, or -1."""
        return max(
            (i for i, item in enumerate(self.stack) if item[0] in ("arm", "loop")), default=-1
        )

    def loop_at(self) -> int | None:
        """The place of the innermost unrolled loop that a jump may reach."""
        barrier = self.barrier()
        return max(
            (i for i, item in enumerate(self.stack) if i > barrier and item[0] in ("for", "while")),
            default=None,
        )

    def _landing(self, exit_: int) -> tuple[int, int]:
        """How much of the stack remains where an exit leads to, and what of it remains to be done there."""
        at = None if exit_ == RETURN else self.loop_at()
        if at is None:
            return self.barrier() + 1, exit_
        return (at + 1 if exit_ == CONTINUE else at), FALLS

    def _check_cut(self, base: int, *kinds: str) -> None:
        if any(item[0] in (kinds or ("with", "finally")) for item in self.stack[base:]):
            raise Unsupported("a tensor decides how a 'with' or 'try' block is left")

    def jump(self, kind: int, again: tuple) -> Any:
        """break, continue or return: unwinds the stack. `again` repeats it after a `finally` on the way."""
        base, rest = self._landing(kind)
        keep = base + 1 if kind == BREAK and rest == FALLS else base
        if self.unwind(keep, again):
            return None
        del self.stack[base:]
        if rest != FALLS and base:
            self.exit = kind
        elif kind == RETURN:
            return Return(self.env.pop(VALUE))
        return None

    def leave(self, value: Any) -> Any:
        """`return value`."""
        self.env[VALUE] = value
        return self.jump(RETURN, ("leave", value))

    # ---- after a branch -------------------------------------------------------------------------------------------------
    def _meet(self, fork: Fork, arms: list[Arm]) -> Any:
        """Joins the arms, which both have come to where the stack now stands, and goes on."""
        exits = [arm.exit for arm in arms if not arm.dead]
        if all(not _is_mixed(e) and e == exits[0] for e in exits):
            fork.join(arms)
            return self._perform(exits[0])
        for arm in arms:
            mixed = _is_mixed(arm.exit)
            arm.value = arm.exit.kind if mixed else Tensor(arm.exit or FALLS, _core.int64)
        gone = [
            len(exits) > 1 and arm.exit == RETURN and not self._returns_function(arm)
            for arm in arms
        ]
        kind = fork.join(arms, gone)
        return self._guard(Mixed(kind, frozenset().union(*map(kinds_of, exits))))

    def _returns_function(self, arm: Arm) -> bool:
        """Whether a function that reads this frame's variables may be returned."""
        returned = arm.heap.get(id(self.env), {}).get(VALUE)
        return any(isinstance(v, NestedFunction) for v in reachable(self.tracer, [returned]))

    def _perform(self, exit_: Any) -> Any:
        """Goes on where an exit leads."""
        if _is_mixed(exit_):
            return self._guard(exit_)
        if exit_ == FALLS:
            return None
        if exit_ == RETURN:
            return self.leave(self.env.pop(VALUE))
        statement = ast.Break() if exit_ == BREAK else ast.Continue()
        return self.jump(exit_, ("jump", statement))

    def _guard(self, exit_: Mixed) -> Any:
        """Runs what follows where nothing was left, up to where the nearest of the exits leads."""
        while True:
            left = exit_.kinds - {FALLS}
            nearest = min(left, key=(CONTINUE, BREAK, RETURN).index)
            base, rest = self._landing(nearest)
            ends = self._is_end(base)
            if FALLS in exit_.kinds and (len(self.stack) > base or ends):
                return self._guarded(exit_, nearest, base, rest)
            self._check_cut(base)
            del self.stack[base:]
            landed = self._landed(exit_, nearest, rest)
            if not _is_mixed(landed):
                return self._perform(landed)
            if rest != FALLS:
                self.exit = landed
                return None
            exit_ = landed

    def _guarded(self, exit_: Mixed, nearest: int, base: int, rest: int) -> Any:
        self._check_cut(base)
        outer = self.stack
        fork = Fork(self.tracer, self.whole, ops.equal(exit_.kind, FALLS))
        first = self._way(fork, 0, lambda: self._rest(base))
        left = Mixed(exit_.kind, exit_.kinds - {FALLS})
        second = self._way(fork, 1, lambda: self._landed(left, nearest, rest))
        self.stack = outer[:base]
        return self._meet(fork, [first, second])

    def _landed(self, exit_: Mixed, nearest: int, rest: int) -> Any:
        """What remains to be done of an exit at the place that the nearest of its kinds leads to."""
        kinds = exit_.kinds if rest != FALLS else exit_.kinds - {nearest} | {FALLS}
        if len(kinds) == 1:
            return next(iter(kinds))
        kind = exit_.kind
        if rest == FALLS:
            kind = pick(ops.equal(kind, nearest), FALLS, kind)
        return Mixed(kind, kinds)

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
        self._branch(truth, lambda: self._arm(start), lambda: FALLS)
        self.push(loop.node.orelse)

    def _loop(self, loop: GraphLoop) -> Any:
        try:
            exit_ = loop.build()
        except BodyRaises:
            return self._one_round(loop)
        if not loop.node.orelse and BREAK in exit_.kinds:
            kind = pick(ops.equal(exit_.kind, BREAK), FALLS, exit_.kind)
            exit_ = Mixed(kind, exit_.kinds - {BREAK} | {FALLS})
        if exit_.kinds == {FALLS}:
            self.push(loop.node.orelse)
            return None
        self.stack.append(("for", loop.node, [], 0))  # what a break leaves: here, the `else` alone
        return self._guard(exit_)

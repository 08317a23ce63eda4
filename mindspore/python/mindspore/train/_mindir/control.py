"""Parts of a graph that run when a tensor says so: branches and loops, eagerly or as the front end compiles them.

The front end runs functions of this package as they are; those marked here it reads, for they have conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mindspore.train._mindir.graph import MindIrGraph, Step, taken

F = TypeVar("F", bound=Callable[..., Any])


def _parsed(function: F) -> F:
    """A function that the front end reads."""
    function._ms_parsed = True  # type: ignore[attr-defined]
    return function


class _Plain:
    """Steps in a row without a condition."""

    plain = True

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = tuple(steps)

    def run(self, values: list) -> list:
        """The values with those that are new."""
        values = list(values)
        for step in self.steps:
            operands = [values[i] for i in step.inputs]
            values.append(step.function(*operands, **step.settings))
            for i in step.dead:
                values[i] = None
        return values


class _Controlled:
    """A step with conditions."""

    plain = False

    def __init__(self, step: Step) -> None:
        self.step = step

    def operands(self, values: list) -> tuple:
        """What it reads."""
        return tuple([values[i] for i in self.step.inputs])

    def appended(self, values: list, result: Any) -> list:
        """The values with its result."""
        dead = set(self.step.dead)
        return [*[None if i in dead else v for i, v in enumerate(values)], result]


class Body:
    """Steps over values that are given, and over some of the values around."""

    def __init__(self, takes: list[int], steps: list[Step], result: Any) -> None:
        self.takes, self.result = tuple(takes), result
        self.parts: list[Any] = []
        row: list[Step] = []
        for step in steps:
            if step.function in _CONTROLS:
                self.parts += [_Plain(row), _Controlled(step)]
                row = []
            else:
                row.append(step)
        self.parts.append(_Plain(row))

    def begun(self, given: tuple, around: tuple) -> list:
        """The first values."""
        return [*given, *[around[i] for i in self.takes]]

    def ended(self, values: list) -> Any:
        """The results."""
        return taken(self.result, values)

    @_parsed
    def run(self, given: tuple, around: tuple) -> Any:
        """The results."""
        values = self.begun(given, around)
        for part in self.parts:
            if part.plain:
                values = part.run(values)
            else:
                result = part.step.function(*part.operands(values), **part.step.settings)
                values = part.appended(values, result)
        return self.ended(values)


@_parsed
def branch(condition: Any, *around: Any, yes: Body, no: Body) -> Any:
    """One of two bodies."""
    if condition:
        result = yes.run((), around)
    else:
        result = no.run((), around)
    return result


@_parsed
def loop(*operands: Any, count: int, test: Body, body: Body, after: Body) -> Any:
    """`body` as long as `test` says so, then `after`. The first `count` operands are what changes; `test` gives the condition, what
    `body` needs, and what `after` does.
    """
    around = operands[count:]
    condition, inside, behind = test.run(operands[:count], around)
    while condition:
        state = body.run(inside, around)
        condition, inside, behind = test.run(state, around)
    return after.run(behind, around)


@_parsed
def turns(*operands: Any, count: int, own: int, body: Body) -> Any:
    """Turns of a loop that is left in several ways, until one does not end with the number `own`: what that gives, which is how it
    ended, the states of the loops around and of this one, and what comes out. The first `count` operands are its first state.
    """
    around = operands[count:]
    ended = body.run(operands[:count], around)
    while ended[0] == own:
        ended = body.run(ended[own + 1], around)
    return ended


_CONTROLS = (branch, loop, turns)


class ControlledGraph(MindIrGraph):
    """A graph with branches or loops."""

    whole: Body

    @_parsed
    def run(self, parameters: Any, inputs: tuple) -> Any:
        """The results for these values."""
        self._check(inputs)
        return self.whole.run((), (*inputs, *parameters, *self.constants))


def graph_of(
    inputs: list, parameters: dict, constants: list, steps: list[Step], result: Any, fixed: set
) -> MindIrGraph:
    """The graph of these steps."""
    given = (inputs, parameters, constants, steps, result, fixed)
    if not any(step.function in _CONTROLS for step in steps):
        return MindIrGraph(*given)
    made = ControlledGraph(*given)
    count = len(inputs) + len(parameters) + len(constants)
    made.whole = Body(list(range(count)), steps, result)
    return made


__all__ = ["Body", "branch", "graph_of", "loop", "turns"]

"""Parts of a graph that run when a tensor says so: branches and loops, eagerly or as the front end compiles them."""

from __future__ import annotations

from typing import Any

from mindspore.train._mindir.graph import Step, taken


class Body:
    """Steps over values that are given, and over some of the values around."""

    def __init__(self, takes: list[int], steps: list[Step], result: Any) -> None:
        self.takes, self.steps, self.result = tuple(takes), tuple(steps), result

    def run(self, given: tuple, around: tuple) -> Any:
        """The results."""
        values = [*given, *[around[i] for i in self.takes]]
        for step in self.steps:
            operands = [values[i] for i in step.inputs]
            values.append(step.function(*operands, **step.settings))
            for i in step.dead:
                values[i] = None
        return taken(self.result, values)


def branch(condition: Any, *around: Any, yes: Body, no: Body) -> Any:
    """One of two bodies."""
    if condition:
        return yes.run((), around)
    return no.run((), around)


def loop(*operands: Any, count: int, going: bool, test: Body, body: Body, after: Body) -> Any:
    """`body` as long as `test` says `going`, then `after`. The first `count` operands are what changes; `test` gives the condition,
    what `body` needs, and what `after` does.
    """
    state, around = operands[:count], operands[count:]
    condition, inside, behind = test.run(state, around)
    while condition if going else not condition:
        state = body.run(inside, around)
        condition, inside, behind = test.run(state, around)
    return after.run(behind, around)


__all__ = ["Body", "branch", "loop"]

"""The graphs of a Cell for given arguments, as plain values: what goes into a file of another framework's layout."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Set
from typing import Any, NamedTuple

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.values.compilable import Compilable
from mindspore.compile.versions.attempt import Asked, Attempt
from mindspore.compile.versions.cache import Cache
from mindspore.compile.versions.compilation import Compilation
from mindspore.compile.versions.entries import FailedEntry, Version
from mindspore.compile.versions.keys import inputs_of
from mindspore.compile.walk.tracer import Tracer


class Graph(NamedTuple):
    """A graph. Its values are numbered: inputs first, then the outputs of the nodes, in order."""

    name: str
    inputs: list  # types: (dtype, sizes), or None of a function
    nodes: list  # Tensors (constants), or (op, inputs, attributes, output types, place)
    outputs: list[int]


class Captured(Version):
    """The graph of a Cell, and those that it calls by name."""

    def __init__(self, problem: str = "") -> None:
        self.problem = problem  # why what the Cell does is more than a graph of values
        # Of the main graph. Parameters and tensors: read, or (True) given.
        self.inputs: list[tuple[Tensor, bool]] = []
        self.main = Graph("", [], [], [])
        self.called: list[Graph] = []
        self.result: Any = None  # places among the outputs, in tuples as the Cell returns them


class _CapturingAttempt(Attempt):
    """One that ends with the trace: nothing is compiled."""

    def __init__(self, known: Set[str], *trace: Any):
        super().__init__(*trace)
        self.known = set(known)
        # Else a file would have each round in a branch of the one before.
        self.tracer.unrolls = False

    def _whole(self, value: Any) -> Any:
        tracer = self.tracer
        returned: list[Tensor] = []
        made = Captured()
        made.result = _places(value, returned)
        updated = tracer.trace.finish(returned)
        tracer.trace.close()
        made.problem = _problem(tracer, value, made.result, updated)
        if made.problem:
            return made
        found = _core.mindir.describe(tracer.trace, self.known)
        read, given = tracer.trace.parameters(), inputs_of((self.asked.args, {}))
        rest = iter(given)
        made.inputs = [
            (read[at], False) if at in read else (next(rest), True)
            for at in range(len(read) + len(given))
        ]
        made.main, *made.called = [Graph(**graph) for graph in found]
        return made


def _problem(tracer: Tracer, value: Any, result: Any, updated: list) -> str:
    if result is None:
        return f"must return a tensor, or tuples or lists of tensors, but returns {type(value).__name__}"
    if updated:
        return f"must change no Parameter, but changes {', '.join(repr(p.name) for p in updated)}"
    if tracer.cells.current(tracer.arguments) or tracer.given.changed():
        return "must not change its arguments in place, but does"
    return ""


def _places(value: Any, returned: list[Tensor]) -> Any:
    if isinstance(value, Tensor):
        returned.append(value)
        return len(returned) - 1
    if not isinstance(value, (tuple, list)) or not value:
        return None
    places = tuple(_places(v, returned) for v in value)
    return None if None in places else places


def capture(cell: Compilable, args: tuple, known: Set[str]) -> Captured:
    """The graph of a cell's call, in which ops that are not `known` are made of smaller ones, as far as they can be."""
    cache = Cache(type(cell).__name__, cell.construct)
    traced = lambda tracer, a, k: tracer.call_construct(cell, a, k)  # noqa: E731
    asked = Asked(cache, traced, args, {}, strict=True, fast=False)
    with _core.NoRecord():
        made = Compilation(asked, functools.partial(_CapturingAttempt, known)).run()
    if isinstance(made, FailedEntry):
        made.error.raise_again()
    return made


def argument_names(cell: Compilable, count: int) -> list[str]:
    """What the tensors among the arguments are called."""
    parameters = list(inspect.signature(cell.construct).parameters.values())
    plain = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return plain if len(plain) == count else [f"x{i}" for i in range(count)]

"""One version of a function: whether its facts hold, and a run of it. Most are a compiled graph; others run the function eagerly, or
raise what it raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.decided.given import containers_of
from mindspore.compile.values.numbers import as_tensor
from mindspore.compile.versions.keys import inputs_of, records_of
from mindspore.compile.versions.remembered import Remembered


class Version:
    """What serves the calls of one key, as long as its facts hold."""

    graph: Any = None

    def __init__(self, facts: list):
        self.facts, self.guards = facts, _core.Guards(facts)

    def fits(self, inputs: list | None) -> bool:
        """Whether what was assumed still holds."""
        return self.guards.check() < 0

    def run(self, args: tuple, kwargs: dict, eager: Callable, tensors: list | None = None) -> Any:
        """The function on arguments of the types that this was made for; `eager` is the same as plain Python, and `tensors` are
        those among the arguments, where they have been found already."""
        raise NotImplementedError


class Entry(Version):
    """One compiled graph."""

    def __init__(
        self, graph: Any, facts: list, place: Callable[..., Any], numbers: tuple[int, ...] = ()
    ):
        super().__init__(facts)
        self.graph, self.place = graph, place
        self.numbers = numbers  # places of the arguments, all in order, that are numbers and inputs
        self.warn: Callable[[str], None] = lambda reason: None  # of a call that runs eagerly

    def fits(self, inputs: list | None) -> bool:
        if self.guards.check() >= 0:
            return False
        return inputs is None or not self.graph.dynamic or self.graph.fits(inputs)

    def inputs(self, args: tuple, kwargs: dict, tensors: list | None) -> list[Tensor]:
        """What the graph takes: the tensors among the arguments, then numbers."""
        inputs = inputs_of((args, kwargs)) if tensors is None else tensors
        if self.numbers:
            values = [*args, *kwargs.values()]
            inputs = inputs + [as_tensor(values[i]) for i in self.numbers]
        return inputs

    def run(self, args: tuple, kwargs: dict, eager: Callable, tensors: list | None = None) -> Any:
        try:
            outputs = self.graph.run(self.inputs(args, kwargs, tensors))
        except _core.SharedMemory as shared:
            self.warn(str(shared))
            return eager(*args, **kwargs)
        return self.place(outputs)


class _Shared(Exception):
    """What a run would change is something else, too."""


class ChangingEntry(Entry):
    """A compiled version that changes arguments in place: tensors, those at the positions `changed` among the inputs, get the last
    outputs, lists and dicts what `place` puts there."""

    changed: list[int]
    changed_containers: list[int]  # positions among the lists and dicts
    outside: set[int]  # ids of lists and dicts that the function reads, arguments aside

    def run(self, args: tuple, kwargs: dict, eager: Callable, tensors: list | None = None) -> Any:
        inputs = self.inputs(args, kwargs, tensors)
        containers = containers_of(args, kwargs)
        try:
            if not (self.changed or self.changed_containers):
                outputs = self.graph.run(inputs)
            else:
                with _core.Writing():  # from reading what changes on
                    outputs = self._changing(inputs, containers)
        except (_core.SharedMemory, _Shared) as shared:
            self.warn(str(shared))
            return eager(*args, **kwargs)
        return self.place(outputs, containers, inputs, records_of(args, kwargs))

    def _changing(self, inputs: list, containers: list) -> list:
        shared = self._shared(inputs, containers)
        if shared:
            raise _Shared(shared)
        outputs = self.graph.run(inputs)
        for at, new in zip(self.changed, outputs[len(outputs) - len(self.changed) :]):
            inputs[at]._write(new)
        return outputs

    def _shared(self, inputs: list, containers: list) -> str:
        """Why what this run would change in place could change something else with it; empty where it cannot."""
        tensors = {_core.sharing_id(t) for t in self.graph.parameters} if self.changed else set()
        for found, changed, outside in (
            ([_core.sharing_id(t) for t in inputs], self.changed, tensors),
            ([id(c) for c in containers], self.changed_containers, self.outside),
        ):
            if any(found.count(found[at]) > 1 for at in changed):
                return "an argument that changes in place is given twice, or with a view of it"
            if any(found[at] in outside for at in changed):
                return "an argument that changes in place is an attribute or variable, too"
        return ""


class EagerEntry(Version):
    """A version that could not be compiled: it runs as in PYNATIVE_MODE; the cells and jit functions in it are compiled on
    their own."""

    def run(self, args: tuple, kwargs: dict, eager: Callable, tensors: list | None = None) -> Any:
        return eager(*args, **kwargs)


class LikelyFails(EagerEntry):
    """A version that was found to raise an exception where only eager code does before it what it should. It says so where it
    does not raise."""

    def __init__(self, facts: list, warn: Callable[[], None]):
        super().__init__(facts)
        self.warn = warn

    def run(self, args: tuple, kwargs: dict, eager: Callable, tensors: list | None = None) -> Any:
        value = super().run(args, kwargs, eager)
        self.warn()
        return value


class FailedEntry(Version):
    """A version that fails: what it does before is done, then the error raised. `refused`: what cannot be compiled is an error."""

    def __init__(
        self, facts: list, error: Remembered, before: Entry | None = None, refused: bool = False
    ):
        super().__init__(facts)
        self.error, self.before, self.refused = error, before, refused

    def run(self, args: tuple, kwargs: dict, eager: Callable, tensors: list | None = None) -> Any:
        if self.before is not None:
            self.before.run(args, kwargs, eager, tensors)
        self.error.raise_again()

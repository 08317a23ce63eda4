"""One compiled version: whether its facts hold, and a run of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.compile.decided.given import containers_of
from mindspore.compile.values.numbers import as_tensor
from mindspore.compile.versions.keys import inputs_of, records_of


class Entry:
    """One compiled version of a function."""

    def __init__(
        self,
        graph: Any,
        facts: list,
        place: Callable[..., Any],
        numbers: tuple[int, ...] = (),
    ):
        self.graph, self.facts, self.place = graph, facts, place
        self.guards = _core.Guards(facts)
        self.numbers = numbers  # places of the arguments, all in order, that are numbers and inputs
        self.warn: Callable[[str], None] = lambda reason: None  # of a call that runs eagerly

    def fits(self, inputs: list | None) -> bool:
        """Whether what was assumed still holds: of Python facts, and of open sizes."""
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
        """The function on arguments of the types that this was compiled for; `tensors` are those among them, where they have
        been found already."""
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
        """The function on arguments of the types that this was compiled for."""
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


class EagerEntry:
    """A version that could not be compiled: it runs as in PYNATIVE_MODE; the cells and jit functions in it are compiled on
    their own."""

    graph = None

    def __init__(self, facts: list):
        self.facts = facts
        self.guards = _core.Guards(facts)

    def fits(self, inputs: list | None) -> bool:
        """Whether what was found still holds."""
        return self.guards.check() < 0

    def run(self, args: tuple, kwargs: dict, eager: Callable, tensors: list | None = None) -> Any:
        """The function, run eagerly."""
        return eager(*args, **kwargs)


class LikelyFails(EagerEntry):
    """A version that was found to raise an exception where only eager code does before it what it should. It says so where it
    does not raise."""

    def __init__(self, facts: list, warn: Callable[[], None]):
        super().__init__(facts)
        self.warn = warn

    def run(self, args: tuple, kwargs: dict, eager: Callable, tensors: list | None = None) -> Any:
        """The function, run eagerly."""
        value = eager(*args, **kwargs)
        self.warn()
        return value

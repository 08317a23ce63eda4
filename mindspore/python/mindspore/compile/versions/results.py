"""What a compiled function returns: the tensors among it are outputs of the graph, and each run makes the rest again around them,
tuples, lists, dicts and objects that the function made. What a tensor chose is picked when the graph has run."""

from __future__ import annotations

import functools
import types
from collections import Counter
from collections.abc import Callable, Collection, Iterator, MappingView
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore import _core
from mindspore._core import SymbolicInt, Tensor
from mindspore.common import _late
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.effects import Text
from mindspore.compile.values.host_values import HostValue
from mindspore.compile.values.ranges import TracedRange
from mindspore.compile.values.structure import attributes_of, set_contents, structure_of
from mindspore.compile.values.values import NUMBERS, Choice, Undefined
from mindspore.compile.versions.breaks import refuse_code

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer

# From the outputs of a run, and what it has made for several places; what the caller gave is there by these keys.
Make = Callable[[list, dict], Any]
_CONTAINERS, _INPUTS, _RECORDS = "containers", "inputs", "records"


class Result:
    """The value of a function under compilation, taken apart. `parts`: the arguments of which a process has its part alone, while what it
    gets back is whole."""

    def __init__(self, tracer: Tracer, value: Any, parts: Collection[int] = ()):
        self.tracer, self._parts_given = tracer, parts
        # Outputs of the graph: tensors, and the backward functions of vjp.
        self.returned: list[Any] = []
        self.numeric: list[bool] = []  # those that are Python's numbers, and leave as such
        self.uses_given = False
        self.shows = False  # a tensor shows elements of a Parameter, or of another result
        # By id: one object is one output, however often it is returned.
        self._outputs: dict[int, int] = {}
        self._places: Counter = Counter()
        self._count(value, ())
        self.make = self._maker(value)
        self.contents = [(at, self._contents(at)) for at in tracer.given.changed()]

    def place(self, outputs: list, originals: list, inputs: list, records: list) -> Any:
        """The value of a run; `originals` are the lists and dicts among its arguments, which it changes as the trace did,
        `inputs` the tensors, and `records` those."""
        made: dict = {_CONTAINERS: originals, _INPUTS: inputs, _RECORDS: records}
        value = self.make(outputs, made)
        contents = [(originals[at], make(outputs, made)) for at, make in self.contents]
        for container, new in contents:
            set_contents(container, new)
        return value

    def _contents(self, at: int) -> Make:
        """What a list or dict among the arguments holds in the end."""
        container = self.tracer.given.containers[at]
        keys = list(container) if isinstance(container, dict) else None
        items = list(container.values()) if keys is not None else list(container)
        makers = [self._maker(item) for item in items]

        def make(outputs: list, made: dict) -> Any:
            new = [item(outputs, made) for item in makers]
            return new if keys is None else dict(zip(keys, new))

        return make

    # ---- taking apart -----------------------------------------------------------------------------------------------
    def _count(self, value: Any, around: tuple[int, ...]) -> None:
        """How many places hold each object."""
        if isinstance(value, Choice):
            for option in value.options:
                self._count(option, around)
            return
        parts = self._parts(value)
        if parts is None:
            return
        if id(value) in around:
            raise Unsupported("a compiled function returns an object that holds itself")
        self._places[id(value)] += 1
        if self._places[id(value)] == 1:
            for item in parts[0]:
                self._count(item, (*around, id(value)))

    def _maker(self, value: Any) -> Make:
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, Choice):
            return self._choice(value)
        if isinstance(value, _core.FunctionValue):
            return self._output(value, False)
        if isinstance(value, SymbolicInt):
            size = int(value)  # that of this call, which becomes a guard
            return lambda outputs, made: size
        given = self.tracer.given.place(value)
        if given >= 0:
            self.uses_given = True
            return lambda outputs, made: made[_CONTAINERS][given]
        record = self.tracer.given.record(value)
        if record >= 0:
            self.uses_given = True
            return lambda outputs, made: made[_RECORDS][record]
        parts = self._parts(value)
        if parts is None:
            check_leaf(value)
            return lambda outputs, made: value
        items, assemble = [self._maker(item) for item in parts[0]], parts[1]
        key = id(value)
        if isinstance(value, tuple) or self._places[key] == 1:
            return lambda outputs, made: assemble([item(outputs, made) for item in items])

        def shared(outputs: list, made: dict) -> Any:
            if key not in made:
                made[key] = assemble([item(outputs, made) for item in items])
            return made[key]

        return shared

    def _tensor(self, value: Tensor) -> Make:
        if not value.is_symbolic and isinstance(value, _late.parameter_class):
            return lambda outputs, made: value
        given = self._argument(value)
        if given >= 0 and given not in self._parts_given:
            self.uses_given = True
            return lambda outputs, made: made[_INPUTS][given]
        known = self.tracer.outside_of(value)
        if known is not None:
            self.shows = True
            return lambda outputs, made: known
        make = self._output(value, _core.is_weak(value))
        base = _core.shows(value)
        return make if base is None else self._view(value, base, make)

    def _argument(self, value: Tensor) -> int:
        """Which argument a tensor is; -1 for others."""
        return next((i for i, t in enumerate(self.tracer.arguments) if t is value), -1)

    def _view(self, value: Tensor, base: Tensor, make: Make) -> Make:
        """A tensor that shows elements of what the caller has, or gets too."""
        given = self._argument(base)
        self.uses_given |= given >= 0
        self.shows = True
        known = self.tracer.outside_of(base)

        def view(outputs: list, made: dict) -> Tensor:
            shown, shows = make(outputs, made), known
            if given >= 0:
                shows = made[_INPUTS][given]
            elif id(base) in self._outputs:
                shows = outputs[self._outputs[id(base)]]
            if shows is not None:
                _core.show_like(shows, shown, value)
            return shown

        return view

    def _output(self, value: Any, numeric: bool) -> Make:
        at = self._outputs.setdefault(id(value), len(self.returned))
        if at == len(self.returned):
            self.returned.append(value)
            self.numeric.append(numeric)
        if self.numeric[at]:
            return lambda outputs, made: outputs[at].item()
        return lambda outputs, made: outputs[at]

    def _choice(self, value: Choice) -> Make:
        allowed = self.tracer.allowed(value)
        if len(allowed) == 1:
            return self._maker(value.options[allowed[0]])
        index = self._tensor(value.index)
        options = {i: self._maker(value.options[i]) for i in allowed}
        return lambda outputs, made: options[int(index(outputs, made).item())](outputs, made)

    def _parts(self, value: Any) -> tuple[list, Callable[[list], Any]] | None:
        """What a structure holds, and how one like it is made of other items; None for what is left as it is."""
        if self.tracer.is_outside(value) or self.tracer.given.place(value) >= 0:
            return None  # an object that the caller has
        structure = structure_of(value)
        if isinstance(value, dict) and self.tracer.has_traced(list(value)):
            raise Unsupported("a compiled function returns a dict whose keys hold tensors")
        if structure.is_open and structure.rebuild is not None:
            return list(structure.parts(value)), functools.partial(structure.rebuild, value)
        if isinstance(value, np.ndarray) and value.dtype.hasobject:
            raise Unsupported("a compiled function returns an array of objects")
        if isinstance(value, (bytearray, np.ndarray)):
            return [], lambda items: value.copy()
        own = attributes_of(self.tracer, value)
        if own is not None and type(value).__new__ is object.__new__:
            return list(own.values()), functools.partial(_object_like, value)
        return None


def _object_like(value: Any, items: list) -> Any:
    fresh = object.__new__(type(value))
    vars(fresh).update(zip(vars(value), items))
    return fresh


def check_leaf(value: Any) -> None:
    """Refuses what cannot leave compiled code: it belongs to the compilation, or leads to what does."""
    if value is None or isinstance(
        value, (*NUMBERS, str, bytes, type, types.ModuleType, HostValue)
    ):
        return
    if isinstance(value, Text):
        raise Unsupported("a compiled function returns a string that holds the value of a tensor")
    if isinstance(value, Undefined):
        raise Unsupported(f"what a compiled function returns has no single value: {value.reason}")
    if isinstance(value, (Iterator, MappingView, TracedRange)):
        raise Unsupported(f"a compiled function returns a {type(value).__name__}")
    inner = value.func if isinstance(value, functools.partial) else value
    if isinstance(getattr(inner, "__self__", None), Tensor):
        raise Unsupported("a compiled function returns a method of a tensor")
    refuse_code(value)


def check_parts(value: Any) -> None:
    """check_leaf of all leaves."""
    structure = structure_of(value)
    if structure.changes or structure.is_data:
        for item in structure.parts(value):
            check_parts(item)
    elif not isinstance(value, Tensor):
        check_leaf(value)

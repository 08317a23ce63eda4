"""What plain Python reads of objects from outside, while a program is traced: `float(config)`, `copy.copy(config)`, `a == b`. Nobody sees
which of their attributes it reads, so all of them become facts, and those of the objects that they hold."""

from __future__ import annotations

import enum
import types
from collections.abc import Iterable
from typing import Any

from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.foreign import Does, does
from mindspore.compile.values.structure import state_of, structure_of
from mindspore.compile.walk.generators import Iterators
from mindspore.ops.primitive import Primitive

_MAX_OBJECTS = 10_000
_SIMPLE = (bool, int, float, complex, str, bytes, type(None), Tensor)
# What has a state that no program changes, or one that is looked after elsewhere.
_KNOWN = (type, types.ModuleType, types.FunctionType, types.MethodType, enum.Enum, Primitive)
# They look at what an object is, not at what it holds.
_ASKING = (isinstance, issubclass, id, type, callable, iter, next, object.__setattr__)


class States(Iterators):
    """A storey of Tracer."""

    def note_arguments(self, function: Any, values: Iterable[Any]) -> None:
        """Plain Python is called with these values."""
        if Does.PASSES not in does(function) and not any(function is f for f in _ASKING):
            self.note_states(values)

    def note_states(self, values: Iterable[Any]) -> None:
        """Plain Python looks at these values."""
        pending = [v for v in values if type(v) not in _SIMPLE]
        seen: set[int] = set()
        while pending:
            value = pending.pop()
            if type(value) in _SIMPLE or id(value) in seen:
                continue
            if isinstance(value, (*_KNOWN, _late.cell_class, _late.parameter_class)):
                continue
            seen.add(id(value))
            if len(seen) > _MAX_OBJECTS:
                raise Unsupported(f"plain Python reads an object that leads to {_MAX_OBJECTS} more")
            structure = structure_of(value)
            if structure.is_open:
                pending += structure.parts(value)
            state = _state_of(value)
            if state:
                if id(value) not in self.made:
                    self.guards.content(state)
                pending += state.values()

    def note_made(self, made: Any) -> Any:
        """The program made an object that nobody else has; the object."""
        if not isinstance(made, (Tensor, str, int, float)):
            self.made.add(id(made))
            self.keep.append(made)
        return made


def _state_of(value: Any) -> dict | None:
    """The attributes of an object of a class that is not of this package."""
    ours = (type(value).__module__ or "").partition(".")[0] == "mindspore"
    return None if ours else state_of(value)

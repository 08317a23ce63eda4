"""Items of containers and tensors, and changes in place of what others see."""

from __future__ import annotations

import collections
import inspect
import operator
import os
import types
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._indexing import index_update
from mindspore.compile.decided.choices import by_option, is_sequence
from mindspore.compile.program.borders import of_program, program_operation, serves
from mindspore.compile.program.errors import Inseparable, Unsupported
from mindspore.compile.values import foreign
from mindspore.compile.values import guards as facts
from mindspore.compile.values.host_values import HostValue, decides, has_host
from mindspore.compile.values.structure import first
from mindspore.compile.values.values import Choice
from mindspore.compile.walk.facts import Facts


class Subscripts(Facts):
    """Reading and writing them."""

    replaced: list[Tensor]  # Parameters that set_data gives another value
    # Arrays that were changed inside of graphs, with their numbers before, and where those of the innermost branch or loop begin.
    changed_arrays: list[tuple]
    arrays_apart: int

    def check_mutable(self, value: Any) -> None:
        """Objects from outside must not change while compiling: the change would happen once, not on every call."""
        if isinstance(value, (*facts.MUTABLE, np.ndarray)) and self.is_outside(value):
            raise Unsupported(
                f"a compiled function cannot change a {type(value).__name__} that was made outside of it; copy it "
                "first, or return the new value"
            )

    def check_array(self, array: Any, value: Any) -> None:
        """Before an array is changed in place: it is memory with numbers, which changes while compiling or not at all."""
        self.check_mutable(array)
        memory = foreign.memory_of(array)
        unknown = any(first(value, kind) is not None for kind in (HostValue, Tensor, Choice))
        if unknown and not memory.dtype.hasobject:
            raise Inseparable(
                "an array that was made in compiled code is given what only a run knows; make a new array, or compute with tensors"
            )
        if self.trace.depth:
            self.note_array(memory, memory.copy())

    def note_array(self, array: Any, before: Any) -> None:
        """Keeps the numbers of an array that changes, where a branch or loop may have to put them back."""
        if all(a is not array for a, _ in self.changed_arrays[self.arrays_apart :]):
            self.changed_arrays.append((array, before))

    def is_outside(self, value: Any) -> bool:
        """Whether a list, dict or array was read from outside."""
        return (facts.LIST, id(value), None) in self.guards._known

    def outside_of(self, value: Tensor) -> Tensor | None:
        """The tensor outside that a value of the graph is: a Parameter, or what was lifted."""
        if isinstance(value, _late.parameter_class):
            return value
        return self.lifted[id(value)][1] if id(value) in self.lifted else None

    @by_option
    def set_item(self, owner: Any, key: Any, value: Any) -> Any:
        """`owner[key] = value`; the owner."""
        if first(key, Choice) is not None:
            return self.split_arguments([key], {}, lambda k, _: self.set_item(owner, k[0], value))
        if isinstance(owner, Tensor):
            updated = self._updated(owner, key, value)
            with program_operation:
                return owner._write(updated)
        method = self.special_method(owner, "__setitem__")
        if method is not None:
            self.call(method, [key, value], {})
            return owner
        if isinstance(owner, foreign.ARRAYS):
            self.check_array(owner, (key, value))
        else:
            self.check_mutable(owner)
        with program_operation:
            owner[key] = value
        return owner

    @serves
    def replace(self, parameter: Tensor, value: Tensor) -> None:
        """A Parameter is given another value, as `set_data` does: views of it keep what they show."""
        self.aliases.check_change(parameter)
        if any(view.is_symbolic for view in _core.views_of(parameter)):
            raise Inseparable("a Parameter is given another value while a view of it is in use")
        self.replaced.append(parameter)
        with program_operation:
            self.trace.set_parameter(parameter, value)

    @serves
    def write(self, owner: Tensor, value: Tensor) -> None:
        """A tensor that is no view is given another value where it stands: what `Tensor._write` comes to."""
        self.aliases.check_change(owner)
        if isinstance(owner, _late.parameter_class):
            with program_operation:
                self.trace.set_parameter(owner, value)
            return
        if id(owner) in self.lifted:
            raise Inseparable(
                "a compiled function cannot change a tensor that was made outside of it in place; "
                "make it a Parameter, or copy it first"
            )
        if self.session is not None and self.session.steps and self.is_argument(owner):
            raise Inseparable(
                "an argument is changed in place, in a function with lines that run eagerly"
            )
        # Known or not, these are values of the graph: facts are objects that stay what they are.
        for view in _core.views_of(owner):
            if not view.is_symbolic:
                self.cells.change(view, self.trace.constant(view))
        self.cells.change(owner, value if value.is_symbolic else self.trace.constant(value))

    def _updated(self, owner: Tensor, key: Any, value: Any) -> Tensor:
        """A tensor with some of its elements replaced, between two graphs where a value came out of the first."""
        if has_host((key, value)):
            return self.run_eagerly(decides(), index_update, [owner, key, value])
        try:
            with program_operation:
                return index_update(owner, key, value)
        except Unsupported as reason:  # a mask or a bound: where the values go depends on values
            return self.run_eagerly(reason, index_update, [owner, key, value])

    def get_item(self, owner: Any, key: Any) -> Any:
        """`owner[key]`."""
        if isinstance(owner, Choice):  # as by_option does, which is too slow here
            return self.split(owner, lambda option: self.get_item(option, key))
        if first(key, Choice) is not None:
            return self.split_arguments([key], {}, lambda k, _: self.get_item(owner, k[0]))
        if self.is_traced(key) and is_sequence(owner):
            return self.item_at(owner, key)
        if owner is os.environ:
            return self.run_call(operator.getitem, [owner, key], {})
        if not isinstance(owner, (Tensor, tuple, list, str)):
            in_dict = isinstance(owner, dict)
            item = self._item_of_dict(owner, key) if in_dict else self._item_by_method(owner, key)
            if item is not NotImplemented:
                return item
        try:
            item = owner[key]
        except Unsupported as reason:  # a mask, a bound: the size of the result depends on values
            if not isinstance(owner, Tensor):
                raise
            return self.run_eagerly(reason, operator.getitem, [owner, key])
        except Exception as error:
            of_program(error)
            raise
        if not isinstance(owner, Tensor):
            return self.fact(item)
        return self.aliases.note_row(item, owner) if _counts(owner, key) else item

    def _item_by_method(self, owner: Any, key: Any) -> Any:
        """What a `__getitem__` of the program gives; NotImplemented where there is none."""
        method = inspect.getattr_static(type(owner), "__getitem__", None)
        if not isinstance(method, types.FunctionType) or method.__module__.startswith("mindspore"):
            return NotImplemented
        return self.call(method, [owner, key], {})

    def _item_of_dict(self, owner: dict, key: Any) -> Any:
        """What a dict has not, or cannot be asked for; NotImplemented for what it has."""
        if isinstance(key, HostValue):  # one without a hash so far
            return key.session.operate(operator.getitem, owner, key)
        if not hasattr(type(owner), "__missing__"):
            return NotImplemented
        with program_operation:
            missing = key not in owner
        method = self.special_method(owner, "__missing__") if missing else None
        if method is not None:
            return self.call(method, [key], {})
        if missing and isinstance(owner, collections.defaultdict):
            self.check_mutable(owner)
        return NotImplemented


def _counts(owner: Any, key: Any) -> bool:
    """Whether a tensor that stands for a Python int is among the indices of a tensor: in eager code that gives a view."""
    if not isinstance(owner, Tensor):
        return False
    parts = key if isinstance(key, tuple) else (key,)
    return any(isinstance(p, Tensor) and _core.is_weak(p) for p in parts)

"""Special methods that classes of users define: operators, calls, items and iteration of their objects are calls of these, which are
parsed like any method."""

from __future__ import annotations

import ast
import operator
from collections import deque
from collections.abc import Callable
from typing import Any

from mindspore._core import Tensor
from mindspore.compile.decided.parts import TracerPart
from mindspore.compile.program.borders import listed, program_operation
from mindspore.compile.values.host_values import HostValue
from mindspore.compile.values.operators import (
    ARITHMETIC,
    BINARY_METHODS,
    MIRRORED,
    UNARY_METHODS,
)
from mindspore.compile.values.stand_ins import sample_of
from mindspore.compile.walk.calls import is_of_program

_CONTAINERS = (list, set, dict, deque, bytearray)


class SpecialMethods(TracerPart):
    """Mixin of Tracer."""

    def special_method(self, owner: Any, name: str) -> Any:
        """A special method that a user wrote, bound to its object; None where there is none."""
        for kind in type(owner).__mro__:
            if name in kind.__dict__:
                return self.bound(owner, name) if is_of_program(kind.__dict__[name]) else None
        return None

    def operate_by_methods(self, operation: Callable, a: Any, b: Any) -> Any:
        """A binary operator of an object of a user; NotImplemented where neither has a method for it."""
        names = BINARY_METHODS.get(operation)
        if names is None:
            return NotImplemented
        ways = [(a, names[0], b), (b, names[1], a)]
        compares = names[1][2:-2] in MIRRORED
        if type(b) is type(a) and not compares:
            ways.pop()
        elif type(b) is not type(a) and isinstance(b, type(a)):
            own = getattr(type(b), names[1], None) is not getattr(type(a), names[1], None)
            if compares or own:
                ways.reverse()
        for owner, name, other in ways:
            method = self.special_method(owner, name)
            if method is None:
                continue
            result = self.call(method, [other], {}, None)
            if result is not NotImplemented:
                return result
        return NotImplemented

    def operate_on(self, operation: Callable, value: Any) -> Any:
        """A unary operator."""
        method = self.special_method(value, UNARY_METHODS[operation])
        if method is not None:
            return self.call(method, [], {}, None)
        with program_operation:
            return operation(value)

    def augment(self, operation: type[ast.operator], old: Any, value: Any) -> Any:
        """What `old += value` changes in place; NotImplemented for values that do not change."""
        name = ARITHMETIC[operation]
        if isinstance(old, HostValue):
            if hasattr(old.session.value(old), f"__i{name}__"):
                return old.session.operate(getattr(operator, f"i{name}"), old, value)
            return NotImplemented
        method = self.special_method(old, f"__i{name}__")
        if method is not None:
            return self.call(method, [value], {}, None)
        if type(old) is list and isinstance(value, Tensor) and sample_of(value) is value:
            return NotImplemented  # Python asks the tensor first, to which a list is numbers
        if type(old) in _CONTAINERS and hasattr(old, f"__i{name}__"):
            self.check_mutable(old)
            if operation is ast.Add:
                value = listed(self.iterate(value)) if isinstance(old, (list, deque)) else value
            with program_operation:
                return getattr(operator, f"i{name}")(old, value)
        return NotImplemented

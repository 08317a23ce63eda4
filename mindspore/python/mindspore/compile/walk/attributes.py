"""Attributes of objects: what is read of those from outside becomes a fact of the graph."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.program.borders import program_operation, read
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values import guards as facts
from mindspore.compile.values.compilable import changes_parameters
from mindspore.compile.values.foreign import is_library, is_users
from mindspore.compile.values.host_values import HostValue
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.stand_ins import attribute_of, sample_of
from mindspore.compile.values.values import Choice
from mindspore.compile.walk.subscripts import Subscripts


class Attributes(Subscripts):
    """Reading and writing them."""

    def get_attribute(self, owner: Any, name: str) -> Any:
        """`owner.name`; what the caller has becomes a fact, and what it has not."""
        try:
            return self._attribute(owner, name)
        except AttributeError:
            self.note_missing(owner, name)
            raise

    def note_missing(self, owner: Any, name: str) -> None:
        """That an object has no such attribute is a fact."""
        kind = owner if isinstance(owner, type) else type(owner)
        instance = (
            None if isinstance(owner, (Tensor, HostValue)) else getattr(owner, "__dict__", None)
        )
        if _static_attribute(kind, name) is not facts.MISSING or (instance and name in instance):
            return  # it has, and code of the program raised the error
        if type(instance) is dict and id(owner) not in self.made:
            self._guard_of(owner)(instance, name, facts.MISSING)
        if not isinstance(owner, types.ModuleType):
            self.guards.attribute(kind, name, facts.MISSING)

    def _guard_of(self, owner: Any) -> Callable[[dict, str, Any], None]:
        """How facts about the attributes of an object are kept."""
        return self.guards.member if isinstance(owner, _late.cell_class) else self.guards.item

    def _attribute(self, owner: Any, name: str) -> Any:
        if isinstance(owner, HostValue):
            return read(owner, name)
        if isinstance(owner, Choice):
            return self.split(owner, lambda o: self.get_attribute(o, name))
        if self.aliases.origins and isinstance(owner, Tensor):
            self.aliases.check_attribute(owner, name)
        if name == "__class__":
            return type(sample_of(owner))
        if isinstance(owner, Tensor) and _core.is_weak(owner):
            with program_operation:
                return self.note_made(attribute_of(owner, name))
        instance = getattr(owner, "__dict__", None)
        if isinstance(owner, (Tensor, str, tuple, list, dict, set, int, float, NestedFunction)):
            ours = isinstance(owner, (Tensor, NestedFunction)) or id(owner) in self.made
            if type(instance) is dict and not ours:  # a list, say, of a class of its own
                return self._instance_attribute(owner, instance, name)
            value = read(owner, name)
            if isinstance(owner, _late.parameter_class) and not isinstance(value, Tensor):
                if isinstance(vars(_late.parameter_class).get(name), property):
                    self.guards.attribute(owner, name, value)
            return value
        if id(owner) in self.made:
            return self._made_attribute(owner, instance, name)
        if name == "__dict__" and type(instance) is dict:
            self.guards.content(instance)
            return instance
        if type(instance) is dict and not isinstance(owner, type):
            return self._instance_attribute(owner, instance, name)
        value = read(owner, name)
        if isinstance(owner, types.ModuleType):
            self.guards.item(vars(owner), name, vars(owner).get(name, facts.MISSING))
        elif not isinstance(value, (types.MethodType, types.BuiltinMethodType)) and not isinstance(
            owner, super
        ):
            self.guards.attribute(owner, name, value)
        return self.fact(value)

    def _made_attribute(self, owner: Any, instance: Any, name: str) -> Any:
        """Of an object that the compiled function made: what its class has is a fact."""
        kind = type(owner)
        static = _static_attribute(kind, name)
        own = bool(instance) and name in instance
        if is_library(kind):
            return read(owner, name)
        if static is facts.MISSING and not own:
            method = self.special_method(owner, "__getattr__")
            return read(owner, name) if method is None else self.call(method, [name], {})
        if static is facts.MISSING or (own and not hasattr(type(static), "__set__")):
            return read(owner, name)
        method = self.special_method(static, "__get__")
        if method is not None:
            return self.call(method, [owner, kind], {})
        self.guards.attribute(kind, name, getattr(kind, name, static))
        if isinstance(static, property):
            return self.call(static.fget, [owner], {})
        return read(owner, name)

    def _instance_attribute(self, owner: Any, instance: dict, name: str) -> Any:
        kind = type(owner)
        static = _static_attribute(kind, name)
        guard = self._guard_of(owner)
        if isinstance(static, property) and not is_library(kind):
            self.guards.attribute(kind, name, static)
            return self.call(static.fget, [owner], {})
        if name in instance and not hasattr(static, "__set__"):
            value = instance[name]
            guard(instance, name, value)
            value = self.fact(value)
            if not changes_parameters(instance):
                return value
            with program_operation:
                return owner._cast_parameter(value)
        value = read(owner, name)
        if name not in instance and static is not facts.MISSING:
            guard(instance, name, facts.MISSING)
            if not isinstance(static, property) and hasattr(kind, name):
                self.guards.attribute(kind, name, getattr(kind, name))
        elif name not in instance and not isinstance(owner, _late.cell_class):
            self.guards.attribute(owner, name, value)  # a __getattr__ found it
        return self.fact(value)

    def bound(self, owner: Any, name: str) -> Any:
        """A special method of an object's class, bound to it."""
        return types.MethodType(self.get_attribute(type(owner), name), owner)

    def special_method(self, owner: Any, name: str) -> Any:
        """A special method that a user wrote, bound to its object; None where there is none."""
        for kind in type(owner).__mro__:
            if name in kind.__dict__:
                return self.bound(owner, name) if is_users(kind.__dict__[name]) else None
        return None

    def set_attribute(
        self, owner: Any, name: str, value: Any, put: Callable[[Any, str, Any], None] = setattr
    ) -> None:
        """`owner.name = value`; what the program made gets it by `put`."""
        if isinstance(owner, Choice):
            return self.split(owner, lambda o: self.set_attribute(o, name, value, put))
        if isinstance(owner, NestedFunction):
            if self.arms or self.trace.depth:
                raise Unsupported("an attribute of a function changes as a tensor decides")
            with program_operation:
                return setattr(owner, name, value)
        if self.trace.depth and id(owner) in self.made and not hasattr(owner, "__dict__"):
            raise Unsupported("an object without a '__dict__' changes as a tensor decides")
        if id(owner) in self.made or isinstance(owner, HostValue):
            if put is setattr and id(owner) in self.made:
                by_program = self._setter(owner, name)
                if by_program is not None:
                    self.call(by_program[0], [*by_program[1:], value], {})
                    return None
            with program_operation:
                return put(owner, name, value)
        with program_operation:
            held = getattr(owner, name, None)
        if isinstance(held, _late.parameter_class):
            if isinstance(value, Choice):  # of two types, that a tensor chose
                return self.split(value, lambda v: self.set_attribute(owner, name, v))
            with program_operation:
                if not isinstance(value, Tensor):
                    value = ops.full_like(held, value)
                if value.dtype is not held.dtype:
                    value = ops.cast(value, held.dtype)
                self.replace(held, value)
            return None
        state = getattr(owner, "__dict__", None)
        if type(state) is dict:
            self._guard_of(owner)(state, name, state.get(name, facts.MISSING))
        raise Unsupported(
            f"a compiled function can assign only Parameters of '{type(owner).__name__}', but '{name}' is "
            f"{type(held).__name__}; make it a Parameter, or return the value"
        )

    def _setter(self, owner: Any, name: str) -> tuple | None:
        """What the program wrote to set an attribute of an object that it made, and its first arguments."""
        method = self.special_method(owner, "__setattr__")
        if method is not None:
            return method, name
        static = _static_attribute(type(owner), name)
        if isinstance(static, property) and static.fset is not None:
            self.guards.attribute(type(owner), name, static)
            return static.fset, owner
        method = self.special_method(static, "__set__")
        return None if method is None else (method, owner)


def _static_attribute(kind: type, name: str) -> Any:
    """What a class or its bases define under a name, as written there."""
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return facts.MISSING

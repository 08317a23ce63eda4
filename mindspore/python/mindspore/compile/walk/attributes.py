"""Attributes of objects: what is read of those from outside becomes a fact of the graph."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.decided.choices import by_option
from mindspore.compile.program.borders import program_operation, read
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values import guards as facts
from mindspore.compile.values.compilable import changes_parameters
from mindspore.compile.values.foreign import is_library, is_users
from mindspore.compile.values.host_values import HostValue
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.stand_ins import attribute_of, sample_of
from mindspore.compile.values.values import Choice
from mindspore.compile.walk.kinds import ByKind
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
        if name == "__class__" and not isinstance(owner, (HostValue, Choice)):
            return type(sample_of(owner))
        return _READ.of(owner)(self, owner, name)

    def _chosen_attribute(self, owner: Choice, name: str) -> Any:
        return self.split(owner, lambda option: self.get_attribute(option, name))

    def _own_attribute(self, owner: Any, name: str) -> Any:
        """Of what stands for something else: it answers itself."""
        return read(owner, name)

    def _tensor_attribute(self, owner: Tensor, name: str) -> Any:
        if self.aliases.origins:
            self.aliases.check_attribute(owner, name)
        if _core.is_weak(owner):
            with program_operation:
                return self.note_made(attribute_of(owner, name))
        value = read(owner, name)
        if isinstance(owner, _late.parameter_class) and not isinstance(value, Tensor):
            if isinstance(vars(_late.parameter_class).get(name), property):
                self.guards.attribute(owner, name, value)
        return value

    def _value_attribute(self, owner: Any, name: str) -> Any:
        """Of a number, text or container, perhaps of a class of its own."""
        instance = getattr(owner, "__dict__", None)
        if type(instance) is dict and id(owner) not in self.made:
            return self._instance_attribute(owner, instance, name)
        return read(owner, name)

    def _object_attribute(self, owner: Any, name: str) -> Any:
        instance = getattr(owner, "__dict__", None)
        if id(owner) in self.made:
            return self._made_attribute(owner, instance, name)
        if type(instance) is not dict:
            return self._outside_attribute(owner, name)
        if name == "__dict__":
            self.guards.content(instance)
            return instance
        return self._instance_attribute(owner, instance, name)

    def _outside_attribute(self, owner: Any, name: str) -> Any:
        """Of a class, or an object without a dict of attributes."""
        value = read(owner, name)
        method = isinstance(value, (types.MethodType, types.BuiltinMethodType))
        if not method and not isinstance(owner, super):
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

    @by_option
    def set_attribute(
        self, owner: Any, name: str, value: Any, put: Callable[[Any, str, Any], None] = setattr
    ) -> None:
        """`owner.name = value`; what the program made gets it by `put`."""
        if isinstance(owner, NestedFunction):
            if self.arms or self.trace.depth:
                raise Unsupported("an attribute of a function changes as a tensor decides")
            with program_operation:
                setattr(owner, name, value)
        elif id(owner) in self.made or isinstance(owner, HostValue):
            self._set_made_attribute(owner, name, value, put)
        else:
            self._set_outside_attribute(owner, name, value)

    def _set_made_attribute(self, owner: Any, name: str, value: Any, put: Callable) -> None:
        if not isinstance(owner, HostValue):
            if self.trace.depth and not hasattr(owner, "__dict__"):
                raise Unsupported("an object without a '__dict__' changes as a tensor decides")
            by_program = self._setter(owner, name) if put is setattr else None
            if by_program is not None:
                self.call(by_program[0], [*by_program[1:], value], {})
                return
        with program_operation:
            put(owner, name, value)

    def _set_outside_attribute(self, owner: Any, name: str, value: Any) -> None:
        """Of objects from outside, Parameters can be assigned: they get another value."""
        with program_operation:
            held = getattr(owner, name, None)
        if not isinstance(held, _late.parameter_class):
            state = getattr(owner, "__dict__", None)
            if type(state) is dict:
                self._guard_of(owner)(state, name, state.get(name, facts.MISSING))
            raise Unsupported(
                f"a compiled function can assign only Parameters of '{type(owner).__name__}', but '{name}' is "
                f"{type(held).__name__}; make it a Parameter, or return the value"
            )
        self.split(value, lambda option: self._assign_parameter(held, option))

    def _assign_parameter(self, held: Tensor, value: Any) -> None:
        with program_operation:
            if not isinstance(value, Tensor):
                value = ops.full_like(held, value)
            if value.dtype is not held.dtype:
                value = ops.cast(value, held.dtype)
            self.replace(held, value)

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


_READ = ByKind(
    {
        HostValue: Attributes._own_attribute,
        NestedFunction: Attributes._own_attribute,
        Choice: Attributes._chosen_attribute,
        Tensor: Attributes._tensor_attribute,
        **dict.fromkeys((str, tuple, list, dict, set, int, float), Attributes._value_attribute),
    },
    others=Attributes._object_attribute,
)

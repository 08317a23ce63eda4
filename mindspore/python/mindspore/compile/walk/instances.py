"""Objects that a compiled function makes. What makes an object of a user's class - `__new__`, `__init__`, `__post_init__` - is code
of the program like any other: it is parsed, so that what it reads is a fact, and what it does is done on every call."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from mindspore import _core, ops
from mindspore._core import SymbolicInt, Tensor
from mindspore.compile.program.borders import program_error, program_operation
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.foreign import is_users
from mindspore.compile.values.host_values import has_host
from mindspore.compile.values.numbers import NumberDecides, holds_number
from mindspore.compile.values.stand_ins import sample_of
from mindspore.compile.walk.plain_calls import PlainCalls

_POST = "__post_init__"


class Instances(PlainCalls):
    """A storey of Tracer."""

    def instantiate(self, kind: type, args: list, kwargs: dict) -> Any:
        """An object of a class, a number of a tensor."""
        if holds_number((args, kwargs)):
            raise NumberDecides
        if kind in (int, float, bool) and args and self.is_traced(args[0]):
            return self._number(kind, args[0])
        if kind in (int, float) and args and isinstance(args[0], SymbolicInt):
            return args[0] if kind is int else args[0].as_tensor(floating=True)
        if kind is Tensor and args and self.is_traced(args[0]) and _core.is_weak(args[0]):
            args = [self.trace.strong(args[0]), *args[1:]]
        if _makes_objects_by_program(type(kind)):
            raise Unsupported(f"the class of '{kind.__name__}' makes its objects in its own way")
        if _is_made_by_program(kind) and not has_host((args, kwargs)):
            return self._make(kind, args, kwargs)
        return self.note_made(self.run_call(kind, args, kwargs))

    def _number(self, kind: type, value: Tensor) -> Tensor:
        if value.size != 1:
            raise program_error(
                ValueError,
                "For 'Tensor', what becomes a Python number must have exactly one element, but got shape "
                f"{list(value.shape)}.",
            )
        if kind is bool:
            value = self.truth(value)
        else:
            value = ops.cast(value, _core.int64 if kind is int else _core.float64)
        return _core.op("Number")(value)

    def _make(self, kind: type, args: list, kwargs: dict) -> Any:
        """An object of a class that says itself how objects are made, as `type.__call__` makes it."""
        made = self._new(kind, args, kwargs)
        if not isinstance(made, kind):
            return made
        if _has_fields(kind):
            self._set_fields(kind, made, args, kwargs)
            return made
        result = self.call(self.bound(made, "__init__"), args, kwargs)
        if result is not None:
            kind = type(sample_of(result))
            raise program_error(TypeError, f"__init__() should return None, not '{kind.__name__}'")
        return made

    def _new(self, kind: type, args: list, kwargs: dict) -> Any:
        new = self.get_attribute(kind, "__new__")
        if is_users(new):
            return self.note_made(self.call(new, [kind, *args], kwargs))
        with program_operation:
            return self.note_made(
                new(kind) if new is object.__new__ else new(kind, *args, **kwargs)
            )

    def _set_fields(self, kind: type, made: Any, args: list, kwargs: dict) -> None:
        """A data class: Python wrote its `__init__`, which runs as it is, but for what the program put into it."""
        fields = [f for f in kind.__dataclass_fields__.values() if f.init]  # type: ignore[attr-defined]
        given = {f.name for f in [f for f in fields if not f.kw_only][: len(args)]} | kwargs.keys()
        for field in fields:
            if field.name not in given and is_users(field.default_factory):
                kwargs = {**kwargs, field.name: self.call(field.default_factory, [], {})}
        after: list[tuple] = []
        if hasattr(kind, _POST):
            if not hasattr(made, "__dict__"):
                raise Unsupported(f"'{kind.__name__}' has a {_POST}, but no __dict__")
            made.__dict__[_POST] = lambda *values: after.append(values)
        try:
            with program_operation:
                type(made).__init__(made, *args, **kwargs)
        finally:
            if hasattr(kind, _POST):
                del made.__dict__[_POST]
        for values in after:
            self.call(self.bound(made, _POST), list(values), {})


def _is_written(function: Any) -> bool:
    """Of a special method: Python writes some, which have no text."""
    return is_users(function) and function.__code__.co_filename != "<string>"


def _has_fields(kind: type) -> bool:
    """A data class whose `__init__` Python wrote."""
    return dataclasses.is_dataclass(kind) and not _is_written(kind.__init__)  # type: ignore[misc]


def _is_made_by_program(kind: type) -> bool:
    """Whether code of the program runs when an object of the class is made. Cells and all else that is derived from a class of this
    package are made as they are: their Parameters are made once."""
    if any((base.__module__ or "").partition(".")[0] == "mindspore" for base in kind.__mro__):
        return False
    made_by = (kind.__init__, inspect.getattr_static(kind, "__new__"))  # type: ignore[misc]
    written = any(_is_written(getattr(f, "__func__", f)) for f in made_by)
    return written or (_has_fields(kind) and _runs_code(kind))


def _runs_code(kind: type) -> bool:
    """Whether the `__init__` that Python wrote for a data class calls the program."""
    fields = kind.__dataclass_fields__.values()  # type: ignore[attr-defined]
    return hasattr(kind, _POST) or any(is_users(f.default_factory) for f in fields)


def _makes_objects_by_program(meta: type) -> bool:
    """Whether the class of a class has a `__call__` that the program wrote."""
    return is_users(inspect.getattr_static(meta, "__call__"))

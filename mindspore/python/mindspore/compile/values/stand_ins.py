"""What stands for Python's own values while compiling - a tensor for a number, a Text for a string - and is not to be seen: what asks
for the type or attributes of such a value gets those of the value. What for is the `sample` of its structure."""

from __future__ import annotations

import functools
from typing import Any

from mindspore import _core
from mindspore._core import SymbolicInt, Tensor
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.effects import Text
from mindspore.compile.values.structure import Structure, holds, register, structure_of
from mindspore.ops._custom import FLOATS


def sample_of(value: Any) -> Any:
    """A value of the type that `value` stands for; itself where it stands for nothing else."""
    sample = structure_of(value).sample
    return value if sample is None else sample(value)


def _number_like(value: Tensor) -> Any:
    if not _core.is_weak(value):
        return value
    return False if value.dtype is _core.bool else 0.0 if value.dtype in FLOATS else 0


register(Tensor, Structure(sample=_number_like))
register(SymbolicInt, Structure(sample=lambda _: 0))


def is_unknown(value: Any) -> bool:
    """A number or string that is known only at run time, or a structure that holds one."""
    return holds(
        value, lambda v: isinstance(v, Text) or (isinstance(v, Tensor) and _core.is_weak(v))
    )


def needs_value(name: str) -> Unsupported:
    """The refusal of what Python does with a number or string, and a graph cannot."""
    return Unsupported(
        f"{name} needs the value of a number or string that a tensor decides, but in a compiled graph it is known only at "
        "run time"
    )


def attribute_of(value: Tensor, name: str) -> Any:
    """An attribute of a number that a tensor stands for."""
    found = getattr(sample_of(value), name)  # an AttributeError is Python's
    if name in ("real", "numerator"):
        return value
    if name == "__class__" or not callable(found):
        return found
    return functools.partial(_call_method, value, name)


def _call_method(owner: Any, name: str, *args: Any) -> Any:
    """A method of the number, once it is known."""
    if isinstance(owner, Tensor):
        raise needs_value(f"'{name}'")
    return getattr(owner, name)(*args)

"""Objects that are nothing but their fields, those of frozen data classes: a program that makes one anew for each call means the same
by it each time. Among arguments they are known by their fields (versions/keys.py). Which of several equal ones an object is may be
asked all the same: what a run returns, or hands to plain Python, is the caller's own (decided/given.py)."""

from __future__ import annotations

import contextlib
import functools
import types
from typing import Any

_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
# What in a class makes no values of attributes but what it is written to make.
_KNOWN = (types.FunctionType, property, classmethod, staticmethod)
_PLACES = (types.MemberDescriptorType, types.GetSetDescriptorType)


def is_python_class(kind: type) -> bool:
    """Whether a class is written in Python, or might be."""
    return bool(kind.__flags__ & _HEAP_TYPE)


@functools.lru_cache(1024)
def _is_record(kind: type) -> bool:
    settings: Any = kind.__dict__.get("__dataclass_params__")
    if settings is None or not (settings.frozen and settings.eq):
        return False
    if kind.__repr__ is object.__repr__:  # which tells them apart
        return False
    return all(is_python_class(base) and _is_plain(base) for base in kind.__mro__[:-1])


def _is_plain(base: type) -> bool:
    """Whether a class finds attributes as Python does: in an object, in a slot, or by a method of the program."""
    members = base.__dict__
    if "__getattr__" in members or "__getattribute__" in members:
        return False
    return all(isinstance(v, (*_KNOWN, *_PLACES)) for v in members.values() if _is_bound(v))


def _is_bound(member: Any) -> bool:
    return hasattr(type(member), "__get__")


def fields_of(value: Any) -> dict[str, Any] | None:
    """What an object holds that is nothing but this; None for other values."""
    kind: Any = type(value)
    if not _is_record(kind):
        return None
    return {**getattr(value, "__dict__", {}), **in_slots(value)}


def in_slots(value: Any) -> dict[str, Any]:
    """What an object holds in the slots of its class."""
    found = {}
    for base in type(value).__mro__:
        for name, member in base.__dict__.items():
            if isinstance(member, types.MemberDescriptorType):
                with contextlib.suppress(AttributeError):  # it holds nothing there
                    found[name] = member.__get__(value)
    return found

"""What `mutable` marks: tuples, lists and dicts whose tensors are arguments of their own, so that gradients are returned for them.
They are what they were in every other respect. And how a structure like another one is made."""

from __future__ import annotations

import copy
from typing import Any


class MutableTuple(tuple):
    """A tuple whose tensors have gradients."""

    __slots__ = ()


class MutableList(list):
    """A list whose tensors have gradients."""

    __slots__ = ()


class MutableDict(dict):
    """A dict whose tensors have gradients."""

    __slots__ = ()


MUTABLE = (MutableTuple, MutableList, MutableDict)
DICTS = (dict, MutableDict)
_KINDS: dict[type, type] = {tuple: MutableTuple, list: MutableList, dict: MutableDict}


def marked(value: Any) -> Any:
    """A copy of a tuple, list or dict that is marked; another value as it is."""
    kind = _KINDS.get(type(value))
    return value if kind is None else kind(value)


def like(value: Any, items: Any) -> Any:
    """A tuple, list or dict of other items, of the type of `value` and with its attributes."""
    kind = type(value)
    if kind in _KINDS:
        return items
    if kind in MUTABLE:
        return kind(items)
    if isinstance(value, tuple):
        fresh = tuple.__new__(kind, items)
        if hasattr(value, "__dict__"):
            vars(fresh).update(vars(value))
        return fresh
    fresh = copy.copy(value)
    if isinstance(fresh, list):
        list.__setitem__(fresh, slice(None), items)
    else:
        dict.update(fresh, items)
    return fresh

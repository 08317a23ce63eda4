"""What `mutable` marks: tuples, lists and dicts whose tensors are arguments of their own, so that gradients are returned for them.
They are what they were in every other respect."""

from __future__ import annotations

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
_KINDS = {tuple: MutableTuple, list: MutableList, dict: MutableDict}


def marked(value: Any) -> Any:
    """A copy of a tuple, list or dict that is marked; another value as it is."""
    kind = _KINDS.get(type(value))
    return value if kind is None else kind(value)


def like(value: Any, items: Any) -> Any:
    """A tuple, list or dict of other items, marked where `value` is."""
    return type(value)(items) if isinstance(value, MUTABLE) else items

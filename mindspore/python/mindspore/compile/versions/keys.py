"""What of a call decides which compiled version serves it, and what goes into the graph. Only kinds of values that are known to be
nothing but their value, or their fields, are found by it: the `==` of other classes leaves out what it likes. The rest is found by
identity, and what it holds is a fact."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mindspore import _core, context
from mindspore._core import Tensor
from mindspore.common import _late, _planning
from mindspore.common._tree import flatten
from mindspore.common.dtype import Type
from mindspore.compile.values.records import fields_of, is_python_class
from mindspore.compile.values.structure import bounds_of
from mindspore.compile.values.values import parts_of_number
from mindspore.compile.versions.signature import Sizes


def look_up(args: tuple, kwargs: dict) -> tuple[tuple, list]:
    """`key_of` and `inputs_of` at once, on the way of every call."""
    found = _core.call_key(args, kwargs, _key_of_any, _more_than_items)
    return found if found is not None else (key_of(args, kwargs), inputs_of((args, kwargs)))


def _key_of_any(value: Any) -> Any:
    return _key(value, iter(()))


def key_of(args: tuple, kwargs: dict, sizes: list[Sizes | None] | None = None) -> tuple:
    """What of the arguments a compiled version depends on; `sizes` are the declared ones, for each tensor."""
    declared = iter(sizes or ())
    return (_key(args, declared), _key(kwargs, declared))


def with_passes(key: tuple, fast: bool) -> tuple:
    """A key, with whether the passes that only make code faster run, and how the work is divided among processes."""
    if context.planned():
        key = (*_planning.key(), *key)
    return key if fast and context.fast() else ("plain", *key)


def with_open_sizes(key: tuple) -> tuple:
    """The key of a version that serves all sizes of these types."""
    return ("open", *key)


def _key(value: Any, sizes: Iterator[Sizes | None]) -> Any:
    if isinstance(value, Tensor):
        return (value.dtype, next(sizes, None) or tuple(value.shape), _own(value))
    if isinstance(value, (tuple, list)):
        parts = [_key(v, sizes) for v in value]
        return (type(value), *parts, *_more_than_items(value))
    if isinstance(value, dict):
        pairs = [(_key_of_key(k), _key(v, sizes)) for k, v in value.items()]
        return (type(value), *pairs, *_more_than_items(value))
    return _fixed(value)


def _own(tensor: Tensor) -> Any:
    """What of a tensor counts besides its type."""
    if type(tensor) is Tensor:
        return False
    return _Identity(tensor) if isinstance(tensor, _late.parameter_class) else type(tensor)


def _key_of_key(value: Any) -> Any:
    """Of a key in a dict. It is no input of the graph."""
    return value if type(value) is str else _fixed(value)


_BY_VALUE = frozenset(
    {bool, int, str, bytes, type(None), type(Ellipsis), _core.DType}
    | {types.BuiltinMethodType, types.MethodWrapperType}  # of one object
)
# What values of these kinds are made of.
_PARTS: dict[type, Any] = {
    slice: bounds_of,
    range: bounds_of,
    frozenset: tuple,  # in its order, in which it is run through
    types.MethodType: lambda v: (v.__self__, v.__func__),
}


def _fixed(value: Any) -> tuple:
    """The key of what is in no graph as an input."""
    kind = type(value)
    if kind in _BY_VALUE:
        return (kind, value)
    if isinstance(value, tuple):
        return (kind, *map(_fixed, value), *_more_than_items(value))
    if kind in (float, complex):
        return (kind, *parts_of_number(value))
    if kind in _PARTS:
        return (kind, *map(_fixed, _PARTS[kind](value)))
    if isinstance(value, np.generic) and not is_python_class(kind) and kind is not np.void:
        return (kind, value.dtype, value.tobytes())
    if isinstance(value, (np.dtype, Type)):
        return (kind, value)
    if isinstance(value, int) and _is_plain(kind) and not getattr(value, "__dict__", None):
        return (kind, int.__index__(value))
    fields = fields_of(value)
    if fields is not None:
        return (kind, tuple([(name, _fixed(v)) for name, v in fields.items()]))
    return (kind, _Identity(value))


# ---- subclasses of tuples, lists and dicts ------------------------------------------------------------------------------
_KNOWN = (
    *(tuple, list, dict, int, object),
    *(collections.OrderedDict, collections.defaultdict),  # whose factory is looked at
)


# Whether what values of a class have besides what Python's class holds are attributes in a dict.
_is_plain: Callable[[type], bool] = functools.lru_cache(1024)(
    lambda kind: all(
        base in _KNOWN or (is_python_class(base) and not base.__dict__.get("__slots__"))
        for base in kind.__mro__
    )
)


def _more_than_items(value: Any) -> tuple:
    """What of a tuple, list or dict counts besides its items: nothing, of Python's own ones."""
    kind = type(value)
    if kind in (tuple, list, dict):
        return ()
    if not _is_plain(kind):
        return (_Identity(value),)
    attributes = getattr(value, "__dict__", None) or {}
    if isinstance(value, collections.defaultdict):
        attributes = {**attributes, "default_factory": value.default_factory}
    return tuple([("attribute", k, _fixed(v)) for k, v in attributes.items()])


def opaque_part(value: Any) -> Any:
    """A tuple, list or dict among arguments of which a trace cannot work on a copy that it knows whole; None where there is none."""
    if not isinstance(value, (tuple, list, dict)):
        return None
    kind: Any = type(value)
    loses = hasattr(kind, "_fields") and getattr(value, "__dict__", None)
    if not _is_plain(kind) or loses:
        return value
    items = value.values() if isinstance(value, dict) else value
    return next((part for item in items if (part := opaque_part(item)) is not None), None)


class _Identity:
    """An object as a key by identity; it lives as long as the key, so that the identity stays its own."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.value is self.value

    def __repr__(self) -> str:
        named = isinstance(self.value, (type, types.FunctionType))
        return self.value.__name__ if named else f"<{type(self.value).__name__}>"


def inputs_of(value: Any) -> list:
    """The tensors among the arguments that are inputs of the graph; Parameters come in by identity instead."""
    return [t for t in flatten(value) if not isinstance(t, _late.parameter_class)]


def records_of(args: Any, kwargs: dict) -> list:
    """The objects among arguments that are found by their fields, in the order of the key."""
    found: list = []
    for value in (*args, *kwargs.values()):
        _add_records(value, found, True)
    return found


def _add_records(value: Any, found: list, by_items: bool) -> None:
    kind: Any = type(value)
    parts: Iterable = ()
    if isinstance(value, tuple) or (by_items and isinstance(value, list)):
        parts = value
    elif by_items and isinstance(value, dict):
        parts = (*value, *value.values())
    elif kind in _PARTS:
        parts, by_items = _PARTS[kind](value), False
    elif (fields := fields_of(value)) is not None:
        found.append(value)
        parts, by_items = tuple(fields.values()), False
    for part in parts:
        _add_records(part, found, by_items)

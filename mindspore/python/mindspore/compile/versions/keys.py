"""What of a call decides which compiled version serves it, and what goes into the graph."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.common._tree import flatten
from mindspore.compile.versions.signature import Sizes


def look_up(args: tuple, kwargs: dict) -> tuple[tuple, list]:
    """`key_of` and `inputs_of` at once, on the way of every call."""
    found = _core.call_key(args, kwargs, _key_of_any)
    return found if found is not None else (key_of(args, kwargs), inputs_of((args, kwargs)))


def _key_of_any(value: Any) -> Any:
    return _key(value, iter(()))


def key_of(args: tuple, kwargs: dict, sizes: list[Sizes | None] | None = None) -> tuple:
    """What of the arguments a compiled version depends on; `sizes` are the declared ones, for each tensor."""
    declared = iter(sizes or ())
    return (_key(args, declared), _key(kwargs, declared))


def _key(value: Any, sizes: Iterator[Sizes | None]) -> Any:
    if isinstance(value, Tensor):
        return (
            value.dtype,
            next(sizes, None) or tuple(value.shape),
            isinstance(value, _late.parameter_class) and _Identity(value),
        )
    if isinstance(value, float):
        return (float, value, math.copysign(1, value))
    if isinstance(value, (tuple, list)):
        return (type(value), *[_key(v, sizes) for v in value])
    if isinstance(value, dict):
        return (type(value), *[(k, _key(v, sizes)) for k, v in value.items()])
    try:
        hash(value)
    except TypeError:
        return (type(value), _Identity(value))
    return (type(value), value)


class _Identity:
    """An object as a key by identity; it lives as long as the key, so that the identity stays its own."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.value is self.value


def inputs_of(value: Any) -> list:
    """The tensors among the arguments that are inputs of the graph; Parameters come in by identity instead."""
    return [t for t in flatten(value) if not isinstance(t, _late.parameter_class)]

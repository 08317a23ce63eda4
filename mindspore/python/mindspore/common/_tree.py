"""Nested tuples, lists and dicts of tensors as flat lists, and back: what goes into functions and comes out of them, in eager code too.
Eager code knows no stand-ins; what compiled code looks into besides stands in compile/values/structure.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mindspore._core import Tensor
from mindspore.common._mutable import like


def flatten(value: Any, leaves: list | None = None) -> list:
    """The tensors inside a structure, left to right; other leaves are skipped."""
    if leaves is None:
        leaves = []
    if isinstance(value, Tensor):
        leaves.append(value)
    elif isinstance(value, (tuple, list)):
        for item in value:
            flatten(item, leaves)
    elif isinstance(value, dict):
        for item in value.values():
            flatten(item, leaves)
    return leaves


def all_leaves(value: Any) -> Iterator:
    """What a structure holds, tensors and others, left to right."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from all_leaves(item)
    elif isinstance(value, dict):
        yield from all_leaves(list(value.values()))
    else:
        yield value


def refill(value: Any, tensors: Iterable) -> Any:
    """A structure of the same form with these tensors in place of its own."""
    items = iter(tensors)
    return rebuild(value, lambda _: next(items))


def rebuild(value: Any, replace: Callable[[Tensor], Any]) -> Any:
    """A structure of the same form with every tensor replaced."""
    if isinstance(value, Tensor):
        return replace(value)
    if isinstance(value, tuple):
        items = [rebuild(item, replace) for item in value]
        kind: Any = value
        return kind._make(items) if hasattr(kind, "_fields") else like(value, tuple(items))
    if isinstance(value, list):
        return like(value, [rebuild(item, replace) for item in value])
    if isinstance(value, dict):
        return like(value, {key: rebuild(item, replace) for key, item in value.items()})
    return value

"""Nested tuples, lists and dicts of tensors as flat lists, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore._core import Tensor


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


def rebuild(value: Any, replace: Callable[[Tensor], Any]) -> Any:
    """A structure of the same form with every tensor replaced."""
    if isinstance(value, Tensor):
        return replace(value)
    if isinstance(value, tuple):
        items = [rebuild(item, replace) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [rebuild(item, replace) for item in value]
    if isinstance(value, dict):
        return {key: rebuild(item, replace) for key, item in value.items()}
    return value

"""Facts read while a graph was made. Each is (kind, owner, key, expected); compiled code may run while all of them hold. The
check itself is in C++ (`_core.Guards`)."""

from __future__ import annotations

import collections
import copy
import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor

MISSING = _core.GUARD_MISSING
ITEM, ATTRIBUTE, CLOSURE, LIST, DICT, ARRAY, EQUAL, MEMBERS, CODE, ITEMS = range(10)
OWNED = 16  # added to a kind: the owner is the state of a Cell, whose changes bump the epoch
_SIMPLE = (int, float, str, bytes, bool, complex, type(None))
_COMPARED = (set, bytearray, collections.deque)
# What is bound to an object leads to it.
_BOUND = (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType, functools.partial)
_CONTAINERS = (list, tuple, dict, np.ndarray, *_COMPARED, *_BOUND)


_is_container: Callable[[type], bool] = functools.lru_cache(1024)(
    lambda kind: issubclass(kind, _CONTAINERS)
)


class Guards:
    """The facts of one compilation."""

    def __init__(self) -> None:
        self.facts: list[tuple] = []
        self._known: dict[tuple, Any] = {}

    def item(self, owner: dict, key: Any, value: Any) -> None:
        """`owner[key]` is `value` (MISSING: absent)."""
        self._add(ITEM, owner, key, value)

    def member(self, state: dict, name: str, value: Any) -> None:
        """The same of the `__dict__` of a Cell."""
        self._add(ITEM | OWNED, state, name, value)

    def repeat(self, members: list[tuple[int, str]], states: list[dict]) -> None:
        """What these members, each the place of a state and a name, are of these states of Cells: one fact, since networks
        of many equal Cells have as many of them."""
        values = tuple([states[i].get(k, MISSING) for i, k in members])
        self.facts.append((MEMBERS | OWNED, states, members, values))
        for value in values:
            if _is_container(type(value)):
                self.content(value)

    def children(self, cells: dict) -> None:
        """A Cell holds these cells."""
        if self._is_new(DICT | OWNED, cells, None):
            self.facts.append((DICT | OWNED, cells, None, dict(cells)))

    def attribute(self, owner: Any, name: str, value: Any) -> None:
        """`getattr(owner, name)` is `value`."""
        self._add(ATTRIBUTE, owner, name, value)

    def closure(self, cell: types.CellType, value: Any) -> None:
        """A closure cell holds `value`."""
        self._add(CLOSURE, cell, None, value)

    def code(self, function: types.FunctionType) -> None:
        """What a function does: tools that reload modules put new code into old functions."""
        self._add(CODE, function, None, function.__code__)

    def containers(self) -> set[int]:
        """The ids of the lists, dicts and arrays whose contents are facts."""
        return {at for kind, at, _ in self._known if kind == LIST}

    def _is_new(self, kind: int, owner: Any, key: Any) -> bool:
        at = (kind, id(owner), key)
        if at in self._known:
            return False
        self._known[at] = owner
        return True

    def _add(self, kind: int, owner: Any, key: Any, value: Any) -> None:
        if self._is_new(kind, owner, key):
            self.facts.append((kind, owner, key, value))
            self.content(value)

    def content(self, value: Any) -> None:
        """What a mutable value holds is a fact too."""
        if not _is_container(type(value)) or not self._is_new(LIST, value, None):
            return
        if isinstance(value, _BOUND):
            for part in parts_of_bound(value):
                self.content(part)
        elif isinstance(value, np.ndarray):
            self.facts.append((ARRAY, value, None, value.copy(order="C")))
        elif isinstance(value, bytearray):
            self.facts.append((EQUAL, value, None, copy.copy(value)))
        elif isinstance(value, dict):
            self.facts.append((DICT, value, None, dict(value)))
            if isinstance(value, collections.OrderedDict):  # it keeps an order of its own
                self.facts.append((ITEMS, value, None, tuple(value)))
            for item in value.values():
                self.content(item)
        else:
            if isinstance(value, list):
                self.facts.append((LIST, value, None, tuple(value)))
            elif isinstance(value, _COMPARED):
                self.facts.append((ITEMS, value, None, tuple(value)))
            for item in value:
                self.content(item)


def parts_of_bound(value: Any) -> tuple:
    """What a bound method or a partial leads to."""
    if isinstance(value, functools.partial):
        return (value.func, *value.args, *value.keywords.values())
    return (value.__self__,)


MUTABLE = (list, dict, *_COMPARED)
# Found by identity among arguments: what they hold is a fact.
OBSERVED = (*_COMPARED, *_BOUND, np.ndarray)


def describe(fact: tuple) -> str:
    """What a fact says, for the log of recompilations."""
    kind, owner, key, expected = fact
    if kind == ATTRIBUTE:
        return f"{type(owner).__name__}.{key} was {_short(expected)}, is {_short(getattr(owner, key, MISSING))}"
    if kind in (ITEM, ITEM | OWNED):
        return f"'{key}' was {_short(expected)}, is {_short(owner.get(key, MISSING))}"
    if kind == MEMBERS | OWNED:
        changed = (
            (i, k, v) for (i, k), v in zip(key, expected) if owner[i].get(k, MISSING) is not v
        )
        return next((describe((ITEM, owner[i], k, v)) for i, k, v in changed), "nothing changed")
    if kind == CODE:
        return f"the code of '{owner.__name__}' was replaced"
    if kind == CLOSURE:
        return f"a closure variable was {_short(expected)}, is {_short(_content_of(owner))}"
    return f"a {type(owner).__name__} changed: {_short(expected)} became {_short(owner)}"


def _content_of(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _short(value: Any) -> str:
    if value is MISSING:
        return "missing"
    if isinstance(value, Tensor):
        return f"Tensor{list(value.shape)}"
    return (
        repr(value)[:60]
        if isinstance(value, _SIMPLE + (tuple, list, dict))
        else f"<{type(value).__name__}>"
    )

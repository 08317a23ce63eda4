"""What can be gone through only once, for pipelines that go through it again: to count, each epoch."""

from __future__ import annotations

import threading
import types
from collections.abc import Iterator
from typing import Any


def again(given: Any) -> Any:
    """`given`, or if it is an iterator that ends for good, one that keeps what it gave.

    A class of the user's whose `__iter__` returns itself may begin anew there, as many do: it is
    left as it is, and `Renewed` watches it.
    """
    if isinstance(getattr(type(given), "__iter__", None), types.FunctionType):
        return given
    try:
        once = iter(given) is given
    except TypeError:
        return given
    return Kept(given) if once else given


class Kept:
    """The items of an iterator, kept as they come."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator
        self._items: list[Any] = []
        self._end: BaseException | None = None
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[Any]:
        position = 0
        while self._there(position):
            yield self._items[position]
            position += 1

    def _there(self, position: int) -> bool:
        if position < len(self._items):
            return True
        with self._lock:
            while self._end is None and position >= len(self._items):
                try:
                    self._items.append(next(self._iterator))
                except Exception as error:
                    self._end = error
        if position < len(self._items):
            return True
        if isinstance(self._end, StopIteration):
            return False
        assert self._end is not None
        raise self._end


class Renewed:
    """Sees to it that an iterable which returns itself has items again when it is asked again."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._had_items = False

    def check(self, given: Any, iterator: Any, count: int) -> None:
        """Raise where `iterator` of `given`, at its end after `count` items, did not begin anew."""
        if count == 0 and self._had_items and iterator is given:
            raise RuntimeError(
                f"{self._what} must begin anew in __iter__, but gave no more after its first pass. "
                "Use a function that returns an iterator, or reset it there."
            )
        self._had_items = self._had_items or count > 0

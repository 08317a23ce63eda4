"""What is done with a value, as a table of classes: no entry is before another, for a value is of one of these classes alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class ByKind:
    """`of(value)`: the way of a value's class, or of its nearest base that is named; else `others`."""

    def __init__(self, ways: dict[type, Callable[..., Any]], others: Callable[..., Any]):
        self._ways, self._others = ways, others

    def of(self, value: Any) -> Callable[..., Any]:
        """What is done with this value."""
        for kind in type(value).__mro__:
            way = self._ways.get(kind)
            if way is not None:
                return way
        return self._others

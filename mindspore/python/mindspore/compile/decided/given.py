"""Lists, dicts and records among the arguments of a compiled function. The trace works on copies of lists and dicts, and on the records
of one call among others with equal fields; what it changes in a list or dict, each run changes in the caller's own, and where it
returns one of them, or hands it to plain Python, that is the caller's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.structure import contents_of, same_contents

_NOWHERE = -1


def containers_of(args: Any, kwargs: dict) -> list:
    """The lists and dicts among arguments, in one order."""
    found: list = []
    pending = [*reversed(list(kwargs.values())), *reversed(args)]
    while pending:
        value = pending.pop()
        if isinstance(value, (list, dict)):
            found.append(value)
        if isinstance(value, (tuple, list)):
            pending += reversed(value)
        elif isinstance(value, dict):
            pending += reversed(list(value.values()))
    return found


class Given:
    """The copies that one trace works on, and what they held; and the records (values/records.py)."""

    def __init__(self, args: Any, kwargs: dict, records: Sequence[Any] = ()):
        self.containers = containers_of(args, kwargs)
        self.before = [contents_of(c) for c in self.containers]
        self.places = {id(c): i for i, c in enumerate(self.containers)}
        self.records = records
        self._record_ids = [id(r) for r in records]

    def place(self, value: Any) -> int:
        """Which one a value is; -1 for others."""
        return self.places.get(id(value), _NOWHERE)

    def changed(self) -> list[int]:
        """Those that hold something else now."""
        pairs = zip(self.before, self.containers)
        return [i for i, (old, now) in enumerate(pairs) if not same_contents(old, now)]

    def record(self, value: Any) -> int:
        """Which record a value is; -1 for others."""
        count = self._record_ids.count(id(value))
        if count > 1:
            raise Unsupported("an object that is several arguments is one of them again")
        return self._record_ids.index(id(value)) if count else _NOWHERE

    def check_identity(self, *values: Any) -> None:
        """Before a program asks which object this is, or whether two are one."""
        if len({type(v) for v in values}) == 1 and any(id(v) in self._record_ids for v in values):
            name = type(values[0]).__name__
            raise Unsupported(
                f"which object of several with equal fields an argument of the class '{name}' is, is asked for"
            )

"""Lists and dicts among the arguments of a compiled function. The trace works on copies; what it changes in them, each run changes in
the caller's own, and where it returns one, that is the caller's own."""

from __future__ import annotations

from typing import Any

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
    """The copies that one trace works on, and what they held."""

    def __init__(self, args: Any, kwargs: dict):
        self.containers = containers_of(args, kwargs)
        self.before = [contents_of(c) for c in self.containers]
        self.places = {id(c): i for i, c in enumerate(self.containers)}

    def place(self, value: Any) -> int:
        """Which one a value is; -1 for others."""
        return self.places.get(id(value), _NOWHERE)

    def changed(self) -> list[int]:
        """Those that hold something else now."""
        pairs = zip(self.before, self.containers)
        return [i for i, (old, now) in enumerate(pairs) if not same_contents(old, now)]

"""What a branch may change in place: the variables of the calls under way and the lists, dicts, sets and objects made in the
trace. Each arm starts from the same contents; afterwards those that differ are joined in the objects themselves, so that
whoever shares one still does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.compile.values.structure import (
    contents_of,
    is_container,
    reachable,
    same_contents,
    set_contents,
)

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer


class Heap:
    """The containers that are reachable where a branch begins, by id, with their contents then."""

    def __init__(self, tracer: Tracer, roots: list):
        self.tracer = tracer
        self.before: dict[int, tuple[Any, Any]] = {}
        for value in reachable(tracer, [*roots, tracer.cells]):
            if is_container(value):
                self.before[id(value)] = (value, contents_of(value))

    def __contains__(self, value: Any) -> bool:
        return id(value) in self.before

    def restore(self) -> None:
        """Everything as it was."""
        for container, contents in self.before.values():
            if not same_contents(contents, container):
                set_contents(container, contents)

    def changes(self) -> dict[int, Any]:
        """The contents of what changed, by id."""
        return {
            key: contents_of(container)
            for key, (container, contents) in self.before.items()
            if not same_contents(contents, container)
        }

    def apply(self, changes: dict[int, Any]) -> None:
        """Everything as it was, but for these changes."""
        self.restore()
        for key, contents in changes.items():
            set_contents(self.before[key][0], contents)

"""What a branch may change in place: the variables of the calls under way and the lists, dicts, sets and objects made in the
trace. Each arm starts from the same contents; afterwards those that differ are joined in the objects themselves, so that
whoever shares one still does."""

from __future__ import annotations

import functools
import types
from collections import deque
from typing import TYPE_CHECKING, Any

from mindspore._core import Tensor
from mindspore.compile.values.nested import NestedFunction, Scope
from mindspore.compile.values.values import Choice

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer

_ATOMS = frozenset(
    {bool, int, float, complex, str, bytes, type(None), type, types.FunctionType, types.ModuleType}
    | {types.BuiltinFunctionType, range, slice, type(Ellipsis), Tensor}
)
_MISSING = object()


def is_container(value: Any) -> bool:
    """A dict, list, set or deque."""
    return isinstance(value, (dict, list, set, deque))


def contents_of(container: Any) -> Any:
    """A copy of what it holds."""
    if isinstance(container, dict):
        return dict(container)
    return set(container) if isinstance(container, set) else list(container)


def set_contents(container: Any, contents: Any) -> None:
    """Puts other contents into the same object."""
    container.clear()
    if isinstance(container, (dict, set)):
        container.update(contents)
    else:
        container.extend(contents)


def same_contents(a: Any, b: Any) -> bool:
    """Whether nothing changed, by identity of the items."""
    if len(a) != len(b):
        return False
    if isinstance(a, dict):
        return all(b.get(k, _MISSING) is v for k, v in a.items()) and list(a) == list(b)
    return a == b if isinstance(a, set) else all(x is y for x, y in zip(a, b))


class Heap:
    """The containers that are reachable where a branch begins, by id, with their contents then."""

    def __init__(self, tracer: Tracer, roots: list):
        self.tracer = tracer
        self.before: dict[int, tuple[Any, Any]] = {}
        self._visit([*roots, tracer.cells])

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

    def _visit(self, roots: list) -> None:
        pending, seen = list(roots), set()
        while pending:
            value = pending.pop()
            if type(value) in _ATOMS or id(value) in seen:
                continue
            seen.add(id(value))
            container = container_of(self.tracer, value)
            if container is not None and id(container) not in self.before:
                self.before[id(container)] = (container, contents_of(container))
            pending.extend(parts_of(self.tracer, value))


def container_of(tracer: Tracer, value: Any) -> Any:
    """The object that holds what can change in a value: itself, its attributes, its variables; None for other values."""
    if is_container(value):
        return value
    if is_frame(value):
        return value.env
    if id(value) in tracer.made and type(getattr(value, "__dict__", None)) is dict:
        return value.__dict__
    return None


def parts_of(tracer: Tracer, value: Any) -> list:
    """The values that a value refers to, as far as branches may change them."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, (tuple, list, deque)):
        return list(value)
    if isinstance(value, Choice):
        return value.options
    if isinstance(value, types.MethodType):
        return [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if is_frame(value):
        return [*value.env.values()] + ([value.parent] if value.parent is not None else [])
    if is_nested_function(value):
        return [value.frame, value.defaults, value.keyword_defaults]
    container = container_of(tracer, value)
    return list(container.values()) if isinstance(container, dict) else []


def is_frame(value: Any) -> bool:
    """A call under compilation."""
    return isinstance(value, Scope)


def is_nested_function(value: Any) -> bool:
    """A function defined in compiled code."""
    return isinstance(value, NestedFunction)

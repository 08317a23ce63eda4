"""Values of the front end at the border of a graph: structures flattened to tensors and rebuilt, and two values of one name,
from two branches, joined into one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore._core import Tensor

NUMBERS = (bool, int, float)


class Undefined:
    """A name that has no single value here; reading it is the error, not having it."""

    def __init__(self, reason: str):
        self.reason = reason


class Mismatch(Exception):
    """Two values cannot be joined; the text says why."""


def is_tensor(value: Any) -> bool:
    """A Tensor or Parameter, concrete or symbolic."""
    return isinstance(value, Tensor)


def children(value: Any) -> list | None:
    """The items of a structure, or None for a leaf."""
    if isinstance(value, (tuple, list)):
        return list(value)
    if type(value) is dict:
        return list(value.values())
    return None


def rebuild(value: Any, items: list) -> Any:
    """A structure like `value` with other items."""
    if isinstance(value, tuple):
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return list(items)
    return dict(zip(value, items))


def copy_mutable(value: Any, memo: dict[int, Any]) -> Any:
    """Lists and dicts made in the trace are copied for each branch; names that shared one still share the copy."""
    if isinstance(value, (list, dict)) and type(value) in (list, dict):
        if id(value) in memo:
            return memo[id(value)]
        memo[id(value)] = copy = type(value)()
        if isinstance(value, list):
            copy.extend(copy_mutable(v, memo) for v in value)
        else:
            copy.update((k, copy_mutable(v, memo)) for k, v in value.items())
        return copy
    if type(value) is tuple:
        return tuple(copy_mutable(v, memo) for v in value)
    return value


def copy_environment(env: dict[str, Any]) -> dict[str, Any]:
    """An environment for one branch."""
    memo: dict[int, Any] = {}
    return {name: copy_mutable(value, memo) for name, value in env.items()}


def _type_text(value: Any) -> str:
    if is_tensor(value):
        return f"{value.dtype}{list(value.shape)}"
    return repr(value) if isinstance(value, NUMBERS + (str, type(None))) else type(value).__name__


class Join:
    """Pairs of leaves that differ between two branches. `pairs` become the outputs of the two graphs; `place` turns the
    outputs of the call back into values."""

    def __init__(self) -> None:
        self.pairs: list[tuple[Any, Any]] = []

    def add(self, a: Any, b: Any) -> Callable[[list], Any]:
        """Joins two values; the result maps the outputs of the call to the joined value."""
        if a is b:
            return lambda outputs: a
        if is_tensor(a) or is_tensor(b):
            return self._tensors(a, b)
        if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
            if type(a) is type(b) and a == b:
                return lambda outputs: a
            return self._leaf(*_common_numbers(a, b))
        items_a, items_b = children(a), children(b)
        if items_a is not None and items_b is not None and type(a) is type(b):
            return self._structures(a, b, items_a, items_b)
        if type(a) is type(b) and _equal(a, b):
            return lambda outputs: a
        raise Mismatch(f"it is {_type_text(a)} in one branch and {_type_text(b)} in the other")

    def _structures(self, a: Any, b: Any, items_a: list, items_b: list) -> Callable[[list], Any]:
        if len(items_a) != len(items_b) or (isinstance(a, dict) and list(a) != list(b)):
            raise Mismatch(
                f"it has {len(items_a)} items in one branch and {len(items_b)} in the other"
            )
        places = [self.add(x, y) for x, y in zip(items_a, items_b)]
        return lambda outputs: rebuild(a, [place(outputs) for place in places])

    def _tensors(self, a: Any, b: Any) -> Callable[[list], Any]:
        tensor, other = (a, b) if is_tensor(a) else (b, a)
        if not is_tensor(other):
            if not isinstance(other, NUMBERS) or tensor.shape != ():
                raise Mismatch(
                    f"it is {_type_text(a)} in one branch and {_type_text(b)} in the other"
                )
            dtype = _core.promote(tensor.dtype, False, type(other), True)
            return self._leaf(_cast(a, dtype), _cast(b, dtype))
        if tuple(a.shape) != tuple(b.shape) or a.dtype is not b.dtype:
            raise Mismatch(
                f"it is {_type_text(a)} in one branch and {_type_text(b)} in the other; "
                "both must have the same shape and dtype"
            )
        return self._leaf(a, b)

    def _leaf(self, a: Any, b: Any) -> Callable[[list], Any]:
        self.pairs.append((a, b))
        index = len(self.pairs) - 1
        return lambda outputs: outputs[index]


def _cast(value: Any, dtype: Any) -> Any:
    """A cast that is emitted when the value's own graph is the current one."""
    return (value, dtype)


def materialise(leaf: Any) -> Tensor:
    """A leaf of a Join as a tensor of the current graph."""
    from mindspore import ops

    value, dtype = leaf if isinstance(leaf, tuple) else (leaf, None)
    if not is_tensor(value):
        return Tensor(value, dtype)
    return ops.cast(value, dtype) if dtype is not None and value.dtype is not dtype else value


def _common_numbers(a: Any, b: Any) -> tuple:
    dtype = _core.promote(type(a), True, type(b), True)
    return (a, dtype), (b, dtype)


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b)
    except Exception:
        return False

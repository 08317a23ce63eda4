"""What goes round a loop or down a recursion: values whose types must repeat. A `pattern` is a structure whose tensors say the
types; other values must be equal to those that come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.structure import children, leaves_of, rebuild, replace_leaves, shares
from mindspore.compile.values.values import (
    Choice,
    Undefined,
    are_equal,
    are_one_type,
    as_scalar,
    common_type,
    index_among,
    is_scalar,
    is_weak,
    pick,
    placeholder,
    same_type,
    told_apart,
    type_text,
)


def _are_structures(a: Any, b: Any) -> bool:
    if isinstance(a, Choice) or isinstance(b, Choice) or type(a) is not type(b):
        return False
    parts = children(a)
    if parts is None:
        return False
    same_keys = not isinstance(a, dict) or [*map(told_apart, a)] == [*map(told_apart, b)]
    return len(parts) == len(children(b) or ()) and same_keys


def same(a: Any, b: Any) -> bool:
    """Whether two values without tensors are one."""
    return a is b or are_equal(a, b)


def _stands_for(a: Any, b: Any) -> bool:
    """Whether a 0-d tensor can be either: numbers that go round become the wider kind of number."""
    return (is_weak(a) and is_weak(b)) or are_one_type(a, b)


def matches(pattern: Any, value: Any) -> bool:
    """Whether a value can be passed where the pattern is expected."""
    if isinstance(pattern, Tensor):
        if same_type(pattern, value):
            return True
        if not (is_scalar(pattern) and is_scalar(value)) or not is_weak(value):
            return False
        return _stands_for(pattern, value) and common_type(pattern, value)[0] is pattern.dtype
    if isinstance(pattern, Choice):
        options = value.options if isinstance(value, Choice) else [value]
        return all(_option(pattern, o) is not None for o in options)
    if _are_structures(pattern, value):
        return all(map(matches, children(pattern) or (), children(value) or ()))
    if isinstance(pattern, Undefined) and isinstance(value, Undefined):
        return True
    return not isinstance(value, (Tensor, Choice)) and same(pattern, value)


def _option(pattern: Choice, value: Any) -> int | None:
    return next((i for i, o in enumerate(pattern.options) if matches(o, value)), None)


def widen(trace: _core.Trace, pattern: Any, value: Any, refuse: Callable[[Any, Any], None]) -> Any:
    """A pattern that both match; its tensors hold what the old pattern's held. `refuse` is called where there is none."""
    if matches(pattern, value):
        return pattern
    if is_scalar(pattern) and is_scalar(value) and (is_weak(pattern) or is_weak(value)):
        if _stands_for(pattern, value):
            return as_scalar(trace, pattern, *common_type(pattern, value))
    elif isinstance(pattern, Tensor) and isinstance(value, Tensor):
        refuse(pattern, value)
    if _are_structures(pattern, value):
        pairs = zip(children(pattern) or (), children(value) or ())
        return rebuild(pattern, [widen(trace, p, v, refuse) for p, v in pairs])
    if isinstance(pattern, (list, dict)) and type(value) is type(pattern):
        refuse(pattern, value)
    if isinstance(pattern, Choice):
        options, index = list(pattern.options), pattern.index
    else:
        options, index = [pattern], Tensor(0, _core.int32)
    for option in value.options if isinstance(value, Choice) else [value]:
        if not any(matches(o, option) for o in options):
            options.append(replace_leaves(option, lambda t: placeholder(trace, t)))
    return Choice(index, options)


def passed(trace: _core.Trace, pattern: Any, value: Any) -> list[Tensor]:
    """The tensors of a value in the order and with the types of the pattern's."""
    if isinstance(pattern, Tensor):
        if same_type(pattern, value):
            return [value]
        return [as_scalar(trace, value, pattern.dtype, is_weak(pattern))]
    if isinstance(pattern, Choice):
        return _passed_choice(trace, pattern, value)
    found: list[Tensor] = []
    if _are_structures(pattern, value):
        for p, v in zip(children(pattern) or (), children(value) or ()):
            found += passed(trace, p, v)
    return found


def _passed_choice(trace: _core.Trace, pattern: Choice, value: Any) -> list[Tensor]:
    options = value.options if isinstance(value, Choice) else [value]
    places = [_option(pattern, o) for o in options]
    found = [index_among(value, places)]
    for i, option in enumerate(pattern.options):
        ways = [k for k, place in enumerate(places) if place == i]
        if not ways:
            found += [placeholder(trace, t) for t in leaves_of(option)]
            continue
        tensors = passed(trace, option, options[ways[0]])
        for k in ways[1:]:  # of one type now: one of them, as the index says
            taken = ops.equal(value.index, k)
            pairs = zip(passed(trace, option, options[k]), tensors)
            tensors = [pick(taken, a, b) for a, b in pairs]
        found += tensors
    return found


def bound(pattern: Any, tensors: Any) -> Any:
    """The pattern with other tensors, from an iterator."""
    require_apart(pattern)
    return replace_leaves(pattern, lambda _: next(tensors))


def require_apart(value: Any) -> None:
    """Refuses what goes part by part and would lose that two of its parts are one object."""
    if shares(value):
        raise Unsupported(
            "what goes round a loop or down a recursion that a tensor decides holds one list or dict twice"
        )


def difference(pattern: Any, value: Any) -> str:
    """`Float32[2] before and Float32[3] after`."""
    return f"{type_text(pattern)} before and {type_text(value)} after"

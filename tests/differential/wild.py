"""Wild calls: what the listed ones become when one thing about them changes.

Other dtypes, shapes and special values mostly stay valid; other kinds of arguments, missing and unknown ones mostly do not.
Which changes a call gets is drawn from its text, so a list gives the same wild calls everywhere."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from differential.calllib import Array, Call

OF_EACH = 30  # calls of a name, the listed ones among them

_DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool", "bfloat16")
_NUMBERS = (0, 1, -1, 2, 7, -100, 2**40, 0.5, -1.5, True, None, "x", (1, 2), ())


def wild_calls(listed: list[Call]) -> list[Call]:
    """The wild calls of the names of a list: as many as each has fewer than OF_EACH."""
    by_name: dict[str, list[Call]] = {}
    for one in listed:
        if one.program is None and one.ref is None:
            by_name.setdefault(one.name, []).append(replace(one, grad=False))
    return [wild for calls in by_name.values() for wild in _of_name(calls)]


def _of_name(calls: list[Call]) -> list[Call]:
    drawn = random.Random(zlib.crc32(calls[0].name.encode()))
    known = {c.key for c in calls}
    fresh: list[Call] = []
    for _ in range(20 * OF_EACH):
        if len(fresh) + len(calls) >= OF_EACH:
            break
        wild = _changed(drawn, drawn.choice(calls))
        if wild is not None and wild.key not in known:
            known.add(wild.key)
            fresh.append(wild)
    return fresh


def _changed(drawn: random.Random, listed: Call) -> Call | None:
    if drawn.random() < 0.1:
        return _fewer_or_more(drawn, listed)
    if listed.made is not None and drawn.random() < 0.3:
        made = _one_changed(drawn, listed.made)
        return made and replace(listed, made=made)
    inputs = _one_changed(drawn, (listed.args, listed.kwargs))
    return inputs and replace(listed, args=inputs[0], kwargs=inputs[1])


def _fewer_or_more(drawn: random.Random, listed: Call) -> Call | None:
    kind = drawn.randrange(3)
    if kind == 0:
        return replace(listed, kwargs={**listed.kwargs, "unknown": 1})
    if kind == 1 and listed.args:
        return replace(listed, args=listed.args[:-1])
    if kind == 2 and not listed.kwargs:
        return replace(listed, args=(*listed.args, drawn.choice(_NUMBERS)))
    return None


Arguments = tuple[tuple, dict[str, Any]]


def _one_changed(drawn: random.Random, arguments: Arguments) -> Arguments | None:
    places = list(_places(arguments))
    if not places:
        return None
    value, put = drawn.choice(places)
    return put(_other(drawn, value))


def _places(arguments: Arguments) -> Iterator[tuple[Any, Callable[[Any], Arguments]]]:
    args, kwargs = arguments
    for i, value in enumerate(args):
        yield value, lambda v, i=i: ((*args[:i], v, *args[i + 1 :]), kwargs)
    for name, value in kwargs.items():
        yield value, lambda v, name=name: (args, {**kwargs, name: v})


def _other(drawn: random.Random, value: Any) -> Any:
    if isinstance(value, Array):
        return _other_array(drawn, value)
    if isinstance(value, (list, tuple)) and value and drawn.random() < 0.7:
        i = drawn.randrange(len(value))
        return type(value)((*value[:i], _other(drawn, value[i]), *value[i + 1 :]))
    if isinstance(value, bool) and drawn.random() < 0.5:
        return not value
    if isinstance(value, int) and drawn.random() < 0.5:
        return value + drawn.choice((-1, 1, 2))
    return drawn.choice(_NUMBERS)


def _other_array(drawn: random.Random, array: Array) -> Any:
    kind = drawn.random()
    if kind < 0.4:
        return cast(array, drawn.choice(_DTYPES))
    if kind < 0.75:
        return sized(array, _other_shape(drawn, array.value.shape))
    if kind < 0.9:
        return special(array)
    return drawn.choice((None, 1, 2.5, "x", [1.0, 2.0], (1, 2)))


def _other_shape(drawn: random.Random, shape: tuple[int, ...]) -> tuple[int, ...]:
    if not shape:
        return drawn.choice(((1,), (0,), (2, 2)))
    i = drawn.randrange(len(shape))
    changes = [(*shape[:i], size, *shape[i + 1 :]) for size in (0, 1, shape[i] + 1)]
    return drawn.choice([*changes, shape[1:], (1, *shape), (2, *shape), ()])


def cast(array: Array, dtype: str) -> Array:
    """The values in another dtype."""
    known = "float32" if dtype == "bfloat16" else dtype
    with np.errstate(invalid="ignore"):
        values = array.value.astype(known)
    return replace(array, text=f"cast({array.text}, {dtype!r})", value=values, dtype=dtype)


def sized(array: Array, shape: tuple[int, ...]) -> Array:
    """The values, repeated or cut, in another shape."""
    values = (
        np.resize(array.value, shape) if array.value.size else np.ones(shape, array.value.dtype)
    )
    return replace(array, text=f"sized({array.text}, {shape!r})", value=values)


def special(array: Array) -> Array:
    """The first elements replaced by not-numbers and infinities, or by the ends of an integer's range."""
    values = array.value.copy()
    if values.dtype.kind == "f":
        ends: list[Any] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e30]
    elif values.dtype.kind in "iu":
        ends = [np.iinfo(values.dtype).max, np.iinfo(values.dtype).min, 0, -1]
    else:
        ends = [True]
    with np.errstate(over="ignore"):
        for i, end in enumerate(ends[: values.size]):
            values.reshape(-1)[i] = np.asarray(end).astype(values.dtype)
    return replace(array, text=f"special({array.text})", value=values)

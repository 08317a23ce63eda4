"""Builtins that look at values, for a tracer: what Python's own would do with a traced tensor is an op or a loop here."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.common import _late
from mindspore.compile.program.borders import each, is_true, listed, plainly
from mindspore.compile.program.errors import Inseparable
from mindspore.compile.values import effects
from mindspore.compile.values.host_values import HostValue
from mindspore.compile.values.ranges import TracedRange
from mindspore.compile.values.stand_ins import sample_of
from mindspore.compile.values.values import pick, same_type
from mindspore.compile.walk.generators import Rows, lazily, rows_of, zipped
from mindspore.ops._custom import FLOATS

if TYPE_CHECKING:
    from mindspore.compile.walk.tracer import Tracer


def _range(tracer: Tracer, args: list, kwargs: dict) -> Any:
    if not any(tracer.is_traced(a) for a in args):
        return plainly(range, args, kwargs)
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    return TracedRange(start, stop, step)


def _map(tracer: Tracer, args: list, kwargs: dict) -> Any:
    function, *sequences = args
    rounds = zip(*(each(tracer.iterate(s)) for s in sequences))
    return tracer.taken(tracer.call(function, list(items), {}) for items in rounds)


def _filter(tracer: Tracer, args: list, kwargs: dict) -> Any:
    function, items = args
    items = tracer.iterate(items)
    return tracer.taken(
        i for i in each(items) if is_true(i if function is None else tracer.call(function, [i], {}))
    )


def _iter(tracer: Tracer, args: list, kwargs: dict) -> Any:
    if len(args) == 1:
        args = [tracer.iterate(args[0])]
    return tracer.note_iterator(plainly(iter, args, kwargs))


def _next(tracer: Tracer, args: list, kwargs: dict) -> Any:
    if isinstance(args[0], Iterator):
        tracer.check_iterator(args[0])
    return plainly(next, args, kwargs)


def _zip(tracer: Tracer, args: list, kwargs: dict) -> Any:
    rows = None if kwargs else zipped(args)
    if rows is not None:
        return tracer.note_iterator(rows)
    parts = [tracer.iterate(a) for a in args]
    return lazily(tracer, plainly(zip, parts, kwargs), args)


def _enumerate(tracer: Tracer, args: list, kwargs: dict) -> Any:
    rows = rows_of(args[0])
    start = args[1] if len(args) == 2 else kwargs.get("start", 0)
    if rows is not None and type(start) is int:
        return tracer.note_iterator(Rows(lambda i: (start + i, rows[i]), len(rows)))
    items = plainly(enumerate, [tracer.iterate(args[0]), *args[1:]], kwargs)
    return lazily(tracer, items, args[:1])


def _has(owner: Any, name: Any) -> bool:
    return plainly(hasattr, [sample_of(owner), name], {})


def _getattr(tracer: Tracer, args: list, kwargs: dict) -> Any:
    owner, name, *default = args
    if isinstance(name, HostValue):
        return name.session.operate(getattr, *args)
    if default and not _has(owner, name):
        tracer.note_missing(owner, name)
        return default[0]
    return tracer.get_attribute(owner, name)


def _setattr(tracer: Tracer, args: list, kwargs: dict) -> Any:
    owner, name, value = args
    if isinstance(name, HostValue):
        return name.session.operate(setattr, *args)
    return tracer.set_attribute(owner, name, value)


def _type(tracer: Tracer, args: list, kwargs: dict) -> Any:
    if len(args) != 1 or kwargs:
        return tracer.instantiate(type, args, kwargs)
    return type(sample_of(args[0]))


def _hasattr(tracer: Tracer, args: list, kwargs: dict) -> Any:
    owner, name = args
    if isinstance(name, HostValue):
        return name.session.operate(hasattr, *args)
    if not _has(owner, name):
        tracer.note_missing(owner, name)
        return False
    if not isinstance(owner, Tensor) and sample_of(owner) is owner:
        tracer.get_attribute(owner, name)
    return True


def _extreme(builtin: Callable, better: Callable) -> Callable:
    """max, min: the first item that none is better than, as Python finds it, one comparison after the other."""

    def call(tracer: Tracer, args: list, kwargs: dict) -> Any:
        if len(args) > 1 and "default" in kwargs:
            return plainly(builtin, args, kwargs)  # Python refuses it
        first, key = args[0], kwargs.get("key")
        if len(args) == 1 and not kwargs and tracer.is_traced(first) and first.ndim == 1:
            return _extreme_row(first, builtin is max)
        items = listed(tracer.iterate(first)) if len(args) == 1 else args
        keys = items if key is None else [tracer.call(key, [i], {}) for i in items]
        if not any(map(tracer.is_undecided, keys)):
            known = {"key": keys.__getitem__, "default": None}
            at = plainly(builtin, [range(len(items))], known)
            return plainly(builtin, [items], kwargs) if at is None else items[at]
        pairs = list(zip(items, keys))
        return functools.reduce(lambda a, b: _better(tracer, better, a, b), pairs)[0]

    return call


def _better(tracer: Tracer, better: Callable, old: tuple, new: tuple) -> tuple:
    """The pair of an item and its key that Python would keep."""

    wins = tracer.operate(better, new[1], old[1])
    if not tracer.is_undecided(wins):
        return new if is_true(wins) else old
    wins = tracer.truth(wins)
    if all(map(same_type, old, new)):
        chosen = [tracer.aliases.note(pick(wins, b, a), (a, b)) for a, b in zip(old, new)]
        return chosen[0], chosen[1]
    frame = tracer.places[-1][0]
    return frame.choose(wins, lambda: new, lambda: old)


def _extreme_row(row: Tensor, largest: bool) -> Tensor:
    """That of the items of a tensor. A NaN is never better, and nothing is better than a NaN that comes first."""
    find = ops.argmax if largest else ops.argmin
    if row.dtype not in FLOATS:
        return row[find(row)]
    worst = float("-inf" if largest else "inf")
    best = find(pick(ops.isnan(row), ops.full_like(row, worst), row))
    return row[pick(ops.isnan(row[0]), ops.zeros_like(best), best)]


def _len(tracer: Tracer, args: list, kwargs: dict) -> Any:
    if len(args) == 1 and isinstance(args[0], Tensor) and args[0].ndim > 0:
        return args[0].shape[0]  # may be symbolic, which Python's own cannot return
    method = tracer.special_method(args[0], "__len__") if len(args) == 1 else None
    if method is not None:
        return tracer.call(method, [], {})
    return plainly(len, args, kwargs)


def _isinstance(tracer: Tracer, args: list, kwargs: dict) -> Any:
    result = plainly(isinstance, [sample_of(args[0]), args[1]], {})
    if tracer.aliases.may_be_parameter(args[0]) and not result:
        if plainly(issubclass, [_late.parameter_class, args[1]], {}):
            raise Inseparable("a tensor decides whether this is a Parameter")
    return result


def _any_or_all(builtin: Callable) -> Callable:
    def call(tracer: Tracer, args: list, kwargs: dict) -> Any:
        items = listed(tracer.iterate(args[0]))
        if not any(tracer.is_traced(i) for i in items):
            return plainly(builtin, [items], {})
        join = ops.logical_or if builtin is any else ops.logical_and
        return _core.op("Number")(functools.reduce(join, [tracer.truth(i) for i in items]))

    return call


def _sequence(kind: type) -> Callable:
    def call(tracer: Tracer, args: list, kwargs: dict) -> Any:
        return plainly(kind, [tracer.iterate(args[0])] if args else [], kwargs)

    return call


def _text(builtin: Callable) -> Callable:
    """str, repr, format, ascii: what they say of a tensor is known when the graph runs."""

    def call(tracer: Tracer, args: list, kwargs: dict) -> Any:
        if effects.is_text_of(args, tracer):
            return effects.text_of(tracer, builtin, *args)
        tracer.note_states(args)
        return plainly(builtin, args, kwargs)

    return call


def _identity(builtin: Callable) -> Callable:
    """id and the like: which object it is counts."""

    def call(tracer: Tracer, args: list, kwargs: dict) -> Any:
        tracer.given.check_identity(*args)
        return plainly(builtin, args, kwargs)

    return call


def _print(tracer: Tracer, args: list, kwargs: dict) -> None:
    effects.emit(tracer, print, args, kwargs)


def _checked(builtin: Callable, special: Callable, *taken: Any) -> Callable:
    """`special` for what the builtin takes: how many arguments, and which keywords, where it does not look itself. What else it is
    given, the builtin refuses."""
    least, most, keywords = taken or (0, math.inf, None)

    def call(tracer: Tracer, args: list, kwargs: dict) -> Any:
        if least <= len(args) <= most and (keywords is None or kwargs.keys() <= keywords):
            return special(tracer, args, kwargs)
        return plainly(builtin, args, kwargs)

    return call


_NONE: frozenset[str] = frozenset()
_EXTREME = {"key", "default"}
_WAYS: dict[Callable, tuple] = {
    print: (_print,),
    str: (_text(str),),
    repr: (_text(repr),),
    ascii: (_text(ascii),),
    format: (_text(format),),
    range: (_range, 1, 3, _NONE),
    len: (_len,),
    isinstance: (_isinstance, 2, 2, _NONE),
    type: (_type,),
    map: (_map, 2, math.inf, _NONE),
    filter: (_filter, 2, 2, _NONE),
    zip: (_zip,),
    enumerate: (_enumerate, 1, 2, {"start"}),
    iter: (_iter,),
    next: (_next, 1, 2, _NONE),
    getattr: (_getattr, 2, 3, _NONE),
    hasattr: (_hasattr, 2, 2, _NONE),
    setattr: (_setattr, 3, 3, _NONE),
    max: (_extreme(max, operator.gt), 1, math.inf, _EXTREME),
    min: (_extreme(min, operator.lt), 1, math.inf, _EXTREME),
    any: (_any_or_all(any), 1, 1, _NONE),
    all: (_any_or_all(all), 1, 1, _NONE),
    list: (_sequence(list), 0, 1, _NONE),
    tuple: (_sequence(tuple), 0, 1, _NONE),
    id: (_identity(id),),
    operator.is_: (_identity(operator.is_),),
    operator.is_not: (_identity(operator.is_not),),
}
SPECIAL = {builtin: _checked(builtin, *way) for builtin, way in _WAYS.items()}

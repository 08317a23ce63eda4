"""Which version serves a call: values that Python's `==` takes for one are told apart where a program can, as arguments and as facts."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import itertools
import operator
from typing import Any, NamedTuple

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, nn


@dataclasses.dataclass(frozen=True)
class Scale:
    name: str
    by: Any = dataclasses.field(compare=False, default=1.0)


@dataclasses.dataclass(frozen=True)
class Wide:
    by: Any


class Alike:
    """All of them are equal."""

    def __init__(self, by):
        self.by = by

    def __eq__(self, other):
        return isinstance(other, Alike)

    def __hash__(self):
        return 1


class Level(int, enum.Enum):
    ONE = 1


class Items(list):
    """A list that may have attributes."""


class Named(collections.namedtuple("Named", "value")):
    """A named tuple that may have attributes."""


class Slotted(list):
    __slots__ = ("by",)


class Marked(Tensor):
    """A tensor of a class of its own."""


def having(value: Any, by: Any) -> Any:
    """The value with an attribute."""
    value.by = by
    return value


INTS = Tensor([1, 1], ms.int32)
ONES = Tensor([1.0, 1.0], ms.float32)


def added(x, values):
    for value in values:
        x = x + value
    return x


ARGUMENTS = {
    "uncompared field": (lambda x, c: x * c.by, [Scale("a", 2.0), Scale("a", 3.0)]),
    "int or float in a field": (lambda x, c: INTS * c.by, [Wide(2), Wide(2.0)]),
    "equal objects": (lambda x, c: x * c.by, [Alike(2.0), Alike(3.0)]),
    "int or enum": (lambda x, k: x * (2 if k is Level.ONE else 3), [1, Level.ONE]),
    "frozenset": (lambda x, s: added(INTS, s), [frozenset({1}), frozenset({1.0})]),
    "frozenset in a tuple": (
        lambda x, s: added(INTS, s[0]),
        [(frozenset({True}),), (frozenset({1}),)],
    ),
    "key of a dict": (lambda x, d: INTS * next(iter(d)), [{1: 0}, {1.0: 0}, {True: 0}]),
    "tuple as key": (lambda x, d: INTS * next(iter(d))[0], [{(1,): 0}, {(1.0,): 0}]),
    "zero of NumPy": (lambda x, k: x / k, [np.float32(0.0), np.float32(-0.0)]),
    "number of NumPy or Python": (
        lambda x, k: x * (2 if isinstance(k, np.floating) else 3),
        [1.5, np.float64(1.5), np.float32(1.5)],
    ),
    "zero": (lambda x, k: x / k, [0.0, -0.0, 0]),
    "complex zero": (lambda x, k: x / k.imag, [complex(1, 0.0), complex(1, -0.0)]),
    "range": (lambda x, r: x * r.start, [range(0), range(5, 5)]),
    "slice": (lambda x, s: INTS * s.start, [slice(4, 5), slice(4.0, 5), slice(4, 5)]),
    "defaultdict": (
        lambda x, d: x * d["k"],
        [collections.defaultdict(lambda: 2), collections.defaultdict(lambda: 3)],
    ),
    "attribute of a list": (
        lambda x, v: x * v[0] * v.by,
        [having(Items([1.0]), 2.0), having(Items([1.0]), 3.0), Items([1.0])],
    ),
    "attribute of a dict": (
        lambda x, v: x * v["a"] * v.by,
        [having(collections.OrderedDict(a=1.0), 2.0), having(collections.OrderedDict(a=1.0), 3.0)],
    ),
    "attribute of a named tuple": (
        lambda x, v: x * v.value * v.by,
        [having(Named(1.0), 2.0), having(Named(1.0), 3.0)],
    ),
    "slot of a list": (
        lambda x, v: x * v[0] * v.by,
        [having(Slotted([1.0]), 2.0), having(Slotted([1.0]), 3.0)],
    ),
    "class of a tensor": (
        lambda x, t: t * (2 if isinstance(t, Marked) else 3),
        [ONES, Marked([1.0, 1.0]), Tensor(ONES)],
    ),
}


def outcome(function: Any, *args: Any) -> Any:
    """What a call gives, zeros with their signs, or the error that it raises."""
    try:
        value = function(*args)
    except Exception as error:
        return type(error)
    return value.dtype, str(value.asnumpy())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("way", ["jit", "cell", "gradient"])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(name, way):
    function, values = ARGUMENTS[name]

    class Net(nn.Cell):
        def construct(self, x, value):
            return function(x, value)

    if way == "gradient":

        def eager(x, value):
            return ms.grad(lambda v: (function(v, value) * v).sum())(x)

        compiled = jit(eager)
    else:
        eager, compiled = function, jit(function) if way == "jit" else Net()
    for value in values:
        expected = outcome(eager, ONES, value)
        ms.set_context(mode=ms.GRAPH_MODE if way == "cell" else ms.PYNATIVE_MODE)
        try:
            assert outcome(compiled, ONES, value) == expected
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)


def replaced(values: set, *items: Any) -> None:
    """Other items in the same set."""
    values.clear()
    values.update(items)


def moved(table: dict, key: Any) -> None:
    """An item goes to the end."""
    table[key] = table.pop(key)


SET, DICT, QUEUE = {1}, {1: 2}, collections.deque([[1.0], [2.0]])
ORDERED, COMPLEX = collections.OrderedDict(a=1.0, b=2.0), [complex(1, 0.0)]
FACTS = {
    "set": (lambda x: added(INTS, SET), lambda: replaced(SET, 1.0)),
    "key of a dict": (
        lambda x: INTS * next(iter(DICT)),
        lambda: (DICT.clear(), DICT.update({1.0: 2})),
    ),
    "list in a deque": (lambda x: x * QUEUE[0][0], lambda: QUEUE[0].__setitem__(0, 5.0)),
    "item of a deque": (lambda x: x * QUEUE[1][0], lambda: QUEUE.__setitem__(1, [7.0])),
    "order of a dict": (
        lambda x: (x + next(iter(ORDERED.values()))) * 2,
        lambda: moved(ORDERED, "a"),
    ),
    "order of its own": (
        lambda x: x * next(iter(ORDERED)).count("a"),
        lambda: ORDERED.move_to_end(next(iter(ORDERED))),
    ),
    "sign of a complex zero": (
        lambda x: x / COMPLEX[0].imag,
        lambda: COMPLEX.__setitem__(0, complex(1, -0.0)),
    ),
}


@pytest.mark.parametrize("name", FACTS)
def test_facts(name):
    function, change = FACTS[name]
    compiled = jit(function)
    assert outcome(compiled, ONES) == outcome(function, ONES)
    before = outcome(compiled, ONES)
    change()
    assert outcome(compiled, ONES) == outcome(function, ONES) != before


ALIKE = Alike(2.0)
SAME = {
    "named tuple": lambda: Named(2.0),
    "slice": lambda: slice(2, 3),
    "range": lambda: range(2, 4),
    "frozenset": lambda: frozenset({2}),
    "number of NumPy": lambda: np.float32(2),
    "nan": lambda: float("nan"),
    "size": lambda: ONES.size,
    "shape": lambda: ONES.shape,
    "method": lambda: ALIKE.__init__,
    "method of a list": lambda: QUEUE[0].append,
    "operator of a list": lambda: QUEUE[0].__add__,
    "ordered dict": lambda: collections.OrderedDict(a=2.0),
    "attribute": lambda: having(Items([2.0]), (1, "a")),
    "dtype of NumPy": lambda: np.dtype("float32"),
}


@pytest.mark.parametrize("name", SAME)
def test_what_is_made_anew_for_each_call_is_compiled_once(name):
    @jit
    def f(x, value):
        return x * 2

    for _ in range(3):
        f(ONES, SAME[name]())
    assert f.cache.compiled == 1


@dataclasses.dataclass(frozen=True)
class Part:
    by: float


@dataclasses.dataclass(frozen=True, slots=True)
class Whole:
    part: Part
    sizes: tuple = (1, 2)


class Pair(NamedTuple):
    part: Part
    by: float = 1.0


RECORDS = {
    "frozen": lambda: Part(2.0),
    "in another": lambda: Whole(Part(2.0)),
    "in a tuple": lambda: (Part(2.0), 1),
    "in a named tuple": lambda: Pair(Part(2.0)),
    "in a dict": lambda: {"part": Part(2.0)},
    "as a key": lambda: {Part(2.0): 1},
    "named tuple in another": lambda: Part(Pair(Part(2.0))),
    "its method": lambda: Part(2.0).__repr__,
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_known_by_their_fields(name):
    @jit
    def f(x, value):
        return x * 2

    for _ in range(3):
        f(ONES, RECORDS[name]())
    assert f.cache.compiled == 1


def test_a_run_uses_the_fields_of_its_own_record():
    @jit
    def f(x, whole):
        return x * whole.part.by

    found = [f(ONES, Whole(Part(by))).asnumpy()[0] for by in (2.0, 3.0, 2.0, 3.0)]
    assert found == [2.0, 3.0, 2.0, 3.0] and f.cache.compiled == 2
    object.__setattr__(changed := Part(2.0), "by", 5.0)
    assert f(ONES, Whole(changed)).asnumpy()[0] == 5.0


def test_a_run_returns_the_record_that_it_is_given():
    @jit(fullgraph=True)
    def f(x, whole, kept):
        kept.append(whole)
        return x, whole, {"part": whole.part}

    for _ in range(2):
        whole, kept = Whole(Part(2.0)), []
        _, same, parts = f(ONES, whole, kept)
        assert same is whole and parts["part"] is whole.part and kept[0] is whole
    assert f.cache.compiled == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_plain_python_gets_the_record_of_its_call():
    seen = []

    def look(x, part):
        seen.append(part)
        return x.asnumpy()[0]

    @jit
    def f(x, part):
        return x * look(x, part)

    parts = [Part(2.0), Part(2.0), Part(2.0)]
    for part in parts:
        f(ONES, part)
    assert list(map(id, seen)) == list(map(id, parts))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "same",
    [
        lambda a, b: a is b,
        lambda a, b: operator.is_(a, b),
        lambda a, b: id(a) == id(b),
    ],
)
def test_which_record_it_is_may_be_asked(same):
    known = Part(2.0)

    @jit
    def f(x, part):
        return x * 2 if same(part, known) else x * 3

    for part, expected in ((known, 2.0), (Part(2.0), 3.0), (known, 2.0)):
        assert f(ONES, part).asnumpy()[0] == expected

    @jit(fullgraph=True)
    def g(x, part):
        return x if part is None else x * part.by

    assert g(ONES, known).asnumpy()[0] == 2.0


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_one_record_as_two_arguments():
    @jit
    def second(x, a, b):
        return b

    part, other = Part(2.0), Part(2.0)
    for given in (part, other, part):
        assert second(ONES, part, given) is given


def test_classes_that_are_more_than_fields_are_told_apart():
    @dataclasses.dataclass(frozen=True)
    class Cached:
        by: float

        @functools.cached_property
        def noise(self):
            return next(numbers)

    @dataclasses.dataclass(frozen=True, eq=False)
    class Single:
        by: float

    @dataclasses.dataclass
    class Open:
        by: float

    numbers = itertools.count(1)

    @jit
    def f(x, value):
        return x * value.noise

    assert [f(ONES, Cached(1.0)).asnumpy()[0] for _ in range(3)] == [1.0, 2.0, 3.0]

    @jit
    def g(x, value):
        return x * value.by

    for kind in (Single, Open):
        before = g.cache.compiled
        assert [g(ONES, kind(by)).asnumpy()[0] for by in (2.0, 2.0, 3.0)] == [2.0, 2.0, 3.0]
        assert g.cache.compiled == before + 3

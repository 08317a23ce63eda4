"""What compiled functions return: structures and objects around tensors, values of different types that a tensor chooses, and what
cannot leave a compiled function."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import gc
import types
import warnings
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, grad, jit, ops, vjp
from mindspore.compile.program.errors import RunsEagerly

UP, DOWN = Tensor([1.0, 2.0, 3.0]), Tensor([-1.0, -2.0, -3.0])


def plain(value: Any) -> Any:
    """A value with arrays' items for tensors, and the types of the rest."""
    if isinstance(value, Tensor):
        return (str(value.dtype), value.asnumpy().tolist())
    if isinstance(value, (tuple, list, collections.deque)):
        return (type(value), [plain(v) for v in value])
    if isinstance(value, dict):
        return (type(value), [(k, plain(v)) for k, v in value.items()])
    if hasattr(value, "__dict__") and not isinstance(value, (type, enum.Enum)):
        return (type(value), plain(vars(value)))
    return (type(value), value)


def both(function: Any, *points: Tensor) -> None:
    """Compiled whole, it returns what it returns eagerly."""
    compiled = jit(function, fullgraph=True)
    for x in points or (UP, DOWN):
        assert plain(compiled(x)) == plain(function(x))


# ---- what a tensor chooses ------------------------------------------------------------------------------------------------
def tensor_or_none(x):
    return x if x.sum() > 0 else None


def number_or_vector(x):
    if x.sum() > 0:
        return x
    return 0


def int_or_float(x):
    return 1 if x.sum() > 0 else 2.5


def tuple_or_tensor(x):
    if x.sum() > 0:
        return x, 1
    return x * 2


def two_shapes(x):
    return x if x.sum() > 0 else x[:1]


def lists_of_two_lengths(x):
    return [x] if x.sum() > 0 else [x, x * 2]


def other_keys(x):
    return {"a": x} if x.sum() > 0 else {"b": 1}


def texts(x):
    return ("up", 1) if x.sum() > 0 else ("down", 2)


def three_kinds(x):
    if x.sum() > 3:
        return None
    if x.sum() > 0:
        return "small"
    return -x


def best_of_a_loop(x):
    best = None
    i = 0
    while i < x.max() + 3:
        if best is None or x[i] > best:
            best = x[i]
        i = i + 1
    return best


CHOSEN = [
    tensor_or_none,
    number_or_vector,
    int_or_float,
    tuple_or_tensor,
    two_shapes,
    lists_of_two_lengths,
    other_keys,
    texts,
    three_kinds,
]


@pytest.mark.parametrize("function", CHOSEN, ids=lambda f: f.__name__)
def test_values_of_different_types_are_picked_by_the_run(function):
    both(function)


def test_what_a_loop_finds_or_not():
    both(best_of_a_loop, Tensor([-1.0, -2.0, -3.0]))


def test_kinds_that_change_from_round_to_round():
    def kinds(x, n):
        i, total, last = 0, x * 0, None
        while i < n:
            if i == 1:
                last = x * 2
            elif i == 2:
                last = i
            else:
                last = x
            total = total + last
            i = i + 1
        return total, last

    compiled = jit(kinds, fullgraph=True)
    for n in range(5):
        count = Tensor(np.int32(n))
        assert plain(compiled(UP, count)) == plain(kinds(UP, count))


def test_a_variable_that_only_some_rounds_assign():
    def some(x, n):
        i, total = 0, x * 0
        while i < n:
            if i == 1:
                total = total + x
            else:
                step = i
                total = total + step
            i = i + 1
        return total

    count = Tensor(np.int32(4))
    assert plain(jit(some, fullgraph=True)(UP, count)) == plain(some(UP, count))


def test_with_open_sizes():
    def part(x):
        if x.sum() > 0:
            return x, "up"
        return {"first": x[0], "rows": len(x)} if x.sum() < -100 else None

    spec = Tensor(shape=[None, 2], dtype=ms.float32)
    compiled = jit(part, input_signature=spec)
    for n in (1, 4, 2):
        for sign in (1, -1, -100):
            x = Tensor(np.full((n, 2), sign, np.float32))
            assert plain(compiled(x)) == plain(part(x))


# ---- structures and objects ---------------------------------------------------------------------------------------------
Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Record:
    """An object that programs make."""

    value: Any
    count: int = 2


class Slotted:
    """An object without a `__dict__`."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def records(x):
    return [Record(x * 2)], {"r": Record(x, 5)}, Record(Record(x))


class Items(list):
    """A list with an attribute."""

    note = "class"


class Triple(tuple):
    """A tuple of a type of its own."""


def containers(x):
    ordered = collections.OrderedDict(b=x, a=1)
    grouped = collections.defaultdict(list)
    grouped["k"].append(x)
    items = Items([x, x * 2])
    items.note = "object"
    return (
        (ordered, grouped, collections.Counter("aab")),
        (collections.deque([x, 2], maxlen=5), Pair(x, x * 2), {1, 2}, frozenset([3])),
        (items, items.note, Triple((x, 1, 2))),
    )


def members(x):
    colour = Colour.BLUE
    return colour, x * colour.value, colour.name, Colour(1)


def shortcuts(x):
    return any([x.sum() > 0, x.max() > 100]), all(v > 0 for v in x), not x.sum() > 0


@pytest.mark.parametrize(
    "function", [records, containers, members, shortcuts], ids=lambda f: f.__name__
)
def test_structures_and_objects(function):
    both(function)


def test_each_run_makes_objects_of_its_own():
    compiled = jit(lambda x: Record([x]), fullgraph=True)
    first, second = compiled(UP), compiled(UP)
    assert first is not second and first.value is not second.value


def test_each_run_gives_sets_and_arrays_of_its_own():
    compiled = jit(lambda x: (x, {1, 2}, np.zeros(2)), fullgraph=True)
    _, numbers, array = compiled(UP)
    numbers.add(3)
    array[0] = 5
    _, numbers, array = compiled(UP)
    assert numbers == {1, 2} and array.tolist() == [0, 0]


def test_arguments_keep_their_types():
    def look(items, table):
        return type(items), items.note, type(table), table["k"] * 2, items[0]

    items, table = Items([UP]), collections.OrderedDict(k=UP)
    items.note = "given"
    assert plain(jit(look, fullgraph=True)(items, table)) == plain(look(items, table))


def test_an_object_in_two_places_is_one():
    def shared(x):
        items = [x]
        record = Record(items)
        return items, record, {"again": record}

    items, record, table = jit(shared, fullgraph=True)(UP)
    assert record.value is items and table["again"] is record


OUTSIDE = [1, UP]


def test_an_object_of_the_caller_is_the_same_object():
    assert jit(lambda x: OUTSIDE, fullgraph=True)(UP) is OUTSIDE


# ---- the largest, as Python finds it --------------------------------------------------------------------------------------
NAN = float("nan")


def test_largest_and_smallest_as_python_finds_them():
    both(lambda x: (max(x), min(x), max([x[0], x[1]], key=lambda v: -v), max(len(s) for s in "ab")))
    both(lambda x: (max(x[0], x[1], x[2]), min([x[2], 7.5]), max([], default=3), min((3, 1, 2))))
    points = [Tensor(p) for p in ([NAN, 1.0, 2.0], [1.0, NAN, 2.0], [2.0, 2.0, NAN])]
    for x in points:
        for find in (max, min):
            expected = find(x.asnumpy())
            got = jit(lambda v, find=find: find(v), fullgraph=True)(x).asnumpy()
            np.testing.assert_array_equal(got, expected)
    slope = jit(lambda v: grad(lambda u: max(u))(v), fullgraph=True)(Tensor([2.0, 2.0, 1.0]))
    assert slope.asnumpy().tolist() == [1.0, 0.0, 0.0]
    assert plain(jit(lambda n: max(n, 2.5), fullgraph=True)(Tensor(3))) == plain(Tensor(3))
    for function in (lambda x: max(x, x * 2), lambda x: jit(lambda v: max(v, v * 2))(x)):
        with pytest.raises(ValueError):
            function(UP)


# ---- what cannot leave ------------------------------------------------------------------------------------------------------
LEAVING = {
    "function": (lambda x: lambda y: x * y, lambda f: f(UP)),
    "partial": (lambda x: functools.partial(ops.mul, x * 2), lambda f: f(UP)),
    "gradient": (lambda x: grad(lambda y: (y * x).sum()), lambda f: f(UP)),
    "vjp": (lambda x: vjp(lambda y: y * x, x), lambda pair: pair[1](UP)),
    "iterator": (lambda x: iter([x, x * 2]), list),
    "generator": (lambda x: (v * 2 for v in (x, x)), list),
    "view": (lambda x: {"a": x * 2}.values(), list),
    "slots": (lambda x: Slotted(x * 2), lambda s: s.value),
    "method": (lambda x: (x * 2).sum, lambda m: m()),
    "text": (lambda x: f"{x}", str),
}


@pytest.mark.parametrize("name", LEAVING)
def test_what_belongs_to_the_compilation_is_returned_by_running_eagerly(name):
    function, use = LEAVING[name]
    with pytest.warns(RunsEagerly):
        got = use(jit(function)(UP))
    assert plain(got) == plain(use(function(UP)))
    with pytest.raises(TypeError):
        jit(function, fullgraph=True)(UP)


def test_a_file_is_managed_by_a_line_that_runs_eagerly(tmp_path):
    path = str(tmp_path / "numbers")

    def save(x):
        y = x * 2
        with open(path, "w") as file:
            file.write("done")
        return y + 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunsEagerly)
        assert jit(save)(UP).asnumpy().tolist() == [3.0, 5.0, 7.0]
    with open(path) as file:
        assert file.read() == "done"


def test_a_number_of_a_tensor_where_python_needs_one():
    def numbers(x):
        n = int(x.max())
        return x * n, list(range(n)), [x * k for k in range(n)], "ab" * n

    with pytest.warns(RunsEagerly, match="runs eagerly between two compiled parts"):
        assert plain(jit(numbers)(UP)) == plain(numbers(UP))


def test_a_variable_of_a_loop_inside_a_loop():
    def count(x, n):
        i = 0
        while i < n:
            j = 0
            while j < i:
                x = x + j
                j += 1
            i += 1
        return x, i, j

    both(lambda x: count(x, (x > 0).sum()), UP)


def test_sets_and_keys_that_hold_tensors() -> None:
    def items(x):
        return {x * 2}

    def keys(x):
        return {x * 2: 1, (x + 1, 2): 3}

    def objects(x):
        found = np.empty(1, object)
        found[0] = x * 2
        return found

    with pytest.raises(TypeError, match="an array of objects"):
        jit(objects, fullgraph=True)(UP)
    with pytest.raises(TypeError, match="keys hold tensors"):
        jit(keys, fullgraph=True)(UP)
    [compiled] = jit(items, fullgraph=True)(UP)
    assert plain(compiled) == plain(*items(UP))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert plain(next(iter(jit(keys)(UP)))) == plain(UP * 2)
        assert plain(jit(objects)(UP)[0]) == plain(UP * 2)


class OneSlot:
    """Has a single slot, named by a str."""

    __slots__ = "value"

    def __init__(self, value):
        self.value = value


@pytest.mark.parametrize(
    "around",
    [
        ValueError,
        OneSlot,
        lambda v: OneSlot(collections.deque([v])),
        lambda v: OneSlot({v: 1}),
        lambda v: types.MappingProxyType({"v": v}),
        lambda v: [OneSlot(v)],
    ],
)
def test_no_value_of_the_graph_leaves_it_inside_of_an_object(around: Any) -> None:
    def function(x):
        return around(x * 2)

    with pytest.raises(TypeError, match="values of the graph"):
        jit(function, fullgraph=True)(UP)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pending: list = [jit(function)(UP)]
    found = []
    while pending:
        value = pending.pop()
        if isinstance(value, Tensor):
            found.append(plain(value))
        elif not isinstance(value, type):
            pending += gc.get_referents(value)
    assert found == [plain(UP * 2)]


def test_a_tensor_that_is_returned_twice_is_one_object() -> None:
    def function(x):
        y = x * 2
        return y, [y, x + 1], {"y": y}

    for run in (function, jit(function, fullgraph=True)):
        first, [second, other], table = run(UP)
        assert first is second is table["y"]
        first[0] = 7.0
        assert plain(table["y"]) == plain(Tensor([7.0, 4.0, 6.0]))
        assert plain(other) == plain(UP + 1)


@pytest.mark.parametrize("changes", [False, True])
def test_an_argument_that_is_returned_is_the_callers_own(changes: bool) -> None:
    def function(x, y):
        if changes:
            y[1] = 9.0
        return x, [y, x * 2]

    for run in (function, jit(function, fullgraph=True)):
        x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
        for _ in range(2):
            first, [second, other] = run(x, y)
            assert first is x
            assert second is y
        first[0] = 7.0
        assert plain(x) == plain(Tensor([7.0, 2.0]))
        assert plain(y) == plain(Tensor([3.0, 9.0 if changes else 4.0]))
        assert plain(other) == plain(Tensor([2.0, 4.0]))
        if not changes:
            assert run(x, x)[0] is x
    slope = grad(lambda v: (jit(function)(v, v + 1)[0] * v).sum())(UP)
    assert plain(slope) == plain(UP * 2)

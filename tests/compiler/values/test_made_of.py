"""What values are made of (compile/values/structure.py): each kind gives its parts, is made again of others, and what looks into values
keeps what is one object one object, also where it holds itself."""

from __future__ import annotations

import collections
import functools
import operator
import types
import warnings
from typing import Any

import pytest
from both_modes import plain

import mindspore as ms
from mindspore import Tensor, grad, jit, mutable, nn, ops
from mindspore.compile.values.effects import Text
from mindspore.compile.values.nested import NestedFunction
from mindspore.compile.values.numbers import NumberInput
from mindspore.compile.values.ranges import TracedRange
from mindspore.compile.values.stand_ins import sample_of
from mindspore.compile.values.structure import (
    LEAF,
    Structure,
    attributes_of,
    children,
    exchanged,
    first,
    holds,
    is_container,
    leaves_of,
    maker,
    nodes,
    reachable,
    rebuild,
    register,
    renewed,
    replace_leaves,
    shares,
    structure_of,
)
from mindspore.compile.values.values import Choice, Undefined
from mindspore.compile.walk.generators import Generator

UP, DOWN = Tensor([1.0, 2.0, 3.0]), Tensor([-1.0, -2.0, -3.0])
ONE, TWO = Tensor([1.0]), Tensor([2.0])
Pair = collections.namedtuple("Pair", "a b")


class Listed(list):
    """A list with attributes."""


class Method:
    """Something with a method."""

    def __init__(self, value: Any = None):
        self.value = value

    def call(self) -> Any:
        return self.value


class Trace:
    """What the walkers ask of a Tracer: the ids of objects that it made."""

    def __init__(self, *made: Any):
        self.made = {id(v) for v in made}


REMADE = {
    "tuple": (ONE, 2),
    "namedtuple": Pair(ONE, 2),
    "list": [ONE, 2],
    "dict": {"a": ONE, 2: 3},
    "mutable": mutable({"a": ONE}),
    "ordered dict": collections.OrderedDict(b=ONE, a=2),
    "default dict": collections.defaultdict(list, a=ONE),
    "list of a class": Listed([ONE, 2]),
    "set": {ONE, 2},
    "frozenset": frozenset([ONE, 2]),
    "deque": collections.deque([ONE, 2], 3),
    "slice": slice(ONE, 2, None),
    "partial": functools.partial(max, ONE, 2, key=TWO),
    "method": types.MethodType(Method.call, Method(ONE)),
    "method of a list": [ONE].append,
    "choice": Choice(Tensor(0, ms.int32), [ONE, None]),
    "text": Text("{}{}".format, ONE, 2),
    "range": TracedRange(0, 3, 1),
}


@pytest.mark.parametrize("name", REMADE)
def test_a_value_is_made_again_of_its_parts(name: str) -> None:
    value = REMADE[name]
    parts = list(structure_of(value).parts(value))
    assert parts
    again = rebuild(value, parts)
    assert type(again) is type(value)
    found = list(structure_of(again).parts(again))
    assert len(found) == len(parts) and all(
        map(operator.is_, sorted(found, key=id), sorted(parts, key=id))
    )
    assert is_container(value) == isinstance(value, (list, dict, set, collections.deque))
    if is_container(value):
        assert again is not value
    assert renewed(value, parts, parts) is value


def test_what_a_value_is_besides_its_parts_is_kept() -> None:
    value = Listed([ONE])
    value.name = "a"
    assert rebuild(value, [TWO]).name == "a"
    assert rebuild(collections.deque([ONE], 7), [TWO]).maxlen == 7
    assert rebuild(collections.defaultdict(list, a=ONE), [TWO])["b"] == []
    moved = collections.OrderedDict(a=ONE, b=TWO)
    moved.move_to_end("a")
    assert list(structure_of(moved).parts(moved)) == [TWO, ONE]
    assert list(rebuild(moved, [3, 4]).items()) == [("b", 3), ("a", 4)]
    called = rebuild(functools.partial(divmod, 1), [divmod, 7])
    assert called(2) == (3, 1)
    assert rebuild([ONE].append, [[TWO]]).__self__ == [TWO]


@pytest.mark.parametrize(
    "make, kind",
    [
        (lambda: ONE, Tensor),
        (lambda: Text(str, ONE), str),
        (lambda: TracedRange(0, 3, 1), range),
        (lambda: object.__new__(NestedFunction), types.FunctionType),
        (lambda: object.__new__(Generator), types.GeneratorType),
        (lambda: [ONE], list),
    ],
)
def test_a_stand_in_has_the_type_of_what_it_stands_for(make: Any, kind: type) -> None:
    assert isinstance(sample_of(make()), kind)


def test_leaves() -> None:
    for value in (1, None, "a", ONE, Undefined("why"), NumberInput(ONE), len, list):
        assert not list(structure_of(value).parts(value))
        assert children(value) is None
        assert replace_leaves(value, lambda t: t) is value


def test_a_kind_is_registered_for_its_subclasses_and_in_one_place() -> None:
    class Box:
        def __init__(self, *held: Any):
            self.held = held

    class Inner(Box):
        pass

    assert structure_of(Inner(ONE)) is LEAF
    register(Box, Structure(lambda v: v.held, lambda v, items: type(v)(*items), is_data=True))
    value = [Inner(ONE, (TWO, 3))]
    assert leaves_of(value) == [ONE, TWO]
    other = replace_leaves(value, lambda t: t * 2)
    assert type(other[0]) is Inner and plain(leaves_of(other)) == plain([ONE * 2, TWO * 2])
    assert any(v is ONE or v is value[0] for v in reachable(Trace(), [value]))


def test_what_is_data_and_what_python_sees() -> None:
    class Attributes(dict):
        pass

    value = Attributes(a=ONE)
    assert children(value) is None and holds(value, lambda v: v is ONE)
    chosen = Choice(ONE, [TWO, None])
    assert leaves_of([chosen]) == [ONE, TWO]
    assert not holds([chosen], lambda v: v is TWO)  # it is not known to be there
    inside = {"a": (1, collections.deque([slice(0, chosen)]))}
    assert first(inside, Choice) is chosen
    other = exchanged(inside, chosen, 5)
    assert other == {"a": (1, collections.deque([slice(0, 5)]))}
    assert exchanged(inside, ONE, 5) is inside


def test_what_is_one_object_is_met_once() -> None:
    shared = [ONE]
    value = (shared, {"a": shared}, shared)
    assert shares(value) and not shares(([ONE], [ONE], (1,), (1,)))
    assert sum(v is shared for v in reachable(Trace(), [value])) == 1
    assert leaves_of(value) == [ONE] * 3
    made = Method(shared)
    assert attributes_of(Trace(), made) is None
    assert attributes_of(Trace(made), made) is vars(made)
    assert any(v is shared for v in reachable(Trace(made), [made]))
    assert not any(v is shared for v in reachable(Trace(), [made]))


def test_what_holds_itself_is_walked_to_its_end() -> None:
    value: list = [ONE]
    value.append({"a": value})
    assert leaves_of(value) == [ONE] and shares(value)
    assert not holds(value, lambda v: v is TWO) and first((value, TWO), Choice) is None
    assert sum(v is value for v in nodes(value)) == 2
    assert len(list(reachable(Trace(), [value]))) == 2
    for again in (
        lambda: replace_leaves(value, lambda t: t),
        lambda: exchanged(value, ONE, TWO),
        lambda: maker(value, lambda v: None),
    ):
        with pytest.raises(TypeError, match="a list that holds itself"):
            again()


def test_a_maker_makes_anew_what_can_change_and_nothing_else() -> None:
    value = {"a": (ONE, [2]), "b": slice(0, 1), "c": collections.deque([TWO])}
    make = maker(value, lambda v: (lambda got: got) if v is ONE else None)
    made = make(7)
    value["c"].append(3)  # it is made as it was
    assert made["a"] == (7, [2]) and list(made["c"]) == [TWO]
    assert made["b"] is value["b"] and made["a"][1] is not value["a"][1]
    assert make(8)["a"][1] is not made["a"][1]


# ---- in programs --------------------------------------------------------------------------------------------------------
def object_in_a_set(x):
    held = {Method(x)}
    for one in held:
        if x.sum() > 0:
            one.value = one.value * 2
    return [one.value for one in held]


def attribute_of_a_list(x):
    found = Listed([x])
    found.name = x
    if x.sum() > 0:
        found.name = x * 2
    return found.name


def partial_in_one_branch(x):
    call, other = functools.partial(ops.add, x), None
    if x.sum() > 0:
        other = call
    return 0 if other is None else (other is call, other(1))


def frozenset_of_one_branch(x):
    found = None
    if x.sum() > 0:
        found = frozenset([x * 2])
    return 0 if found is None else list(found)


def put_by_a_gradient(x):
    kept, found = {}, set()

    def inner(y):
        kept["slice"], kept["call"] = slice(y[0], None), functools.partial(ops.add, y * 2)
        found.add(y * 3)
        return (y * y).sum()

    slope = grad(inner)(x)
    return slope, kept["slice"].start, kept["call"](1), list(found)


def sizes_of_itself(x):
    held = [x]
    held.append(held)
    return ops.relu(held[1][0]) + len(held)


def itself_in_a_loop(x):
    held = [x]
    held.append(held)
    while x.sum() < 100:
        held[0] = x
        x = x + 10
    return held[1][1][0]


@pytest.mark.parametrize(
    "function",
    [object_in_a_set, attribute_of_a_list, partial_in_one_branch, frozenset_of_one_branch]
    + [put_by_a_gradient, sizes_of_itself, itself_in_a_loop],
)
def test_programs(function: Any) -> None:
    for x in (UP, DOWN):
        assert plain(jit(function, fullgraph=True)(x)) == plain(function(x))


def shared_in_a_loop(x):
    one = [x]
    both = (one, one)
    while x.sum() < 100:
        one = [x]
        both = (one, one)
        x = x + 10
    both[0].append(x)
    return len(both[1])


def shared_from_the_loop(x):
    both = ([x], [x])
    while x.sum() < 100:
        one = [x]
        both = (one, one)
        x = x + 10
    both[0].append(x)
    return len(both[1])


def new_itself_in_a_loop(x):
    held = [x]
    held.append(held)
    while x.sum() < 100:
        held = [x]
        held.append(held)
        x = x + 10
    return held[1][0]


@pytest.mark.parametrize("function", [shared_in_a_loop, shared_from_the_loop, new_itself_in_a_loop])
def test_what_a_loop_would_part_is_refused(function: Any) -> None:
    with pytest.raises(TypeError, match="holds one list or dict twice"):
        jit(function, fullgraph=True)(UP)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert plain(jit(function)(UP)) == plain(function(UP))


def test_a_list_that_holds_itself_is_not_returned() -> None:
    def function(x):
        held = [x]
        held.append(held)
        return held if x.sum() > 0 else [x, x]

    with pytest.raises(TypeError, match="an object that holds itself"):
        jit(function, fullgraph=True)(UP)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = jit(function)(UP)
    assert found[1] is found


def test_equal_cells_return_one_list_twice() -> None:
    class Inner(nn.Cell):
        def __init__(self):
            super().__init__()
            self.relu = nn.ReLU()

        def construct(self, x):
            found = [self.relu(x)]
            return found, found

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.parts = nn.CellList([Inner() for _ in range(3)])

        def construct(self, x):
            counts = ()
            for part in self.parts:
                one, other = part(x)
                one.append(x)
                counts += (len(other),)
            return counts

    ms.set_context(mode=ms.GRAPH_MODE)
    assert Net()(UP) == (2, 2, 2)


def test_open_sizes_among_what_is_returned() -> None:
    class Net(nn.Cell):
        def construct(self, x):
            one = [x.shape[0], x * 2]
            return one, one, slice(0, x.shape[0])

    ms.set_context(mode=ms.GRAPH_MODE)
    net = Net()
    net.set_inputs(Tensor(shape=[None], dtype=ms.float32))
    for count in (3, 4):
        one, other, part = net(ops.ones((count,), ms.float32))
        assert one is other and type(one[0]) is int and one[0] == count
        assert type(part.stop) is int and part.stop == count


def test_messages_show_what_the_program_believes_that_it_gave():
    def program(x):
        def inner(y):
            return y

        return ops.softmax(x, inner)

    for function in (program, ms.jit(program)):
        with pytest.raises(TypeError, match="'axis' must be an int, but got function"):
            function(ops.ones((2, 2), ms.float32))

"""Arguments that a compiled function changes: the caller's own lists, dicts and tensors change as in PYNATIVE_MODE, whoever else holds
them; and arguments that are found by identity are looked at on every call."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, jit, nn, ops


def tensor(*values: float) -> Tensor:
    """A float32 vector."""
    return Tensor(list(values), ms.float32)


def plain(value: Any) -> Any:
    """Lists for tensors."""
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value


def appends(x, items):
    items.append(x * 2)
    items[0] = x * 3
    return len(items)


def fills(x, table):
    table["n"] = x * 2
    table.pop("a", None)
    table["rows"].append(x)
    return table


def by_a_tensor(x, items):
    if x.sum() > 0:
        items[0] = x * 2
    else:
        items[0] = items[1] + x
    return items[0] * 2


def in_a_loop(x, items):
    i = 0
    while i < x.sum():
        items[0] = items[0] + x
        i = i + 1
    return items[0]


def deep(x, table):
    (first, *_), rest = table["pair"]
    rest["k"] = first + x
    table["pair"] = (first, rest)
    return rest, table["pair"]


PROGRAMS = {
    "appends": (appends, lambda: [tensor(1, 1)]),
    "fills": (fills, lambda: {"a": tensor(1), "rows": []}),
    "by a tensor": (by_a_tensor, lambda: [tensor(1, 1), tensor(5, 6)]),
    "in a loop": (in_a_loop, lambda: [tensor(0, 0)]),
    "deep": (deep, lambda: {"pair": ([tensor(1, 2), 3], {})}),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_lists_and_dicts_of_the_caller_change(name):
    function, make = PROGRAMS[name]
    compiled = jit(function, fullgraph=True)
    for points in ((tensor(1, 2), tensor(2, 1)), (tensor(-1, -2), tensor(3, 1))):
        mine, theirs = make(), make()
        for x in points:
            expected, got = function(x, theirs), compiled(x, mine)
            assert plain(got) == plain(expected)
            assert plain(mine) == plain(theirs)
            assert (got is mine) == (expected is theirs)


def test_an_unchanged_structure_that_is_returned_is_the_callers():
    items = [tensor(1), {"a": 2}]
    got = jit(lambda v: (v, v[1]), fullgraph=True)(items)
    assert got[0] is items and got[1] is items[1]


def test_one_list_in_two_arguments_runs_eagerly():
    def change(x, a, b):
        a.append(x)
        return len(b)

    items = [tensor(1)]
    with pytest.warns(UserWarning, match="given twice"):
        assert jit(change)(tensor(2), items, items) == 2


class Reader(nn.Cell):
    """Reads an attribute after an argument has changed."""

    def __init__(self):
        super().__init__()
        self.kept = tensor(1, 2, 3)
        self.items = [tensor(1, 2, 3)]

    def construct(self, x, items):
        x[0] = 5.0
        items[0] = x * 2
        return self.kept + x, self.items[0] * 1


@pytest.mark.parametrize("mode", [ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "graph"])
@pytest.mark.filterwarnings("ignore:.*runs eagerly")
def test_an_argument_that_is_an_attribute_too(mode):
    ms.set_context(mode=mode)
    try:
        net = Reader()
        assert plain(net(tensor(1, 1, 1), [0])) == ([6.0, 3.0, 4.0], [1.0, 2.0, 3.0])
        assert plain(net(net.kept, net.items)) == ([10.0, 4.0, 6.0], [10.0, 4.0, 6.0])
    finally:
        ms.set_context(mode=ms.GRAPH_MODE)


def test_it_is_an_error_where_all_must_be_compiled():
    kept = tensor(1, 2)

    def change(x):
        x[0] = 5.0
        return kept + x

    compiled = jit(change, fullgraph=True)
    assert plain(compiled(tensor(1, 1))) == [6.0, 3.0]
    with pytest.raises(TypeError, match="is an attribute or variable, too"):
        compiled(kept)


def test_a_parameter_that_a_tensor_chooses_is_assigned_eagerly():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.p = Parameter(tensor(1, 2), name="p")
            self.q = Parameter(tensor(0, 0), name="q")

        def construct(self, x):
            chosen = self.p if x.sum() > 0 else self.q
            ops.assign(chosen, x)
            return chosen * 2

    net = Net()
    with pytest.warns(UserWarning, match="a tensor decides which Parameter this is"):
        assert plain(jit(lambda v: net(v))(tensor(-1, -2))) == [-2.0, -4.0]
    assert plain(net.q) == [-1.0, -2.0] and plain(net.p) == [1.0, 2.0]


def test_what_is_found_by_identity_is_looked_at_on_every_call():
    size = jit(lambda x, things: x * len(things) if 2 in things else x)
    for things in ({1, 2}, collections.deque([1, 2])):
        first = size(tensor(1), things)
        things.remove(2)
        assert (plain(first), plain(size(tensor(1), things))) == ([2.0], [1.0])
    array = np.array([1.0, 2.0], np.float32)
    scaled = jit(lambda x, a: x * Tensor(a))
    assert plain(scaled(tensor(1, 1), array)) == [1.0, 2.0]
    array[0] = 5.0
    assert plain(scaled(tensor(1, 1), array)) == [5.0, 2.0]

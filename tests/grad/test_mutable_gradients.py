"""Gradients of tuples, lists and dicts that `mutable` marked, in both modes: a structure like the argument, zeros for numbers in it.
Structures that are not marked have none."""

from __future__ import annotations

from typing import Any

import pytest

import mindspore as ms
from mindspore import Tensor, jit, mutable, nn, ops

X, Y = Tensor([1.5, 2.0, 3.0]), Tensor([2.0, 4.0, 8.0])


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "graph"], autouse=True)
def _mode(request: Any) -> Any:
    ms.set_context(mode=request.param)
    yield
    ms.set_context(mode=ms.GRAPH_MODE)


def plain(value: Any) -> Any:
    """Lists for tensors."""
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    if isinstance(value, (tuple, list)):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


x, y, zero = plain(X), plain(Y), [0.0, 0.0, 0.0]


def product(pair):
    return pair[0] * pair[1]


def of_dict(table):
    return table["a"] * table["b"][0]


def beside(v, pair):
    return v * pair[1]


CASES = [
    (lambda: ms.grad(product)(mutable((X, Y))), (y, x)),
    (lambda: ms.grad(product)(mutable([X, Y])), [y, x]),
    (lambda: ms.grad(product)(mutable((X, X))), (x, x)),
    (lambda: ms.grad(of_dict)(mutable({"a": X, "b": (Y, X)})), {"a": y, "b": (x, zero)}),
    (lambda: ms.grad(product)(mutable((X, 2.0))), ([2.0] * 3, 0.0)),
    (lambda: ms.grad(product)(mutable((X, 2))), ([2.0] * 3, 0)),
    (lambda: ms.grad(beside, (0, 1))(X, mutable((X, Y))), (y, (zero, x))),
    (lambda: ms.grad(beside, 1)(X, mutable([X, Y])), [zero, x]),
    (lambda: ms.grad(product)((X, Y)), ()),
    (lambda: ms.grad(beside, (0, 1))(X, (X, Y)), y),
    (lambda: ops.GradOperation(get_all=True)(beside)(X, mutable((X, Y))), (y, (zero, x))),
    (lambda: ops.GradOperation(get_all=True)(beside)(X, (X, Y)), (y,)),
    (lambda: ops.GradOperation(get_all=True)(product)(mutable((X, Y))), ((y, x),)),
    (
        lambda: ops.GradOperation(sens_param=True)(product)(mutable((X, Y)), X),
        ([3.0, 8.0, 24.0], [2.25, 4.0, 9.0]),
    ),
    (lambda: ms.value_and_grad(product)(mutable((X, Y))), ([3.0, 8.0, 24.0], (y, x))),
    (lambda: ms.grad(jit(product))(mutable((X, Y))), (y, x)),
    (lambda: jit(lambda v: ms.grad(product)(mutable((v, v * 2))))(X), ([3.0, 4.0, 6.0], x)),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_structures_of_gradients(case):
    run, expected = CASES[case]
    assert plain(run()) == expected


def test_any_length():
    def chain(items):
        value = items[0]
        for item in items[1:]:
            value = value * item
        return value

    for items in ([X], [X, Y], [X, Y, X]):
        found = ms.grad(chain)(mutable(items, dynamic_len=True))
        assert len(found) == len(items)


def test_a_cell_that_records_for_its_gradient():
    class Net(nn.Cell):
        def construct(self, pair):
            return pair[0] * pair[1]

    net = Net()
    net.set_grad()
    pair = mutable((X, Y))
    net(pair)
    assert plain(ms.grad(net)(pair)) == (y, x)


def test_integers_in_a_structure_have_gradients_of_their_type():
    found = ms.grad(product)(mutable((X, Tensor([1, 2, 3], ms.int32))))
    assert plain(found) == ([1.0, 2.0, 3.0], plain(X.astype(ms.int32)))


def test_marked_structures_are_what_they_were():
    def walk(pair, table):
        a, b = pair
        return a * len(pair) + b + sum(table.values()) + (X if X is pair[0] else 0)

    marked = mutable((X, Y)), mutable({"k": X, "l": Y})
    assert isinstance(marked[0], tuple) and isinstance(marked[1], dict)
    expected = walk((X, Y), {"k": X, "l": Y})
    for function in (walk, jit(lambda *args: walk(*args))):
        assert plain(function(*marked))[1] is not None
    assert plain(walk(*marked)) == plain(expected)

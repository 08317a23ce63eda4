"""`any` and `all` make no item behind the one that decides, which shows where making an item does something."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit

X = np.array([1.0, 2.0], np.float32)


def shown(value):
    print("shown", value)
    return value


def known_items(x, n):
    if any(shown(i) > 1 for i in (0, 2, 1)):
        x = x * 2
    return x, all(shown(i) < 2 for i in (0, 2, 1))


def items_of_tensors(x, n):
    if any(shown(i) > n for i in (0, 2, 1)):
        x = x * 2
    return x, all(shown(i) < n for i in (0, 1, 2, 5))


def some_of_the_items(x, n):
    return any(shown(i) + n > 3 for i in range(4) if shown(i) != 1) and x, not any(
        i > n for i in ()
    )


def in_a_loop(x, n):
    while any(shown(i) > n for i in (0, 3)):
        n = n + 1
        x = x * 2
    return x, n


def assigned(x, n):
    k = 0
    found = any((k := k + 1) > n for _ in range(4))
    return x * k, k, found


def of_two_loops(x, n):
    return all(shown(i * j) < n for i in (0, 1) for j in (0, 3)), x


def only_computed(x, n):
    return any(t.sum() > n for t in (x, x * 2)), all(i < n for i in (0, 1))


def of_an_iterator(x, n):
    items = iter(range(6))
    found = any(shown(i) > n for i in items)
    return x, found, list(items)


COMPILED = [
    known_items,
    items_of_tensors,
    some_of_the_items,
    in_a_loop,
    assigned,
    of_two_loops,
    only_computed,
]


def results(function) -> list:
    return [str(function(Tensor(X), Tensor(n, ms.int32))) for n in (0, 1, 2, 7, 0)]


@pytest.mark.parametrize("function", COMPILED, ids=lambda f: f.__name__)
def test_no_item_too_many(function, capsys):
    eager, printed = results(function), capsys.readouterr().out
    assert results(jit(function, fullgraph=True)) == eager
    assert capsys.readouterr().out == printed


def test_an_iterator_that_others_go_on_with(capsys):
    eager, printed = results(of_an_iterator), capsys.readouterr().out
    with pytest.warns(UserWarning, match="a tensor decides whether an iterator goes on"):
        assert results(jit(of_an_iterator)) == eager
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("function", [items_of_tensors, only_computed, in_a_loop])
def test_gradients(function):
    total = lambda f: lambda v, n: (f(v, n)[0] * v).sum()
    args = Tensor(X), Tensor(1, ms.int32)
    compiled = ms.grad(total(jit(function, fullgraph=True)))(*args)
    assert str(compiled) == str(ms.grad(total(function))(*args))

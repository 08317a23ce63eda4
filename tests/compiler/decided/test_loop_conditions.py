"""Conditions of loops that do something - assign, print, draw, change a Parameter or a list - do it once in each round."""

from typing import Any

import numpy as np
import pytest
from both_modes import plain

import mindspore as ms
from mindspore import Parameter, Tensor, jit, nn, ops

X = np.array([3.0, 1.0, 2.0], np.float32)


def shown(value):
    print("sum", value.sum())
    return value


def assigned(x, n):
    i = 0
    while (i := i + 1) < n:
        x = x + i
    return x, i


def assigned_twice(x, n):
    i = 0
    while (i := i + 1) < n and (y := x * i).sum() < 10:
        x = x + y
    else:
        x = x * 10
    return x, i, y


def under_not(x, n):
    i = 0
    while not (i := i + 1) > n:
        x = x + i
        if x.sum() > 12:
            continue
        x = x * 2
    return x, i


def printed(x, n):
    while shown(x).sum() < n * 10:
        x = x * 2
    return x


def counted_by_a_closure(x, n):
    count = 0

    def next_count():
        nonlocal count
        count += 1
        return count

    while next_count() < n:
        x = x * 2
    return x, count


def kept_in_a_dict(x, n):
    kept = {"x": x}

    def grown():
        kept["x"] = kept["x"] + 1
        return kept["x"]

    while grown().sum() < n * 5:
        x = x * 2
    return x, kept["x"]


def inside_another_loop(x, n):
    for _ in range(3):
        i = 0
        while (i := i + 1) < n:
            x = x + i
            if x.sum() > 40:
                break
        else:
            x = x + 1
    return x, i


PROGRAMS = [
    assigned,
    assigned_twice,
    under_not,
    printed,
    counted_by_a_closure,
    kept_in_a_dict,
    inside_another_loop,
]


def total(value: Any) -> Tensor:
    return (value[0] if isinstance(value, tuple) else value).sum()


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_each_round_once(function, capsys):
    found = []
    for f in (function, jit(function, fullgraph=True)):
        n = Tensor(3, ms.int32)
        gradient = ms.grad(lambda v, n, f=f: total(f(v, n)))
        found.append(
            [plain(f(Tensor(X), n)), plain(gradient(Tensor(X), n)), capsys.readouterr().out]
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("function", [assigned, printed], ids=lambda f: f.__name__)
def test_no_round(function, capsys):
    n = Tensor(-1, ms.int32)
    eager, shown_eagerly = plain(function(Tensor(X), n)), capsys.readouterr().out
    assert plain(jit(function, fullgraph=True)(Tensor(X), n)) == eager
    assert capsys.readouterr().out == shown_eagerly


def leaves_the_outer_loop(x, n):
    for k in range(4):
        i = 0
        while (i := i + 1) < n:
            x = x * 2
        else:
            if k == 1:
                break
    return x, i, k


def test_an_else_that_leaves_the_outer_loop():
    with pytest.warns(UserWarning, match="leaves another loop"):
        compiled = jit(leaves_the_outer_loop)(Tensor(X), Tensor(3, ms.int32))
    assert plain(compiled) == plain(leaves_the_outer_loop(Tensor(X), Tensor(3, ms.int32)))


class Bumped(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = Parameter(Tensor(0.0), name="count")

    def bump(self):
        self.count += 1
        return self.count

    def construct(self, x):
        while self.bump() < 4:
            x = x * 2
        return x


class Drawn(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = Parameter(Tensor(0.0), name="count")

    def construct(self, x):
        while ops.dropout(x, 0.5, seed=3).sum() + self.count < 40:
            self.count += 10
        return ops.dropout(x, 0.5)


@pytest.mark.parametrize("cell", [Bumped, Drawn])
def test_parameters_and_random_numbers(cell):
    found = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(7)
        net = cell()
        found.append([plain(net(Tensor(X))), plain(net(Tensor(X))), plain(net.count.value())])
    assert found[0] == found[1]


def test_a_function_without_text_assigns_once():
    """It runs on traced tensors as far as it can, and then again: what it had assigned is taken back."""
    names: dict = {"nn": nn, "Parameter": Parameter, "Tensor": Tensor}
    program = """
class Bumped(nn.Cell):
    def __init__(self):
        super().__init__()
        self.count = Parameter(Tensor(0.0), name="count")

    def construct(self, x):
        self.count += 1
        while self.count < 4:
            self.count += 1
            x = x * 2
        return x
"""
    exec(program, names)
    ms.set_context(mode=ms.GRAPH_MODE)
    net = names["Bumped"]()
    with pytest.warns(UserWarning, match="runs eagerly"):
        assert plain(net(Tensor(X))) == (X * 8).tolist()
    assert net.count.asnumpy() == 4

"""Functions and cells that a tensor chooses: by a condition, by an index, stored, returned, carried through loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from both_modes import POINTS, check

import mindspore as ms
from mindspore import Tensor, jit, nn, ops

PROGRAMS: list[Any] = []


def program(function: Any) -> Any:
    """Adds to the programs that must give the same in both modes."""
    PROGRAMS.append(function)
    return function


def dbl(x):
    return x * 2


def sq(x):
    return x * x


@program
def choose_f(x):
    return (dbl if x.sum() > 2 else sq)(x)


@program
def choose_var(x):
    if x[0] > 0:
        f = dbl
    else:
        f = lambda y: y * x
    return f(x) + f(x + 1)


@program
def choose_dict(x):
    d = {"a": dbl, "b": sq}
    k = "a" if x[0] > 0 else "b"
    return d[k](x)


@program
def list_index(x):
    fs = [dbl, sq, ops.sin, lambda v: v + x]
    return fs[ops.cast(ops.abs(x[1]), ms.int32)](x)


@program
def neg_index(x):
    fs = (dbl, sq, ops.cos)
    return fs[-ops.cast(ops.abs(x[1]), ms.int32)](x)


LAYERS = nn.CellList([nn.Dense(3, 3), nn.ReLU(), nn.Dense(3, 3)])


@program
def cells_index(x):
    i = ops.cast(ops.abs(x[1]), ms.int32)
    return LAYERS[i](x.reshape(1, 3)).reshape(3)


@program
def loop_fn(x):
    f = dbl
    n = ops.cast(ops.abs(x[2]), ms.int32)
    i = 0
    y = x
    while i < n:
        y = f(y) * 0.5
        f = sq if y.sum() > 2 else dbl
        i += 1
    return f(y)


@pytest.mark.parametrize("point", POINTS, ids=["a", "b", "c", "d"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled_equals_eager(function: Any, point: list) -> None:
    check(function, point)


class Layers(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.CellList([nn.Tanh(), nn.ReLU(), nn.Sigmoid()])

    def construct(self, index: Tensor, x: Tensor) -> Tensor:
        return self.layers[index](x) + ops.functional.switch_layer(
            index, (ops.neg, ops.abs, ops.exp)
        )(x)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "eager"])
def test_an_index_counts_as_in_python(mode: int) -> None:
    x = np.array([0.5, -1.0], np.float32)
    expected = [np.tanh(x) - x, np.maximum(x, 0) + np.abs(x), 1 / (1 + np.exp(-x)) + np.exp(x)]
    ms.set_context(mode=mode, jit_syntax_level=ms.STRICT)
    try:
        net = Layers()
        for index in (0, 1, 2, -1, -3):
            for dtype in (ms.int32, ms.int64):
                got = net(Tensor(index, dtype), Tensor(x)).asnumpy()
                np.testing.assert_allclose(got, expected[index], rtol=1e-6)
        for index in (3, -4):
            with pytest.raises(IndexError):
                net(Tensor(index, ms.int32), Tensor(x))
        with pytest.raises(TypeError):
            net(Tensor(0.5), Tensor(x))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE, jit_syntax_level=ms.LAX)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("compiled", [False, True])
def test_switch_layer_names_an_index_that_is_out_of_range(compiled: bool, known: bool) -> None:
    layers, x = (ops.neg, ops.abs), Tensor(2.0)
    for value in (Tensor(2), Tensor([-3], ms.int32)):

        def of(index: Tensor, x: Tensor, value: Tensor = value) -> Tensor:
            return ops.functional.switch_layer(value if known else index, layers)(x)

        text = r"For 'switch_layer', 'index' must be in \[-2, 2\), but got (2|-3)\."
        with pytest.raises(IndexError, match=text):
            (ms.jit(of) if compiled else of)(value, x)


def test_weights_of_the_chosen_cell_alone_get_gradients() -> None:
    cells = nn.CellList([nn.Dense(2, 2), nn.Dense(2, 2), nn.Dense(2, 2)])
    weights = [c.weight for c in cells]

    def forward(index: Tensor, x: Tensor) -> Tensor:
        return cells[index](x).sum()

    gradient = jit(lambda i, x: ops.grad(forward, 1, weights)(i, x), fullgraph=True)
    _, grads = gradient(Tensor(1, ms.int32), Tensor(np.ones((1, 2), np.float32)))
    assert [float(ops.abs(g).sum()) for g in grads] == [0.0, 4.0, 0.0]

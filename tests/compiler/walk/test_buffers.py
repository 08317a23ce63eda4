"""Tensors that a compiled program makes of nothing (`ops.zeros`) and then writes to are its own: in lists and dicts, in functions that
are differentiated, in cells that are alike."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, grad, jit, nn, ops, value_and_grad


def in_a_list(x):
    rows = [ops.zeros(3), ops.ones(3)]
    for i, row in enumerate(rows):
        row[i] = x[i]
    rows[0].fill_(7)
    return rows, ops.stack(rows)


def in_a_dict(x):
    kept = {"a": ops.zeros(3)}
    kept["a"][0] = x[0]
    again = kept["a"]
    again[1] = 9
    return kept


def of_a_loop(x):
    buffer, i = ops.zeros(3), Tensor(0)
    while i < 3:
        buffer[i] = x[i] * i
        i = i + 1
    return (buffer * x).sum()


def through_views(x):
    buffer = ops.zeros((2, 3))
    last = buffer[1]
    last[:2] = x[:2] * x[1]
    if x.sum() > 0:
        buffer.T[0].add_(x[2])
    return (buffer**2).sum()


def given_values(x):
    buffer = Tensor([1.0, 2.0, 3.0])
    buffer[0] = x[1]
    return (buffer * x).sum()


class Buffered(nn.Cell):
    def construct(self, x):
        buffer = ops.zeros(3)
        buffer[0] = x[0]
        return buffer * x + 1


CELLS = nn.CellList([Buffered() for _ in range(3)])


def of_equal_cells(x):
    for cell in CELLS:
        x = cell(x)
    return x.sum()


DIFFERENTIATED = [of_a_loop, through_views, given_values, of_equal_cells]
OTHERS = [in_a_list, in_a_dict]


def numbers(value: Any) -> list:
    """All elements of the tensors in a value."""
    if isinstance(value, Tensor):
        return value.asnumpy().ravel().tolist()
    parts = value.values() if isinstance(value, dict) else value
    return [n for part in parts for n in numbers(part)]


def agree(program: Any, **how: bool) -> None:
    compiled = jit(program, **how)
    for first in (1.0, -9.0, 1.0):  # the last call finds nothing of the ones before
        x = Tensor([first, 2.0, 3.0])
        np.testing.assert_allclose(numbers(compiled(x)), numbers(program(x)), rtol=1e-5)


@pytest.mark.parametrize("program", [*OTHERS, *DIFFERENTIATED], ids=lambda p: p.__name__)
def test_they_are_written_to(program):
    agree(program, fullgraph=True)


@pytest.mark.parametrize("program", DIFFERENTIATED, ids=lambda p: p.__name__)
def test_gradients_of_what_writes_to_them(program):
    agree(value_and_grad(program), fullgraph=True)
    agree(lambda x: grad(lambda y: (grad(program)(y) ** 2).sum())(x), fullgraph=True)


def test_they_leave_a_differentiated_function():
    def program(x):
        box = []

        def inner(y):
            buffer = ops.zeros(3)
            box.append(buffer)
            buffer[0] = y[0] * 2
            return (buffer * buffer).sum()

        return grad(inner)(x), box[0]

    agree(program, fullgraph=True)


def test_one_that_was_made_around_it_is_not_its_own():
    def program(x):
        buffer = ops.zeros(3)

        def inner(y):
            buffer[0] = y[0]
            return (buffer * y).sum()

        return grad(inner)(x), buffer

    x = Tensor([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match="changes a tensor in place that was made outside of it"):
        jit(program, fullgraph=True)(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree(program)


def test_a_network_with_a_buffer_is_trained_compiled():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, 2, weight_init="ones", bias_init="zeros")

        def construct(self, x):
            states = ops.zeros((3, 2))
            for t in range(3):
                states[t] = ops.tanh(self.dense(x[t] if t == 0 else x[t] + states[t - 1]))
            return (states**2).mean()

    x = Tensor(np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2))
    losses = {}
    try:
        for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
            strict = ms.STRICT if mode == ms.GRAPH_MODE else ms.LAX
            ms.set_context(mode=mode, jit_syntax_level=strict)
            net = Net()
            step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
            losses[mode] = [float(step(x)) for _ in range(3)]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE, jit_syntax_level=ms.LAX)
    eager, compiled = losses.values()
    assert eager[2] < eager[0]
    np.testing.assert_allclose(compiled, eager, rtol=1e-5)

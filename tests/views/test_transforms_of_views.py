"""Gradients and `vmap` of functions that write through views."""

from __future__ import annotations

import numpy as np
import pytest
from viewlib import MODES, grid

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn


def square_part(x):
    y = x * 2
    v = y[1:]
    v[:] = v * v
    y.T[0][0] = 5
    return (y * y).sum()


def numeric(f, a):
    gradient = np.zeros_like(a, np.float64)
    for at in np.ndindex(*a.shape):
        for sign in (1, -1):
            b = a.astype(np.float64)
            b[at] += sign * 1e-4
            gradient[at] += sign * float(f(Tensor(b)).asnumpy()) / 2e-4
    return gradient


def chosen(x):
    y = x * 1
    v = y[0]
    if x.sum() > 0:
        v[:] = v * v * v
    else:
        y[1] = v
    return (y * v).sum()


def looped(x):
    y = x * 1
    v = y[0]
    i = Tensor(0)
    while i < 3:
        v[:] = v * y[1]
        i = i + 1
    return y.sum()


def helper_written(x):
    y = x + 1

    def scale(v):
        v[:] = v * v

    scale(y[0])
    scale(y.reshape(-1)[1:3])
    return (y * x).sum()


@pytest.mark.parametrize("f", [square_part, chosen, looped, helper_written])
@pytest.mark.parametrize("mode", MODES)
def test_gradients(f, mode):
    context.set_context(mode=MODES[mode])
    a = np.array([[0.5, -1.5, 2.0], [1.0, 0.25, -0.75]])
    found = ms.grad(ms.jit(f) if mode == "graph" else f)(Tensor(a)).asnumpy()
    np.testing.assert_allclose(found, numeric(f, a), rtol=1e-5, atol=1e-6)
    second = ms.grad(lambda x: ms.grad(f)(x).sum())(Tensor(a)).asnumpy()
    expected = numeric(lambda x: ms.grad(f)(x).sum(), a)
    np.testing.assert_allclose(second, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_gradients_of_weights_through_views(mode):
    context.set_context(mode=MODES[mode])

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = Parameter(grid(2, 2) + 1, name="w")

        def construct(self, x):
            y = x * self.w
            y[0][:] = y[1] * self.w[0]
            return y.sum()

    net = Net()
    x = Tensor(np.array([[1.0, 2.0], [3.0, 4.0]], np.float32))
    gradient = ms.value_and_grad(net, None, net.trainable_params())(x)[1][0]
    # y = [x1 w1 w0, x1 w1]
    np.testing.assert_allclose(gradient.asnumpy(), [[9, 16], [3 + 3 * 1, 4 + 4 * 2]])


@pytest.mark.parametrize("mode", MODES)
def test_a_view_that_is_returned_has_the_gradient_of_what_was_written(mode):
    def program(a):
        v = a.narrow(0, 0, 1)
        a.flatten()[...] = 0
        return v

    context.set_context(mode=MODES[mode])
    value, gradient = ms.value_and_grad(program)(Tensor(np.ones((2, 1), np.float32)))
    assert value.asnumpy().tolist() == [[0]]
    assert gradient.asnumpy().tolist() == [[0], [0]]


def test_vmap():
    def program(x):
        y = x * 1
        y[0][:] = y[1] + 1
        y.T[1][0] = 9
        return y

    a = grid(3, 2, 2)
    expected = np.stack([program(Tensor(b)).asnumpy() for b in a])
    for mode in MODES.values():
        context.set_context(mode=mode)
        np.testing.assert_array_equal(ms.vmap(program)(Tensor(a)).asnumpy(), expected)

"""Open sizes of two arguments that are equal in every run, or equal to a known one, where types must be equal: where the program
cannot be compiled for all sizes, it is compiled for those of the call."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

A, B = (Tensor(np.array(v, np.float32)) for v in ([1.0, 2.0], [3.0, 4.0]))


class Net(nn.Cell):
    def __init__(self, body: Callable):
        super().__init__()
        self.body = body
        self.p = Parameter(Tensor(np.array([5.0, 6.0], np.float32)), name="p")

    def construct(self, x, y):
        return self.body(self, x, y)


def along(net, x, y):
    return ms.jvp(lambda g: g * g, x, y)[1]


def pulled_back(net, x, y):
    return ms.vjp(lambda g: g * g, x)[1](y)[0]


def chosen(net, x, y):
    return ops.tanh(((lambda q: net.p) if x.sum() > 1 else (lambda q: q))(x))


def assigned_after_a_branch(net, x, y):
    for _ in range(2):
        if y.mean() < 1:
            y = ops.tanh(ops.stop_gradient(ops.ones((2,), ms.float32)))
        else:
            x = ops.tanh(x + y)
    z = ops.broadcast_to(x, (3, 2)) * 1
    z[..., -1] = ops.broadcast_to(y.mean(), (3,))
    z[0] = ops.broadcast_to(y, (2,))
    return z.sum() + x


@pytest.mark.parametrize("body", [along, pulled_back, chosen, assigned_after_a_branch])
def test_results_and_gradients_are_the_eager_ones(body: Callable) -> None:
    found = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        try:
            net = Net(body)
            net.set_inputs(*(Tensor(shape=[None], dtype=ms.float32) for _ in "xy"))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append([net(A, B), *ms.grad(net, (0, 1))(A, B)])
        finally:
            ms.set_context(mode=ms.PYNATIVE_MODE)
    for eager, graph in zip(*found):
        np.testing.assert_allclose(graph.asnumpy(), eager.asnumpy(), rtol=1e-6)

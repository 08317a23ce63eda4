"""Single ops and short chains of them, on the MindSpore API."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mindspore as ms
from cases.steps_ms import random, timed
from cases.timing import best_of
from mindspore import Parameter, Tensor, nn, ops


class Attention(nn.Cell):
    """Scaled dot products, as networks write them."""

    def construct(self, q, k, v):
        """The sum of mixed values."""
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / q.shape[-1] ** 0.5
        return ops.matmul(ops.softmax(scores, -1), v).sum()


class NormGeluSoftmax(nn.Cell):
    """A chain of rows."""

    def __init__(self, width: int):
        super().__init__()
        self.norm, self.gelu = nn.LayerNorm((width,)), nn.GELU(approximate=False)

    def construct(self, x, weight):
        """The weighted sum of shares."""
        return (ops.softmax(self.gelu(self.norm(x)), -1) * weight).sum()


class Chain(nn.Cell):
    """Elementwise arithmetic and transcendental functions."""

    def construct(self, x, y, z):
        """One number from three."""
        return ops.sigmoid(ops.tanh(1.5 * x + y)) * x + ops.exp(-z * z) * y


class Gradient(nn.Cell):
    """The gradient of a network with respect to its inputs and parameters."""

    def __init__(self, net: nn.Cell):
        super().__init__()
        self.net, self.weights = net, ms.ParameterTuple(net.trainable_params())
        self.rule = ops.GradOperation(get_all=True, get_by_list=bool(self.weights))

    def construct(self, *inputs):
        """The gradients."""
        if self.weights:
            return self.rule(self.net, self.weights)(*inputs)
        return self.rule(self.net)(*inputs)


class Nothing(nn.Cell):
    """A network that does nothing."""

    def construct(self, x):
        """What came in."""
        return x


def attention() -> Callable[[], float]:
    """The gradient with respect to all three."""
    ms.set_context(mode=ms.GRAPH_MODE)
    q, k, v = (random(4, 8, 1024, 64) for _ in range(3))
    step = Gradient(Attention())
    return timed(lambda: [g.asnumpy() for g in step(q, k, v)], 3)


def norm_gelu_softmax() -> Callable[[], float]:
    """The gradient with respect to inputs and parameters."""
    ms.set_context(mode=ms.GRAPH_MODE)
    x, weight, step = random(4096, 1024), random(4096, 1024), Gradient(NormGeluSoftmax(1024))
    return timed(lambda: step(x, weight)[0][0].asnumpy(), 5)


def chain() -> Callable[[], float]:
    """The forward chain on 16 M floats."""
    ms.set_context(mode=ms.GRAPH_MODE)
    x, y, z = (random(16 * 2**20) for _ in range(3))
    net = Chain()
    return timed(lambda: net(x, y, z).asnumpy(), 5)


def adam(decay: float = 0.0) -> Callable[[], float]:
    """An update of 160 parameters from given gradients."""
    ms.set_context(mode=ms.GRAPH_MODE)
    values = np.ones((400, 400), np.float32)
    parameters = [Parameter(Tensor(values), name=f"p{i}") for i in range(160)]
    gradients = tuple(Tensor(values) for _ in parameters)
    optimizer = nn.Adam(parameters, 1e-3, weight_decay=decay)

    def step() -> None:
        optimizer(gradients)
        parameters[-1].asnumpy()

    return timed(step, 10)


def adam_decay() -> Callable[[], float]:
    """The same with a part of the weights added to their gradients."""
    return adam(0.01)


def add_pynative() -> Callable[[], float]:
    """The sum of two small tensors, eager."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    x, y = (Tensor(np.ones((4, 4), np.float32)) for _ in range(2))
    return lambda: best_of(lambda: x + y, 50, 200)


def record_pynative() -> Callable[[], float]:
    """What recording costs, and reading it back: kernels of this size take next to nothing."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    x, y = (Tensor(np.ones((4, 4), np.float32)) for _ in range(2))

    def chain(a):
        for _ in range(200):
            a = a * y
        return a

    gradient = ms.grad(chain)
    return lambda: best_of(lambda: gradient(x), 20)


def empty_step() -> Callable[[], float]:
    """A call of a network that does nothing, compiled."""
    ms.set_context(mode=ms.GRAPH_MODE)
    net, x = Nothing(), Tensor(np.ones((4, 4), np.float32))
    net(x)
    return lambda: best_of(lambda: net(x), 50, 200)

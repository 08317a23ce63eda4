"""One program in both modes: the same value, the same gradient, or the same exception."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, grad, jit, nn

POINTS = [[1.5, -2.0, 3.0], [1.5, 5.0, 0.0], [0.5, -3.0, 2.0], [0.45, -0.6, 0.9]]
RAISED = (
    IndexError,
    UnboundLocalError,
    ValueError,
)  # what programs raise at some points, as Python says


def plain(value: Any) -> Any:
    """Lists for tensors and for what holds them."""
    if isinstance(value, Tensor):
        return value.asnumpy().tolist()
    return [plain(v) for v in value] if isinstance(value, (tuple, list)) else value


def outcome(function: Callable, x: Tensor) -> Any:
    """What a program gives, or the type of what it raises."""
    try:
        return function(x)
    except RAISED as error:
        return type(error)


def check(function: Callable, point: list) -> None:
    """Runs a program of a float32 tensor of three elements eagerly and compiled, and its gradient."""
    x = Tensor(np.array(point, np.float32))
    eager, compiled = outcome(function, x), outcome(jit(function, fullgraph=True), x)
    if isinstance(eager, type):
        assert compiled is eager
        return
    assert compiled.dtype is eager.dtype
    np.testing.assert_allclose(compiled.asnumpy(), eager.asnumpy(), rtol=1e-5, atol=1e-6)
    slope = jit(lambda v: grad(function)(v), fullgraph=True)(x)
    np.testing.assert_allclose(slope.asnumpy(), grad(function)(x).asnumpy(), rtol=1e-4, atol=1e-5)


# ---- cells: what they do to Parameters and arguments, too ---------------------------------------------------------------
X = np.array([1.5, -2.0, 3.0], np.float32)


class Net(nn.Cell):
    """A cell with one Parameter around a function."""

    def __init__(self, function: Callable):
        super().__init__()
        self.p = Parameter(Tensor(X), name="p")
        self.function = function

    def construct(self, *args: Any) -> Any:
        return self.function(self, *args)


def run(mode: int, function: Callable, gradient: bool) -> tuple:
    """The result of two calls and the Parameter afterwards."""
    ms.set_context(mode=mode)
    try:
        net = Net(function)
        f = ms.value_and_grad(net, 0, net.trainable_params()) if gradient else net
        arguments = [Tensor(X), Tensor(X * 2 - 1)]
        results = [f(x) for x in arguments]
        return flat(results + arguments), net.p.asnumpy()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def flat(value: Any) -> list:
    """The arrays and numbers of a structure."""
    if isinstance(value, (tuple, list)):
        return [x for v in value for x in flat(v)]
    return [value.asnumpy() if isinstance(value, Tensor) else value]


def check_net(function: Callable, gradient: bool) -> None:
    """Results, Parameters, gradients and arguments of two calls are the eager ones, bit for bit."""
    eager, graph = (run(m, function, gradient) for m in (ms.PYNATIVE_MODE, ms.GRAPH_MODE))
    assert len(eager[0]) == len(graph[0])
    for a, b in zip(eager[0], graph[0]):
        assert type(a) is type(b)
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(eager[1], graph[1])

"""Gradients through messages: a network of which one process has the first half and the other the second, in both modes."""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import get_rank, init

init()
RANK = get_rank()
x = Tensor(np.random.RandomState(0).randn(5, 4).astype(np.float32))


def halves():
    ms.set_seed(3)
    return nn.Dense(4, 6), nn.Dense(6, 2)


class First(nn.Cell):
    def __init__(self, half):
        super().__init__()
        self.half, self.send = half, ops.Send(sr_tag=2, dest_rank=1)

    def construct(self, x):
        return self.send(ops.tanh(self.half(x)))


class Second(nn.Cell):
    def __init__(self, half):
        super().__init__()
        self.half = half
        self.receive = ops.Receive(sr_tag=2, src_rank=0, shape=[5, 6], dtype=ms.float32)

    def construct(self):
        return (self.half(self.receive()) ** 2).sum()


def whole(x):
    first, second = halves()
    weights = [*first.trainable_params(), *second.trainable_params()]
    for i, weight in enumerate(weights):
        weight.name = f"w{i}"
    return ms.grad(lambda x: (second(ops.tanh(first(x))) ** 2).sum(), 0, weights)(x)


def input_alone():
    """The gradient of what was received, though nothing else here has one."""
    if RANK == 0:
        by_input = ms.grad(lambda x: ops.Send(0, 1)(x * 2))(x)
        np.testing.assert_allclose(by_input.asnumpy(), 6 * x.asnumpy() * 4, rtol=1e-6)
    else:
        receive = ops.Receive(0, 0, (5, 4), ms.float32)
        by_zero = ms.grad(lambda z: (3 * receive() ** 2).sum() + z)(Tensor(1.0))
        assert float(by_zero) == 1


def not_asked():
    """Where no gradient goes through, nothing is sent back."""
    if RANK == 0:
        ops.Send(0, 1)(x)
        ops.Send(1, 1)(x)
    else:
        receive, other = (ops.Receive(tag, 0, (5, 4), ms.float32) for tag in (0, 1))
        grad = ms.grad(lambda z: (z * ops.stop_gradient(receive())).sum())(x)
        np.testing.assert_array_equal(grad.asnumpy(), x.asnumpy())
        assert other().shape == (5, 4)
    ops.Barrier()()


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    wanted, by_weights = whole(x)
    first, second = halves()
    for _ in range(2):
        if RANK == 0:
            net = First(first)
            by_input, got = ms.grad(net, 0, net.trainable_params())(x)
            np.testing.assert_allclose(by_input.asnumpy(), wanted.asnumpy(), rtol=1e-5, atol=1e-6)
            mine = by_weights[:2]
        else:
            net = Second(second)
            got = ms.grad(net, None, net.trainable_params())()
            mine = by_weights[2:]
        for one, other in zip(got, mine, strict=True):
            np.testing.assert_allclose(one.asnumpy(), other.asnumpy(), rtol=1e-5, atol=1e-6)
    input_alone()
    not_asked()
print("all is well", flush=True)

"""Gradients that are summed while the backward pass runs, over a link that takes time: the bits are those of sums one by one."""

from __future__ import annotations

import sys

import numpy as np

import mindspore as ms
from mindspore import Tensor, _core, nn, ops
from mindspore.communication import get_rank, init

init()
RANK = get_rank()
STEPS = 12  # the buckets are chosen anew after 2 and after 10


class Loop(nn.Cell):
    """A loop that a tensor ends, between layers of which some have tensors of half width."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dense(24, 64)
        self.half = nn.Dense(64, 64).to_float(ms.float16)
        self.shared = nn.Dense(64, 64)
        self.last = nn.Dense(64, 5)
        self.scale = ms.Parameter(Tensor(1.0, ms.float32), name="scale")

    def construct(self, x):
        y = ops.relu(self.half(self.first(x)).astype(ms.float32))
        rounds = ops.zeros((), ms.int32)
        while rounds < 3:
            y = ops.tanh(self.shared(y)) * self.scale
            rounds += 1
        return self.last(y).sum()


class Clipped(nn.DistributedGradReducer):
    """A reducer whose sums are read between them."""

    def construct(self, grads):
        return tuple([self.one(grad) for grad in grads])

    def one(self, grad):
        return ops.clamp(ops.AllReduce()(grad) / self.degree, -0.5, 0.5)


def train(reducer, jit, rows):
    ms.set_seed(3)
    net = Loop().set_train()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    reduced = reducer(optimizer.parameters, mean=True)
    gradient = ms.value_and_grad(lambda x: net(x), None, optimizer.parameters)

    def step(x):
        value, grads = gradient(x)
        return value, optimizer(reduced(grads))

    step = ms.jit(step) if jit else step
    draw = np.random.RandomState(RANK)
    losses = [float(step(Tensor(draw.randn(rows, 24).astype(np.float32)))[0]) for _ in range(STEPS)]
    return losses, [p.asnumpy().tobytes() for p in optimizer.parameters]


def check(hidden):
    """Compiled steps, whose sums are joined, beside the same ones line by line, where they are not."""
    for reducer in (nn.DistributedGradReducer, Clipped):
        for rows in (7 - RANK, 1 + RANK):  # batches of different lengths
            ms.set_context(mode=ms.GRAPH_MODE)
            before = _core.sum_times()
            compiled = train(reducer, True, rows)
            after = _core.sum_times()
            assert after["runs"] - before["runs"] == (STEPS if hidden else 0), (before, after)
            apart = train(reducer, False, rows)  # the reducer is a graph of its own
            ms.set_context(mode=ms.PYNATIVE_MODE)
            eager = train(reducer, False, rows)
            np.testing.assert_allclose(compiled[0], eager[0], rtol=1e-3)
            np.testing.assert_allclose(apart[0], eager[0], rtol=1e-3)
    # The sums themselves have the same bits.
    ms.set_context(mode=ms.GRAPH_MODE)
    tensors = [
        Tensor(np.random.RandomState(9 * i + RANK).randn(3 * 4**i).astype(np.float32))
        for i in range(8)
    ]
    tensors += [Tensor(np.zeros((0, 3), np.float32)), Tensor(np.arange(5, dtype=np.int32))]
    together = nn.DistributedGradReducer(())(tensors)
    for one, tensor in zip(together, tensors):
        ms.set_context(mode=ms.PYNATIVE_MODE)
        assert one.asnumpy().tobytes() == ops.AllReduce()(tensor).asnumpy().tobytes()


def buckets(**wish):
    """How many buckets a step has, once they are agreed upon."""
    ms.set_context(mode=ms.GRAPH_MODE)
    # What is agreed upon is known by the sizes: no others have these.
    buckets.made += 1
    tensors = [Tensor(np.ones((25_000 + i, 1 + buckets.made), np.float32)) for i in range(4)]
    ms.set_auto_parallel_context(**wish)
    reducer = nn.DistributedGradReducer(())
    before = _core.sum_times()["buckets"]
    reducer(tensors)
    ms.reset_auto_parallel_context()
    return _core.sum_times()["buckets"] - before


buckets.made = 0


def check_wishes():
    assert buckets(all_reduce_fusion_config=[1, 3]) == 3
    assert buckets(all_reduce_fusion_config=[9]) == 1
    size = {"mode": "size", "config": 0.7}  # of tensors of 0.4 MB
    assert buckets(comm_fusion={"allreduce": size}) == 2
    assert buckets(comm_fusion={"allreduce": {"mode": "index", "config": [2]}}) == 2
    assert buckets(comm_fusion={"openstate": False}) == 4


hidden = sys.argv[1] == "hidden"
check(hidden)
if hidden:
    check_wishes()
print("all is well", flush=True)

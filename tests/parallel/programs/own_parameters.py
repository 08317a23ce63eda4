"""A layer that is cut by hand: its Parameters are each process's own, all others are those of one process; by a step and by a reducer."""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

init()
RANK, SIZE = get_rank(), get_group_size()
draw = np.random.RandomState(0)
X, Y = draw.randn(8, 4).astype(np.float32), draw.randn(8, 3).astype(np.float32)
FIRST, LAST = draw.randn(4, 6).astype(np.float32), draw.randn(6, 3).astype(np.float32)


class Cut(nn.Cell):
    """The columns of the second product's left side are the processes' own; what it makes is added up."""

    def __init__(self, cut):
        super().__init__()
        rows = slice(RANK * 6 // SIZE, (RANK + 1) * 6 // SIZE) if cut else slice(None)
        self.first = Parameter(FIRST[:, rows].copy(), name="first", layerwise_parallel=cut)
        self.last = Parameter(LAST[rows].copy(), name="last", layerwise_parallel=cut)
        # Another in each process, where the first one's is to be taken.
        self.bias = Parameter(np.full(3, RANK if cut else 0, np.float32), name="bias")
        self.sum = ops.AllReduce() if cut else ops.Identity()

    def construct(self, x, y):
        out = self.sum(ops.matmul(ops.tanh(ops.matmul(x, self.first)), self.last)) + self.bias
        return ((out - y) ** 2).mean()


def trained(cut, by_hand):
    """The losses of three steps, and what they leave behind."""
    ms.reset_auto_parallel_context()
    if cut:
        ms.set_auto_parallel_context(parallel_mode="hybrid_parallel", gradients_mean=True)
    net = Cut(cut)
    # The gradient of a sum that all processes have is the sum of theirs: each of the parts has it SIZE times.
    rates = [{"params": [net.first, net.last], "lr": 0.1 / (SIZE if cut else 1)}]
    optimizer = nn.SGD([*rates, {"params": [net.bias]}], 0.1)
    if not by_hand:
        step = nn.TrainOneStepCell(net, optimizer).set_train()
    else:
        reducer = nn.DistributedGradReducer(optimizer.parameters) if cut else lambda grads: grads
        gradient = ms.value_and_grad(net, None, optimizer.parameters)

        def step(*data):
            loss, grads = gradient(*data)
            optimizer(reducer(grads))
            return loss

    losses = [float(step(Tensor(X), Tensor(Y))) for _ in range(3)]
    return losses, net


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    for by_hand in (False, True):
        wanted, whole = trained(False, by_hand)
        losses, net = trained(True, by_hand)
        np.testing.assert_allclose(losses, wanted, rtol=1e-5)
        rows = slice(RANK * 6 // SIZE, (RANK + 1) * 6 // SIZE)
        for mine, all_of_it in (
            (net.first, whole.first.asnumpy()[:, rows]),
            (net.last, whole.last.asnumpy()[rows]),
            (net.bias, whole.bias.asnumpy()),
        ):
            np.testing.assert_allclose(mine.asnumpy(), all_of_it, rtol=1e-4, atol=1e-6)
print("all is well", flush=True)

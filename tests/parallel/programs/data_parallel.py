"""Networks that are trained by several processes, each on its part of every batch, have the losses of one process on whole batches."""

from __future__ import annotations

import sys

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

init()
RANK, SIZE = get_rank(), get_group_size()
BATCH, STEPS = 8, 6


class Net(nn.Cell):
    """Convolutions with statistics over all processes."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, has_bias=True, weight_init="xavier_uniform")
        self.norm = nn.SyncBatchNorm(6)
        self.dense = nn.Dense(6 * 64, 10)

    def construct(self, x):
        return self.dense(ops.relu(self.norm(self.conv(x))).reshape((x.shape[0], -1)))


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 16, batch_first=True)
        self.dense = nn.Dense(16, 10)

    def construct(self, x):
        y, _ = self.lstm(x.reshape((x.shape[0], 8, 8)))
        return self.dense(y[:, -1])


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm((8,))
        self.query, self.key, self.value = (nn.Dense(8, 8) for _ in range(3))
        self.dense = nn.Dense(64, 10)

    def construct(self, x):
        x = x.reshape((x.shape[0], 8, 8))
        y = self.norm(x)
        weights = ops.softmax(ops.matmul(self.query(y), self.key(y).swapaxes(1, 2)) / 8**0.5)
        return self.dense((x + ops.matmul(weights, self.value(y))).reshape((x.shape[0], -1)))


class Loop(nn.Cell):
    """A loop that a tensor ends, which goes on as often in all processes."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(64, 10)
        self.scale = ms.Parameter(Tensor(1.0, ms.float32), name="scale")

    def construct(self, x):
        y = self.dense(x.reshape((x.shape[0], -1)))
        rounds = ops.zeros((), ms.int32)
        while rounds < 3:
            y = y * self.scale + 0.1
            rounds += 1
        return y


class Dropped(nn.Cell):
    """Choices for elements, for channels, for the scores of attention that is one kernel, and in half precision."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 5, 3, has_bias=True)
        self.elements, self.channels = nn.Dropout(p=0.3), nn.Dropout2d(p=0.4)
        self.half = nn.Dropout(p=0.2)
        self.dense = nn.Dense(5 * 64, 10)

    def construct(self, x):
        y = self.elements(self.channels(self.conv(x))).reshape((x.shape[0], 5, 8, 8))
        scores = ops.softmax(ops.matmul(y, y.swapaxes(2, 3)) / 8**0.5)
        y = ops.matmul(ops.dropout(scores, p=0.25), y)
        y = y * self.half(ops.ones_like(y).astype(ms.float16)).astype(ms.float32)
        return self.dense(y.reshape((x.shape[0], -1)))


def mlp():
    return nn.SequentialCell(nn.Flatten(), nn.Dense(64, 32), nn.ReLU(), nn.Dense(32, 10))


NETWORKS = {"mlp": mlp, "convolutions": Net, "lstm": Recurrent, "attention": Block, "loop": Loop}
NETWORKS["dropped"] = Dropped


def batches():
    draw = np.random.RandomState(5)
    for _ in range(STEPS):
        x = draw.randn(BATCH, 1, 8, 8).astype(np.float32)
        yield x, draw.randint(0, 10, BATCH).astype(np.int32)


def losses(make, parallel, step):
    ms.reset_auto_parallel_context()
    if parallel:
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_seed(1 if not parallel else 1 + RANK)  # each process would draw weights of its own
    net = make()
    if parallel:
        if RANK == 0:  # those of the run alone
            ms.set_seed(1)
            net = make()
    train = step(net)
    ms.set_seed(2)  # what is dropped is chosen by all alike
    result = []
    for x, y in batches():
        part = slice(RANK * BATCH // SIZE, (RANK + 1) * BATCH // SIZE) if parallel else slice(None)
        loss = train(Tensor(x[part]), Tensor(y[part]))
        result.append(float(ops.AllReduce("avg")(loss) if parallel else loss))
    return result


def by_cell(net):
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    return nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()


def by_hand(net):
    """A loop of the user's own: gradients from a function, and a reducer."""
    loss_fn = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    parallel = ms.get_auto_parallel_context("parallel_mode") == "data_parallel"
    reducer = nn.DistributedGradReducer(optimizer.parameters) if parallel else None
    net.set_train()
    grad = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)

    def step(x, y):
        loss, grads = grad(x, y)
        optimizer(reducer(grads) if reducer else grads)
        return loss

    return step


for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    for name, make in NETWORKS.items():
        for step in (by_cell, by_hand):
            alone, together = losses(make, False, step), losses(make, True, step)
            np.testing.assert_allclose(together, alone, rtol=2e-5, err_msg=f"{name} {step} {mode}")
            assert alone[-1] != alone[0]
print("all is well", flush=True)
sys.stdout.flush()

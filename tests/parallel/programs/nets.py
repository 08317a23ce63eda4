"""Small networks with data, for the programs that compare trainings of several processes with those of one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import initializer


class Case(NamedTuple):
    """A network with its loss inside, and what goes into it."""

    net: nn.Cell
    data: tuple[np.ndarray, ...]


def mlp(pins: bool = False) -> Case:
    """Two dense layers."""
    rng = np.random.RandomState(1)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Dense(12, 16), nn.Dense(16, 8)
            self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
            self.relu = ops.ReLU()
            if pins:
                self.first.matmul.shard(((1, 1), (2, 1)))
                self.relu.shard(((1, 2),))

        def construct(self, x, y):
            return self.loss(self.second(self.relu(self.first(x))), y)

    return Case(Net(), (_floats(rng, 8, 12), rng.randint(0, 8, 8).astype(np.int32)))


def lenet(pins: bool = False) -> Case:
    """Convolutions, then dense layers."""
    rng = np.random.RandomState(2)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 4, 3, pad_mode="same")
            self.conv2 = nn.Conv2d(4, 8, 3, pad_mode="same")
            self.pool = nn.MaxPool2d(2, 2)
            self.fc = nn.Dense(8 * 2 * 2, 10)
            self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
            if pins:
                self.fc.matmul.shard(((1, 2), (1, 2)))

        def construct(self, x, y):
            x = self.pool(ops.relu(self.conv1(x)))
            x = self.pool(ops.relu(self.conv2(x)))
            return self.loss(self.fc(x.reshape((x.shape[0], -1))), y)

    return Case(Net(), (_floats(rng, 8, 1, 8, 8), rng.randint(0, 10, 8).astype(np.int32)))


def transformer(pins: bool = False) -> Case:
    """A block with attention of four heads."""
    rng = np.random.RandomState(3)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v, self.o = (nn.Dense(16, 16) for _ in range(4))
            self.up, self.down = nn.Dense(16, 32), nn.Dense(32, 16)
            self.norm1, self.norm2 = nn.LayerNorm((16,)), nn.LayerNorm((16,))
            self.scores = ops.BatchMatMul(transpose_b=True)
            if pins:
                self.scores.shard(((1, 2, 1, 1), (1, 2, 1, 1)))

        def heads(self, x):
            return x.reshape((x.shape[0], x.shape[1], 4, 4)).transpose(0, 2, 1, 3)

        def construct(self, x, y):
            h = self.norm1(x)
            scores = self.scores(self.heads(self.q(h)), self.heads(self.k(h))) / math.sqrt(4)
            mixed = ops.matmul(ops.softmax(scores, -1), self.heads(self.v(h)))
            x = x + self.o(mixed.transpose(0, 2, 1, 3).reshape(x.shape))
            x = x + self.down(ops.gelu(self.up(self.norm2(x))))
            return ((x - y) ** 2).mean()

    return Case(Net(), (_floats(rng, 4, 6, 16), _floats(rng, 4, 6, 16)))


def lstm(pins: bool = False) -> Case:
    """A recurrent layer, and a dense one of its last state."""
    rng = np.random.RandomState(4)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.cell = nn.LSTM(6, 8, batch_first=True)
            self.fc = nn.Dense(8, 2)
            if pins:
                self.fc.matmul.shard(((2, 1), (1, 1)))

        def construct(self, x, y):
            out, _ = self.cell(x)
            return ((self.fc(out[:, -1]) - y) ** 2).mean()

    return Case(Net(), (_floats(rng, 4, 5, 6), _floats(rng, 4, 2)))


def wide_deep(pins: bool = False) -> Case:
    """A table with weights of single features, and one with vectors that go through dense layers."""
    rng = np.random.RandomState(5)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.wide = Parameter(initializer("normal", (64, 1)), name="wide")
            self.table = Parameter(initializer("normal", (64, 8)), name="table")
            self.deep = nn.SequentialCell(nn.Dense(4 * 8, 16), nn.ReLU(), nn.Dense(16, 1))
            self.gather = ops.Gather()
            if pins:
                self.gather.shard(((2, 1), (1, 1)))

        def construct(self, ids, y):
            wide = ops.gather(self.wide, ids, 0).sum(1)
            deep = self.deep(self.gather(self.table, ids, 0).reshape((ids.shape[0], -1)))
            logits = wide + deep
            return ops.binary_cross_entropy_with_logits(
                logits, y, ops.ones_like(logits), ops.ones_like(logits)
            )

    ids = rng.randint(0, 64, (8, 4)).astype(np.int32)
    return Case(Net(), (ids, rng.randint(0, 2, (8, 1)).astype(np.float32)))


class Residual(nn.Cell):
    """Two convolutions with normalisation, beside what goes around them."""

    def __init__(self, ins: int, outs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.SequentialCell(
            nn.Conv2d(ins, outs, 3, stride), nn.BatchNorm2d(outs), nn.ReLU(),
            nn.Conv2d(outs, outs, 3), nn.BatchNorm2d(outs),
        )  # fmt: skip
        self.around = nn.SequentialCell(nn.Conv2d(ins, outs, 1, stride), nn.BatchNorm2d(outs))
        self.straight = ins == outs and stride == 1

    def construct(self, x: Tensor) -> Tensor:
        """The block."""
        return ops.relu(self.body(x) + (x if self.straight else self.around(x)))


def resnet(pins: bool = False) -> Case:
    """The shape of ResNet-18, narrow."""
    rng = np.random.RandomState(8)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = nn.SequentialCell(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
            widths = [(4, 4, 1), (4, 8, 2), (8, 16, 2), (16, 32, 2)]
            stages = [[Residual(i, o, s), Residual(o, o, 1)] for i, o, s in widths]
            self.stages = nn.SequentialCell([block for stage in stages for block in stage])
            self.fc = nn.Dense(32, 10)
            self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
            if pins:
                self.fc.matmul.shard(((2, 1), (1, 1)))

        def construct(self, x, y):
            return self.loss(self.fc(self.stages(self.first(x)).mean((2, 3))), y)

    return Case(Net(), (_floats(rng, 8, 3, 16, 16), rng.randint(0, 10, 8).astype(np.int32)))


def blocks(pins: bool = False) -> Case:
    """Blocks that keep much for the backward pass, with dropout in them; on two devices more than 6 MB."""
    del pins
    rng = np.random.RandomState(6)

    class Block(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.up, self.down = nn.Dense(16, 256), nn.Dense(256, 16)
            self.dropout = nn.Dropout(p=0.1)

        def construct(self, x: Tensor) -> Tensor:
            return x + self.down(self.dropout(ops.tanh(self.up(x))))

    class Blocks(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.SequentialCell([Block() for _ in range(4)])

        def construct(self, x: Tensor, y: Tensor) -> Tensor:
            return ((self.blocks(x) - y) ** 2).mean()

    x = _floats(rng, 1024, 16)
    return Case(Blocks(), (x, 0.5 * x))


def loop(pins: bool = False) -> Case:
    """A layer that is applied until its output is small: the data decide how often."""
    rng = np.random.RandomState(6)

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.fc = nn.Dense(8, 8)
            if pins:
                self.fc.matmul.shard(((2, 1), (1, 1)))

        def construct(self, x, y):
            h, count = ops.tanh(self.fc(x)), Tensor(0, ms.int32)
            while ops.abs(h).max() > 0.5 and count < 6:
                h = ops.tanh(self.fc(h)) * 0.8
                count = count + 1
            return ((h - y) ** 2).mean()

    return Case(Net(), (_floats(rng, 8, 8), _floats(rng, 8, 8)))


def _floats(rng: np.random.RandomState, *shape: int) -> np.ndarray:
    return rng.randn(*shape).astype(np.float32)


NETS: dict[str, Callable[..., Case]] = {
    f.__name__: f for f in (mlp, lenet, transformer, lstm, wide_deep, resnet, blocks, loop)
}


def built(name: str, **options: Any) -> Case:
    """A case, the same in each process and at each call."""
    ms.set_seed(7)
    np.random.seed(7)
    return NETS[name](**options)

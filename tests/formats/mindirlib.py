"""What the tests of MINDIR files share: small networks, and their way through a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops


class Images(nn.Cell):
    """The network of the golden file "images"."""

    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(2, 4, 3, stride=2)
        self.bn = nn.BatchNorm2d(4)
        self.r6 = nn.ReLU6()
        self.dw = nn.Conv2d(4, 4, 3, pad_mode="pad", padding=1, group=4, has_bias=True)
        self.up = nn.Conv2dTranspose(4, 3, 2, stride=2)
        self.mp = nn.MaxPool2d(3, 2, pad_mode="same")
        self.ap = nn.AvgPool2d(2, 2)
        self.fc = nn.Dense(3, 3)

    def construct(self, x):
        x = self.r6(self.bn(self.c(x)))
        x = x + self.dw(x)
        x = self.ap(ops.relu(self.mp(self.up(x))))
        x = ops.ReduceMean()(x, (2, 3))
        return self.fc(x), ops.Softmax(-1)(x)


class Texts(nn.Cell):
    """The network of the golden file "texts"."""

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(10, 4)
        self.lstm = nn.LSTM(4, 3, num_layers=1, batch_first=True, bidirectional=True)
        self.norm = nn.LayerNorm((6,))
        self.fc = nn.Dense(6, 2)

    def construct(self, x):
        y, _ = self.lstm(self.emb(x))
        return self.fc(ops.tanh(self.norm(y[:, -1])))


class Windows(nn.Cell):
    """The network of the golden file "windows"."""

    def __init__(self):
        super().__init__()
        self.deep = nn.Conv3d(1, 2, 2, has_bias=True)
        self.around = nn.AvgPool2d(3, 2, pad_mode="pad", padding=1)
        self.few = nn.AdaptiveAvgPool2d(2)

    def construct(self, x):
        deep = self.deep(x.expand_dims(1))
        large = ops.interpolate(x, size=(9, 9), mode="bilinear")
        large = ops.pad(ops.clamp(large, -1.0, 1.0), (1, 1), value=0.5)
        rows, order = ops.sort(x.reshape(2, -1), 1)
        loss = ops.cross_entropy(x.reshape(2, -1), x.reshape(2, -1).argmax(1).astype(ms.int32))
        small = self.around(large), self.few(large)
        found = ops.grid_sample(x, x[:, :2].transpose(0, 2, 3, 1))
        return deep, *small, rows, order, loss, found, ops.logsumexp(x, 1), ops.unfold(x, 2)


class Function(nn.Cell):
    """A function as a network."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *inputs):
        return self.function(*inputs)


def floats(*shape: int, seed: int = 0) -> Tensor:
    return Tensor(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


def through(net: nn.Cell, *inputs: Tensor, path: Path) -> nn.GraphCell:
    """The network again, from a file."""
    net.set_train(False)
    ms.export(net, *inputs, file_name=str(path), file_format="MINDIR")
    return nn.GraphCell(ms.load(str(path)))


def flat(value) -> list[np.ndarray]:
    """The tensors of a result."""
    if isinstance(value, (tuple, list)):
        return [array for v in value for array in flat(v)]
    return [value.asnumpy()]


def same(a, b, **tolerance) -> None:
    """Results are equal: to the bit, unless a tolerance is given."""
    left, right = flat(a), flat(b)
    assert len(left) == len(right)
    for x, y in zip(left, right):
        assert x.dtype == y.dtype
        if tolerance:
            np.testing.assert_allclose(x.astype(np.float64), y.astype(np.float64), **tolerance)
        else:
            np.testing.assert_array_equal(x, y)

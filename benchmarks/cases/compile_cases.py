"""Programs whose compilation is timed, on the MindSpore API: each function returns a call that compiles on its first run."""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops


def _ones(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32))


class Chain(nn.Cell):
    """A long function of few parameters: five nodes a round."""

    def __init__(self, nodes: int):
        super().__init__()
        self.rounds = nodes // 5
        self.w, self.b = (
            Parameter(_ones(4, 4) / 8, name="w"),
            Parameter(_ones(4), name="b"),
        )

    def construct(self, x):
        """The rounds, unrolled."""
        for _ in range(self.rounds):
            y = ops.matmul(x, self.w) + self.b
            x = ops.relu(y) * 0.5 + x
        return x


class Layers(nn.Cell):
    """A deep network: a cell with two parameters for every four nodes."""

    def __init__(self, nodes: int):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(4, 4, activation="relu") for _ in range(nodes // 4)])

    def construct(self, x):
        """Residual layers."""
        for layer in self.layers:
            x = layer(x) + x
        return x


class Encoder(nn.Cell):
    """A transformer layer, normalised first."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.width, self.heads = width, heads
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.up, self.down = nn.Dense(width, 4 * width), nn.Dense(4 * width, width)

    def construct(self, x):
        """Attention, then two dense layers, both residual."""
        b, n, _ = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(b, n, 3, self.heads, self.width // self.heads)
        q, k, v = (qkv[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
        scores = ops.matmul(q, k.transpose(0, 1, 3, 2)) * (self.width // self.heads) ** -0.5
        mixed = ops.matmul(ops.softmax(scores, -1), v).transpose(0, 2, 1, 3)
        x = x + self.out(mixed.reshape(b, n, self.width))
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


def _net(net: nn.Cell, *inputs: Tensor) -> Callable[[], object]:
    ms.set_context(mode=ms.GRAPH_MODE)
    net.set_train(False)
    return lambda: net(*inputs)


def chain(nodes: int) -> Callable[[], object]:
    """A function of so many nodes."""
    return _net(Chain(nodes), _ones(2, 4))


def layers(nodes: int) -> Callable[[], object]:
    """A network of so many nodes."""
    return _net(Layers(nodes), _ones(2, 4))


def layers_gradient(nodes: int) -> Callable[[], object]:
    """A network and its gradient, so many nodes together: the reverse walk makes about two for one."""
    net = Layers(nodes // 3)
    ms.set_context(mode=ms.GRAPH_MODE)
    step = ms.grad(net, grad_position=None, weights=net.trainable_params())
    x = _ones(2, 4)
    return lambda: step(x)


def statements(count: int) -> Callable[[], object]:
    """A function that sums so many terms, one in a statement."""
    lines = ["def total(x):", "    y = x * 0.5"]
    lines += [f"    y = y + x * {i}.0" for i in range(1, count)]
    folder = tempfile.TemporaryDirectory()  # peers read the source from the file of a module
    Path(folder.name, "statements.py").write_text("\n".join([*lines, "    return y"]) + "\n")
    sys.path.insert(0, folder.name)
    total = importlib.import_module("statements").total
    ms.set_context(mode=ms.GRAPH_MODE)
    function, x = ms.jit(total), _ones(4)
    return lambda: (folder, function(x))[1]


def transformer(count: int) -> Callable[[], object]:
    """So many transformer layers."""
    net = nn.SequentialCell([Encoder(32, 4) for _ in range(count)])
    return _net(net, _ones(2, 8, 32))


def transformer_step(count: int) -> Callable[[], object]:
    """A training step of so many transformer layers."""
    net = nn.SequentialCell([*(Encoder(32, 4) for _ in range(count)), nn.Dense(32, 4)])
    return train_step(net, nn.MSELoss(), _ones(2, 8, 32), _ones(2, 8, 4))


def train_step(net: nn.Cell, loss: nn.Cell, *inputs: Tensor) -> Callable[[], object]:
    """A training step with momentum."""
    ms.set_context(mode=ms.GRAPH_MODE)
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    return lambda: step(*inputs)


def resnet50_step(batch: int) -> Callable[[], object]:
    """A training step of ResNet-50."""
    from cases.vision_ms import ResNet50

    labels = Tensor(np.zeros(batch, np.int32))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return train_step(ResNet50(), loss, _ones(batch, 3, 32, 32), labels)

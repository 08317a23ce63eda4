"""The programs on the MindSpore API: run by this framework and by MindSpore itself."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import mindspore as ms
from cases.timing import best_of, peak_over, resident_mb
from mindspore import Tensor, nn, ops


class LeNet(nn.Cell):
    """The network of the quick start, on 28x28 images."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1, self.fc2, self.fc3 = nn.Dense(256, 120), nn.Dense(120, 84), nn.Dense(84, 10)
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, x):
        """Scores."""
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.relu(self.fc1(self.flatten(x)))
        return self.fc3(self.relu(self.fc2(x)))


def _conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Cell:
    return nn.Conv2d(
        inputs, outputs, kernel, stride, pad_mode="pad", padding=kernel // 2, has_bias=False
    )


class Block(nn.Cell):
    """A bottleneck block."""

    def __init__(self, inputs: int, width: int, stride: int):
        super().__init__()
        self.conv1, self.bn1 = _conv(inputs, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = _conv(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = _conv(width, width * 4, 1), nn.BatchNorm2d(width * 4)
        self.relu = nn.ReLU()
        self.project = stride != 1 or inputs != width * 4
        if self.project:
            self.shortcut = nn.SequentialCell(
                _conv(inputs, width * 4, 1, stride), nn.BatchNorm2d(width * 4)
            )

    def construct(self, x):
        """One residual step."""
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        if self.project:
            x = self.shortcut(x)
        return self.relu(x + y)


class ResNet50(nn.Cell):
    """ResNet-50 for 1000 classes."""

    def __init__(self):
        super().__init__()
        self.conv1, self.bn1, self.relu = _conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU()
        self.pool = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        blocks, inputs = [], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                blocks.append(Block(inputs, width, stride if i == 0 else 1))
                inputs = width * 4
        self.blocks = nn.SequentialCell(blocks)
        self.fc = nn.Dense(2048, 1000)

    def construct(self, x):
        """Scores."""
        x = self.blocks(self.pool(self.relu(self.bn1(self.conv1(x)))))
        return self.fc(ops.mean(x, (2, 3)))


def _train_step(net: nn.Cell, x: np.ndarray, classes: int) -> Callable[[], object]:
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, loss), nn.Momentum(net.trainable_params(), 0.01, 0.9)
    )
    step.set_train()
    data, label = Tensor(x), Tensor((np.arange(len(x)) % classes).astype(np.int32))
    return lambda: step(data, label).asnumpy()


def _lenet(mode: int) -> Callable[[], object]:
    ms.set_context(mode=mode)
    return _train_step(
        LeNet(), np.random.default_rng(0).normal(size=(32, 1, 28, 28)).astype(np.float32), 10
    )


def _resnet(mode: int) -> Callable[[], object]:
    ms.set_context(mode=mode)
    return _train_step(
        ResNet50(), np.random.default_rng(0).normal(size=(8, 3, 224, 224)).astype(np.float32), 1000
    )


def lenet_graph() -> Callable[[], float]:
    """A training step, compiled."""
    step = _lenet(ms.GRAPH_MODE)
    step()
    return lambda: best_of(step, 100)


def lenet_pynative() -> Callable[[], float]:
    """A training step, eager."""
    step = _lenet(ms.PYNATIVE_MODE)
    step()
    return lambda: best_of(step, 50)


def add_pynative() -> Callable[[], float]:
    """The sum of two small tensors, eager."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    x, y = (Tensor(np.ones((4, 4), np.float32)) for _ in range(2))
    return lambda: best_of(lambda: x + y, 50, 200)


def resnet50_graph() -> Callable[[], float]:
    """A training step, compiled."""
    step = _resnet(ms.GRAPH_MODE)
    step()
    return lambda: best_of(step, 2)


def resnet50_first() -> Callable[[], float]:
    """Compilation: the first step less the best of three later ones, in seconds."""

    def measure() -> float:
        step = _resnet(ms.GRAPH_MODE)
        start = time.perf_counter()
        step()
        first = time.perf_counter() - start
        return first - best_of(step, 3) / 1e3

    return measure


def resnet50_memory() -> Callable[[], float]:
    """Peak resident memory of two eager training steps."""
    step = _resnet(ms.PYNATIVE_MODE)
    return lambda: peak_over(lambda: (step(), step()))


def rss_growth() -> Callable[[], float]:
    """Growth of resident memory over 5 000 compiled and 5 000 eager steps, after 500 of each."""

    def measure() -> float:
        worst = 0.0
        for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
            step = _lenet(mode)
            for _ in range(500):
                step()
            before = resident_mb()
            for _ in range(5000):
                step()
            worst = max(worst, resident_mb() - before)
        return worst

    return measure

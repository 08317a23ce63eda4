"""The same programs in PyTorch, eager."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import torch
from torch import nn

from cases.timing import best_of, peak_over

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))


class LeNet(nn.Sequential):
    """The network of the quick start, on 28x28 images."""

    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 6, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(256, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, 10),
        )


def _conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Module:
    return nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)


class Block(nn.Module):
    """A bottleneck block."""

    def __init__(self, inputs: int, width: int, stride: int):
        super().__init__()
        self.conv1, self.bn1 = _conv(inputs, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = _conv(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = _conv(width, width * 4, 1), nn.BatchNorm2d(width * 4)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut = None
        if stride != 1 or inputs != width * 4:
            self.shortcut = nn.Sequential(
                _conv(inputs, width * 4, 1, stride), nn.BatchNorm2d(width * 4)
            )

    def forward(self, x):
        """One residual step."""
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        y += x if self.shortcut is None else self.shortcut(x)
        return self.relu(y)


class ResNet50(nn.Module):
    """ResNet-50 for 1000 classes."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(
            _conv(3, 64, 7, 2), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        )
        blocks, inputs = [], 64
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            for i in range(count):
                blocks.append(Block(inputs, width, stride if i == 0 else 1))
                inputs = width * 4
        self.blocks = nn.Sequential(*blocks)
        self.fc = nn.Linear(2048, 1000)

    def forward(self, x):
        """Scores."""
        return self.fc(self.blocks(self.stem(x)).mean((2, 3)))


def _train_step(net: nn.Module, x: torch.Tensor, classes: int) -> Callable[[], object]:
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)
    label = torch.arange(len(x)) % classes
    loss_fn = nn.CrossEntropyLoss()

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = loss_fn(net(x), label)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def _lenet() -> Callable[[], float]:
    step = _train_step(LeNet(), torch.randn(32, 1, 28, 28), 10)
    step()
    return lambda: best_of(step, 50)


lenet_graph = lenet_pynative = _lenet


def add_pynative() -> Callable[[], float]:
    """The sum of two small tensors."""
    x, y = torch.ones(4, 4), torch.ones(4, 4)
    return lambda: best_of(lambda: x + y, 50, 200)


def _resnet() -> Callable[[], object]:
    return _train_step(ResNet50(), torch.randn(8, 3, 224, 224), 1000)


def resnet50_graph() -> Callable[[], float]:
    """A training step."""
    step = _resnet()
    step()
    return lambda: best_of(step, 2)


def resnet50_first() -> Callable[[], float]:
    """The first step less the best of three later ones, in seconds."""

    def measure() -> float:
        step = _resnet()
        start = time.perf_counter()
        step()
        first = time.perf_counter() - start
        return first - best_of(step, 3) / 1e3

    return measure


def resnet50_memory() -> Callable[[], float]:
    """Peak resident memory of two training steps."""
    step = _resnet()
    return lambda: peak_over(lambda: (step(), step()))

"""Networks that name images: LeNet, ResNet-50, MobileNetV2, DenseNet-121, on the MindSpore API."""

from __future__ import annotations

from collections.abc import Callable

import mindspore as ms
from cases.steps_ms import classifier_step, random, timed
from cases.timing import first_less_later, in_fresh_process, peak_over, resident_mb
from mindspore import nn, ops


class LeNet(nn.Cell):
    """The network of the quick start, on 28x28 images."""

    def __init__(self, biased: bool = False):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=biased)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=biased)
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


class Inverted(nn.Cell):
    """An inverted residual: widen, filter every channel by itself, narrow."""

    def __init__(self, inputs: int, outputs: int, stride: int, factor: int):
        super().__init__()
        width = inputs * factor
        layers = []
        if factor != 1:
            layers += [nn.Conv2d(inputs, width, 1), nn.BatchNorm2d(width), nn.ReLU6()]
        layers += [
            nn.Conv2d(width, width, 3, stride, pad_mode="pad", padding=1, group=width),
            nn.BatchNorm2d(width),
            nn.ReLU6(),
            nn.Conv2d(width, outputs, 1),
            nn.BatchNorm2d(outputs),
        ]
        self.layers = nn.SequentialCell(layers)
        self.residual = stride == 1 and inputs == outputs

    def construct(self, x):
        """One block."""
        y = self.layers(x)
        return x + y if self.residual else y


class MobileNetV2(nn.Cell):
    """MobileNetV2 for 1000 classes."""

    def __init__(self):
        super().__init__()
        layers = [_conv(3, 32, 3, 2), nn.BatchNorm2d(32), nn.ReLU6()]
        inputs = 32
        for factor, width, count, stride in (
            (1, 16, 1, 1),
            (6, 24, 2, 2),
            (6, 32, 3, 2),
            (6, 64, 4, 2),
            (6, 96, 3, 1),
            (6, 160, 3, 2),
            (6, 320, 1, 1),
        ):
            for i in range(count):
                layers.append(Inverted(inputs, width, stride if i == 0 else 1, factor))
                inputs = width
        layers += [nn.Conv2d(320, 1280, 1), nn.BatchNorm2d(1280), nn.ReLU6()]
        self.layers = nn.SequentialCell(layers)
        self.fc = nn.Dense(1280, 1000)

    def construct(self, x):
        """Scores."""
        return self.fc(ops.mean(self.layers(x), (2, 3)))


class DenseLayer(nn.Cell):
    """A layer whose outputs are put behind its inputs."""

    def __init__(self, inputs: int, growth: int):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(inputs), nn.Conv2d(inputs, 4 * growth, 1)
        self.norm2, self.conv2 = nn.BatchNorm2d(4 * growth), _conv(4 * growth, growth, 3)
        self.relu = nn.ReLU()

    def construct(self, x):
        """The inputs and the new channels."""
        y = self.conv1(self.relu(self.norm1(x)))
        y = self.conv2(self.relu(self.norm2(y)))
        return ops.concat((x, y), 1)


class DenseNet121(nn.Cell):
    """DenseNet-121 for 1000 classes."""

    def __init__(self):
        super().__init__()
        layers = [
            _conv(3, 64, 7, 2),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, pad_mode="pad", padding=1),
        ]
        width = 64
        for index, count in enumerate((6, 12, 24, 16)):
            for _ in range(count):
                layers.append(DenseLayer(width, 32))
                width += 32
            layers += [nn.BatchNorm2d(width), nn.ReLU()]
            if index < 3:
                layers += [nn.Conv2d(width, width // 2, 1), nn.AvgPool2d(2, 2)]
                width //= 2
        self.layers = nn.SequentialCell(layers)
        self.fc = nn.Dense(width, 1000)

    def construct(self, x):
        """Scores."""
        return self.fc(ops.mean(self.layers(x), (2, 3)))


def _lenet(mode: int) -> Callable[[], object]:
    return classifier_step(LeNet(), random(32, 1, 28, 28), 10, mode)


def _resnet(mode: int = ms.GRAPH_MODE) -> Callable[[], object]:
    return classifier_step(ResNet50(), random(8, 3, 224, 224), 1000, mode)


def lenet_graph() -> Callable[[], float]:
    """A training step, compiled."""
    return timed(_lenet(ms.GRAPH_MODE), 100)


def lenet_pynative() -> Callable[[], float]:
    """A training step, eager."""
    return timed(_lenet(ms.PYNATIVE_MODE), 50)


def resnet50_graph() -> Callable[[], float]:
    """A training step, compiled."""
    return timed(_resnet(), 2)


def resnet50_inference() -> Callable[[], float]:
    """Scores of one image."""
    ms.set_context(mode=ms.GRAPH_MODE)
    net, image = ResNet50(), random(1, 3, 224, 224)
    net.set_train(False)
    return timed(lambda: net(image).asnumpy(), 10)


def first_resnet50_step() -> float:
    """What the first step of this process takes beyond a later one."""
    return first_less_later(_resnet())


def resnet50_first() -> Callable[[], float]:
    """Compilation with nothing cached."""
    return in_fresh_process("vision_ms", "first_resnet50_step", warm=False)


def resnet50_first_warm() -> Callable[[], float]:
    """Compilation with what another process has cached."""
    return in_fresh_process("vision_ms", "first_resnet50_step", warm=True)


def resnet50_memory() -> Callable[[], float]:
    """Peak resident memory of training steps."""
    step = _resnet()
    return lambda: peak_over(lambda: (step(), step()))


def mobilenetv2() -> Callable[[], float]:
    """A training step."""
    return timed(classifier_step(MobileNetV2(), random(8, 3, 224, 224), 1000), 3)


def densenet121() -> Callable[[], float]:
    """A training step."""
    return timed(classifier_step(DenseNet121(), random(4, 3, 224, 224), 1000), 2)


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

"""Networks that name images: LeNet, ResNet-50, MobileNetV2, DenseNet-121, in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from cases.steps_torch import classifier_step, compiled, timed
from cases.timing import first_less_later, in_fresh_process, peak_over


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


class Inverted(nn.Module):
    """An inverted residual: widen, filter every channel by itself, narrow."""

    def __init__(self, inputs: int, outputs: int, stride: int, factor: int):
        super().__init__()
        width = inputs * factor
        layers = []
        if factor != 1:
            layers += [_conv(inputs, width, 1), nn.BatchNorm2d(width), nn.ReLU6(inplace=True)]
        self.layers = nn.Sequential(
            *layers,
            nn.Conv2d(width, width, 3, stride, 1, groups=width, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU6(inplace=True),
            _conv(width, outputs, 1),
            nn.BatchNorm2d(outputs),
        )
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        """One block."""
        y = self.layers(x)
        return x + y if self.residual else y


class MobileNetV2(nn.Module):
    """MobileNetV2 for 1000 classes."""

    def __init__(self):
        super().__init__()
        layers = [_conv(3, 32, 3, 2), nn.BatchNorm2d(32), nn.ReLU6(inplace=True)]
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
        layers += [_conv(320, 1280, 1), nn.BatchNorm2d(1280), nn.ReLU6(inplace=True)]
        self.layers = nn.Sequential(*layers)
        self.fc = nn.Linear(1280, 1000)

    def forward(self, x):
        """Scores."""
        return self.fc(self.layers(x).mean((2, 3)))


class DenseLayer(nn.Module):
    """A layer whose outputs are put behind its inputs."""

    def __init__(self, inputs: int, growth: int):
        super().__init__()
        self.layers = nn.Sequential(
            nn.BatchNorm2d(inputs),
            nn.ReLU(inplace=True),
            _conv(inputs, 4 * growth, 1),
            nn.BatchNorm2d(4 * growth),
            nn.ReLU(inplace=True),
            _conv(4 * growth, growth, 3),
        )

    def forward(self, x):
        """The inputs and the new channels."""
        return torch.cat((x, self.layers(x)), 1)


class DenseNet121(nn.Module):
    """DenseNet-121 for 1000 classes."""

    def __init__(self):
        super().__init__()
        layers = [
            _conv(3, 64, 7, 2),
            nn.BatchNorm2d(64),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, 1),
        ]
        width = 64
        for index, count in enumerate((6, 12, 24, 16)):
            for _ in range(count):
                layers.append(DenseLayer(width, 32))
                width += 32
            layers += [nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
            if index < 3:
                layers += [_conv(width, width // 2, 1), nn.AvgPool2d(2, 2)]
                width //= 2
        self.layers = nn.Sequential(*layers)
        self.fc = nn.Linear(width, 1000)

    def forward(self, x):
        """Scores."""
        return self.fc(self.layers(x).mean((2, 3)))


def _lenet() -> Callable[[], float]:
    return timed(classifier_step(LeNet(), torch.randn(32, 1, 28, 28), 10), 50)


lenet_graph = lenet_pynative = _lenet


def _resnet() -> Callable[[], object]:
    return classifier_step(ResNet50(), torch.randn(8, 3, 224, 224), 1000)


def resnet50_graph() -> Callable[[], float]:
    """A training step."""
    return timed(_resnet(), 2)


def resnet50_inference() -> Callable[[], float]:
    """Scores of one image."""
    net, image = compiled(ResNet50().eval()), torch.randn(1, 3, 224, 224)

    def scores() -> object:
        with torch.inference_mode():
            return net(image).numpy()

    return timed(scores, 10)


def first_resnet50_step() -> float:
    """What the first step of this process takes beyond a later one."""
    return first_less_later(_resnet())


def resnet50_first() -> Callable[[], float]:
    """Compilation with nothing cached."""
    return in_fresh_process("vision_torch", "first_resnet50_step", warm=False)


def resnet50_first_warm() -> Callable[[], float]:
    """Compilation with what another process has cached."""
    return in_fresh_process("vision_torch", "first_resnet50_step", warm=True)


def resnet50_memory() -> Callable[[], float]:
    """Peak resident memory of training steps."""
    step = _resnet()
    return lambda: peak_over(lambda: (step(), step()))


def mobilenetv2() -> Callable[[], float]:
    """A training step."""
    return timed(classifier_step(MobileNetV2(), torch.randn(8, 3, 224, 224), 1000), 3)


def densenet121() -> Callable[[], float]:
    """A training step."""
    return timed(classifier_step(DenseNet121(), torch.randn(4, 3, 224, 224), 1000), 2)

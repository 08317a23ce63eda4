"""Residual networks: 18 and 50 layers for ImageNet's kind of images, 20 for images of 32 x 32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindspore import nn, ops
from mindspore.common.initializer import HeNormal


def _conv(inside: int, outside: int, size: int, stride: int = 1) -> nn.Conv2d:
    start = HeNormal(mode="fan_out", nonlinearity="relu")
    return nn.Conv2d(
        inside, outside, size, stride, pad_mode="pad", padding=size // 2, weight_init=start
    )


class BasicBlock(nn.Cell):
    """Two convolutions of 3 x 3 beside a shortcut.

    Args:
        inside: channels that come in.
        width: channels of the convolutions.
        stride: of the first convolution.
    """

    expansion = 1

    def __init__(self, inside: int, width: int, stride: int = 1) -> None:
        super().__init__()
        self.conv1, self.bn1 = _conv(inside, width, 3, stride), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = _conv(width, width, 3), nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.down_sample = _shortcut(inside, width, stride)

    def construct(self, x: Any) -> Any:
        """The block of x."""
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return self.relu(y + self.down_sample(x))


class Bottleneck(nn.Cell):
    """A convolution of 3 x 3 between two of 1 x 1, beside a shortcut.

    Args:
        inside: channels that come in.
        width: channels of the inner convolution; four times as many come out.
        stride: of the inner convolution.
    """

    expansion = 4

    def __init__(self, inside: int, width: int, stride: int = 1) -> None:
        super().__init__()
        outside = width * self.expansion
        self.conv1, self.bn1 = _conv(inside, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = _conv(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = _conv(width, outside, 1), nn.BatchNorm2d(outside)
        self.relu = nn.ReLU()
        self.down_sample = _shortcut(inside, outside, stride)

    def construct(self, x: Any) -> Any:
        """The block of x."""
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return self.relu(y + self.down_sample(x))


def _shortcut(inside: int, outside: int, stride: int) -> nn.Cell:
    if inside == outside and stride == 1:
        return nn.Identity()
    return nn.SequentialCell(_conv(inside, outside, 1, stride), nn.BatchNorm2d(outside))


class ResNet(nn.Cell):
    """Stages of blocks, each but the first with half the size and twice the channels of the one before.

    Args:
        block: BasicBlock or Bottleneck.
        depths: how many blocks each stage has.
        width: channels of the first stage.
        num_classes: how many classes.
        small: whether images are small: then they are not made smaller before the first stage.
    """

    def __init__(
        self, block: Any, depths: Sequence[int], width: int, num_classes: int, small: bool
    ) -> None:
        super().__init__()
        self.conv1 = _conv(3, width, 3) if small else _conv(3, width, 7, 2)
        self.bn1, self.relu = nn.BatchNorm2d(width), nn.ReLU()
        self.maxpool = nn.Identity() if small else nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        stages, inside = [], width
        for stage, depth in enumerate(depths):
            inner = width * 2**stage
            strides = [2 if stage else 1] + [1] * (depth - 1)
            blocks = []
            for stride in strides:
                blocks.append(block(inside, inner, stride))
                inside = inner * block.expansion
            stages.append(nn.SequentialCell(blocks))
        self.stages = nn.SequentialCell(stages)
        self.end_point = nn.Dense(inside, num_classes)

    def construct(self, x: Any) -> Any:
        """The logits of images."""
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.stages(x)
        return self.end_point(ops.mean(x, (2, 3)))


def resnet18(num_classes: int = 1000) -> ResNet:
    """18 layers, for images of about 224 x 224."""
    return ResNet(BasicBlock, (2, 2, 2, 2), 64, num_classes, small=False)


def resnet50(num_classes: int = 1000) -> ResNet:
    """50 layers, for images of about 224 x 224."""
    return ResNet(Bottleneck, (3, 4, 6, 3), 64, num_classes, small=False)


def resnet20(num_classes: int = 10) -> ResNet:
    """20 layers, for images of 32 x 32."""
    return ResNet(BasicBlock, (3, 3, 3), 16, num_classes, small=True)


def resnet(name: str, num_classes: int = 10) -> ResNet:
    """The network of a name: "resnet18", "resnet20" or "resnet50"."""
    known = {"resnet18": resnet18, "resnet20": resnet20, "resnet50": resnet50}
    if name not in known:
        raise ValueError(f"For 'resnet', 'name' must be one of {list(known)}, but got {name!r}.")
    return known[name](num_classes)


__all__ = ["BasicBlock", "Bottleneck", "ResNet", "resnet", "resnet18", "resnet20", "resnet50"]

"""DenseNet: each layer takes what all layers before it in its block have made."""

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


def _before(inside: int, conv: nn.Conv2d) -> list[nn.Cell]:
    return [nn.BatchNorm2d(inside), nn.ReLU(), conv]


class DenseLayer(nn.Cell):
    """New channels beside those that came in.

    Args:
        inside: channels that come in.
        growth: how many are added.
    """

    def __init__(self, inside: int, growth: int) -> None:
        super().__init__()
        narrow = 4 * growth
        self.layers = nn.SequentialCell(
            *_before(inside, _conv(inside, narrow, 1)), *_before(narrow, _conv(narrow, growth, 3))
        )

    def construct(self, x: Any) -> Any:
        """The input and what is added."""
        return ops.concat((x, self.layers(x)), 1)


class DenseNet(nn.Cell):
    """Blocks of dense layers, between which channels and sizes are halved.

    Args:
        depths: how many layers each block has.
        growth: the channels that a layer adds.
        num_classes: how many classes.
        small: whether images are small: then they are not made smaller before the first block.
    """

    def __init__(
        self, depths: Sequence[int], growth: int, num_classes: int, small: bool = False
    ) -> None:
        super().__init__()
        inside = 2 * growth
        layers: list[nn.Cell] = [_conv(3, inside, 3) if small else _conv(3, inside, 7, 2)]
        if not small:
            layers += [nn.BatchNorm2d(inside), nn.ReLU()]
            layers += [nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)]
        for block, depth in enumerate(depths):
            if block:
                layers += _before(inside, _conv(inside, inside // 2, 1))
                layers.append(nn.AvgPool2d(kernel_size=2, stride=2))
                inside //= 2
            for _ in range(depth):
                layers.append(DenseLayer(inside, growth))
                inside += growth
        self.features = nn.SequentialCell([*layers, nn.BatchNorm2d(inside), nn.ReLU()])
        self.classifier = nn.Dense(inside, num_classes)

    def construct(self, x: Any) -> Any:
        """The logits of images."""
        return self.classifier(ops.mean(self.features(x), (2, 3)))


def densenet121(num_classes: int = 1000) -> DenseNet:
    """121 layers, for images of about 224 x 224."""
    return DenseNet((6, 12, 24, 16), 32, num_classes)


def densenet40(num_classes: int = 10) -> DenseNet:
    """Three blocks of six layers with two convolutions each, for images of 32 x 32."""
    return DenseNet((6, 6, 6), 12, num_classes, small=True)


def densenet(name: str, num_classes: int = 10) -> DenseNet:
    """The network of a name: "densenet121" or "densenet40"."""
    known = {"densenet121": densenet121, "densenet40": densenet40}
    if name not in known:
        raise ValueError(f"For 'densenet', 'name' must be one of {list(known)}, but got {name!r}.")
    return known[name](num_classes)


__all__ = ["DenseLayer", "DenseNet", "densenet", "densenet40", "densenet121"]

"""VGG16: convolutions of 3 x 3 only."""

from __future__ import annotations

from typing import Any

from mindspore import nn
from mindspore.common.initializer import HeNormal

_STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))  # channels, convolutions


class VGG(nn.Cell):
    """Thirteen convolutions in five stages, each half the size of the one before, and three dense layers.

    Args:
        num_classes: how many classes.
        width: channels of the first stage, 64 in VGG16.
        hidden: the width of the dense layers.
        side: of the images, a multiple of 32.
        dropout: the part of the inputs that dense layers leave out while they are trained.
    """

    def __init__(
        self,
        num_classes: int = 1000,
        width: int = 64,
        hidden: int = 4096,
        side: int = 224,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        layers: list[nn.Cell] = []
        inside = 3
        for channels, count in _STAGES:
            outside = channels * width // 64
            for _ in range(count):
                start = HeNormal(mode="fan_out", nonlinearity="relu")
                conv = nn.Conv2d(inside, outside, 3, pad_mode="pad", padding=1, weight_init=start)
                layers += [conv, nn.BatchNorm2d(outside), nn.ReLU()]
                inside = outside
            layers.append(nn.MaxPool2d(kernel_size=2, stride=2))
        self.features = nn.SequentialCell(layers)
        self.classifier = nn.SequentialCell(
            nn.Flatten(),
            nn.Dense(inside * (side // 32) ** 2, hidden),
            nn.ReLU(),
            nn.Dropout(p=dropout),
            nn.Dense(hidden, hidden),
            nn.ReLU(),
            nn.Dropout(p=dropout),
            nn.Dense(hidden, num_classes),
        )

    def construct(self, x: Any) -> Any:
        """The logits of images."""
        return self.classifier(self.features(x))


def vgg16(num_classes: int = 1000, width: int = 64, hidden: int = 4096, side: int = 224) -> VGG:
    """16 layers with weights."""
    return VGG(num_classes, width, hidden, side)


__all__ = ["VGG", "vgg16"]

"""MobileNetV2: blocks that widen, filter each channel alone, and narrow again."""

from __future__ import annotations

from typing import Any

from mindspore import nn, ops
from mindspore.common.initializer import HeNormal

# Of the blocks of a stage: how much wider they are inside, channels, how many there are, the stride of the first.
_STAGES = (
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def _rounded(channels: float) -> int:
    """A multiple of 8 near a number of channels, and not much less."""
    near = max(8, int(channels + 4) // 8 * 8)
    return near if near >= 0.9 * channels else near + 8


def _conv(inside: int, outside: int, size: int, stride: int = 1, group: int = 1) -> list[nn.Cell]:
    conv = nn.Conv2d(
        inside,
        outside,
        size,
        stride,
        pad_mode="pad",
        padding=size // 2,
        group=group,
        weight_init=HeNormal(mode="fan_out", nonlinearity="relu"),
    )
    return [conv, nn.BatchNorm2d(outside)]


class InvertedResidual(nn.Cell):
    """A block.

    Args:
        inside: channels that come in.
        outside: channels that come out.
        stride: of the filters.
        expansion: how much wider the filters are.
    """

    def __init__(self, inside: int, outside: int, stride: int, expansion: int) -> None:
        super().__init__()
        hidden = inside * expansion
        layers = [*_conv(inside, hidden, 1), nn.ReLU6()] if expansion > 1 else []
        layers += [*_conv(hidden, hidden, 3, stride, hidden), nn.ReLU6()]
        layers += _conv(hidden, outside, 1)
        self.conv = nn.SequentialCell(layers)
        self.shortcut = stride == 1 and inside == outside

    def construct(self, x: Any) -> Any:
        """The block of x."""
        y = self.conv(x)
        return x + y if self.shortcut else y


class MobileNetV2(nn.Cell):
    """Stages of inverted residual blocks.

    Args:
        num_classes: how many classes.
        width: a factor of all numbers of channels.
        small: whether images are small: then the first two strides are 1.
    """

    def __init__(self, num_classes: int = 1000, width: float = 1.0, small: bool = False) -> None:
        super().__init__()
        inside = _rounded(32 * width)
        layers = [*_conv(3, inside, 3, 1 if small else 2), nn.ReLU6()]
        for stage, (expansion, channels, count, stride) in enumerate(_STAGES):
            outside = _rounded(channels * width)
            first = 1 if small and stage == 1 else stride
            for step in [first] + [1] * (count - 1):
                layers.append(InvertedResidual(inside, outside, step, expansion))
                inside = outside
        last = _rounded(1280 * max(width, 1.0))
        layers += [*_conv(inside, last, 1), nn.ReLU6()]
        self.features = nn.SequentialCell(layers)
        self.dropout, self.classifier = nn.Dropout(p=0.2), nn.Dense(last, num_classes)

    def construct(self, x: Any) -> Any:
        """The logits of images."""
        return self.classifier(self.dropout(ops.mean(self.features(x), (2, 3))))


__all__ = ["InvertedResidual", "MobileNetV2"]

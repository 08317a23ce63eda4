"""U-Net, which tells of each pixel what it belongs to."""

from __future__ import annotations

import itertools
from typing import Any

from mindspore import nn, ops


def _double(inside: int, outside: int) -> nn.SequentialCell:
    layers: list[nn.Cell] = []
    for channels in (inside, outside):
        conv = nn.Conv2d(channels, outside, 3, pad_mode="pad", padding=1)
        layers += [conv, nn.BatchNorm2d(outside), nn.ReLU()]
    return nn.SequentialCell(layers)


class UNet(nn.Cell):
    """Down to small images with many channels, and up again beside what each size was on the way down.

    Args:
        num_classes: how many kinds of pixels there are.
        channel: channels of the images.
        width: channels of the largest size; each smaller one has twice as many.
        depth: how often sizes are halved.
    """

    def __init__(
        self, num_classes: int = 2, channel: int = 1, width: int = 64, depth: int = 4
    ) -> None:
        super().__init__()
        widths = [width * 2**i for i in range(depth + 1)]
        self.start, self.pool = _double(channel, width), nn.MaxPool2d(2, 2)
        pairs = list(itertools.pairwise(widths))
        self.down = nn.CellList([_double(a, b) for a, b in pairs])
        self.grow = nn.CellList([nn.Conv2dTranspose(b, a, 2, 2) for a, b in reversed(pairs)])
        self.up = nn.CellList([_double(b, a) for a, b in reversed(pairs)])
        self.head = nn.Conv2d(width, num_classes, 1)

    def construct(self, x: Any) -> Any:
        """Logits [N, classes, H, W]; sides are multiples of 2 to the power of the depth."""
        sizes = [self.start(x)]
        for block in self.down:
            sizes.append(block(self.pool(sizes[-1])))
        y = sizes.pop()
        for grow, block in zip(self.grow, self.up):
            y = block(ops.concat((sizes.pop(), grow(y)), 1))
        return self.head(y)


__all__ = ["UNet"]

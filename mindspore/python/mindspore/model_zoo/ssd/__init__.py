"""SSD with few anchors: one pass over an image tells where things are, and what."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import nn, ops

SCALES = (
    0.25,
    0.4,
)  # sides of the anchors on the larger map; those on the smaller one are twice as large


def anchors(side: int) -> np.ndarray:
    """Boxes [n, 4] of centre and size, parts of the image: at each place of the maps of side/8 and side/16 two squares."""
    boxes = []
    for factor, cells in ((1, side // 8), (2, side // 16)):
        centres = (np.arange(cells) + 0.5) / cells
        for row in centres:
            for column in centres:
                boxes += [(row, column, factor * scale, factor * scale) for scale in SCALES]
    return np.array(boxes, np.float32)


def _halved(inside: int, outside: int) -> nn.SequentialCell:
    conv = nn.Conv2d(inside, outside, 3, 2, pad_mode="pad", padding=1)
    return nn.SequentialCell(conv, nn.BatchNorm2d(outside), nn.ReLU())


class SSDTiny(nn.Cell):
    """Five convolutions, and two heads on the last two maps.

    Args:
        num_classes: how many classes there are; class 0 is none.
        channel: channels of the images.
        width: channels of the first convolution.
    """

    def __init__(self, num_classes: int, channel: int = 1, width: int = 16) -> None:
        super().__init__()
        self.num_classes = num_classes
        self.start = nn.SequentialCell(
            _halved(channel, width), _halved(width, 2 * width), _halved(2 * width, 4 * width)
        )
        self.next = _halved(4 * width, 4 * width)
        count = len(SCALES) * (4 + num_classes)
        self.heads = nn.CellList(
            [nn.Conv2d(4 * width, count, 3, pad_mode="pad", padding=1) for _ in range(2)]
        )

    def construct(self, images: Any) -> Any:
        """Offsets [N, anchors, 4] and logits [N, anchors, classes], in the order of `anchors`."""
        larger = self.start(images)
        found = []
        for head, x in zip(self.heads, (larger, self.next(larger))):
            rows = head(x).transpose(0, 2, 3, 1)
            found.append(rows.reshape(x.shape[0], -1, 4 + self.num_classes))
        both = ops.concat(found, 1)
        return both[:, :, :4], both[:, :, 4:]


__all__ = ["SSDTiny", "anchors"]

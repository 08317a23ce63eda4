"""Networks that label every pixel: U-Net, on the MindSpore API."""

from __future__ import annotations

from collections.abc import Callable

from cases.steps_ms import integers, random, timed, train_step
from mindspore import nn, ops


class Double(nn.SequentialCell):
    """Two convolutions, each normalised and cut at zero."""

    def __init__(self, inputs: int, outputs: int):
        layers = []
        for width in (inputs, outputs):
            layers += [
                nn.Conv2d(width, outputs, 3, pad_mode="same"),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
            ]
        super().__init__(layers)


class UNet(nn.Cell):
    """U-Net of five levels; gives its loss."""

    def __init__(self, channels: int = 3, width: int = 32, classes: int = 2):
        super().__init__()
        widths = [width * 2**i for i in range(5)]
        self.down = nn.CellList(
            [Double(i, o) for i, o in zip([channels, *widths[:-1]], widths, strict=True)]
        )
        self.rise = nn.CellList(
            [
                nn.Conv2dTranspose(2 * w, w, 2, 2, pad_mode="valid", has_bias=True)
                for w in widths[-2::-1]
            ]
        )
        self.up = nn.CellList([Double(2 * w, w) for w in widths[-2::-1]])
        self.pool, self.out = nn.MaxPool2d(2, 2), nn.Conv2d(width, classes, 1, has_bias=True)
        self.loss = nn.CrossEntropyLoss()

    def construct(self, x, labels):
        """The loss."""
        kept = []
        for level in self.down[:-1]:
            x = level(x)
            kept.append(x)
            x = self.pool(x)
        x = self.down[-1](x)
        for rise, level in zip(self.rise, self.up):
            x = level(ops.concat((kept.pop(), rise(x)), 1))
        return self.loss(self.out(x), labels)


def unet() -> Callable[[], float]:
    """A training step."""
    net = UNet()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    images, labels = random(2, 3, 128, 128), integers(2, 2, 128, 128)
    return timed(train_step(net, optimizer, images, labels), 3)

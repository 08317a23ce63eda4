"""Networks that label every pixel: U-Net, in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

from cases.steps_torch import timed, train_step


class Double(nn.Sequential):
    """Two convolutions, each normalised and cut at zero."""

    def __init__(self, inputs: int, outputs: int):
        layers = []
        for width in (inputs, outputs):
            layers += [
                nn.Conv2d(width, outputs, 3, padding=1, bias=False),
                nn.BatchNorm2d(outputs),
                nn.ReLU(inplace=True),
            ]
        super().__init__(*layers)


class UNet(nn.Module):
    """U-Net of five levels; gives its loss."""

    def __init__(self, channels: int = 3, width: int = 32, classes: int = 2):
        super().__init__()
        widths = [width * 2**i for i in range(5)]
        self.down = nn.ModuleList(
            Double(i, o) for i, o in zip([channels, *widths[:-1]], widths, strict=True)
        )
        self.rise = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths[-2::-1])
        self.up = nn.ModuleList(Double(2 * w, w) for w in widths[-2::-1])
        self.pool, self.out = nn.MaxPool2d(2), nn.Conv2d(width, classes, 1)

    def forward(self, x, labels):
        """The loss."""
        kept = []
        for level in self.down[:-1]:
            x = level(x)
            kept.append(x)
            x = self.pool(x)
        x = self.down[-1](x)
        for rise, level in zip(self.rise, self.up, strict=True):
            x = level(torch.cat((kept.pop(), rise(x)), 1))
        return functional.cross_entropy(self.out(x), labels)


def unet() -> Callable[[], float]:
    """A training step."""
    net = UNet()
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)
    images, labels = torch.randn(2, 3, 128, 128), torch.randint(2, (2, 128, 128))
    return timed(train_step(net, optimizer, images, labels), 3)

"""AlexNet, for images of 227 x 227, or of 32 x 32."""

from __future__ import annotations

from typing import Any

from mindspore import nn


def _conv(inside: int, outside: int, size: int, stride: int = 1, padding: int = 0) -> nn.Cell:
    conv = nn.Conv2d(inside, outside, size, stride, pad_mode="pad", padding=padding, has_bias=True)
    return nn.SequentialCell(conv, nn.ReLU())


class AlexNet(nn.Cell):
    """Five convolutions, three dense layers with dropout.

    Args:
        num_classes: how many classes.
        channel: channels of the images.
        dropout: the part of the inputs that dense layers leave out while they are trained.
        small: whether images are 32 x 32: then the first convolution makes them no smaller.
    """

    def __init__(
        self, num_classes: int = 10, channel: int = 3, dropout: float = 0.5, small: bool = False
    ) -> None:
        super().__init__()
        pool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="valid")
        self.features = nn.SequentialCell(
            _conv(channel, 64, 5, 1, 2) if small else _conv(channel, 64, 11, 4),
            pool,
            _conv(64, 128, 5, padding=2),
            pool,
            _conv(128, 192, 3, padding=1),
            _conv(192, 256, 3, padding=1),
            _conv(256, 256, 3, padding=1),
            pool,
        )
        side, hidden = (3, 512) if small else (6, 4096)
        self.flatten, self.relu = nn.Flatten(), nn.ReLU()
        self.dropout = nn.Dropout(p=dropout)
        self.fc1 = nn.Dense(256 * side * side, hidden)
        self.fc2 = nn.Dense(hidden, hidden)
        self.fc3 = nn.Dense(hidden, num_classes)

    def construct(self, x: Any) -> Any:
        """The logits of images."""
        x = self.flatten(self.features(x))
        x = self.dropout(self.relu(self.fc1(x)))
        x = self.dropout(self.relu(self.fc2(x)))
        return self.fc3(x)


__all__ = ["AlexNet"]

"""DCGAN: one network makes images of noise, another one tells them from real ones, and each learns from the other."""

from __future__ import annotations

from typing import Any

from mindspore import nn, ops
from mindspore.common.initializer import Normal


def _start() -> Normal:
    return Normal(0.02)


class Generator(nn.Cell):
    """Images [N, channel, 16, 16] of noise [N, size].

    Args:
        size: of the noise.
        width: channels of the last hidden map; the first one has twice as many.
        channel: channels of the images.
    """

    def __init__(self, size: int = 16, width: int = 16, channel: int = 1) -> None:
        super().__init__()
        self.width = width
        self.dense = nn.Dense(size, 2 * width * 16, weight_init=_start())
        self.layers = nn.SequentialCell(
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
            nn.Conv2dTranspose(2 * width, width, 4, 2, weight_init=_start()),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2dTranspose(width, channel, 4, 2, weight_init=_start()),
            nn.Tanh(),
        )

    def construct(self, noise: Any) -> Any:
        """Images with values from -1 to 1."""
        return self.layers(self.dense(noise).reshape(-1, 2 * self.width, 4, 4))


class Discriminator(nn.Cell):
    """The logit that an image is real.

    Args:
        width: channels of the first map; the second one has twice as many.
        channel: channels of the images.
    """

    def __init__(self, width: int = 16, channel: int = 1) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(channel, width, 4, 2, weight_init=_start()),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width, 2 * width, 4, 2, weight_init=_start()),
            nn.BatchNorm2d(2 * width),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Dense(2 * width * 16, 1, weight_init=_start()),
        )

    def construct(self, images: Any) -> Any:
        """Logits [N, 1]."""
        return self.layers(images)


def _loss(logits: Any, real: float) -> Any:
    target = ops.full_like(logits, real)
    return ops.binary_cross_entropy_with_logits(
        logits, target, ops.ones_like(logits), ops.ones_like(logits)
    )


class DiscriminatorLoss(nn.Cell):
    """How badly real images are told from made ones."""

    def __init__(self, generator: nn.Cell, discriminator: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.generator, self.discriminator = generator, discriminator

    def construct(self, images: Any, noise: Any) -> Any:
        """The loss; the generator learns nothing from it."""
        made = ops.stop_gradient(self.generator(noise))
        return _loss(self.discriminator(images), 1.0) + _loss(self.discriminator(made), 0.0)


class GeneratorLoss(nn.Cell):
    """How well made images are told from real ones."""

    def __init__(self, generator: nn.Cell, discriminator: nn.Cell) -> None:
        super().__init__(auto_prefix=False)
        self.generator, self.discriminator = generator, discriminator

    def construct(self, noise: Any) -> Any:
        """The loss."""
        return _loss(self.discriminator(self.generator(noise)), 1.0)


__all__ = ["Discriminator", "DiscriminatorLoss", "Generator", "GeneratorLoss"]

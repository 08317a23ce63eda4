"""Recurrent networks over whole sequences, on the MindSpore API."""

from __future__ import annotations

from collections.abc import Callable

from cases.steps_ms import integers, random, timed, train_step
from mindspore import nn


class Reader(nn.Cell):
    """Reads a sequence and names its class by the last output."""

    def __init__(self, layer: type[nn.Cell]):
        super().__init__()
        self.layer = layer(256, 256, batch_first=True)
        self.fc, self.loss = nn.Dense(256, 10), nn.CrossEntropyLoss()

    def construct(self, x, labels):
        """The loss."""
        outputs, _ = self.layer(x)
        return self.loss(self.fc(outputs[:, -1]), labels)


def _step(layer: type[nn.Cell]) -> Callable[[], float]:
    net = Reader(layer)
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    return timed(train_step(net, optimizer, random(32, 100, 256), integers(10, 32)), 10)


def lstm() -> Callable[[], float]:
    """A training step of an LSTM."""
    return _step(nn.LSTM)


def gru() -> Callable[[], float]:
    """A training step of a GRU."""
    return _step(nn.GRU)

"""Recurrent networks over whole sequences, in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from cases.steps_torch import timed, train_step


class Reader(nn.Module):
    """Reads a sequence and names its class by the last output."""

    def __init__(self, layer: type[nn.Module]):
        super().__init__()
        self.layer = layer(256, 256, batch_first=True)
        self.fc, self.loss = nn.Linear(256, 10), nn.CrossEntropyLoss()

    def forward(self, x, labels):
        """The loss."""
        outputs, _ = self.layer(x)
        return self.loss(self.fc(outputs[:, -1]), labels)


def _step(layer: type[nn.Module]) -> Callable[[], float]:
    net = Reader(layer)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)
    inputs = torch.randn(32, 100, 256), torch.randint(10, (32,))
    return timed(train_step(net, optimizer, *inputs), 10)


def lstm() -> Callable[[], float]:
    """A training step of an LSTM."""
    return _step(nn.LSTM)


def gru() -> Callable[[], float]:
    """A training step of a GRU."""
    return _step(nn.GRU)

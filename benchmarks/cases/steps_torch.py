"""Steps that the families share, in PyTorch: eager, or compiled where the runner asks for it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from cases.timing import best_of

torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
torch.manual_seed(0)


def compiled(function: Any) -> Any:
    """The function or module, compiled in a peer named torch_compile."""
    return torch.compile(function) if os.environ.get("BENCHMARK_COMPILE") else function


def train_step(
    net: nn.Module, optimizer: torch.optim.Optimizer, *inputs: torch.Tensor
) -> Callable[[], object]:
    """A training step of a module that gives its loss."""
    forward = compiled(net)

    def step() -> float:
        optimizer.zero_grad(set_to_none=True)
        loss = forward(*inputs)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


class WithLoss(nn.Module):
    """A network and the cross entropy of its scores."""

    def __init__(self, net: nn.Module):
        super().__init__()
        self.net, self.loss = net, nn.CrossEntropyLoss()

    def forward(self, x, labels):
        """The loss."""
        return self.loss(self.net(x), labels)


def classifier_step(net: nn.Module, images: torch.Tensor, classes: int) -> Callable[[], object]:
    """A training step with momentum that names classes."""
    net = WithLoss(net)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)
    return train_step(net, optimizer, images, torch.randint(classes, (len(images),)))


def timed(step: Callable[[], object], repeats: int) -> Callable[[], float]:
    """A case's measure: the best of a few steps, after a first one."""
    step()
    return lambda: best_of(step, repeats)

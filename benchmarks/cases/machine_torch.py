"""What the machine does at best, in PyTorch: the limits of the other cases are derived from it."""

from __future__ import annotations

from collections.abc import Callable

import torch

from cases.steps_torch import timed


def products() -> Callable[[], float]:
    """A product of large matrices."""
    x, y = torch.randn(2048, 2048), torch.randn(2048, 2048)
    out = torch.empty(2048, 2048)
    return timed(lambda: torch.mm(x, y, out=out), 3)


def stream() -> Callable[[], float]:
    """Two vectors from memory, one to memory."""
    x, y, out = torch.randn(2**24), torch.randn(2**24), torch.empty(2**24)
    return timed(lambda: torch.add(x, y, out=out), 5)

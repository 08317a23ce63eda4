"""Convolution and pooling of volumes, one by one, in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

from cases.timing import best_of

VOLUMES = ((2, 16, 16, 56, 56), (4, 32, 8, 28, 28), (8, 64, 4, 14, 14))


def _times(call: Callable, inputs: list[tuple]) -> Callable[[], float]:
    def forward(*args: torch.Tensor) -> object:
        with torch.no_grad():
            return call(*args)

    def gradient(*args: torch.Tensor) -> object:
        return torch.autograd.grad(call(*args).sum(), args)

    for args in inputs:
        for x in args:
            x.requires_grad_()
    runs = [lambda f=f, args=args: f(*args) for args in inputs for f in (forward, gradient)]
    for run in runs:
        run()
    return lambda: sum(best_of(run, 5) for run in runs)


def conv3d() -> Callable[[], float]:
    """Kernels of 3x3x3 over few channels of large volumes, and over many of small ones."""
    inputs = [
        (torch.randn(1, 1, 32, 64, 64), torch.randn(16, 1, 3, 3, 3)),
        (torch.randn(2, 16, 16, 32, 32), torch.randn(32, 16, 3, 3, 3)),
        (torch.randn(2, 64, 8, 14, 14), torch.randn(64, 64, 3, 3, 3)),
    ]
    return _times(lambda x, w: functional.conv3d(x, w, padding=1), inputs)


def max_pool3d() -> Callable[[], float]:
    """Windows of 2x2x2 and overlapping ones of 3x3x3."""
    inputs = [(torch.randn(*shape),) for shape in VOLUMES]
    halves = _times(lambda x: functional.max_pool3d(x, 2, 2), inputs)
    thirds = _times(lambda x: functional.max_pool3d(x, 3, 2, 1), inputs)
    return lambda: halves() + thirds()


def avg_pool3d() -> Callable[[], float]:
    """Windows of 2x2x2 and overlapping ones of 3x3x3."""
    inputs = [(torch.randn(*shape),) for shape in VOLUMES]
    halves = _times(lambda x: functional.avg_pool3d(x, 2, 2), inputs)
    thirds = _times(lambda x: functional.avg_pool3d(x, 3, 2, 1), inputs)
    return lambda: halves() + thirds()

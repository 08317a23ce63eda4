"""Convolution and pooling of volumes, one by one, on the MindSpore API."""

from __future__ import annotations

from collections.abc import Callable

import mindspore as ms
from cases.steps_ms import random
from cases.timing import best_of
from mindspore import ops


def _times(call: Callable, inputs: list[tuple]) -> Callable[[], float]:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    gradient = ms.grad(lambda *args: call(*args).sum(), tuple(range(len(inputs[0]))))
    runs = [lambda f=f, args=args: f(*args) for args in inputs for f in (call, gradient)]
    for run in runs:
        run()
    return lambda: sum(best_of(run, 5) for run in runs)


def conv3d() -> Callable[[], float]:
    """Kernels of 3x3x3 over few channels of large volumes, and over many of small ones."""
    inputs = [
        (random(1, 1, 32, 64, 64), random(16, 1, 3, 3, 3)),
        (random(2, 16, 16, 32, 32), random(32, 16, 3, 3, 3)),
        (random(2, 64, 8, 14, 14), random(64, 64, 3, 3, 3)),
    ]
    return _times(lambda x, w: ops.conv3d(x, w, pad_mode="pad", padding=1), inputs)


VOLUMES = ((2, 16, 16, 56, 56), (4, 32, 8, 28, 28), (8, 64, 4, 14, 14))


def max_pool3d() -> Callable[[], float]:
    """Windows of 2x2x2 and overlapping ones of 3x3x3."""
    inputs = [(random(*shape),) for shape in VOLUMES]
    halves = _times(lambda x: ops.max_pool3d(x, 2, 2), inputs)
    thirds = _times(lambda x: ops.max_pool3d(x, 3, 2, 1), inputs)
    return lambda: halves() + thirds()


def avg_pool3d() -> Callable[[], float]:
    """Windows of 2x2x2 and overlapping ones of 3x3x3."""
    inputs = [(random(*shape),) for shape in VOLUMES]
    halves = _times(lambda x: ops.avg_pool3d(x, 2, 2), inputs)
    thirds = _times(lambda x: ops.avg_pool3d(x, 3, 2, 1), inputs)
    return lambda: halves() + thirds()

"""Images in other sizes, and boxes that suppress others, eager: one op each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mindspore as ms
from cases.timing import best_of
from mindspore import Tensor, ops

SIZES = (((1, 64, 20, 20), (40, 40)), ((8, 64, 32, 32), (64, 64)), ((2, 3, 320, 320), (128, 128)))
MODES = ("nearest", "bilinear", "bicubic")
BOXES = (300, 1000, 3000)


def _random(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(0).uniform(0, 1, shape).astype(np.float32))


def _times(calls: list[Callable[[], object]]) -> Callable[[], float]:
    for call in calls:
        best_of(call, 1, 2)
    return lambda: sum(best_of(call, 3, 10) for call in calls)


def resize() -> Callable[[], float]:
    """The result in each mode."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    images = [(_random(*shape), size) for shape, size in SIZES]
    return _times(
        [lambda x=x, s=s, m=m: ops.interpolate(x, s, mode=m) for x, s in images for m in MODES]
    )


def resize_gradient() -> Callable[[], float]:
    """The gradient of the weighed sum of the result in each mode."""
    ms.set_context(mode=ms.GRAPH_MODE)
    calls: list[Callable[[], object]] = []
    for shape, size in SIZES:
        for mode in MODES:

            def weighed(x: Tensor, w: Tensor, size: tuple = size, mode: str = mode) -> Tensor:
                return (ops.interpolate(x, size, mode=mode) * w).sum()

            gradient = ms.jit(ms.grad(weighed))
            x, w = _random(*shape), _random(*shape[:2], *size)
            calls.append(lambda gradient=gradient, x=x, w=w: gradient(x, w))
    return _times(calls)


def suppression() -> Callable[[], float]:
    """Which of many boxes stay."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    suppress = ops.NMSWithMask(0.5)
    calls: list[Callable[[], object]] = []
    for count in BOXES:
        numbers = np.random.default_rng(count).uniform(0, 1, (count, 5)).astype(np.float32)
        numbers[:, 2:4] = numbers[:, :2] + numbers[:, 2:4] * 0.2
        boxes = Tensor(numbers)
        calls.append(lambda boxes=boxes: suppress(boxes))
    return _times(calls)

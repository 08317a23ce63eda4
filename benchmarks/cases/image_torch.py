"""Images in other sizes, and boxes that suppress others, in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch.nn.functional import interpolate

from cases.timing import best_of

SIZES = (((1, 64, 20, 20), (40, 40)), ((8, 64, 32, 32), (64, 64)), ((2, 3, 320, 320), (128, 128)))
MODES = ("nearest", "bilinear", "bicubic")
BOXES = (300, 1000, 3000)


def _times(calls: list[Callable[[], object]]) -> Callable[[], float]:
    for call in calls:
        best_of(call, 1, 2)
    return lambda: sum(best_of(call, 3, 10) for call in calls)


def resize() -> Callable[[], float]:
    """The result in each mode."""
    images = [(torch.rand(shape), size) for shape, size in SIZES]
    return _times(
        [lambda x=x, s=s, m=m: interpolate(x, s, mode=m) for x, s in images for m in MODES]
    )


def resize_gradient() -> Callable[[], float]:
    """The gradient of the weighed sum of the result in each mode."""
    calls: list[Callable[[], object]] = []
    for shape, size in SIZES:
        for mode in MODES:

            def gradient(x: torch.Tensor, w: torch.Tensor, size=size, mode=mode) -> torch.Tensor:
                return torch.autograd.grad((interpolate(x, size, mode=mode) * w).sum(), x)[0]

            x, w = torch.rand(shape, requires_grad=True), torch.rand(*shape[:2], *size)
            calls.append(lambda gradient=gradient, x=x, w=w: gradient(x, w))
    return _times(calls)


def _stay(boxes: torch.Tensor, threshold: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The boxes from the best score on, and which of them stay: a row of overlaps for each that does."""
    boxes = boxes[boxes[:, 4].argsort(descending=True, stable=True)]
    corner, end = boxes[:, :2], boxes[:, 2:4]
    area = (end - corner).prod(1)
    stays = torch.ones(len(boxes), dtype=torch.bool)
    for i in range(len(boxes) - 1):
        if stays[i]:
            sides = torch.minimum(end[i], end[i + 1 :]) - torch.maximum(corner[i], corner[i + 1 :])
            common = sides.clamp_(min=0).prod(1)
            stays[i + 1 :] &= common <= threshold * (area[i] + area[i + 1 :] - common)
    return boxes, stays


def suppression() -> Callable[[], float]:
    """Which of many boxes stay."""
    calls: list[Callable[[], object]] = []
    for count in BOXES:
        numbers = np.random.default_rng(count).uniform(0, 1, (count, 5)).astype(np.float32)
        numbers[:, 2:4] = numbers[:, :2] + numbers[:, 2:4] * 0.2
        boxes = torch.from_numpy(numbers)
        calls.append(lambda boxes=boxes: _stay(boxes, 0.5))
    return _times(calls)

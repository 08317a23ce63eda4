"""Noisy images with discs and squares, of which the discs are to be found."""

from __future__ import annotations

import argparse

import numpy as np

from mindspore import nn
from mindspore.dataset import Dataset
from mindspore.model_zoo import _data, _programs


def _right(logits: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """How much of the union of what is and what is said to be a disc is both."""
    said, true = logits.argmax(1) == 1, mask == 1
    return (said & true)[said | true]


LEARNING = _programs.Learning(loss=nn.CrossEntropyLoss, right=_right, adam=True)


def datasets(chosen: argparse.Namespace) -> tuple[Dataset, Dataset]:
    """Images [1, side, side], and for each pixel whether it belongs to a disc."""
    random, side = np.random.RandomState(0), chosen.side
    halved = 2**chosen.depth
    _programs.require(
        side >= 16 and side % halved == 0,
        f"--side must be at least 16 and a multiple of {halved}, as often as --depth halves it, but is {side}",
    )
    images = random.randn(chosen.rows, 1, side, side).astype(np.float32)
    masks = np.zeros((chosen.rows, side, side), np.int32)
    rows, columns = np.mgrid[:side, :side]
    for image, mask in zip(images, masks):
        for kind in (0, 1, 1):
            row, column = random.randint(4, side - 4, 2)
            radius = random.randint(3, side // 4)
            away = abs(rows - row), abs(columns - column)
            if kind:
                shape = away[0] ** 2 + away[1] ** 2 <= radius**2
                mask[shape] = 1
            else:
                shape = np.maximum(*away) <= radius
                mask[shape] = 0
            image[0][shape] += 2 if kind else -2
    return _data.halves((images, masks), chosen.batch)

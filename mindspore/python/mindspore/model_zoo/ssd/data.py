"""Noisy images with one square or disc each, and the anchors that are near it."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from mindspore import nn, ops
from mindspore.common import dtype as mstype
from mindspore.dataset import Dataset
from mindspore.model_zoo import _data, _programs
from mindspore.model_zoo.ssd import anchors

CLASSES = 3  # nothing, a square, a disc
_STEP = 16  # what the network divides the side by, in the end
_NEAR = 0.5  # the least overlap of an anchor with what it stands for


class BoxLoss(nn.Cell):
    """Smooth distance of the offsets of anchors that stand for something, and cross entropy of all, in which those of nothing, of
    which there are many, count less."""

    def construct(self, outputs: Any, targets: Any) -> Any:
        """The sum of both; targets [N, anchors, 5] are class and offsets."""
        offsets, logits = outputs
        classes = ops.cast(targets[:, :, 0], mstype.int32)
        there = ops.cast(classes > 0, offsets.dtype)
        count = there.sum() + 1.0
        away = ops.smooth_l1_loss(offsets, targets[:, :, 1:], reduction="none").sum(-1)
        flat = logits.reshape(-1, logits.shape[-1])
        each = ops.cross_entropy(flat, classes.reshape(-1), reduction="none").reshape(there.shape)
        return ((away + each) * there).sum() / count + 3.0 * (each * (1.0 - there)).mean()


def overlap(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The part of the union of boxes (centre and size) that is common to both."""
    low = np.maximum(a[..., :2] - a[..., 2:] / 2, b[..., :2] - b[..., 2:] / 2)
    high = np.minimum(a[..., :2] + a[..., 2:] / 2, b[..., :2] + b[..., 2:] / 2)
    common = np.clip(high - low, 0, None).prod(-1)
    return common / (a[..., 2:].prod(-1) + b[..., 2:].prod(-1) - common)


def decoded(offsets: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """The boxes that offsets make of anchors."""
    centres = boxes[:, :2] + offsets[..., :2] * boxes[:, 2:] * 0.1
    return np.concatenate([centres, boxes[:, 2:] * np.exp(offsets[..., 2:] * 0.2)], -1)


def _right(outputs: Any, targets: np.ndarray) -> np.ndarray:
    """Whether the surest anchor of each image has the class, and a box that overlaps the true one by half."""
    offsets, logits = outputs
    boxes = anchors(_side(offsets.shape[1]))
    images = np.arange(len(offsets))
    best = logits[:, :, 1:].max(-1) - logits[:, :, 0]
    surest = best.argmax(1)
    true = targets[:, :, 0].argmax(1)  # an anchor that stands for the thing
    found = decoded(offsets, boxes)[images, surest]
    wanted = decoded(targets[:, :, 1:], boxes)[images, true]
    named = logits[images, surest].argmax(-1) == targets[images, true, 0]
    return named & (overlap(found, wanted) > 0.5)


def _side(count: int) -> int:
    """The side of the images that have so many anchors."""
    return next(side for side in range(_STEP, 1024, _STEP) if len(anchors(side)) == count)


LEARNING = _programs.Learning(loss=BoxLoss, right=_right, adam=True)


def datasets(chosen: argparse.Namespace) -> tuple[Dataset, Dataset]:
    """Images [1, side, side], and class and offsets of each anchor."""
    random, side, rows = np.random.RandomState(0), chosen.side, chosen.rows
    _programs.require(side % _STEP == 0, f"--side must be a multiple of {_STEP}, but is {side}")
    boxes = anchors(side)
    images = random.randn(rows, 1, side, side).astype(np.float32) * 0.5
    targets = np.zeros((rows, len(boxes), 5), np.float32)
    down, across = (np.mgrid[:side, :side] + 0.5) / side
    for image, target in zip(images, targets):
        size, kind = random.uniform(0.25, 0.7), random.randint(1, CLASSES)
        row, column = random.uniform(size / 2, 1 - size / 2, 2)
        away = np.abs(down - row), np.abs(across - column)
        shape = np.maximum(*away) if kind == 1 else np.sqrt(away[0] ** 2 + away[1] ** 2)
        image[0][shape <= size / 2] += 2
        box = np.array([row, column, size, size], np.float32)
        near = overlap(boxes, box)
        chosen_ones = near >= min(_NEAR, near.max())
        target[chosen_ones, 0] = kind
        target[:, 1:3] = (box[:2] - boxes[:, :2]) / boxes[:, 2:] / 0.1
        target[:, 3:] = np.log(box[2:] / boxes[:, 2:]) / 0.2
    return _data.halves((images, targets), chosen.batch)

"""Images for a ResNet: folders of CIFAR-10's JPEG files, or a planted rule where they are not at hand."""

from __future__ import annotations

import argparse
import os

import numpy as np

import mindspore.dataset as ds
from mindspore.common import dtype as mstype
from mindspore.dataset import transforms, vision

_MEAN, _DEVIATION = [125.3, 123.0, 113.9], [63.0, 62.1, 66.7]


def _folder(path: str, batch: int, training: bool) -> ds.Dataset:
    rows: ds.Dataset = ds.ImageFolderDataset(path, shuffle=training, decode=True)
    steps = [vision.RandomCrop(32, 4), vision.RandomHorizontalFlip()] if training else []
    rows = rows.map([*steps, vision.Normalize(_MEAN, _DEVIATION), vision.HWC2CHW()], "image")
    rows = rows.map(transforms.TypeCast(mstype.int32), "label")
    return rows.batch(batch, drop_remainder=training)


def _planted(chosen: argparse.Namespace) -> tuple[ds.Dataset, ds.Dataset]:
    """Noise with a patch of one of five colours in one of two heights, which tell the class."""
    random = np.random.RandomState(0)
    images = random.randn(chosen.rows, 3, 32, 32).astype(np.float32)
    labels = random.randint(0, 10, chosen.rows).astype(np.int32)
    colours = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]], np.float32) * 2
    for image, label in zip(images, labels):
        row, colour = divmod(int(label), 5)
        image[:, 4 + 16 * row : 12 + 16 * row, 8:24] += colours[colour][:, None, None]
    split = chosen.rows * 4 // 5
    return (
        ds.NumpySlicesDataset(
            (images[:split], labels[:split]), ["image", "label"], shuffle=True
        ).batch(chosen.batch, drop_remainder=True),
        ds.NumpySlicesDataset(
            (images[split:], labels[split:]), ["image", "label"], shuffle=False
        ).batch(chosen.batch),
    )


def datasets(chosen: argparse.Namespace) -> tuple[ds.Dataset, ds.Dataset]:
    """Batches to train with, and to evaluate with."""
    folder = os.path.join(chosen.data, "cifar10") if chosen.data else ""
    if not os.path.isdir(folder):
        return _planted(chosen)
    return (
        _folder(os.path.join(folder, "train"), chosen.batch, True),
        _folder(os.path.join(folder, "test"), chosen.batch, False),
    )

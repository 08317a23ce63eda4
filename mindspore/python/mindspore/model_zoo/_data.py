"""Data that several networks of the zoo learn from."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

import numpy as np

import mindspore.dataset as ds
from mindspore.common import dtype as mstype
from mindspore.dataset import transforms, vision

_MEAN, _DEVIATION = [125.3, 123.0, 113.9], [63.0, 62.1, 66.7]


def halves(columns: Sequence[np.ndarray], batch: int) -> tuple[ds.Dataset, ds.Dataset]:
    """Batches of the first four fifths of the rows to train with, and of the others to evaluate with."""
    names = [f"column{i}" for i in range(len(columns))]
    split = len(columns[0]) * 4 // 5

    def rows(part: slice, shuffle: bool) -> ds.Dataset:
        arrays = tuple(column[part] for column in columns)
        return ds.NumpySlicesDataset(arrays, names, shuffle=shuffle)

    training = rows(slice(split), True).batch(batch, drop_remainder=True)
    return training, rows(slice(split, None), False).batch(batch)


def images(chosen: argparse.Namespace) -> tuple[ds.Dataset, ds.Dataset]:
    """CIFAR-10's images [3, 32, 32] from folders of JPEG files, or a planted rule where they are not at hand."""
    folder = os.path.join(chosen.data, "cifar10") if chosen.data else ""
    if not os.path.isdir(folder):
        return halves(_patches(chosen.rows), chosen.batch)
    return (
        _folder(os.path.join(folder, "train"), chosen.batch, True),
        _folder(os.path.join(folder, "test"), chosen.batch, False),
    )


def _folder(path: str, batch: int, training: bool) -> ds.Dataset:
    rows: ds.Dataset = ds.ImageFolderDataset(path, shuffle=training, decode=True)
    steps = [vision.RandomCrop(32, 4), vision.RandomHorizontalFlip()] if training else []
    rows = rows.map([*steps, vision.Normalize(_MEAN, _DEVIATION), vision.HWC2CHW()], "image")
    rows = rows.map(transforms.TypeCast(mstype.int32), "label")
    return rows.batch(batch, drop_remainder=training)


def _patches(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise with a patch of one of five colours in one of two heights, which tell the class."""
    random = np.random.RandomState(0)
    images = random.randn(count, 3, 32, 32).astype(np.float32)
    labels = random.randint(0, 10, count).astype(np.int32)
    colours = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]], np.float32) * 2
    for image, label in zip(images, labels):
        row, colour = divmod(int(label), 5)
        image[:, 4 + 16 * row : 12 + 16 * row, 8:24] += colours[colour][:, None, None]
    return images, labels


def clicks(chosen: argparse.Namespace) -> tuple[ds.Dataset, ds.Dataset]:
    """Rows of one value of each field, and whether they are clicked at: each value has a weight and a place on a line, and values of
    neighbouring fields attract where their places have the same sign."""
    random = np.random.RandomState(0)
    fields, size = chosen.fields, chosen.values
    values = random.randint(0, size, (chosen.rows, fields))
    weights, places = random.randn(2, fields, size)
    column = np.arange(fields)
    score = weights[column, values].sum(1)
    chain = places[column, values]
    score += 1.5 * (chain[:, 1:] * chain[:, :-1]).sum(1)
    ids = (values + column * size).astype(np.int32)  # each field has ids of its own
    return halves((ids, (score > 0).astype(np.float32)[:, None]), chosen.batch)

"""Digits for LeNet: MNIST's test images, split in two, or a planted rule where they are not at hand."""

from __future__ import annotations

import argparse
import os
from typing import Any

import numpy as np

from mindspore.dataset import Dataset, MnistDataset, NumpySlicesDataset

_SIZE = 32  # of an image, with a border around the 28 x 28 pixels of MNIST


def _mnist(folder: str) -> tuple[np.ndarray, np.ndarray]:
    rows = MnistDataset(folder, usage="test", shuffle=False)
    pairs = list(rows.create_tuple_iterator(num_epochs=1, output_numpy=True))
    images = np.stack([image[:, :, 0] for image, _ in pairs]).astype(np.float32) / 255
    labels = np.array([label for _, label in pairs], np.int32)
    return np.pad(images, ((0, 0), (2, 2), (2, 2))), labels


def _planted(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise with a bright patch, whose place tells the class."""
    random = np.random.RandomState(0)
    images = random.rand(count, _SIZE, _SIZE).astype(np.float32) * 0.7
    labels = random.randint(0, 10, count).astype(np.int32)
    for image, label in zip(images, labels):
        row, column = divmod(int(label), 5)
        image[4 + 12 * row : 10 + 12 * row, 2 + 6 * column : 7 + 6 * column] += 0.3
    return images, labels


def datasets(chosen: argparse.Namespace) -> tuple[Dataset, Dataset]:
    """Batches of four fifths of the images to train with, and of the others to evaluate with."""
    folder = os.path.join(chosen.data, "mnist") if chosen.data else ""
    images, labels = _mnist(folder) if os.path.isdir(folder) else _planted(chosen.rows)
    order = np.random.RandomState(0).permutation(len(images))
    parts = np.split(order, [len(order) * 4 // 5])
    images = (images[:, None] - 0.13) / 0.31  # near mean 0 and deviation 1

    def of(chosen_rows: Any, shuffle: bool) -> Dataset:
        arrays = (np.ascontiguousarray(images[chosen_rows]), labels[chosen_rows])
        return NumpySlicesDataset(arrays, ["image", "label"], shuffle=shuffle).batch(chosen.batch)

    return of(parts[0], True), of(parts[1], False)

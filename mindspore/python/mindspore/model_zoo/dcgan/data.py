"""Images with one bright corner, and how near to one of them an image is."""

from __future__ import annotations

import argparse

import numpy as np

from mindspore import Tensor, nn
from mindspore.dataset import Dataset, NumpySlicesDataset
from mindspore.model_zoo import _programs

SIDE = 16
_LIKE = 0.8  # the correlation from which on an image is one of them


def _corners() -> np.ndarray:
    corners = np.full((4, SIDE, SIDE), -0.8, np.float32)
    half = SIDE // 2
    for i, corner in enumerate(corners):
        row, column = divmod(i, 2)
        corner[
            row * half + 1 : (row + 1) * half - 1, column * half + 1 : (column + 1) * half - 1
        ] = 0.8
    return corners


def images(chosen: argparse.Namespace) -> Dataset:
    """Batches of images [1, side, side] with a little noise, and of what the generator starts from."""
    _programs.require(
        chosen.rows >= chosen.batch,
        f"--rows {chosen.rows} must be a batch of {chosen.batch} at least",
    )
    random = np.random.RandomState(0)
    real = _corners()[random.randint(0, 4, chosen.rows)][:, None]
    real = real + 0.05 * random.randn(*real.shape)
    start = random.randn(chosen.rows, chosen.size)
    columns = real.astype(np.float32), start.astype(np.float32)
    rows = NumpySlicesDataset(columns, ["image", "noise"], shuffle=True)
    return rows.batch(chosen.batch, drop_remainder=True)


def accuracy(generator: nn.Cell, chosen: argparse.Namespace) -> float:
    """The part of the made images that have one bright corner."""
    generator.set_train(False)
    noise = np.random.RandomState(1).randn(200, chosen.size).astype(np.float32)
    made = generator(Tensor(noise)).asnumpy().reshape(200, -1)
    made = made - made.mean(1, keepdims=True)
    true = _corners().reshape(4, -1)
    true = true - true.mean(1, keepdims=True)
    lengths = np.linalg.norm(made, axis=1)[:, None] * np.linalg.norm(true, axis=1) + 1e-9
    return float(((made @ true.T / lengths).max(1) > _LIKE).mean())

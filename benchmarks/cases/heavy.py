"""Ops whose work is more than a pass over their elements: what each is called with, at three sizes.

`small` is little beside the call itself, `cached` fits into caches, `memory` does not. The files of the frameworks say how the
op is called there; arrays become tensors, all else is given as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

SIZES = ("small", "cached", "memory")


@dataclass(frozen=True)
class Heavy:
    """Arguments by size, and how many of the first of them have gradients."""

    title: str
    arguments: Callable[..., tuple]
    sizes: tuple[tuple, tuple, tuple]
    gradients: int = 1

    def at(self, size: str) -> tuple:
        """The arguments of a size."""
        return self.arguments(*self.sizes[SIZES.index(size)])


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def _indices(limit: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, limit, shape)


def _one(*shape: int) -> tuple:
    return (_numbers(*shape),)


def _complex(*shape: int) -> tuple:
    return (_numbers(*shape) + 1j * _numbers(*shape)[..., ::-1],)


def _matrix(*shape: int) -> tuple:
    """Far from singular."""
    return (_numbers(*shape) / shape[-1] ** 0.5 + 2 * np.eye(shape[-1], dtype=np.float32),)


def _positive(*shape: int) -> tuple:
    x = _numbers(*shape) / shape[-1] ** 0.5
    return (x @ x.swapaxes(-1, -2) + np.eye(shape[-1], dtype=np.float32),)


def _pair(first: tuple, second: tuple) -> tuple:
    return _numbers(*first), _numbers(*second)


def _resized(factor: float, *shape: int) -> tuple:
    return _numbers(*shape), tuple(int(size * factor) for size in shape[2:])


def _image_and_grid(*shape: int) -> tuple:
    grid = np.random.default_rng(2).uniform(-1.1, 1.1, (shape[0], *shape[2:], 2))
    return _numbers(*shape), grid.astype(np.float32)


def _folded(*shape: int) -> tuple:
    columns, spots = shape[1] * 9, shape[2] * shape[3]
    return _numbers(shape[0], columns, spots), shape[2:]


def _labelled(steps: int, batch: int, classes: int, labels: int) -> tuple:
    scores = _numbers(steps, batch, classes)
    scores -= np.log(np.exp(scores).sum(-1, keepdims=True))
    lengths = np.full(batch, steps), np.full(batch, labels)
    return scores, 1 + _indices(classes - 1, batch, labels), *lengths


def _sorted_and_sought(rows: int, length: int, sought: int) -> tuple:
    return np.sort(_numbers(rows, length), -1), _numbers(rows, sought)


def _segments(rows: int, width: int, count: int) -> tuple:
    return _numbers(rows, width), _indices(count, rows), count


def _scattered(rows: int, width: int, count: int) -> tuple:
    return _numbers(count, width), _numbers(rows, width), _indices(count, rows, width)


_SQUARES = ((8, 8), (16, 64, 64), (768, 768))
_SPECTRA = ((8, 8), (16, 48, 48), (320, 320))
_IMAGES = ((1, 3, 16, 16), (4, 16, 64, 64), (8, 32, 160, 160))
_PLANES = ((2, 3, 16, 16), (8, 8, 64, 64), (8, 32, 256, 256))
_VOLUMES = ((1, 4, 8, 8, 8), (2, 16, 8, 28, 28), (4, 32, 16, 56, 56))
_ROWS = ((4, 32), (128, 1000), (1024, 8192))

HEAVY = {
    "cholesky": Heavy("Cholesky factors", _positive, _SQUARES),
    "inverse": Heavy("inverses", _matrix, _SQUARES),
    "solve": Heavy(
        "solutions of linear equations",
        lambda *shape: (*_matrix(*shape), _numbers(*shape)),
        _SQUARES,
        2,
    ),
    "det": Heavy("determinants", _matrix, _SQUARES),
    "qr": Heavy("QR factors", _matrix, _SPECTRA),
    "svd": Heavy("singular values and vectors", _matrix, _SPECTRA),
    "eigh": Heavy(
        "eigenvalues and eigenvectors of symmetric matrices",
        _positive,
        ((8, 8), (64, 64), (320, 320)),
    ),
    "matrix_exp": Heavy("matrix exponentials", _matrix, _SPECTRA),
    "fft": Heavy("Fourier transforms", _complex, ((4, 16), (64, 256), (256, 4096))),
    "rfft2": Heavy("Fourier transforms of real planes", _one, _PLANES),
    "irfft2": Heavy("real planes of Fourier transforms", _complex, _PLANES),
    **{
        f"{mode}_{way}": Heavy(f"{mode} interpolation, {way}", partial(_resized, factor), _IMAGES)
        for mode in ("nearest", "bilinear", "bicubic", "area")
        for way, factor in (("up", 2), ("down", 0.5))
    },
    "conv3d_op": Heavy(
        "3-D convolution, 3x3x3",
        _pair,
        (
            ((1, 4, 6, 6, 6), (4, 4, 3, 3, 3)),
            ((2, 16, 8, 16, 16), (32, 16, 3, 3, 3)),
            ((4, 16, 16, 56, 56), (16, 16, 3, 3, 3)),
        ),
        2,
    ),
    "max_pool3d_op": Heavy("3-D maxima, 3x3x3 by 2", _one, _VOLUMES),
    "avg_pool3d_op": Heavy("3-D means, 3x3x3 by 2", _one, _VOLUMES),
    "ctc_loss": Heavy("CTC loss", _labelled, ((8, 2, 8, 3), (50, 16, 32, 12), (200, 32, 1000, 40))),
    "grid_sample": Heavy("samples of images at points", _image_and_grid, _IMAGES, 2),
    "unfold": Heavy("3x3 windows side by side", _one, _IMAGES),
    "fold": Heavy("sums of 3x3 windows side by side", _folded, _IMAGES),
    "searchsorted": Heavy(
        "places in sorted rows",
        _sorted_and_sought,
        ((1, 32, 16), (64, 1000, 256), (64, 65536, 65536)),
        0,
    ),
    "segment_sum": Heavy(
        "sums of segments", _segments, ((16, 4, 4), (2000, 32, 200), (200000, 64, 20000))
    ),
    "scatter_sum": Heavy(
        "sums at given places",
        _scattered,
        ((16, 4, 4), (2000, 32, 200), (200000, 64, 20000)),
        2,
    ),
    "sort": Heavy("sorted rows", _one, _ROWS),
    "topk": Heavy("the 8 greatest of rows", _one, _ROWS),
    "cumsum": Heavy("running sums along rows", _one, _ROWS),
    "cumsum_down": Heavy("running sums along columns", _one, _ROWS),
    "cdist": Heavy(
        "distances of points",
        _pair,
        (((8, 4), (8, 4)), ((100, 16), (200, 16)), ((2000, 64), (2000, 64))),
        2,
    ),
    "cdist_1": Heavy(
        "distances of points by the sum of differences",
        _pair,
        (((8, 4), (8, 4)), ((100, 16), (200, 16)), ((1000, 64), (1000, 64))),
        2,
    ),
    "einsum": Heavy(
        "einsum bhid,bhjd->bhij",
        _pair,
        (
            ((1, 2, 8, 4), (1, 2, 8, 4)),
            ((4, 4, 64, 32), (4, 4, 64, 32)),
            ((8, 8, 512, 64), (8, 8, 512, 64)),
        ),
        2,
    ),
    "einsum_axes": Heavy(
        "einsum bijc,jkc->bkic",
        _pair,
        (
            ((2, 4, 4, 3), (4, 5, 3)),
            ((4, 16, 16, 32), (16, 24, 32)),
            ((8, 64, 64, 64), (64, 64, 64)),
        ),
        2,
    ),
}

"""Operations that mix the images of a batch, and their labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.dataset.core.random import row_rng
from mindspore.dataset.core.validator_helpers import (
    array_of,
    check_int,
    check_probability,
    check_type,
)
from mindspore.dataset.transforms.transforms import PyTensorOperation, TensorOperation
from mindspore.dataset.vision import checks
from mindspore.dataset.vision.utils import ImageBatchFormat


class _Mixing(TensorOperation):
    """Base: a batch of images and one of labels, one-hot, in; both mixed out."""

    def __call__(self, *values: Any) -> Any:
        op = type(self).__name__
        if len(values) != 2:
            raise ValueError(f"For '{op}', there must be images and labels, but got {len(values)}.")
        images, labels = (array_of(type(self).__name__, value) for value in values)
        if images.ndim != 4:
            raise ValueError(
                f"For '{op}', the images must be a batch of rank 4, but got {list(images.shape)}."
            )
        if labels.ndim not in (2, 3) or len(labels) != len(images):
            raise ValueError(
                f"For '{op}', the labels must be one-hot and as many as the images, "
                f"{len(images)}, but got shape {list(labels.shape)}."
            )
        for name, array in (("images", images), ("labels", labels)):
            if array.dtype.kind not in "uif":
                raise TypeError(f"For '{op}', the {name} must be numbers, but got {array.dtype}.")
        return self._mix(images, labels)

    def _mix(self, images: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError


def _blend(first: np.ndarray, second: np.ndarray, share: float) -> np.ndarray:
    return (share * first + (1 - share) * second).astype(np.float32)


class MixUpBatch(_Mixing):
    """Each image blended with another of the batch; the share is drawn from Beta(alpha, alpha)."""

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = checks.number("MixUpBatch", "alpha", alpha, 0, above=True)

    def _mix(self, images: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        share = float(row_rng().beta(self.alpha, self.alpha))
        order = row_rng().permutation(len(images))
        mixed = share * images.astype(np.float32) + (1 - share) * images[order].astype(np.float32)
        if images.dtype.kind in "ui":
            mixed = np.rint(mixed)
        return mixed.astype(images.dtype), _blend(labels, labels[order], share)


class CutMixBatch(_Mixing):
    """A rectangle of each image from another of the batch, with a probability; the labels are mixed by
    its area.
    """

    def __init__(
        self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0
    ) -> None:
        op = "CutMixBatch"
        check_type(op, "image_batch_format", image_batch_format, ImageBatchFormat)
        self.image_batch_format = image_batch_format
        self.alpha = checks.number(op, "alpha", alpha, 0, above=True)
        self.prob = check_probability(op, "prob", prob)

    def _mix(self, images: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        result, mixed = images.copy(), labels.astype(np.float32)
        if row_rng().random() >= self.prob:
            return result, mixed
        channels_last = self.image_batch_format == ImageBatchFormat.NHWC
        view, source = (
            (result, images)
            if channels_last
            else (np.moveaxis(result, 1, -1), np.moveaxis(images, 1, -1))
        )
        height, width = view.shape[1:3]
        order = row_rng().permutation(len(images))
        for number in range(len(images)):
            top, left, bottom, right = self._window(height, width)
            other = order[number]
            view[number, top:bottom, left:right] = source[other, top:bottom, left:right]
            share = 1 - (bottom - top) * (right - left) / max(height * width, 1)
            mixed[number] = _blend(labels[number], labels[other], share)
        return result, mixed

    def _window(self, height: int, width: int) -> tuple[int, int, int, int]:
        """(top, left, bottom, right) around a random middle, cut off at the border."""
        rng = row_rng()
        side = float(np.sqrt(1 - rng.beta(self.alpha, self.alpha)))
        rows, columns = int(height * side), int(width * side)
        top, left = (
            int(rng.integers(height + 1)) - rows // 2,
            int(rng.integers(width + 1)) - columns // 2,
        )
        bottom, right = min(top + rows, height), min(left + columns, width)
        top, left = max(top, 0), max(left, 0)
        return top, left, max(bottom, top), max(right, left)


class MixUp(PyTensorOperation):
    """Images and labels of `batch_size` rows blended with each other, or with `is_single` False with
    those of the last call.
    """

    def __init__(self, batch_size: int, alpha: float, is_single: bool = True) -> None:
        self.batch_size = check_int("MixUp", "batch_size", batch_size, 1)
        self.alpha = checks.number("MixUp", "alpha", alpha, 0, above=True)
        check_type("MixUp", "is_single", is_single, bool)
        self.is_single = is_single
        self._last: tuple[np.ndarray, np.ndarray] | None = None

    def __call__(self, *values: Any) -> Any:
        if len(values) != 2:
            raise ValueError(
                f"For 'MixUp', there must be images and labels, but got {len(values)}."
            )
        images, labels = (array_of(type(self).__name__, value) for value in values)
        if (
            images.ndim < 2
            or images.shape[0] != self.batch_size
            or labels.shape[:1] != images.shape[:1]
        ):
            raise ValueError(
                f"For 'MixUp', there must be {self.batch_size} images and labels, but got shapes "
                f"{list(images.shape)} and {list(labels.shape)}."
            )
        share = float(row_rng().beta(self.alpha, self.alpha))
        if self.is_single:
            order = row_rng().permutation(self.batch_size)
            others = images[order], labels[order]
        else:
            others = self._last or (images, labels)
            self._last = images, labels
        return (
            (share * images + (1 - share) * others[0]).astype(np.float32),
            _blend(labels, others[1], share),
        )

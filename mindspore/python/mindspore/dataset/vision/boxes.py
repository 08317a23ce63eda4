"""Image operations that take bounding boxes along: rows of (x, y, width, height, ...).

All crops and borders are one arithmetic: where the new image begins in the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.dataset.core.random import row_rng
from mindspore.dataset.core.validator_helpers import array_of, check_probability, check_type
from mindspore.dataset.transforms.transforms import TensorOperation
from mindspore.dataset.vision import image as im
from mindspore.dataset.vision.operations import (
    HorizontalFlip,
    Pad,
    RandomCrop,
    RandomResizedCrop,
    Resize,
    VerticalFlip,
)
from mindspore.dataset.vision.utils import Border, Inter


class _WithBoxes(TensorOperation):
    """Base: an image and its boxes in, both out."""

    def __call__(self, *values: Any) -> Any:
        op = type(self).__name__
        if len(values) != 2:
            raise ValueError(
                f"For '{op}', there must be an image and boxes, but got {len(values)}."
            )
        image = im.as_image(op, values[0])
        return self._change(image, _checked(op, image, values[1]))

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError


def _checked(op: str, image: np.ndarray, given: Any) -> np.ndarray:
    """A copy of the boxes, which must lie in the image."""
    boxes = array_of(op, given).copy()
    if boxes.dtype.kind not in "uif":
        raise TypeError(f"For '{op}', the boxes must be numbers, but got {boxes.dtype}.")
    if boxes.ndim != 2 or boxes.shape[1] < 4:
        raise ValueError(
            f"For '{op}', the boxes must be <N, 4 or more>, but got shape {list(boxes.shape)}."
        )
    corner, far = boxes[:, :2], boxes[:, :2] + boxes[:, 2:4]
    height, width = image.shape[:2]
    if (corner < 0).any() or (boxes[:, 2:4] < 0).any() or (far > (width, height)).any():
        raise ValueError(
            f"For '{op}', the boxes must lie in the image of {height}×{width}, but got "
            f"{boxes[:, :4].tolist()}."
        )
    return boxes


def _cropped(boxes: np.ndarray, top: int, left: int, height: int, width: int) -> np.ndarray:
    """The boxes within the part; those outside are left out, and where none is left, one is empty."""
    low = np.clip(boxes[:, :2].astype(np.float64) - (left, top), 0, (width, height))
    high = np.clip(
        boxes[:, :2].astype(np.float64) + boxes[:, 2:4] - (left, top), 0, (width, height)
    )
    inside = (high > low).all(axis=1)
    result = boxes[inside]
    result[:, :2] = low[inside]
    result[:, 2:4] = (high - low)[inside]
    return result if inside.any() else np.zeros((1, boxes.shape[1]), boxes.dtype)


def _resized(boxes: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    scale = np.array([new.shape[1] / old.shape[1], new.shape[0] / old.shape[0]])
    for first in (0, 2):
        boxes[:, first : first + 2] = boxes[:, first : first + 2] * scale
    return boxes


class RandomHorizontalFlipWithBBox(_WithBoxes):
    """Left and right exchanged with a probability."""

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = check_probability(type(self).__name__, "prob", prob)

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if row_rng().random() >= self.prob:
            return image, boxes
        boxes[:, 0] = image.shape[1] - boxes[:, 0] - boxes[:, 2]
        return HorizontalFlip()(image), boxes


class RandomVerticalFlipWithBBox(_WithBoxes):
    """Top and bottom exchanged with a probability."""

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = check_probability(type(self).__name__, "prob", prob)

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if row_rng().random() >= self.prob:
            return image, boxes
        boxes[:, 1] = image.shape[0] - boxes[:, 1] - boxes[:, 3]
        return VerticalFlip()(image), boxes


class RandomCropWithBBox(_WithBoxes):
    """RandomCrop."""

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        op = type(self).__name__
        self.size = im.size_pair(op, size)
        self.padding = (0, 0, 0, 0) if padding is None else im.padding_of(op, padding)
        RandomCrop(size, padding, pad_if_needed, fill_value, padding_mode)
        self.pad_if_needed, self.fill_value = pad_if_needed, fill_value
        self.padding_mode = padding_mode

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        left, top, right, bottom = self.padding
        height, width = self.size
        rows, columns = image.shape[0] + top + bottom, image.shape[1] + left + right
        if self.pad_if_needed:
            more, wider = max(height - rows, 0), max(width - columns, 0)
            top, bottom, rows = top + more, bottom + more, rows + 2 * more
            left, right, columns = left + wider, right + wider, columns + 2 * wider
        if height > rows or width > columns:
            raise ValueError(
                f"For 'RandomCropWithBBox', the image must have at least {height}×{width} pixels, "
                f"but got {rows}×{columns}. Use pad_if_needed=True."
            )
        y = int(row_rng().integers(rows - height + 1))
        x = int(row_rng().integers(columns - width + 1))
        padded = Pad([left, top, right, bottom], self.fill_value, self.padding_mode)(image)
        part = np.ascontiguousarray(padded[y : y + height, x : x + width])
        return part, _cropped(boxes, y - top, x - left, height, width)


class ResizeWithBBox(_WithBoxes):
    """Resize."""

    def __init__(self, size: Any, interpolation: Inter = Inter.BILINEAR) -> None:
        im.size_pair(type(self).__name__, size)
        self._resize = Resize(size, interpolation)

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        result = self._resize(image)
        return result, _resized(boxes, image, result)


class RandomResizeWithBBox(_WithBoxes):
    """Resize with an interpolation that is drawn."""

    def __init__(self, size: Any) -> None:
        im.size_pair(type(self).__name__, size)
        self.size = size

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kinds = (Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC, Inter.AREA)
        result = Resize(self.size, kinds[int(row_rng().integers(len(kinds)))])(image)
        return result, _resized(boxes, image, result)


class RandomResizedCropWithBBox(_WithBoxes):
    """RandomResizedCrop."""

    def __init__(
        self,
        size: Any,
        scale: Any = (0.08, 1.0),
        ratio: Any = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        self._crop = RandomResizedCrop(size, scale, ratio, interpolation, max_attempts)

    def _window(self, height: int, width: int) -> tuple[int, int, int, int]:
        """(top, left, height, width), as RandomResizedCrop draws them."""
        rng, crop = row_rng(), self._crop
        low, high = np.log(max(crop.ratio[0], 1e-6)), np.log(max(crop.ratio[1], 1e-6))
        for _ in range(crop.max_attempts):
            area = height * width * rng.uniform(*crop.scale)
            aspect = float(np.exp(rng.uniform(low, high)))
            w, h = round(float(np.sqrt(area * aspect))), round(float(np.sqrt(area / aspect)))
            if 0 < w <= width and 0 < h <= height:
                top = int(rng.integers(height - h + 1))
                return top, int(rng.integers(width - w + 1)), h, w
        return 0, 0, height, width

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if image.size == 0:
            raise ValueError(
                "For 'RandomResizedCropWithBBox', the image must have pixels, but got shape "
                f"{list(image.shape)}."
            )
        top, left, height, width = self._window(*image.shape[:2])
        part = np.ascontiguousarray(image[top : top + height, left : left + width])
        result = Resize(self._crop.size, self._crop.interpolation)(part)
        return result, _resized(_cropped(boxes, top, left, height, width), part, result)


class BoundingBoxAugment(_WithBoxes):
    """An operation on the insides of a share of the boxes, at random."""

    def __init__(self, transform: Callable[..., Any], ratio: float = 0.3) -> None:
        op = "BoundingBoxAugment"
        check_type(op, "transform", transform, TensorOperation)
        self.transform = transform
        self.transforms = [transform]
        self.ratio = check_probability(op, "ratio", ratio)

    def _change(self, image: np.ndarray, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        result = image.copy()
        count = int(np.ceil(len(boxes) * self.ratio))
        for number in row_rng().permutation(len(boxes))[:count]:
            x, y, width, height = (int(value) for value in boxes[number, :4])
            part = np.ascontiguousarray(result[y : y + height, x : x + width])
            if part.size == 0:
                continue
            changed = np.asarray(self.transform(part))
            if changed.shape != part.shape:
                changed = Resize((height, width))(changed)
            result[y : y + height, x : x + width] = changed
        return result, boxes

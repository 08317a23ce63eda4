"""Image operations that blot out, cut up, or add to parts of an image."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.dataset.core.random import row_rng
from mindspore.dataset.core.validator_helpers import check_int, check_type
from mindspore.dataset.transforms import native
from mindspore.dataset.vision import checks
from mindspore.dataset.vision import image as im
from mindspore.dataset.vision.operations import (
    CenterCrop,
    Crop,
    ImageTensorOperation,
    Pad,
    _Sometimes,
)
from mindspore.dataset.vision.utils import Border, SliceMode


class CutOut(ImageTensorOperation):
    """Squares of zeros at random places."""

    gives_arrays = True

    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True) -> None:
        self.length = check_int("CutOut", "length", length, 1)
        self.num_patches = check_int("CutOut", "num_patches", num_patches, 1)
        check_type("CutOut", "is_hwc", is_hwc, bool)
        self.is_hwc = is_hwc

    def _image(self, image: np.ndarray) -> np.ndarray:
        result = image.copy()
        view = result if self.is_hwc or image.ndim == 2 else result.transpose(1, 2, 0)
        rng = row_rng()
        for _ in range(self.num_patches):
            row, column = int(rng.integers(view.shape[0])), int(rng.integers(view.shape[1]))
            top, left = max(row - self.length // 2, 0), max(column - self.length // 2, 0)
            bottom, right = (
                row - self.length // 2 + self.length,
                column - self.length // 2 + self.length,
            )
            view[top:bottom, left:right] = 0
        return result


class RandomErasing(_Sometimes):
    """A random rectangle of a C×H×W image set to a value, or with "random" to noise."""

    def __init__(
        self,
        prob: float = 0.5,
        scale: Any = (0.02, 0.33),
        ratio: Any = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        max_attempts: int = 10,
    ) -> None:
        super().__init__(prob)
        self.scale, self.ratio, self.value, self.inplace = scale, ratio, value, inplace
        self.max_attempts = check_int("RandomErasing", "max_attempts", max_attempts, 1)

    def _image(self, image: np.ndarray) -> np.ndarray:
        if image.ndim != 3:
            raise ValueError(
                f"For 'RandomErasing', the image must be <C, H, W>, but got {list(image.shape)}."
            )
        rng = row_rng()
        channels, height, width = image.shape
        for _ in range(self.max_attempts):
            area = height * width * rng.uniform(*self.scale)
            aspect = np.exp(rng.uniform(*np.log(self.ratio)))
            h, w = round(float(np.sqrt(area * aspect))), round(float(np.sqrt(area / aspect)))
            if 0 < h < height and 0 < w < width:
                result = image if self.inplace else image.copy()
                top, left = int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1))
                value = rng.normal(size=(channels, h, w)) if self.value == "random" else (
                    np.asarray(self.value).reshape(-1, 1, 1))  # fmt: skip
                result[:, top : top + h, left : left + w] = value
                return result
        return image


class Erase(ImageTensorOperation):
    """A rectangle of the image set to a value; what reaches beyond the image is left out."""

    gives_arrays = True

    def __init__(
        self,
        top: int,
        left: int,
        height: int,
        width: int,
        value: Any = 0.0,
        inplace: bool = False,
    ) -> None:
        op = "Erase"
        self.window = [
            float(check_int(op, name, given, low))
            for name, given, low in (
                ("top", top, 0), ("left", left, 0), ("height", height, 1), ("width", width, 1)
            )
        ]  # fmt: skip
        check_type(op, "value", value, (*checks.Number, tuple))
        values = value if isinstance(value, tuple) else (value,)
        self.value = checks.numbers(op, "value", values, (1, 3), 0, 255)
        check_type(op, "inplace", inplace, bool)
        self.inplace = inplace

    def spec(self) -> native.Spec | None:
        """See native.spec_of."""
        return "Erase", [*self.window, *self.value]

    def _image(self, image: np.ndarray) -> np.ndarray:
        result = super()._image(image)
        if not self.inplace or not image.flags.writeable:
            return result
        image[...] = result
        return image


class FiveCrop(ImageTensorOperation):
    """The four corners of an image and its middle."""

    def __init__(self, size: Any) -> None:
        self.size = im.size_pair(type(self).__name__, size)

    def _apply(self, value: Any) -> Any:
        op = type(self).__name__
        if not im.is_pil(value):
            im.as_image(op, value)
        height, width = _extent(value)
        rows, columns = self.size
        if rows > height or columns > width:
            raise ValueError(
                f"For '{op}', size must be at most that of the image, {height}×{width}, but got "
                f"{rows}×{columns}."
            )
        corners = [
            (0, 0),
            (0, width - columns),
            (height - rows, 0),
            (height - rows, width - columns),
        ]
        parts = [im.like(value, Crop(corner, self.size)(value), op) for corner in corners]
        return (*parts, CenterCrop(self.size)(value))


def _extent(image: Any) -> tuple[int, int]:
    """(height, width) of an array or PIL image."""
    return (image.height, image.width) if im.is_pil(image) else image.shape[:2]


class TenCrop(FiveCrop):
    """FiveCrop of the image and of the flipped one."""

    def __init__(self, size: Any, use_vertical_flip: bool = False) -> None:
        super().__init__(size)
        check_type("TenCrop", "use_vertical_flip", use_vertical_flip, bool)
        self.use_vertical_flip = use_vertical_flip

    def _apply(self, value: Any) -> Any:
        from mindspore.dataset.vision.operations import HorizontalFlip, VerticalFlip

        flip = VerticalFlip() if self.use_vertical_flip else HorizontalFlip()
        turned = im.like(value, flip(value), "TenCrop")
        return (*super()._apply(value), *super()._apply(turned))


class PadToSize(ImageTensorOperation):
    """A border that makes the image this large, with the image at `offset` = (top, left), else in the
    middle.
    """

    gives_arrays = True

    def __init__(
        self,
        size: Any,
        offset: Any = None,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        op = "PadToSize"
        self.size = im.size_pair(op, size)
        check_type(op, "offset", offset, (int, list, tuple, type(None)))
        given = [] if offset is None else [offset] if isinstance(offset, int) else list(offset)
        if len(given) > 2:
            raise ValueError(f"For '{op}', offset must be one int or two, but got {offset!r}.")
        self.offset = [check_int(op, "offset", value, 0) for value in given]
        self.fill_value = tuple(int(value) for value in checks.fill(op, fill_value))
        check_type(op, "padding_mode", padding_mode, Border)
        self.padding_mode = padding_mode

    def _image(self, image: np.ndarray) -> np.ndarray:
        rows, columns = self.size[0] - image.shape[0], self.size[1] - image.shape[1]
        top, left = (self.offset * 2)[:2] if self.offset else (rows // 2, columns // 2)
        if min(rows, columns) < 0 or top > rows or left > columns:
            raise ValueError(
                f"For 'PadToSize', size must hold the image of {image.shape[0]}×{image.shape[1]} at "
                f"its offset, but got {self.size[0]}×{self.size[1]}."
            )
        fill = self.fill_value if len(self.fill_value) > 1 else self.fill_value[0]
        border = [left, top, columns - left, rows - top]
        return Pad(border, fill, self.padding_mode)._image(image)


class SlicePatches(ImageTensorOperation):
    """An image cut into `num_height` rows and `num_width` columns of equal patches; what does not
    divide is padded or dropped.
    """

    def __init__(
        self,
        num_height: int = 1,
        num_width: int = 1,
        slice_mode: SliceMode = SliceMode.PAD,
        fill_value: int = 0,
    ) -> None:
        op = "SlicePatches"
        self.rows = check_int(op, "num_height", num_height, 1)
        self.columns = check_int(op, "num_width", num_width, 1)
        check_type(op, "slice_mode", slice_mode, SliceMode)
        self.slice_mode = slice_mode
        self.fill_value = check_int(op, "fill_value", fill_value, 0, 255)

    def _apply(self, value: Any) -> Any:
        image = im.as_image("SlicePatches", value)
        if self.rows > image.shape[0] or self.columns > image.shape[1]:
            raise ValueError(
                f"For 'SlicePatches', the image must have {self.rows}×{self.columns} pixels, but "
                f"got {image.shape[0]}×{image.shape[1]}."
            )
        height, width = image.shape[0] // self.rows, image.shape[1] // self.columns
        if self.slice_mode == SliceMode.PAD:
            height, width = -(-image.shape[0] // self.rows), -(-image.shape[1] // self.columns)
            down, right = height * self.rows - image.shape[0], width * self.columns - image.shape[1]
            image = Pad([0, 0, right, down], self.fill_value)._image(image)
        patches = tuple(
            np.ascontiguousarray(image[y * height : (y + 1) * height, x * width : (x + 1) * width])
            for y in range(self.rows)
            for x in range(self.columns)
        )
        return patches if len(patches) > 1 else patches[0]

"""Image operations on colors, and those that blot out parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.dataset.core.random import row_rng
from mindspore.dataset.core.validator_helpers import check_int, check_type
from mindspore.dataset.vision import image as im
from mindspore.dataset.vision.operations import ImageTensorOperation, _Sometimes


def _need_rgb(op: str, image: np.ndarray) -> None:
    if image.ndim != 3 or image.shape[2] != 3:
        raise ValueError(
            f"For '{op}', the image must be <H, W, 3>, but got shape {list(image.shape)}."
        )


class _Adjust(ImageTensorOperation):
    def __init__(self, factor: float) -> None:
        op = type(self).__name__
        check_type(op, "factor", factor, (int, float))
        if factor < 0:
            raise ValueError(f"For '{op}', the factor must not be negative, but got {factor}.")
        self.factor = float(factor)


class AdjustBrightness(_Adjust):
    """The image times a factor."""

    def __init__(self, brightness_factor: float) -> None:
        super().__init__(brightness_factor)

    def _image(self, image: np.ndarray) -> np.ndarray:
        return im.blend(image, np.float32(0), self.factor)


class AdjustContrast(_Adjust):
    """Distances from the mean gray times a factor."""

    def __init__(self, contrast_factor: float) -> None:
        super().__init__(contrast_factor)

    def _image(self, image: np.ndarray) -> np.ndarray:
        _need_rgb("AdjustContrast", image)
        return im.blend(image, np.float32(int(im.gray(image).mean() + 0.5)), self.factor)


class AdjustSaturation(_Adjust):
    """Distances from gray times a factor."""

    def __init__(self, saturation_factor: float) -> None:
        super().__init__(saturation_factor)

    def _image(self, image: np.ndarray) -> np.ndarray:
        _need_rgb("AdjustSaturation", image)
        return im.blend(image, im.gray(image)[..., None], self.factor)


class AdjustHue(ImageTensorOperation):
    """Colors turned by up to half a turn."""

    def __init__(self, hue_factor: float) -> None:
        check_type("AdjustHue", "hue_factor", hue_factor, (int, float))
        if not -0.5 <= hue_factor <= 0.5:
            raise ValueError(
                f"For 'AdjustHue', hue_factor must be in [-0.5, 0.5], but got {hue_factor}."
            )
        self.hue_factor = float(hue_factor)

    def _image(self, image: np.ndarray) -> np.ndarray:
        _need_rgb("AdjustHue", image)
        return im.shift_hue(image, self.hue_factor)


class RandomColorAdjust(ImageTensorOperation):
    """Brightness, contrast, saturation and hue by random amounts, in random order."""

    def __init__(
        self,
        brightness: Any = (1, 1),
        contrast: Any = (1, 1),
        saturation: Any = (1, 1),
        hue: Any = (0, 0),
    ) -> None:
        self.brightness = _span("brightness", brightness, 1.0, 0.0, None)
        self.contrast = _span("contrast", contrast, 1.0, 0.0, None)
        self.saturation = _span("saturation", saturation, 1.0, 0.0, None)
        self.hue = _span("hue", hue, 0.0, -0.5, 0.5)

    def _image(self, image: np.ndarray) -> np.ndarray:
        _need_rgb("RandomColorAdjust", image)
        rng = row_rng()
        steps = [
            (AdjustBrightness, self.brightness, 1.0),
            (AdjustContrast, self.contrast, 1.0),
            (AdjustSaturation, self.saturation, 1.0),
            (AdjustHue, self.hue, 0.0),
        ]
        for index in rng.permutation(len(steps)):
            make, (low, high), neutral = steps[index]
            if (low, high) != (neutral, neutral):
                image = make(float(rng.uniform(low, high)))._image(image)
        return image


def _span(
    name: str, value: Any, centre: float, low: float, high: float | None
) -> tuple[float, float]:
    """(low, high) from a pair, or from the distance to the neutral value."""
    op = "RandomColorAdjust"
    check_type(op, name, value, (int, float, list, tuple))
    if isinstance(value, (int, float)):
        if value < 0:
            raise ValueError(f"For '{op}', {name} must not be negative, but got {value}.")
        value = (max(centre - value, low), centre + value)
    if len(value) != 2 or not low <= value[0] <= value[1] or (high is not None and value[1] > high):
        bound = "" if high is None else f" <= {high}"
        raise ValueError(
            f"For '{op}', {name} must be (a, b) with {low} <= a <= b{bound}, but got {value!r}."
        )
    return float(value[0]), float(value[1])


class Grayscale(ImageTensorOperation):
    """Gray with one channel (an <H, W> array) or three."""

    def __init__(self, num_output_channels: int = 1) -> None:
        if num_output_channels not in (1, 3):
            raise ValueError(
                "For 'Grayscale', num_output_channels must be 1 or 3, but got "
                f"{num_output_channels}."
            )
        self.num_output_channels = num_output_channels

    def _image(self, image: np.ndarray) -> np.ndarray:
        if image.ndim == 3:
            _need_rgb("Grayscale", image)
            image = im.restore(im.gray(image), image.dtype)
        return image if self.num_output_channels == 1 else np.stack([image] * 3, axis=-1)


class RandomGrayscale(_Sometimes):
    """Gray with three channels, with a probability."""

    def __init__(self, prob: float = 0.1) -> None:
        super().__init__(prob)

    def _image(self, image: np.ndarray) -> np.ndarray:
        return Grayscale(3)._image(image)


class Invert(ImageTensorOperation):
    """The negative of an image."""

    def _image(self, image: np.ndarray) -> np.ndarray:
        top = np.iinfo(image.dtype).max if image.dtype.kind in "ui" else 1
        return (top - image).astype(image.dtype)


class Solarize(ImageTensorOperation):
    """Pixels within `threshold` = (low, high) inverted."""

    def __init__(self, threshold: Any) -> None:
        check_type("Solarize", "threshold", threshold, (int, float, list, tuple))
        low, high = threshold if isinstance(threshold, (list, tuple)) else (threshold, 255)
        if not 0 <= low <= high <= 255:
            raise ValueError(
                f"For 'Solarize', threshold must lie in [0, 255], but got {threshold!r}."
            )
        self.low, self.high = low, high

    def _image(self, image: np.ndarray) -> np.ndarray:
        return np.where((image >= self.low) & (image <= self.high), 255 - image, image).astype(
            image.dtype
        )


class CutOut(ImageTensorOperation):
    """Squares of zeros at random places."""

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

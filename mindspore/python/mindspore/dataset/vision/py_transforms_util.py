"""Old path of functions on PIL images."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.dataset.vision import color, geometry
from mindspore.dataset.vision.image import is_pil
from mindspore.dataset.vision.operations import RandomCrop
from mindspore.dataset.vision.utils import Border, Inter

augment_error_message = "img should be PIL image. Got {}. Use Decode() for encoded data or ToPIL()."


def is_numpy(img: Any) -> bool:
    """Whether the image is an array."""
    return isinstance(img, np.ndarray)


def adjust_brightness(img: Any, brightness_factor: float) -> Any:
    """The image times a factor."""
    return color.AdjustBrightness(brightness_factor)(img)


def adjust_contrast(img: Any, contrast_factor: float) -> Any:
    """Distances from the mean gray times a factor."""
    return color.AdjustContrast(contrast_factor)(img)


def adjust_saturation(img: Any, saturation_factor: float) -> Any:
    """Distances from gray times a factor."""
    return color.AdjustSaturation(saturation_factor)(img)


def adjust_hue(img: Any, hue_factor: float) -> Any:
    """Colors turned by up to half a turn."""
    return color.AdjustHue(hue_factor)(img)


def rotate(
    img: Any,
    angle: float,
    resample: Inter = Inter.NEAREST,
    expand: bool = False,
    center: Any = None,
    fill_value: Any = 0,
) -> Any:
    """The image turned counter-clockwise."""
    return geometry.RandomRotation((angle, angle), resample, expand, center, fill_value)(img)


def random_crop(
    img: Any,
    size: Any,
    padding: Any = None,
    pad_if_needed: bool = False,
    fill_value: Any = 0,
    padding_mode: Border = Border.CONSTANT,
) -> Any:
    """A part at a random place, after an optional border."""
    return RandomCrop(size, padding, pad_if_needed, fill_value, padding_mode)(img)


__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_hue",
    "adjust_saturation",
    "augment_error_message",
    "is_numpy",
    "is_pil",
    "random_crop",
    "rotate",
]

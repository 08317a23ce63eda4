"""Path of 1.x for the image operations on PIL images; after ToTensor images are C×H×W arrays."""

from __future__ import annotations

from typing import Any

from mindspore.dataset.transforms.transforms import Compose, RandomApply, RandomChoice, RandomOrder
from mindspore.dataset.vision.augment import UniformAugment
from mindspore.dataset.vision.color import (
    AutoContrast,
    Equalize,
    Grayscale,
    Invert,
    RandomColor,
    RandomColorAdjust,
    RandomGrayscale,
    RandomSharpness,
)
from mindspore.dataset.vision.conversions import HsvToRgb, LinearTransformation, RgbToHsv
from mindspore.dataset.vision.conversions import NormalizePad as _NormalizePad
from mindspore.dataset.vision.geometry import RandomAffine, RandomPerspective, RandomRotation
from mindspore.dataset.vision.mixing import MixUp
from mindspore.dataset.vision.operations import (
    HWC2CHW,
    CenterCrop,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    ToPIL,
    ToTensor,
    ToType,
)
from mindspore.dataset.vision.operations import Decode as _Decode
from mindspore.dataset.vision.operations import Normalize as _Normalize
from mindspore.dataset.vision.parts import CutOut, FiveCrop, RandomErasing, TenCrop
from mindspore.dataset.vision.utils import Border, Inter

ComposeOp = Compose
# The names that Pillow's resampling goes by.
DE_PY_INTER_MODE = dict(zip(Inter, (0, 1, 2, 3, 4, 3), strict=True))


class Decode(_Decode):
    """Encoded bytes as a PIL image."""

    def __init__(self) -> None:
        super().__init__(to_pil=True)


class Normalize(_Normalize):
    """(image - mean) / std for each channel of a C×H×W array."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean, std, is_hwc=False)


class NormalizePad(_NormalizePad):
    """Normalize for a C×H×W array, with a channel of zeros more."""

    def __init__(self, mean: Any, std: Any, dtype: str = "float32") -> None:
        super().__init__(mean, std, dtype, is_hwc=False)


__all__ = [
    "DE_PY_INTER_MODE",
    "HWC2CHW",
    "AutoContrast",
    "Border",
    "CenterCrop",
    "Compose",
    "ComposeOp",
    "CutOut",
    "Decode",
    "Equalize",
    "FiveCrop",
    "Grayscale",
    "HsvToRgb",
    "Inter",
    "Invert",
    "LinearTransformation",
    "MixUp",
    "Normalize",
    "NormalizePad",
    "Pad",
    "RandomAffine",
    "RandomApply",
    "RandomChoice",
    "RandomColor",
    "RandomColorAdjust",
    "RandomCrop",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomOrder",
    "RandomPerspective",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSharpness",
    "RandomVerticalFlip",
    "Resize",
    "RgbToHsv",
    "TenCrop",
    "ToPIL",
    "ToTensor",
    "ToType",
    "UniformAugment",
]

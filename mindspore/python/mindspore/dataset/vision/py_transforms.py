"""Path of 1.x for the image operations on PIL images; after ToTensor images are C×H×W arrays."""

from __future__ import annotations

from typing import Any

from mindspore.dataset.transforms.transforms import Compose, RandomApply, RandomChoice, RandomOrder
from mindspore.dataset.vision.color import (
    CutOut,
    Grayscale,
    Invert,
    RandomColorAdjust,
    RandomErasing,
    RandomGrayscale,
)
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
from mindspore.dataset.vision.utils import Border, Inter

ComposeOp = Compose


class Decode(_Decode):
    """Encoded bytes as a PIL image."""

    def __init__(self) -> None:
        super().__init__(to_pil=True)


class Normalize(_Normalize):
    """(image - mean) / std for each channel of a C×H×W array."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean, std, is_hwc=False)


__all__ = [
    "HWC2CHW",
    "Border",
    "CenterCrop",
    "Compose",
    "ComposeOp",
    "CutOut",
    "Decode",
    "Grayscale",
    "Inter",
    "Invert",
    "Normalize",
    "Pad",
    "RandomApply",
    "RandomChoice",
    "RandomColorAdjust",
    "RandomCrop",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomOrder",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "ToPIL",
    "ToTensor",
    "ToType",
]

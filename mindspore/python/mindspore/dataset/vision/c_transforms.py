"""Path of 1.x for the image operations on arrays."""

from mindspore.dataset.vision.color import (
    CutOut,
    Invert,
    RandomColorAdjust,
    Solarize,
)
from mindspore.dataset.vision.operations import (
    HWC2CHW,
    CenterCrop,
    Crop,
    Decode,
    HorizontalFlip,
    ImageTensorOperation,
    Normalize,
    Pad,
    RandomCrop,
    RandomCropDecodeResize,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Rescale,
    Resize,
    VerticalFlip,
)
from mindspore.dataset.vision.utils import Border, Inter

__all__ = [
    "HWC2CHW",
    "Border",
    "CenterCrop",
    "Crop",
    "CutOut",
    "Decode",
    "HorizontalFlip",
    "ImageTensorOperation",
    "Inter",
    "Invert",
    "Normalize",
    "Pad",
    "RandomColorAdjust",
    "RandomCrop",
    "RandomCropDecodeResize",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Rescale",
    "Resize",
    "Solarize",
    "VerticalFlip",
]

"""Path of 1.x for the image operations on arrays."""

from mindspore.dataset.vision.augment import (
    RandomSelectSubpolicy,
    UniformAugment,
)
from mindspore.dataset.vision.boxes import (
    BoundingBoxAugment,
    RandomCropWithBBox,
    RandomHorizontalFlipWithBBox,
    RandomResizedCropWithBBox,
    RandomResizeWithBBox,
    RandomVerticalFlipWithBBox,
    ResizeWithBBox,
)
from mindspore.dataset.vision.color import (
    AutoContrast,
    Equalize,
    GaussianBlur,
    Invert,
    RandomColor,
    RandomColorAdjust,
    RandomLighting,
    RandomPosterize,
    RandomSharpness,
    RandomSolarize,
    Solarize,
)
from mindspore.dataset.vision.conversions import (
    ConvertColor,
    NormalizePad,
)
from mindspore.dataset.vision.geometry import (
    RandomAffine,
    RandomResize,
    RandomRotation,
    Rotate,
)
from mindspore.dataset.vision.mixing import (
    CutMixBatch,
    MixUpBatch,
)
from mindspore.dataset.vision.operations import (
    HWC2CHW,
    CenterCrop,
    Crop,
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
from mindspore.dataset.vision.operations import Decode as _Decode
from mindspore.dataset.vision.parts import (
    CutOut,
    SlicePatches,
)
from mindspore.dataset.vision.utils import (
    Border,
    ConvertMode,
    ImageBatchFormat,
    Inter,
    SliceMode,
)


class Decode(_Decode):
    """Encoded bytes as an RGB array; `rgb` must be True."""

    def __init__(self, rgb: bool = True) -> None:
        if rgb is not True:
            raise ValueError(f"For 'Decode', 'rgb' must be True, but got {rgb!r}.")
        super().__init__()


__all__ = [
    "HWC2CHW",
    "AutoContrast",
    "Border",
    "BoundingBoxAugment",
    "CenterCrop",
    "ConvertColor",
    "ConvertMode",
    "Crop",
    "CutMixBatch",
    "CutOut",
    "Decode",
    "Equalize",
    "GaussianBlur",
    "HorizontalFlip",
    "ImageBatchFormat",
    "ImageTensorOperation",
    "Inter",
    "Invert",
    "MixUpBatch",
    "Normalize",
    "NormalizePad",
    "Pad",
    "RandomAffine",
    "RandomColor",
    "RandomColorAdjust",
    "RandomCrop",
    "RandomCropDecodeResize",
    "RandomCropWithBBox",
    "RandomHorizontalFlip",
    "RandomHorizontalFlipWithBBox",
    "RandomLighting",
    "RandomPosterize",
    "RandomResize",
    "RandomResizeWithBBox",
    "RandomResizedCrop",
    "RandomResizedCropWithBBox",
    "RandomRotation",
    "RandomSelectSubpolicy",
    "RandomSharpness",
    "RandomSolarize",
    "RandomVerticalFlip",
    "RandomVerticalFlipWithBBox",
    "Rescale",
    "Resize",
    "ResizeWithBBox",
    "Rotate",
    "SliceMode",
    "SlicePatches",
    "Solarize",
    "UniformAugment",
    "VerticalFlip",
]

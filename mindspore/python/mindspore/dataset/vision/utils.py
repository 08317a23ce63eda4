"""Names for the choices that image operations offer, checks of their arguments, and pictures in files."""

from __future__ import annotations

import os
from enum import Enum, IntEnum
from typing import Any

from mindspore.common._refused import refused

__getattr__ = refused(__name__)


class Inter(IntEnum):
    """Interpolation."""

    NEAREST = 0
    ANTIALIAS = 1
    BILINEAR = LINEAR = 2
    BICUBIC = CUBIC = 3
    AREA = 4
    PILCUBIC = 5


class Border(str, Enum):
    """How an image goes on beyond its border."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class ImageBatchFormat(IntEnum):
    """Order of the axes of a batch of images."""

    NHWC = 0
    NCHW = 1


class ImageReadMode(IntEnum):
    """What becomes of the channels of a picture that is read."""

    UNCHANGED = 0
    GRAYSCALE = 1
    COLOR = 2


class SliceMode(IntEnum):
    """What SlicePatches does with pixels that do not divide."""

    PAD = 0
    DROP = 1


class AutoAugmentPolicy(str, Enum):
    """The set of images that a policy of AutoAugment was found on."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


class ConvertMode(IntEnum):
    """Color conversions."""

    COLOR_BGR2BGRA = COLOR_RGB2RGBA = 0
    COLOR_BGRA2BGR = COLOR_RGBA2RGB = 1
    COLOR_BGR2RGBA = COLOR_RGB2BGRA = 2
    COLOR_RGBA2BGR = COLOR_BGRA2RGB = 3
    COLOR_BGR2RGB = COLOR_RGB2BGR = 4
    COLOR_BGRA2RGBA = COLOR_RGBA2BGRA = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = COLOR_GRAY2RGB = 8
    COLOR_GRAY2BGRA = COLOR_GRAY2RGBA = 9
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11


def parse_padding(padding: Any) -> tuple[int, ...] | list[int]:
    """(left, top, right, bottom) from one, two or four numbers; two are (left and right, top and
    bottom).
    """
    if isinstance(padding, int):
        return [padding] * 4
    if len(padding) == 2:
        left, top = padding
        return (left, top, left, top)
    return list(padding)


def check_file(dataset_file: str) -> None:
    """Raise ValueError when it is no file that can be read."""
    if not os.path.isfile(dataset_file) or not os.access(dataset_file, os.R_OK):
        raise ValueError(f"The file must exist and be readable, but got '{dataset_file}'.")


def check_value(
    value: float,
    valid_range: Any,
    arg_name: str = "",
    left_open_interval: bool = False,
    right_open_interval: bool = False,
) -> None:
    """Raise ValueError unless the value lies in the interval."""
    low, high = valid_range
    above = value > low if left_open_interval else value >= low
    below = value < high if right_open_interval else value <= high
    if not (above and below):
        left, right = "(" if left_open_interval else "[", ")" if right_open_interval else "]"
        raise ValueError(
            f"{arg_name or 'It'} must be in {left}{low}, {high}{right}, but got {value}."
        )


def type_check(arg: Any, types: tuple[type, ...], arg_name: str) -> None:
    """Raise TypeError unless the argument has one of the types; a bool is an int only by name."""
    if (isinstance(arg, bool) and bool not in types) or not isinstance(arg, types):
        names = " or ".join(kind.__name__ for kind in types)
        raise TypeError(f"{arg_name} must be {names}, but got {type(arg).__name__}.")


def type_check_list(args: Any, types: tuple[type, ...], arg_names: Any) -> None:
    """type_check of each in a list; names are a list, or one for all."""
    type_check(args, (list, tuple), arg_names if isinstance(arg_names, str) else "args")
    names = [arg_names] * len(args) if isinstance(arg_names, str) else arg_names
    for arg, name in zip(args, names, strict=True):
        type_check(arg, types, name)


# The functions on files use the names above.
from mindspore.dataset.vision.pictures import (  # noqa: E402
    encode_jpeg,
    encode_png,
    get_image_num_channels,
    get_image_size,
    read_file,
    read_image,
    write_file,
    write_jpeg,
    write_png,
)
from mindspore.dataset.vision.video import (  # noqa: E402
    VideoDecoder,
    get_video_backend,
    read_video,
    read_video_timestamps,
)

__all__ = [
    "AutoAugmentPolicy",
    "Border",
    "ConvertMode",
    "ImageBatchFormat",
    "ImageReadMode",
    "Inter",
    "SliceMode",
    "VideoDecoder",
    "check_file",
    "check_value",
    "encode_jpeg",
    "encode_png",
    "get_image_num_channels",
    "get_image_size",
    "get_video_backend",
    "parse_padding",
    "read_file",
    "read_image",
    "read_video",
    "read_video_timestamps",
    "type_check",
    "type_check_list",
    "write_file",
    "write_jpeg",
    "write_png",
]

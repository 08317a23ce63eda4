"""Names for the choices that image operations offer."""

from enum import Enum, IntEnum


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


class ConvertMode(IntEnum):
    """Color conversions."""

    COLOR_BGR2RGB = 4
    COLOR_RGB2BGR = 4
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2RGB = 8


__all__ = ["Border", "ConvertMode", "ImageBatchFormat", "Inter"]

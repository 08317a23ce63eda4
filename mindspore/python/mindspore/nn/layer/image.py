"""Layers for images: resizing, pixels moved between channels and space, measures of quality."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Finite, Ints, Positive, PositiveInt, within
from mindspore.common._size import require_memory
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P

_MOST_PIXELS = 1 << 20  # on a side


def _source(index: int, size: int, out: int, align_corners: bool, half_pixel: bool) -> float:
    """Where output position `index` of `out` lies among `size` input positions."""
    if align_corners:
        return index * (size - 1) / (out - 1) if out > 1 else 0.0
    if half_pixel:
        return max((index + 0.5) * size / out - 0.5, 0.0)
    return index * size / out


def _resize_axis(x: Tensor, axis: int, out: int, align_corners: bool, half_pixel: bool) -> Tensor:
    """Linear interpolation along one axis."""
    size = x.shape[axis]
    if size == out:
        return x
    low, high, share = [], [], []
    for index in range(out):
        place = _source(index, size, out, align_corners, half_pixel)
        first = min(int(place), size - 1)
        low.append(first)
        high.append(min(first + 1, size - 1))
        share.append(place - first)
    shape = [1] * x.ndim
    shape[axis] = out
    weight = Tensor(share, mstype.float32).reshape(tuple(shape)).astype(x.dtype)
    before = ops.gather(x, Tensor(low, mstype.int32), axis)
    after = ops.gather(x, Tensor(high, mstype.int32), axis)
    return before + (after - before) * weight


def _nearest_axis(x: Tensor, axis: int, out: int) -> Tensor:
    """Nearest neighbours along one axis."""
    size = x.shape[axis]
    if size == out:
        return x
    places = [min(index * size // out, size - 1) for index in range(out)]
    return ops.gather(x, Tensor(places, mstype.int32), axis)


class ResizeBilinear(Cell):
    """Resizes images [N, C, H, W] by linear interpolation in both directions.

    Args:
        half_pixel_centers: Whether pixels count as areas with their positions in the middle.
    """

    def __init__(self, half_pixel_centers: bool = False) -> None:
        super().__init__()
        self.half_pixel_centers = half_pixel_centers

    def construct(
        self,
        x: Tensor,
        size: Ints | None = None,
        scale_factor: Positive | Sequence[Positive] | None = None,
        align_corners: bool = False,
    ) -> Tensor:
        """The images in the given size, or in `scale_factor` times their own."""
        height, width = _target(x, size, scale_factor, self.cls_name)
        x = _resize_axis(x, 2, height, align_corners, self.half_pixel_centers)
        return _resize_axis(x, 3, width, align_corners, self.half_pixel_centers)


def _target(x: Tensor, size: Any, scale_factor: Any, owner: str) -> tuple[int, int]:
    """The output's height and width."""
    if x.ndim != 4:
        raise ValueError(f"For '{owner}', 'x' must have 4 dimensions, but got {x.shape}.")
    if (size is None) == (scale_factor is None):
        raise ValueError(
            f"For '{owner}', one of 'size' and 'scale_factor' must be given, "
            f"but got {size} and {scale_factor}."
        )
    if size is None:
        factors = scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * 2
        if len(factors) != 2:
            raise ValueError(f"For '{owner}', 'scale_factor' must be 2 numbers, but got {factors}.")
        size = (int(x.shape[2] * factors[0]), int(x.shape[3] * factors[1]))
    if isinstance(size, int):
        size = (size, size)
    if len(size) != 2 or min(size) < 1 or max(size) > _MOST_PIXELS:
        raise ValueError(
            f"For '{owner}', 'size' must be 2 ints in [1, {_MOST_PIXELS}], but got {size}."
        )
    return size[0], size[1]


class Upsample(Cell):
    """Resizes images [N, C, H, W].

    Args:
        size: An int, or (height, width).
        scale_factor: A number, or (vertical, horizontal), in place of `size`.
        mode: 'nearest' or 'bilinear'.
        align_corners: With 'bilinear', whether the corners of input and output coincide.
        recompute_scale_factor: Accepted: sizes are always whole numbers here.
    """

    def __init__(
        self,
        size: Ints | None = None,
        scale_factor: Positive | Sequence[Positive] | None = None,
        mode: Literal["nearest", "bilinear"] = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        del recompute_scale_factor
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = bool(align_corners)

    def construct(self, x: Tensor) -> Tensor:
        """The resized images."""
        height, width = _target(x, self.size, self.scale_factor, self.cls_name)
        if self.mode == "nearest":
            return _nearest_axis(_nearest_axis(x, 2, height), 3, width)
        x = _resize_axis(x, 2, height, self.align_corners, True)
        return _resize_axis(x, 3, width, self.align_corners, True)


def _check_image(x: Tensor, owner: str) -> None:
    if x.ndim < 3:
        raise ValueError(
            f"For '{owner}', the input must have at least 3 dimensions, but got shape {x.shape}."
        )


class PixelShuffle(Cell):
    """[..., C * r * r, H, W] to [..., C, H * r, W * r] (Shi et al., 2016).

    Args:
        upscale_factor: The factor r.
    """

    def __init__(self, upscale_factor: PositiveInt) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def construct(self, input: Tensor) -> Tensor:
        """The larger images."""
        return ops.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """[..., C, H * r, W * r] to [..., C * r * r, H, W].

    Args:
        downscale_factor: The factor r.
    """

    def __init__(self, downscale_factor: PositiveInt) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def construct(self, input: Tensor) -> Tensor:
        """The smaller images."""
        return ops.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Cell):
    """The channels of groups in turn: the first of each, then the second, ... (Zhang et al., 2018).

    Args:
        groups: The number of groups.
    """

    def __init__(self, groups: PositiveInt) -> None:
        super().__init__()
        self.groups = groups

    def construct(self, x: Tensor) -> Tensor:
        """The images with their channels in the new order."""
        return ops.channel_shuffle(x, self.groups)


class CentralCrop(Cell):
    """The middle of images [C, H, W] or [N, C, H, W].

    Args:
        central_fraction: The share of height and width that stays, in (0, 1].
    """

    def __init__(self, central_fraction: Annotated[float, within(0.0, 1.0, "right")]) -> None:
        super().__init__()
        self.central_fraction = central_fraction

    def construct(self, image: Tensor) -> Tensor:
        """The middle."""
        _check_image(image, self.cls_name)
        h, w = image.shape[-2:]
        top = int((h - h * self.central_fraction) / 2)
        left = int((w - w * self.central_fraction) / 2)
        return image[..., top : h - top, left : w - left]


class PSNR(Cell):
    """The peak signal-to-noise ratio of two batches of images, in decibels.

    Args:
        max_val: The largest value of a pixel.
    """

    def __init__(self, max_val: Finite = 1.0) -> None:
        super().__init__()
        self.max_val = max_val

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        """The ratio of each pair, [N]."""
        error = ops.square(img1 - img2).mean((-3, -2, -1))
        return 10.0 * ops.log(self.max_val**2 / error) / math.log(10.0)


class SSIM(Cell):
    """The structural similarity of two batches of images [N, C, H, W] (Wang et al., 2004).

    Args:
        max_val: The largest value of a pixel.
        filter_size: The side of the Gaussian window.
        filter_sigma: Its standard deviation.
        k1: Keeps the comparison of means stable.
        k2: Keeps the comparison of variances stable.
    """

    def __init__(
        self,
        max_val: Finite = 1.0,
        filter_size: PositiveInt = 11,
        filter_sigma: Positive = 1.5,
        k1: Finite = 0.01,
        k2: Finite = 0.03,
    ) -> None:
        super().__init__()
        self.filter_size = filter_size
        require_memory(self.cls_name, filter_size**2, 8)
        self.c1 = k1 * k1 * max_val * max_val
        self.c2 = k2 * k2 * max_val * max_val
        axis = np.arange(filter_size) - (filter_size - 1) / 2
        line = np.exp(-(axis**2) / (2 * filter_sigma * filter_sigma))
        window = np.outer(line, line) / line.sum() ** 2
        self.window = Tensor(window.reshape(1, 1, filter_size, filter_size), mstype.float32)
        self.conv = P.Conv2D(out_channel=1, kernel_size=filter_size, pad_mode="valid")

    def _blur(self, x: Tensor) -> Tensor:
        """The weighted mean around each pixel of [M, 1, H, W]."""
        return self.conv(x, self.window)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        """The similarity of each pair, [N]."""
        if img1.ndim != 4:
            raise ValueError(
                f"For '{self.cls_name}', the images must have 4 dimensions, but got {img1.shape}."
            )
        n, c, h, w = img1.shape
        if img2.shape != img1.shape or h < self.filter_size or w < self.filter_size:
            raise ValueError(
                f"For '{self.cls_name}', both images must have one shape and be at least "
                f"{self.filter_size} wide and high, but got {img1.shape} and {img2.shape}."
            )
        x, y = img1.reshape((n * c, 1, h, w)), img2.reshape((n * c, 1, h, w))
        mean_x, mean_y = self._blur(x), self._blur(y)
        variance_x = self._blur(x * x) - mean_x * mean_x
        variance_y = self._blur(y * y) - mean_y * mean_y
        covariance = self._blur(x * y) - mean_x * mean_y
        means = (2.0 * mean_x * mean_y + self.c1) / (mean_x * mean_x + mean_y * mean_y + self.c1)
        spread = (2.0 * covariance + self.c2) / (variance_x + variance_y + self.c2)
        return (means * spread).reshape((n, -1)).mean(1)


__all__ = [
    "PSNR",
    "SSIM",
    "CentralCrop",
    "ChannelShuffle",
    "PixelShuffle",
    "PixelUnshuffle",
    "ResizeBilinear",
    "Upsample",
]

"""Layers for images: resizing, pixels moved between channels and space, measures of quality."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

import numpy as np

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Finite, Ints, Positive, PositiveInt, within
from mindspore.common._size import require_memory
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P
from mindspore.ops.function.interpolate_func import ResizeBilinearV2

_Scales: TypeAlias = Positive | Sequence[Positive]


class ResizeBilinear(Cell):
    """Resizes images [N, C, H, W] by linear interpolation in both directions.

    Args:
        half_pixel_centers: Whether pixels count as areas with their positions in the middle.
    """

    def __init__(self, half_pixel_centers: bool = False) -> None:
        super().__init__()
        self.half_pixel_centers = half_pixel_centers
        self.resize = ResizeBilinearV2(half_pixel_centers=half_pixel_centers)
        self.resize_aligned = ResizeBilinearV2(align_corners=True)

    def construct(
        self,
        x: Tensor,
        size: Ints | None = None,
        scale_factor: _Scales | None = None,
        align_corners: bool = False,
    ) -> Tensor:
        """The images in the given size, or in `scale_factor` times their own."""
        if x.ndim != 4:
            raise ValueError(
                f"For '{self.cls_name}', 'x' must have 4 dimensions, but got shape {x.shape}."
            )
        if (size is None) == (scale_factor is None):
            raise ValueError(
                f"For '{self.cls_name}', one of 'size' and 'scale_factor' must be given, "
                f"but got {size} and {scale_factor}."
            )
        if size is None:
            factors = (
                scale_factor if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * 2
            )
            if len(factors) != 2:
                raise ValueError(
                    f"For '{self.cls_name}', 'scale_factor' must be 2 numbers, but got {factors}."
                )
            size = tuple(int(n * factor) for n, factor in zip(x.shape[2:], factors))
        resize = self.resize_aligned if align_corners else self.resize
        return resize(x, (size, size) if isinstance(size, int) else size)


class Upsample(Cell):
    """Images [N, C, ...] in another size; see `ops.interpolate`.

    Args:
        size: An int, or one for each axis.
        scale_factor: A number, or one for each axis, in place of `size`.
        mode: 'nearest', 'nearest-exact', 'linear', 'bilinear', 'trilinear', 'bicubic' or 'area'.
        align_corners: Whether the corners of input and output coincide, in modes that weigh.
        recompute_scale_factor: Whether positions follow the sizes where `scale_factor` is given.
    """

    def __init__(
        self,
        size: Ints | None = None,
        scale_factor: _Scales | None = None,
        mode: Literal[
            "nearest", "linear", "bilinear", "bicubic", "area", "nearest-exact", "trilinear"
        ] = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size = size
        self.scale_factor = scale_factor
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def construct(self, x: Tensor) -> Tensor:
        """The resized images."""
        return ops.interpolate(
            x,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            self.recompute_scale_factor,
        )


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


class ImageGradients(Cell):
    """How much each pixel of images [N, C, H, W] differs from the next: downwards, and to the right; 0 at the ends."""

    def construct(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Both differences, shaped as the images."""
        if images.ndim != 4:
            raise ValueError(
                f"For '{self.cls_name}', 'images' must have 4 dimensions, but got shape {images.shape}."
            )
        down = images[:, :, 1:] - images[:, :, :-1]
        right = images[..., 1:] - images[..., :-1]
        return (
            ops.concat((down, ops.zeros_like(images[:, :, :1])), 2),
            ops.concat((right, ops.zeros_like(images[..., :1])), 3),
        )


def _check_pair(img1: Tensor, img2: Tensor, owner: str, least: int = 1) -> None:
    """Two batches of images of one shape, of at least so many pixels each way."""
    if img1.ndim != 4:
        raise ValueError(
            f"For '{owner}', the images must have 4 dimensions, but got shape {img1.shape}."
        )
    if img2.shape != img1.shape or min(img1.shape[2:]) < least:
        raise ValueError(
            f"For '{owner}', both images must have one shape and be at least {least} wide and high, "
            f"but got {img1.shape} and {img2.shape}."
        )
    if img2.dtype != img1.dtype:
        raise TypeError(
            f"For '{owner}', both images must have one dtype, but got {img1.dtype} and {img2.dtype}."
        )


class PSNR(Cell):
    """The peak signal-to-noise ratio of two batches of images [N, C, H, W], in decibels.

    Args:
        max_val: The largest value of a pixel.
    """

    def __init__(self, max_val: Positive = 1.0) -> None:
        super().__init__()
        self.max_val = max_val

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        """The ratio of each pair, [N]."""
        _check_pair(img1, img2, self.cls_name)
        difference = img1.astype(mstype.float32) - img2.astype(mstype.float32)
        error = ops.square(difference).mean((-3, -2, -1))
        return 10.0 * ops.log(self.max_val**2 / error) / math.log(10.0)


class _Similarity(Cell):
    """What images look like through a Gaussian window, compared (Wang et al., 2004)."""

    def __init__(
        self,
        max_val: Positive = 1.0,
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

    def _compared(self, img1: Tensor, img2: Tensor) -> tuple[Tensor, Tensor]:
        """Means over the pixels of each channel, [N, C]: of the similarity, and of it without that of brightness."""
        _check_pair(img1, img2, self.cls_name, self.filter_size)
        n, c, h, w = img1.shape
        x, y = (i.astype(mstype.float32).reshape((n * c, 1, h, w)) for i in (img1, img2))
        mean_x, mean_y = self._blur(x), self._blur(y)
        variance_x = self._blur(x * x) - mean_x * mean_x
        variance_y = self._blur(y * y) - mean_y * mean_y
        covariance = self._blur(x * y) - mean_x * mean_y
        means = (2.0 * mean_x * mean_y + self.c1) / (mean_x * mean_x + mean_y * mean_y + self.c1)
        spread = (2.0 * covariance + self.c2) / (variance_x + variance_y + self.c2)
        shape = (n, c, -1)
        return (means * spread).reshape(shape).mean(2), spread.reshape(shape).mean(2)


class SSIM(_Similarity):
    """The structural similarity of two batches of images [N, C, H, W] (Wang et al., 2004).

    Args:
        max_val: The largest value of a pixel.
        filter_size: The side of the Gaussian window.
        filter_sigma: Its standard deviation.
        k1: Keeps the comparison of means stable.
        k2: Keeps the comparison of variances stable.
    """

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        """The similarity of each pair, [N]."""
        return self._compared(img1, img2)[0].mean(1)


class MSSSIM(_Similarity):
    """The structural similarity of two batches of images [N, C, H, W] at several scales, each half as large as the one before
    (Wang et al., 2003).

    Args:
        max_val: The largest value of a pixel.
        power_factors: How much each scale counts.
        filter_size: The side of the Gaussian window.
        filter_sigma: Its standard deviation.
        k1: Keeps the comparison of means stable.
        k2: Keeps the comparison of variances stable.
    """

    def __init__(
        self,
        max_val: Positive = 1.0,
        power_factors: Sequence[Finite] = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size: PositiveInt = 11,
        filter_sigma: Positive = 1.5,
        k1: Finite = 0.01,
        k2: Finite = 0.03,
    ) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        if not power_factors:
            raise ValueError(
                f"For '{self.cls_name}', 'power_factors' must not be empty, but got ()."
            )
        self.power_factors = tuple(power_factors)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        """The similarity of each pair, [N]."""
        product = None
        for i, power in enumerate(self.power_factors):
            if i > 0:
                img1, img2 = (ops.avg_pool2d(x, 2, 2) for x in (img1, img2))
            whole, spread = self._compared(img1, img2)
            part = whole if i == len(self.power_factors) - 1 else spread
            part = ops.relu(part) ** power
            product = part if product is None else product * part
        assert product is not None
        return product.mean(1)


__all__ = [
    "MSSSIM",
    "PSNR",
    "SSIM",
    "CentralCrop",
    "ChannelShuffle",
    "ImageGradients",
    "PixelShuffle",
    "PixelUnshuffle",
    "ResizeBilinear",
    "Upsample",
]

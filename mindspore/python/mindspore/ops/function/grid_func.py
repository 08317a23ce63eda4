"""Images sampled at positions that tensors hold: grids, crops, glimpses, and the grids of affine maps."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import Count, PositiveInt, Sizes
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.array_func import _ints
from mindspore.ops.function.cast_func import _in_float32
from mindspore.ops.function.interpolate_func import _checked_size
from mindspore.ops.function.linalg_func import matmul
from mindspore.ops.function.math_func import clamp, where
from mindspore.ops.primitive import PythonPrimitive

_cast, _reshape, _transpose, _select = (raw(n) for n in ("Cast", "Reshape", "Transpose", "Select"))
_gather, _gather_nd, _floor, _stack = (raw(n) for n in ("Gather", "GatherNd", "Floor", "Stack"))

GridMode = Literal["bilinear", "nearest"]
Padding = Literal["zeros", "border", "reflection"]


def _refuse_unless(name: str, holds: bool, what: str, came: Any) -> None:
    if not holds:
        raise ValueError(f"For '{name}', {what}, but got {came}.")


# ---- grids ---------------------------------------------------------------------------------------
def _centers(size: int, align_corners: bool) -> np.ndarray:
    """The positions of elements between -1 and 1."""
    if align_corners:
        return np.linspace(-1.0, 1.0, size) if size != 1 else np.zeros(1)
    return (2 * np.arange(size) + 1) / max(size, 1) - 1


def affine_grid(theta: Tensor, size: tuple[Count, ...], align_corners: bool = False) -> Tensor:
    """Where affine maps [N, 2, 3] or [N, 3, 4] take the elements of images of a size: [N, H, W, 2] or [N, D, H, W, 3]."""
    axes = len(size) - 2
    _refuse_unless("affine_grid", axes in (2, 3), "'size' must have 4 or 5 items", size)
    _refuse_unless(
        "affine_grid",
        tuple(theta.shape) == (size[0], axes, axes + 1),
        f"'theta' must have shape {(size[0], axes, axes + 1)} for size {size}",
        theta.shape,
    )
    lines = [_centers(n, align_corners) for n in size[2:]]
    places = np.stack([*np.meshgrid(*lines, indexing="ij")[::-1], np.ones(size[2:])], axis=-1)
    exact = _in_float32(theta)
    base = Tensor(places.reshape(1, -1, axes + 1), exact.dtype)
    grid = matmul(base, _transpose(exact, perm=(0, 2, 1)))
    return _cast(_reshape(grid, shape=(size[0], *size[2:], axes)), dtype=theta.dtype)


def _neighbours(at: Tensor, size: int, nearest: bool) -> list[tuple[Tensor, Tensor]]:
    """For positions along an axis, which elements make them, and with which weights: none for those that are outside."""
    low = raw("Round")(at) if nearest else _floor(at)
    share = at - low
    found = [(low, bound.ones_like(at))] if nearest else [(low, 1.0 - share), (low + 1.0, share)]
    result = []
    for place, weight in found:
        inside = _inside(place, size)
        index = _cast(where(inside, place, 0.0), dtype=_core.int32)
        result.append((index, where(inside, weight, 0.0)))
    return result


def _inside(at: Tensor, size: int) -> Tensor:
    """Which positions are between the first and the last element of an axis."""
    return bound.logical_and(bound.ge(at, 0.0), bound.le(at, size - 1.0))


def _weighed_sum(
    choices: Sequence[list[tuple[Tensor, Tensor]]], read: Callable[..., Tensor]
) -> Tensor:
    """The sum over all corners: one neighbour of each axis. `read` gives their values, and an axis for weights to stand in."""
    total = None
    for corner in itertools.product(*choices):
        weight = corner[0][1]
        for _, other in corner[1:]:
            weight = weight * other
        part = read(*(index for index, _ in corner)) * weight.expand_dims(-1)
        total = part if total is None else total + part
    assert total is not None
    return total


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: GridMode = "bilinear",
    padding_mode: Padding = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Images [N, C, H, W] or volumes [N, C, D, H, W] at the positions (x, y) or (x, y, z) that a grid [N, ..., 2] or [N, ..., 3]
    holds, between -1 and 1 from one end to the other."""
    how = {"padding_mode": padding_mode, "align_corners": bool(align_corners)}
    return raw("GridSample")(input, grid, mode=mode, **how)


class _GridSampler(PythonPrimitive):
    _rank = 4

    def __init__(
        self,
        interpolation_mode: GridMode = "bilinear",
        padding_mode: Padding = "zeros",
        align_corners: bool = False,
    ) -> None:
        super().__init__(interpolation_mode, padding_mode, align_corners)

    def __call__(self, input_x: Tensor, grid: Tensor) -> Tensor:
        what = f"'input_x' must have {self._rank} dimensions"
        _refuse_unless(self.name, input_x.ndim == self._rank, what, f"shape {input_x.shape}")
        how = (self.interpolation_mode, self.padding_mode, self.align_corners)
        return grid_sample(input_x, grid, *how)


class GridSampler2D(_GridSampler):
    """Images at positions that a grid holds; see `grid_sample`.

    Args:
        interpolation_mode: 'bilinear' or 'nearest'.
        padding_mode: What is outside: 'zeros', 'border' or 'reflection'.
        align_corners: Whether -1 and 1 are the middles of the outermost pixels.
    """


class GridSampler3D(_GridSampler):
    """Volumes at positions that a grid holds; see `grid_sample`.

    Args:
        interpolation_mode: 'bilinear' or 'nearest'.
        padding_mode: What is outside: 'zeros', 'border' or 'reflection'.
        align_corners: Whether -1 and 1 are the middles of the outermost elements.
    """

    _rank = 5


class AffineGrid(PythonPrimitive):
    """Where affine maps take the elements of images; see `affine_grid`.

    Args:
        align_corners: Whether -1 and 1 are the middles of the outermost elements.
    """

    def __init__(self, align_corners: bool = False) -> None:
        super().__init__(align_corners)

    def __call__(self, theta: Tensor, output_size: tuple[Count, ...]) -> Tensor:
        return affine_grid(theta, output_size, self.align_corners)


# ---- crops ---------------------------------------------------------------------------------------
Method = Literal["bilinear", "nearest", "bilinear_v2"]


def _crop_places(low: Tensor, high: Tensor, size: int, count: int, method: str) -> Tensor:
    """Where [n, count] pixels of crops lie along an axis of images; corners are shares of the axis."""
    steps = Tensor(np.arange(count), _core.float32)
    low, high = low.expand_dims(-1), high.expand_dims(-1)
    if method == "bilinear_v2":  # corners are pixels; a crop ends where its last one does
        first, last = raw("Trunc")(low * float(size)), raw("Trunc")(high * float(size))
        extent = last - first + 1.0
        inside = bound.minimum((steps + 0.5) * extent / count - 0.5, extent - 1.0)
        return clamp(bound.maximum(inside, 0.0) + first, 0.0, size - 1.0)
    if count == 1:
        return (low + high) * (0.5 * (size - 1))
    return low * (size - 1.0) + steps * ((high - low) * ((size - 1) / (count - 1)))


def crop_and_resize(
    image: Tensor,
    boxes: Tensor,
    box_indices: Tensor,
    crop_size: tuple[PositiveInt, PositiveInt],
    method: Method = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """Parts of images [N, H, W, C], one for each of the boxes (y1, x1, y2, x2) in shares of height and width, all in one size.

    The first corner may be beyond the second: the crop is turned over. What is outside of the image has `extrapolation_value`;
    of method 'bilinear_v2', whose boxes end at pixels, the nearest value."""
    name = "crop_and_resize"
    _refuse_unless(name, image.ndim == 4, "'image' must have 4 dimensions", f"shape {image.shape}")
    _refuse_unless(
        name, boxes.ndim == 2 and boxes.shape[1] == 4, "'boxes' must have shape (n, 4)", boxes.shape
    )
    _refuse_unless(
        name,
        tuple(box_indices.shape) == (boxes.shape[0],),
        f"'box_indices' must have shape {(boxes.shape[0],)}",
        box_indices.shape,
    )
    size = _checked_size(name, crop_size, 2)
    boxes = _cast(boxes, dtype=_core.float32)
    n, (_, height, width, channels) = boxes.shape[0], image.shape
    ys, xs = (
        _crop_places(boxes[:, i], boxes[:, i + 2], size, count, method)
        for i, size, count in ((0, height, size[0]), (1, width, size[1]))
    )
    grid = (n, *size)
    ys = bound.broadcast_to(ys.expand_dims(2), grid)
    xs = bound.broadcast_to(xs.expand_dims(1), grid)
    which = bound.broadcast_to(
        _reshape(_cast(box_indices, dtype=_core.int32), shape=(n, 1, 1)), grid
    )
    which = where(bound.lt(which, 0), image.shape[0], which)  # refused, not counted from the end
    values = _cast(image, dtype=_core.float32)
    inside = bound.logical_and(_inside(ys, height), _inside(xs, width))
    choices = [_crop_neighbours(at, size, method) for at, size in ((ys, height), (xs, width))]
    made = _weighed_sum(choices, lambda y, x: _gather_nd(values, _stack([which, y, x], axis=-1)))
    mask = bound.broadcast_to(inside.expand_dims(-1), (*grid, channels))
    return where(mask, made, extrapolation_value)


def _crop_neighbours(at: Tensor, size: int, method: str) -> list[tuple[Tensor, Tensor]]:
    if method != "nearest":
        return _neighbours(at, size, False)
    return _neighbours(_floor(at + 0.5), size, True)  # a half goes up


class CropAndResize(PythonPrimitive):
    """Parts of images in one size; see `crop_and_resize`.

    Args:
        method: 'bilinear', 'nearest' or 'bilinear_v2'.
        extrapolation_value: What is outside of the image.
    """

    def __init__(self, method: Method = "bilinear", extrapolation_value: float = 0.0) -> None:
        super().__init__(method, extrapolation_value)

    def __call__(
        self,
        x: Tensor,
        boxes: Tensor,
        box_index: Tensor,
        crop_size: tuple[PositiveInt, PositiveInt],
    ) -> Tensor:
        how = (self.method, self.extrapolation_value)
        return crop_and_resize(x, boxes, box_index, crop_size, *how)


class ExtractGlimpse(PythonPrimitive):
    """Windows of one size around positions (y, x) in images [N, H, W, C], with noise where they are outside.

    Args:
        centered: Whether positions count from the middle of the image.
        normalized: Whether they are shares of its height and width.
        uniform_noise: Whether the noise is uniform; then `noise` says so, too.
        noise: 'uniform' in [-1, 1), 'gaussian' of variance 1, or 'zero'.
    """

    def __init__(
        self,
        centered: bool = True,
        normalized: bool = True,
        uniform_noise: bool = True,
        noise: Literal["uniform", "gaussian", "zero"] = "uniform",
    ) -> None:
        _refuse_unless(
            "ExtractGlimpse",
            not uniform_noise or noise == "uniform",
            "'noise' must be 'uniform' where 'uniform_noise' is True",
            repr(noise),
        )
        super().__init__(centered, normalized, uniform_noise, noise)

    def __call__(self, x: Tensor, size: Sizes, offsets: Tensor) -> Tensor:
        name = "ExtractGlimpse"
        _refuse_unless(name, x.ndim == 4, "'x' must have 4 dimensions", f"shape {x.shape}")
        n, height, width, channels = x.shape
        _refuse_unless(
            name,
            tuple(offsets.shape) == (n, 2),
            f"'offsets' must have shape {(n, 2)}",
            offsets.shape,
        )
        window = _checked_size(name, _ints(name, size), 2)
        grid = (n, *window)
        places = []
        for i, extent in enumerate((height, width)):
            steps = np.arange(window[i]).reshape((1, -1, 1) if i == 0 else (1, 1, -1))
            begin = self._begin(offsets[:, i], extent, window[i])
            at = _reshape(begin, shape=(n, 1, 1)) + Tensor(steps, _core.float32)
            places.append(bound.broadcast_to(at, grid))
        inside = bound.logical_and(_inside(places[0], height), _inside(places[1], width))
        places = [
            _cast(clamp(at, 0.0, extent - 1.0), dtype=_core.int32)
            for at, extent in zip(places, (height, width))
        ]
        which = Tensor(np.arange(n), _core.int32).reshape((n, 1, 1))
        index = _stack([bound.broadcast_to(which, grid), *places], axis=-1)
        values = _gather_nd(x, index)
        mask = bound.broadcast_to(inside.expand_dims(-1), (*grid, channels))
        return _select(mask, values, self._noise(values))

    def _begin(self, at: Tensor, extent: int, window: int) -> Tensor:
        """The first pixel of windows along an axis."""
        if self.normalized:
            at = at * float(extent)
        if self.centered:
            at = at / 2.0 + extent / 2
        return raw("Trunc")(at - window / 2)

    def _noise(self, like: Tensor) -> Tensor:
        if self.noise == "zero":
            return bound.zeros_like(like)
        if self.noise == "uniform":
            return raw("UniformReal")(shape=like.shape) * 2.0 - 1.0
        return raw("StandardNormal")(shape=like.shape)


# ---- scaled and moved ----------------------------------------------------------------------------
def _sinc(x: Tensor) -> Tensor:
    zero = bound.eq(x, 0.0)
    angle = where(zero, 1.0, x) * math.pi
    return where(zero, 1.0, bound.sin(angle) / angle)


def _piecewise(near: Callable, far: Callable) -> Callable[[Tensor], Tensor]:
    return lambda d: _select(bound.lt(d, 1.0), near(d), far(d))


# The radius of each kernel, and its value at a distance inside of that.
_KERNELS: dict[str, tuple[float, Callable[[Tensor], Tensor]]] = {
    "lanczos1": (1.0, lambda d: _sinc(d) * _sinc(d)),
    "lanczos3": (3.0, lambda d: _sinc(d) * _sinc(d / 3.0)),
    "lanczos5": (5.0, lambda d: _sinc(d) * _sinc(d / 5.0)),
    "gaussian": (1.5, lambda d: bound.exp(d * d * -2.0)),  # a third of the radius is the deviation
    "box": (1.0, lambda d: (bound.sign(0.5 - d) + 1.0) * 0.5),
    "triangle": (1.0, lambda d: bound.maximum(1.0 - d, 0.0)),
    "keyscubic": (
        2.0,
        _piecewise(
            lambda d: (1.5 * d - 2.5) * d * d + 1.0,
            lambda d: ((-0.5 * d + 2.5) * d - 4.0) * d + 2.0,
        ),
    ),
    "mitchellcubic": (
        2.0,
        _piecewise(
            lambda d: (7 / 6 * d - 2.0) * d * d + 8 / 9,
            lambda d: ((-7 / 18 * d + 2.0) * d - 10 / 3) * d + 16 / 9,
        ),
    ),
}
_TOO_SMALL = 1000 * float(np.finfo(np.float32).tiny)


class ScaleAndTranslate(PythonPrimitive):
    """Images [N, H, W, C] made larger by `scale`, moved by `translation`, and cut to `size`, in Float32.

    Args:
        kernel_type: How pixels are weighed: 'lanczos1', 'lanczos3', 'lanczos5', 'gaussian', 'box', 'triangle', 'keyscubic' or
            'mitchellcubic'.
        antialias: Whether kernels grow where images become smaller.
    """

    def __init__(
        self,
        kernel_type: Literal[
            "lanczos1",
            "lanczos3",
            "lanczos5",
            "gaussian",
            "box",
            "triangle",
            "keyscubic",
            "mitchellcubic",
        ] = "lanczos3",
        antialias: bool = True,
    ) -> None:
        super().__init__(kernel_type, antialias)

    def __call__(self, images: Tensor, size: Sizes, scale: Tensor, translation: Tensor) -> Tensor:
        name = "ScaleAndTranslate"
        _refuse_unless(name, images.ndim == 4, "'images' must have 4 dimensions", images.shape)
        for given, what in ((scale, "scale"), (translation, "translation")):
            _refuse_unless(
                name, tuple(given.shape) == (2,), f"'{what}' must have shape (2,)", given.shape
            )
        out_height, out_width = _checked_size(name, _ints(name, size), 2)
        n, height, width, channels = images.shape
        rows = self._weights(height, out_height, scale[0], translation[0])
        columns = self._weights(width, out_width, scale[1], translation[1])
        x = _reshape(_cast(images, dtype=_core.float32), shape=(n, height, width * channels))
        x = _reshape(matmul(rows, x), shape=(n, out_height, width, channels))
        return matmul(columns, x)

    def _weights(self, size: int, out: int, scale: Tensor, translation: Tensor) -> Tensor:
        """[out, size]: how much of each element there is in each of the result."""
        radius, kernel = _KERNELS[self.kernel_type]
        step = 1.0 / scale
        width = bound.maximum(step, 1.0) if self.antialias else bound.ones_like(step)
        results = Tensor(np.arange(out).reshape(-1, 1) + 0.5, _core.float32)
        elements = Tensor(np.arange(size).reshape(1, -1) + 0.5, _core.float32)
        center = (results - translation) * step
        distance = bound.abs((elements - center) / width)
        weights = kernel(distance)
        near = bound.le(distance, radius)
        inside = bound.logical_and(bound.ge(center, 0.0), bound.le(center, float(size)))
        weights = where(bound.logical_and(near, inside), weights, 0.0)
        total = weights.sum(1, keepdims=True)
        some = bound.ge(bound.abs(total), _TOO_SMALL)
        return where(some, weights / where(some, total, 1.0), 0.0)


CLASSES = {
    c.__name__: c
    for c in (
        AffineGrid,
        CropAndResize,
        ExtractGlimpse,
        GridSampler2D,
        GridSampler3D,
        ScaleAndTranslate,
    )
}
__all__ = ["affine_grid", "crop_and_resize", "grid_sample"]

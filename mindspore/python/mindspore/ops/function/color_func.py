"""Primitives of colours: pixels (red, green, blue) or (hue, saturation, value) along the last axis."""

from __future__ import annotations

from mindspore._core import Tensor
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.cast_func import _in_float32, is_floating_point
from mindspore.ops.function.math_func import clamp, where
from mindspore.ops.primitive import PythonPrimitive

_cast, _stack = raw("Cast"), raw("Stack")


def _checked(name: str, x: Tensor, rank: int) -> Tensor:
    """Pixels, half types as Float32."""
    if x.ndim < rank or x.shape[-1] != 3:
        raise ValueError(
            f"For '{name}', the images must have at least {rank} dimensions, the last of size 3, but got shape {x.shape}."
        )
    if not is_floating_point(x):
        raise TypeError(
            f"For '{name}', the dtype of the images must be a floating one, but got {x.dtype}."
        )
    return _in_float32(x)


def _parts(pixels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Hue in [0, 1), the largest of the three colours, and how far below it the smallest is."""
    r, g, b = (pixels[..., i] for i in range(3))
    value = bound.maximum(bound.maximum(r, g), b)
    range_ = value - bound.minimum(bound.minimum(r, g), b)
    colored = bound.gt(range_, 0.0)
    unit = 1.0 / (6.0 * where(colored, range_, 1.0))
    hue = where(
        bound.eq(value, r),
        (g - b) * unit,
        where(bound.eq(value, g), (b - r) * unit + 2 / 6, (r - g) * unit + 4 / 6),
    )
    hue = where(bound.lt(hue, 0.0), hue + 1.0, hue)
    return where(colored, hue, 0.0), value, range_


def _colors(hue: Tensor, value: Tensor, range_: Tensor) -> Tensor:
    """Pixels from what `_parts` finds."""
    sector = hue * 6.0
    red = bound.abs(sector - 3.0) - 1.0
    green = 2.0 - bound.abs(sector - 2.0)
    blue = 2.0 - bound.abs(sector - 4.0)
    shares = (clamp(c, 0.0, 1.0) for c in (red, green, blue))
    return _stack([value - range_ * (1.0 - share) for share in shares], axis=-1)


def _saturation(value: Tensor, range_: Tensor) -> Tensor:
    light = bound.gt(value, 0.0)
    return where(light, range_ / where(light, value, 1.0), 0.0)


class RGBToHSV(PythonPrimitive):
    """Hue, saturation and value of colours [..., 3], all in [0, 1]."""

    def __call__(self, images: Tensor) -> Tensor:
        hue, value, range_ = _parts(_checked("RGBToHSV", images, 1))
        made = _stack([hue, _saturation(value, range_), value], axis=-1)
        return _cast(made, dtype=images.dtype)


class HSVToRGB(PythonPrimitive):
    """Colours of images [N, H, W, 3] of hue, saturation and value, all in [0, 1]."""

    def __call__(self, x: Tensor) -> Tensor:
        if x.ndim != 4:
            raise ValueError(
                f"For 'HSVToRGB', 'x' must have 4 dimensions, but got shape {x.shape}."
            )
        pixels = _checked("HSVToRGB", x, 4)
        hue, saturation, value = (pixels[..., i] for i in range(3))
        return _cast(_colors(hue, value, value * saturation), dtype=x.dtype)


def _number(name: str, argument: str, value: Tensor) -> Tensor:
    if value.ndim != 0:
        raise ValueError(
            f"For '{name}', '{argument}' must be a scalar, but got shape {value.shape}."
        )
    if not is_floating_point(value):
        raise TypeError(
            f"For '{name}', '{argument}' must be of a floating dtype, but got {value.dtype}."
        )
    return value


class AdjustHue(PythonPrimitive):
    """Colours of images [..., H, W, 3] with the hue turned by `delta`, of which 1 is a whole turn."""

    def __call__(self, image: Tensor, delta: Tensor) -> Tensor:
        hue, value, range_ = _parts(_checked("AdjustHue", image, 3))
        turned = bound.floor_mod(hue + _number("AdjustHue", "delta", delta), 1.0)
        return _cast(_colors(turned, value, range_), dtype=image.dtype)


class AdjustSaturation(PythonPrimitive):
    """Colours of images [..., H, W, 3] with `scale` times the saturation, cut to [0, 1]."""

    def __call__(self, image: Tensor, scale: Tensor) -> Tensor:
        hue, value, range_ = _parts(_checked("AdjustSaturation", image, 3))
        saturation = _saturation(value, range_) * _number("AdjustSaturation", "scale", scale)
        made = _colors(hue, value, value * clamp(saturation, 0.0, 1.0))
        return _cast(made, dtype=image.dtype)


CLASSES = {c.__name__: c for c in (AdjustHue, AdjustSaturation, HSVToRGB, RGBToHSV)}
__all__: list[str] = []

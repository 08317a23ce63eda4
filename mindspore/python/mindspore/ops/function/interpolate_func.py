"""Images of other sizes: all go through the op Resample, which knows what each mode and kind of coordinates means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import Ints, Positive, Sizes
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _ints
from mindspore.ops.function.cast_func import is_floating_point
from mindspore.ops.primitive import PythonPrimitive

_resample, _transpose, _cast = raw("Resample"), raw("Transpose"), raw("Cast")

_MOST = 1 << 24  # elements along an axis
_RANKS = {
    "nearest": (3, 4, 5),
    "nearest-exact": (3, 4, 5),
    "area": (3, 4, 5),
    "linear": (3,),
    "bilinear": (4,),
    "bicubic": (4,),
    "trilinear": (5,),
}
# What a mode is to Resample. Cubic interpolation between pixels that count as areas is that of Keys here.
_SAMPLING = {
    "nearest": ("nearest", "asymmetric"),
    "nearest-exact": ("nearest", "half_pixel"),
    "area": ("mean", "half_pixel"),
    "linear": ("linear", "half_pixel_or_first"),
    "bilinear": ("linear", "half_pixel"),
    "bicubic": ("keys", "half_pixel"),
    "trilinear": ("linear", "half_pixel"),
}
# Under `mint`: all modes count pixels as areas, and cubic interpolation repeats the last pixel.
MINT_SAMPLING = _SAMPLING | {"linear": ("linear", "half_pixel"), "bicubic": ("cubic", "half_pixel")}
# The modes that may align corners, and how they sample then.
_ALIGNED = {"linear": "linear", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}

Scales: TypeAlias = Positive | Sequence[Positive]


def _listed(name: str, argument: str, value: Any, count: int) -> tuple:
    """One number for each of `count` axes."""
    items = tuple(value) if isinstance(value, (tuple, list)) else (value,) * count
    if len(items) != count:
        raise ValueError(
            f"For '{name}', '{argument}' must have {count} items for {count} axes, but got {value}."
        )
    return items


def _checked_size(name: str, value: Any, count: int) -> tuple[int, ...]:
    """Sizes of `count` axes."""
    size = _listed(name, "size", value, count)
    for item in size:
        if not 1 <= item <= _MOST:
            raise ValueError(f"For '{name}', 'size' must be in [1, {_MOST}], but got {value}.")
    return size


def _axes_of(name: str, x: Tensor, rank: int) -> None:
    if x.ndim != rank:
        raise ValueError(
            f"For '{name}', the input must have {rank} dimensions, but got shape {x.shape}."
        )


def _sampled(
    name: str, x: Tensor, size: tuple, mode: str, coordinates: str, scales: tuple = ()
) -> Tensor:
    """The op, in the name of what is called."""
    if mode != "nearest" and not is_floating_point(x):
        raise TypeError(
            f"For '{name}', the dtype of the input must be a floating one, but got {x.dtype}."
        )
    if any(n == 0 for n in x.shape[x.ndim - len(size) :]):
        raise ValueError(f"For '{name}', images must not be empty, but got shape {x.shape}.")
    return _resample(x, size=size, mode=mode, coordinates=coordinates, scales=scales)


def _wanted(
    name: str, x: Tensor, size: Any, scale_factor: Any, recompute: bool | None
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """The sizes of the result, and the scales where these decide about positions."""
    count = x.ndim - 2
    if (size is None) == (scale_factor is None):
        raise ValueError(
            f"For '{name}', one of 'size' and 'scale_factor' must be given, "
            f"but got {size} and {scale_factor}."
        )
    if size is not None:
        if recompute:
            raise ValueError(
                f"For '{name}', 'recompute_scale_factor' must not be True where 'size' is given, "
                f"but got {size}."
            )
        return _checked_size(name, size, count), ()
    scales = tuple(float(s) for s in _listed(name, "scale_factor", scale_factor, count))
    size = _checked_size(name, tuple(int(n * s) for n, s in zip(x.shape[2:], scales)), count)
    return size, () if recompute else scales


def interpolate(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: Scales | None = None,
    mode: Literal[
        "nearest", "linear", "bilinear", "bicubic", "area", "nearest-exact", "trilinear"
    ] = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Images [N, C, ...] in another size, or `scale_factor` times as large.

    Where `scale_factor` is given, positions follow it, and not the sizes, unless it is to be recomputed from these."""
    return _interpolate(
        "interpolate", input, size, scale_factor, mode, align_corners, recompute_scale_factor
    )


def _interpolate(
    name: str,
    x: Tensor,
    size: Any,
    scale_factor: Any,
    mode: str,
    align_corners: bool | None,
    recompute: bool | None,
    sampling: Mapping[str, tuple[str, str]] = _SAMPLING,
) -> Tensor:
    if x.ndim not in _RANKS[mode]:
        raise ValueError(
            f"For '{name}', the input must have {_RANKS[mode]} dimensions in mode '{mode}', "
            f"but got shape {x.shape}."
        )
    if align_corners is not None and mode not in _ALIGNED:
        raise ValueError(
            f"For '{name}', 'align_corners' must be None in mode '{mode}', but got {align_corners}."
        )
    size, scales = _wanted(name, x, size, scale_factor, recompute)
    if align_corners:
        return _sampled(name, x, size, _ALIGNED[mode], "align_corners")
    how, coordinates = sampling[mode]
    return _sampled(name, x, size, how, coordinates, () if mode == "area" else scales)


def upsample(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: Scales | None = None,
    mode: Literal[
        "nearest", "linear", "bilinear", "bicubic", "area", "nearest-exact", "trilinear"
    ] = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """The same as `interpolate`."""
    return _interpolate(
        "upsample", input, size, scale_factor, mode, align_corners, recompute_scale_factor
    )


# ---- primitives of images [N, C, H, W] ------------------------------------------------------------
def _coordinates(name: str, align_corners: bool, half_pixel_centers: bool) -> str:
    if align_corners and half_pixel_centers:
        raise ValueError(
            f"For '{name}', 'half_pixel_centers' must be False where 'align_corners' is True, "
            "but got True for both."
        )
    if align_corners:
        return "align_corners"
    return "half_pixel" if half_pixel_centers else "asymmetric"


def _resized(primitive: Any, image: Tensor, size: Any, mode: str) -> Tensor:
    """Images as a primitive with `align_corners` and `half_pixel_centers` resizes them."""
    name = primitive.name
    _axes_of(name, image, 4)
    coordinates = _coordinates(name, primitive.align_corners, primitive.half_pixel_centers)
    wanted = _checked_size(name, _ints(name, size), 2)
    if mode == "cubic" and coordinates == "half_pixel":
        mode = "keys"
    return _sampled(name, image, wanted, mode, coordinates)


class _Resize(PythonPrimitive):
    """What primitives that resize images share: of these two, at most one may be true."""

    _mode = "linear"

    def __init__(self, align_corners: bool = False, half_pixel_centers: bool = False) -> None:
        _coordinates(type(self).__name__, align_corners, half_pixel_centers)
        super().__init__(align_corners, half_pixel_centers)

    def __call__(self, image: Tensor, size: Sizes) -> Tensor:
        return _resized(self, image, size, self._mode)


class ResizeNearestNeighborV2(_Resize):
    """Images in another size, by the nearest pixel.

    Args:
        align_corners: Whether the corners of input and output coincide.
        half_pixel_centers: Whether pixels count as areas with their positions in the middle.
    """

    _mode = "nearest"


class ResizeBilinearV2(_Resize):
    """Images in another size, by linear interpolation in both directions.

    Args:
        align_corners: Whether the corners of input and output coincide.
        half_pixel_centers: Whether pixels count as areas with their positions in the middle.
    """


class ResizeBicubic(_Resize):
    """Images in another size, by cubic interpolation in both directions.

    Args:
        align_corners: Whether the corners of input and output coincide.
        half_pixel_centers: Whether pixels count as areas with their positions in the middle; what is outside of the image does
            not count then.
    """

    _mode = "cubic"


class _ResizeTo(PythonPrimitive):
    """The older form: the size is known to the constructor."""

    _mode = "linear"

    def __init__(
        self, size: Sequence[int], align_corners: bool = False, half_pixel_centers: bool = False
    ) -> None:
        name = type(self).__name__
        _checked_size(name, tuple(size), 2)
        _coordinates(name, align_corners, half_pixel_centers)
        super().__init__(tuple(size), align_corners, half_pixel_centers)

    def __call__(self, input_x: Tensor) -> Tensor:
        return _resized(self, input_x, self.size, self._mode)


class ResizeNearestNeighbor(_ResizeTo):
    """Images in another size, by the nearest pixel.

    Args:
        size: Height and width.
        align_corners: Whether the corners of input and output coincide.
        half_pixel_centers: Whether pixels count as areas with their positions in the middle.
    """

    _mode = "nearest"


class ResizeBilinear(_ResizeTo):
    """Images in another size, by linear interpolation in both directions.

    Args:
        size: Height and width.
        align_corners: Whether the corners of input and output coincide.
        half_pixel_centers: Whether pixels count as areas with their positions in the middle.
    """


class ResizeArea(PythonPrimitive):
    """Images [N, H, W, C] in another size: means of the area that each pixel covers, in Float32.

    Args:
        align_corners: Whether the corners of input and output coincide.
    """

    def __init__(self, align_corners: bool = False) -> None:
        super().__init__(align_corners)

    def __call__(self, images: Tensor, size: Sizes) -> Tensor:
        _axes_of("ResizeArea", images, 4)
        wanted = _checked_size("ResizeArea", _ints("ResizeArea", size), 2)
        coordinates = "align_corners" if self.align_corners else "asymmetric"
        planes = _transpose(_cast(images, dtype=_core.float32), perm=(0, 3, 1, 2))
        made = _resample(planes, size=wanted, mode="area", coordinates=coordinates)
        return _transpose(made, perm=(0, 2, 3, 1))


class ResizeLinear1D(PythonPrimitive):
    """Sequences [N, C, W] of another length, by linear interpolation.

    Args:
        coordinate_transformation_mode: 'align_corners' or 'half_pixel'.
    """

    def __init__(
        self,
        coordinate_transformation_mode: Literal["align_corners", "half_pixel"] = "align_corners",
    ) -> None:
        super().__init__(coordinate_transformation_mode)

    def __call__(self, x: Tensor, size: Sizes) -> Tensor:
        _axes_of("ResizeLinear1D", x, 3)
        wanted = _checked_size("ResizeLinear1D", _ints("ResizeLinear1D", size), 1)
        aligned = self.coordinate_transformation_mode == "align_corners"
        return _sampled(
            "ResizeLinear1D",
            x,
            wanted,
            "linear",
            "align_corners" if aligned else "half_pixel_or_first",
        )


# ---- primitives of volumes [N, C, D, H, W] ----------------------------------------------------------
def _volume(
    name: str, x: Tensor, size: Any, scales: Any, mode: str, align_corners: bool | None
) -> Tensor:
    _axes_of(name, x, 5)
    if not is_floating_point(x):
        raise TypeError(
            f"For '{name}', the dtype of 'x' must be a floating one, but got {x.dtype}."
        )
    return _interpolate(name, x, size, scales, mode, align_corners, None)


class UpsampleNearest3D(PythonPrimitive):
    """Volumes in another size, by the nearest element."""

    def __call__(
        self,
        x: Tensor,
        output_size: Sequence[int] | None = None,
        scales: Sequence[Positive] | None = None,
    ) -> Tensor:
        return _volume("UpsampleNearest3D", x, output_size, scales, "nearest", None)


class UpsampleTrilinear3D(PythonPrimitive):
    """Volumes in another size, by linear interpolation along each axis.

    Args:
        align_corners: Whether the corners of input and output coincide.
    """

    def __init__(self, align_corners: bool = False) -> None:
        super().__init__(align_corners)

    def __call__(
        self,
        x: Tensor,
        output_size: Sequence[int] | None = None,
        scales: Sequence[Positive] | None = None,
    ) -> Tensor:
        aligned = self.align_corners
        return _volume("UpsampleTrilinear3D", x, output_size, scales, "trilinear", aligned)


CLASSES = {
    c.__name__: c
    for c in (
        ResizeArea,
        ResizeBicubic,
        ResizeBilinear,
        ResizeBilinearV2,
        ResizeLinear1D,
        ResizeNearestNeighbor,
        ResizeNearestNeighborV2,
        UpsampleNearest3D,
        UpsampleTrilinear3D,
    )
}
__all__ = ["interpolate", "upsample"]

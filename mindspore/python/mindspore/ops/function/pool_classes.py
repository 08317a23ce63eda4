"""Primitive classes of poolings: constructors as users write them, over the ops that do the work."""

from __future__ import annotations

from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._checked import checked
from mindspore.common._kinds import Ints, Sizes
from mindspore.ops._bind import classes, raw
from mindspore.ops._windows import pads, sizes
from mindspore.ops.function import array_func, pool_func, unpool_func
from mindspore.ops.function.creation_func import arange
from mindspore.ops.primitive import PythonPrimitive

# Its positions count within a plane, as those of MaxPool2d do; so do those of volumes.
PlanePositions: Any = classes["MaxPoolWithArgmax"]
VolumePositions: Any = classes["MaxPool3DWithArgmax"]


class MaxPoolWithArgmax(PlanePositions):  # type: ignore[misc, valid-type]
    """Largest element of each window and its position in the image: channel by channel, row by row."""

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, positions = super().__call__(x)
        channels_last = self.data_format == "NHWC"
        _, *image = x.shape
        channels = image.pop(-1 if channels_last else 0)
        plane = image[0] * image[1]
        first = arange(0, channels * plane, plane, dtype=_core.int32)
        shape = (channels,) if channels_last else (channels, 1, 1)
        return values, positions + raw("Reshape")(first, shape=shape)


class _Positions:
    """What poolings share that give positions of a chosen type."""

    _rank = 2

    def _settle(
        self, kernel_size: Ints, strides: Any, padding: Ints, dilation: Ints, ceil_mode: bool
    ) -> None:
        name, rank = type(self).__name__, self._rank
        super().__init__(  # type: ignore[call-arg]
            kernel_size=sizes(name, "kernel_size", kernel_size, rank, 1),
            strides=sizes(name, "strides", kernel_size if strides is None else strides, rank, 1),
            pad_mode="pad",
            pad=pads(name, padding, rank, "pads"),
            dilation=sizes(name, "dilation", dilation, rank, 1),
            ceil_mode=bool(ceil_mode),
        )

    def _set_type(self, argmax_type: Any) -> None:
        if argmax_type not in (_core.int32, _core.int64):
            raise TypeError(
                f"For '{type(self).__name__}', 'argmax_type' must be int32 or int64, "
                f"but got {argmax_type}."
            )
        self.attrs["argmax_type"] = argmax_type  # type: ignore[attr-defined]

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor]:
        values, positions = super().__call__(x)  # type: ignore[misc]
        return values, raw("Cast")(positions, dtype=self.argmax_type)  # type: ignore[attr-defined]


class _Planes(PlanePositions):  # type: ignore[misc, valid-type]
    _constructor = [
        *PlanePositions._constructor,
        ("pad", 0, True),
        ("dilation", 1, True),
        ("ceil_mode", False, True),
    ]


class MaxPoolWithArgmaxV2(_Positions, _Planes):
    """Largest element of each window and its position in the plane, row by row."""

    @checked
    def __init__(
        self,
        kernel_size: Ints,
        strides: Ints | None = None,
        pads: Ints = 0,
        dilation: Ints = (1, 1),
        ceil_mode: bool = False,
        argmax_type: Any = _core.int64,
    ) -> None:
        self._settle(kernel_size, strides, pads, dilation, ceil_mode)
        self._set_type(argmax_type)


class MaxPool3DWithArgmax(_Positions, VolumePositions):  # type: ignore[misc, valid-type]
    """Largest element of each window and its position in the volume, slice by slice, row by row."""

    _rank = 3

    @checked
    def __init__(
        self,
        ksize: Ints,
        strides: Ints,
        pads: Ints,
        dilation: Ints = (1, 1, 1),
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        argmax_type: Any = _core.int64,
    ) -> None:
        _only_first(type(self).__name__, data_format)
        self._settle(ksize, strides, pads, dilation, ceil_mode)
        self._set_type(argmax_type)


def _only_first(owner: str, data_format: str, known: str = "NCDHW") -> None:
    if data_format != known:
        raise ValueError(
            f"For '{owner}', 'data_format' must be '{known}', but got {data_format!r}."
        )


def _volume(owner: str, kernel: Any, strides: Any, padding: Any) -> dict[str, Any]:
    def spatial(argument: str, value: Any) -> Any:
        inner = isinstance(value, (tuple, list)) and len(value) == 5
        return value if inner else sizes(owner, argument, value, 3, 1)

    return {
        "kernel_size": spatial("kernel_size", kernel),
        "strides": spatial("strides", strides),
        "pad": pads(owner, padding, 3, "pad"),
    }


class MaxPool3D(classes["MaxPool3D"]):  # type: ignore[misc, valid-type]
    """Largest element of each window of volumes; a nan wins."""

    @checked
    def __init__(
        self,
        kernel_size: Ints = 1,
        strides: Ints = 1,
        pad_mode: str = "VALID",
        pad_list: Ints = 0,
        ceil_mode: bool | None = None,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(
            **_volume("MaxPool3D", kernel_size, strides, pad_list),
            pad_mode=pad_mode,
            ceil_mode=bool(ceil_mode) and pad_mode.lower() == "pad",
            data_format=data_format,
        )
        self.attrs["pad_list"] = self.pad


class AvgPool3D(classes["AvgPool3D"]):  # type: ignore[misc, valid-type]
    """Mean of each window of volumes."""

    @checked
    def __init__(
        self,
        kernel_size: Ints = 1,
        strides: Ints = 1,
        pad_mode: str = "valid",
        pad: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int = 0,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(
            **_volume("AvgPool3D", kernel_size, strides, pad),
            pad_mode=pad_mode,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
            divisor_override=divisor_override,
            data_format=data_format,
        )


# ---- adaptive ------------------------------------------------------------------------------------
class AdaptiveAvgPool2D(classes["AdaptiveAvgPool2D"]):  # type: ignore[misc, valid-type]
    """Means over a grid of `output_size` windows; None keeps a size of the input."""

    def __init__(self, output_size: Any) -> None:
        super().__init__(pool_func.grid(type(self).__name__, output_size))


class AdaptiveAvgPool3D(classes["AdaptiveAvgPool3D"]):  # type: ignore[misc, valid-type]
    """Means over a grid of `output_size` windows of volumes; None keeps a size of the input."""

    def __init__(self, output_size: Any) -> None:
        super().__init__(pool_func.grid(type(self).__name__, output_size))


class AdaptiveMaxPool2D(PythonPrimitive):
    """Largest elements over a grid of `output_size` windows, and their positions in the plane."""

    def __init__(self, output_size: Ints) -> None:
        super().__init__(output_size)

    def __call__(self, input: Tensor) -> tuple[Tensor, Tensor]:
        return pool_func.adaptive_max_pool2d(input, self.output_size, True)


class AdaptiveMaxPool3D(PythonPrimitive):
    """Largest elements over a grid of windows of volumes, and their positions in the volume."""

    def __call__(self, x: Tensor, output_size: Sizes) -> tuple[Tensor, Tensor]:
        size = array_func._ints(self.name, output_size)
        return pool_func.adaptive_max_pool3d(x, size, True)


# ---- windows that are data -----------------------------------------------------------------------
class _MaxUnpool(PythonPrimitive):
    """Zeros with elements where a pooling has found them."""

    def __init__(
        self,
        ksize: Ints,
        strides: Ints = 0,
        pads: Ints = 0,
        output_shape: Ints = (),
        data_format: str = "",
    ) -> None:
        super().__init__(ksize, strides, pads, output_shape, data_format)

    _format = "NCHW"

    def __call__(self, x: Tensor, argmax: Tensor) -> Tensor:
        _only_first(self.name, self.data_format or self._format, self._format)
        unpool = unpool_func.max_unpool2d if self._format == "NCHW" else unpool_func.max_unpool3d
        return unpool(x, argmax, self.ksize, self.strides, self.pads, self.output_shape or None)


class MaxUnpool2D(_MaxUnpool):
    """Zeros with the elements of images where a pooling has found them."""


class MaxUnpool3D(_MaxUnpool):
    """Zeros with the elements of volumes where a pooling has found them."""

    _format = "NCDHW"


class FractionalMaxPoolWithFixedKsize(PythonPrimitive):
    """Largest elements over windows of images that random samples [N, C, 2] place, and their positions."""

    def __init__(self, ksize: Ints, output_shape: Ints, data_format: str = "NCHW") -> None:
        super().__init__(ksize, output_shape, data_format)

    def __call__(self, input_x: Tensor, random_samples: Tensor) -> tuple[Tensor, Tensor]:
        _only_first(self.name, self.data_format, "NCHW")
        return unpool_func.fractional_max_pool2d(
            input_x, self.ksize, self.output_shape, None, True, random_samples
        )


class FractionalMaxPool3DWithFixedKsize(PythonPrimitive):
    """Largest elements over windows of volumes that random samples [N, C, 3] place, and their positions."""

    def __init__(self, ksize: Ints, output_shape: Ints, data_format: str = "NCDHW") -> None:
        super().__init__(ksize, output_shape, data_format)

    def __call__(self, x: Tensor, random_samples: Tensor) -> tuple[Tensor, Tensor]:
        _only_first(self.name, self.data_format)
        return unpool_func.fractional_max_pool3d(
            x, self.ksize, self.output_shape, None, True, random_samples
        )


CLASSES = {
    c.__name__: c
    for c in (
        AdaptiveAvgPool2D,
        AdaptiveAvgPool3D,
        AdaptiveMaxPool2D,
        AdaptiveMaxPool3D,
        AvgPool3D,
        FractionalMaxPool3DWithFixedKsize,
        FractionalMaxPoolWithFixedKsize,
        MaxPool3D,
        MaxPool3DWithArgmax,
        MaxPoolWithArgmax,
        MaxPoolWithArgmaxV2,
        MaxUnpool2D,
        MaxUnpool3D,
    )
}
__all__: list[str] = []

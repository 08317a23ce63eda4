"""Pooling layers over sequences, images and volumes. Sequences are images of height 1."""

from __future__ import annotations

from typing import Any, Literal

from mindspore.common import dtype as mstype
from mindspore.common._kinds import Ints, PositiveInt
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.fitted_pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    FractionalMaxPool2d,
    FractionalMaxPool3d,
    LPPool1d,
    LPPool2d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)
from mindspore.ops import operations as P
from mindspore.ops._windows import images, restored
from mindspore.ops.function.pool_classes import PlanePositions, VolumePositions


class _Pool(Cell):
    """What all pooling layers share; `_dims` is the number of spatial dimensions."""

    _dims = 2

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints,
        pad_mode: str,
        padding: Ints,
        ceil_mode: bool,
        data_format: Literal["NCHW", "NHWC", "NCDHW"] = "NCHW",
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self._window = self._sizes(kernel_size, "kernel_size", 1)
        self._step = self._sizes(stride, "stride", 1)
        self.kernel_size = kernel_size
        self.stride = stride
        self.pad_mode = pad_mode.upper()
        if self.pad_mode not in ("VALID", "SAME", "PAD"):
            raise ValueError(
                f"For '{owner}', 'pad_mode' must be one of 'valid', 'same', 'pad', but got {pad_mode!r}."
            )
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.format = data_format
        pads = self._sizes(padding, "padding", 0)
        if self.pad_mode != "PAD" and (any(pads) or ceil_mode):
            raise ValueError(
                f"For '{owner}', 'padding' and 'ceil_mode' must be left alone unless 'pad_mode' is "
                f"'pad', but got padding {padding}, ceil_mode {ceil_mode} and pad_mode "
                f"'{pad_mode}'."
            )
        self._padding = (0,) * (2 - self._dims) + pads
        if any(2 * p > k for p, k in zip(self._padding, self._window)):
            raise ValueError(
                f"For '{owner}', 'padding' must be at most half of 'kernel_size', "
                f"but got {padding} and {kernel_size}."
            )

    def _sizes(self, value: Ints, name: str, minimum: int) -> tuple[int, ...]:
        """One size for each dimension from what the user gave; in one dimension the height is 1."""
        items = (value,) if isinstance(value, int) else tuple(value)
        if len(items) == 1:
            items = items * self._dims
        if len(items) != self._dims or any(item < minimum for item in items):
            raise ValueError(
                f"For '{self.cls_name}', '{name}' must be an int or a tuple of {self._dims} ints "
                f"of at least {minimum}, but got {value}."
            )
        return items if name == "padding" else (1,) * (2 - self._dims) + items

    def _op(self, make: Any, **settings: Any) -> Any:
        """The op, with what its public constructor does not take as attributes."""
        op = make(
            kernel_size=self._window,
            strides=self._step,
            pad_mode=self.pad_mode.lower(),
            data_format=self.format,
        )
        if self.pad_mode == "PAD":
            op.add_prim_attr("pad", tuple(p for p in self._padding for _ in (0, 1)))
            op.add_prim_attr("ceil_mode", self.ceil_mode)
        for name, value in settings.items():
            # Whether what 'same' adds counts can be chosen in volumes alone.
            if self.pad_mode == "PAD" or self._dims == 3 or name == "divisor_override":
                op.add_prim_attr(name, value)
        return op

    def extend_repr(self) -> str:
        """The settings."""
        sequence = self._dims == 1  # shown as the image that it is
        window, step = (self._window, self._step) if sequence else (self.kernel_size, self.stride)
        return f"kernel_size={window}, stride={step}, pad_mode={self.pad_mode}"


class _MaxPool(_Pool):
    """The maximum over windows."""

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints,
        pad_mode: str,
        padding: Ints,
        dilation: Ints,
        return_indices: bool,
        ceil_mode: bool,
        data_format: Literal["NCHW", "NHWC", "NCDHW"] = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, data_format)
        dilations = self._sizes(dilation, "dilation", 1)
        self.return_indices = return_indices
        if self.pad_mode != "PAD" and (return_indices or max(dilations) > 1):
            raise ValueError(
                f"For '{self.cls_name}', 'dilation' and 'return_indices' must be left alone unless "
                f"'pad_mode' is 'pad', but got {dilation}, {return_indices} and '{pad_mode}'."
            )
        plain, indexed = (
            (P.MaxPool3D, VolumePositions) if self._dims == 3 else (P.MaxPool, PlanePositions)
        )
        self.max_pool = self._op(indexed if return_indices else plain, dilation=dilations)

    def construct(self, x: Tensor) -> Any:
        """The maxima, and their positions where asked."""
        output = _run(self.max_pool, x, self._dims)
        return (output[0], output[1].astype(mstype.int64)) if self.return_indices else output


class MaxPool2d(_MaxPool):
    """The maximum over windows of images.

    Args:
        kernel_size: An int, or (height, width).
        stride: An int, or (vertical, horizontal).
        pad_mode: 'same' pads so that the output has ceil(size / stride) positions, 'valid' does not
            pad, 'pad' pads by `padding`.
        padding: An int, or (vertical, horizontal), at most half the kernel.
        dilation: With 'pad', the distance between the elements of a window.
        return_indices: With 'pad', whether positions in the plane are returned too.
        ceil_mode: With 'pad', whether a last window may reach over the end.
        data_format: 'NCHW' or 'NHWC'.
    """

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints = 1,
        pad_mode: str = "valid",
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
        data_format: Literal["NCHW", "NHWC"] = "NCHW",
    ) -> None:
        super().__init__(
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            return_indices,
            ceil_mode,
            data_format,
        )


class MaxPool1d(_MaxPool):
    """The maximum over windows of sequences [N, C, L].

    Args:
        kernel_size: The length of a window.
        stride: The step.
        pad_mode: 'same', 'valid' or 'pad', as for MaxPool2d.
        padding: With 'pad', the padding on both sides.
        dilation: With 'pad', the distance between the elements of a window.
        return_indices: With 'pad', whether positions in the plane are returned too.
        ceil_mode: With 'pad', whether a last window may reach over the end.
    """

    _dims = 1

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints = 1,
        pad_mode: str = "valid",
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(
            kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode
        )


class _AvgPool(_Pool):
    """The mean over windows."""

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints,
        pad_mode: str,
        padding: Ints,
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: PositiveInt | None = None,
        data_format: Literal["NCHW", "NHWC", "NCDHW"] = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, data_format)
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override
        self.avg_pool = self._op(
            P.AvgPool3D if self._dims == 3 else P.AvgPool,
            count_include_pad=self.count_include_pad,
            divisor_override=divisor_override or 0,
        )

    def construct(self, x: Tensor) -> Tensor:
        """The means."""
        return _run(self.avg_pool, x, self._dims)


class AvgPool2d(_AvgPool):
    """The mean over windows of images.

    Args:
        kernel_size: An int, or (height, width).
        stride: An int, or (vertical, horizontal).
        pad_mode: 'same' pads so that the output has ceil(size / stride) positions, 'valid' does not
            pad, 'pad' pads by `padding`.
        padding: An int, or (vertical, horizontal), at most half the kernel.
        ceil_mode: With 'pad', whether a last window may reach over the end.
        count_include_pad: With 'pad', whether the padding counts in the mean.
        divisor_override: What sums are divided by instead of the count.
        data_format: 'NCHW' or 'NHWC'.
    """

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints = 1,
        pad_mode: str = "valid",
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
        data_format: Literal["NCHW", "NHWC"] = "NCHW",
    ) -> None:
        super().__init__(
            kernel_size,
            stride,
            pad_mode,
            padding,
            ceil_mode,
            count_include_pad,
            divisor_override,
            data_format,
        )


class AvgPool1d(_AvgPool):
    """The mean over windows of sequences [N, C, L].

    Args:
        kernel_size: The length of a window.
        stride: The step.
        pad_mode: 'same', 'valid' or 'pad', as for AvgPool2d.
        padding: With 'pad', the padding on both sides.
        ceil_mode: With 'pad', whether a last window may reach over the end.
        count_include_pad: With 'pad', whether the padding counts in the mean.
    """

    _dims = 1

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints = 1,
        pad_mode: str = "valid",
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, count_include_pad)


class MaxPool3d(_MaxPool):
    """The maximum over windows of volumes.

    Args:
        kernel_size: An int, or (depth, height, width).
        stride: An int, or one for each dimension.
        pad_mode: 'same', 'valid' or 'pad', as for MaxPool2d.
        padding: An int, or one for each dimension, at most half the kernel.
        dilation: With 'pad', the distance between the elements of a window.
        return_indices: With 'pad', whether positions in the volume are returned too.
        ceil_mode: With 'pad', whether a last window may reach over the end.
    """

    _dims = 3

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints = 1,
        pad_mode: str = "valid",
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(
            kernel_size, stride, pad_mode, padding, dilation, return_indices, ceil_mode, "NCDHW"
        )


class AvgPool3d(_AvgPool):
    """The mean over windows of volumes.

    Args:
        kernel_size: An int, or (depth, height, width).
        stride: An int, or one for each dimension.
        pad_mode: 'same', 'valid' or 'pad', as for AvgPool2d.
        padding: An int, or one for each dimension, at most half the kernel.
        ceil_mode: With 'pad', whether a last window may reach over the end.
        count_include_pad: Whether the padding counts in the mean.
        divisor_override: What sums are divided by instead of the count.
    """

    _dims = 3

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints = 1,
        pad_mode: str = "valid",
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(
            kernel_size,
            stride,
            pad_mode,
            padding,
            ceil_mode,
            count_include_pad,
            divisor_override,
            "NCDHW",
        )


def _run(pool: Any, x: Tensor, dims: int) -> Any:
    """The pool of x, which may lack the batch, and in one dimension has no height."""
    if dims > 1 and x.ndim == dims + 2:
        return pool(x)
    return restored(x, pool(images(pool.name, x, dims)), dims)


__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]

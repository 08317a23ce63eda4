"""Pooling layers over sequences and images. Sequences are images of height 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mindspore import ops
from mindspore.common._kinds import Ints, PositiveInt
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P
from mindspore.ops.function.primitive_classes import PlanePositions


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
        data_format: Literal["NCHW", "NHWC"] = "NCHW",
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
        """(height, width) from what the user gave; in one dimension the height is 1."""
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
            (vertical, horizontal) = self._padding
            op.add_prim_attr("pad", (vertical, vertical, horizontal, horizontal))
            op.add_prim_attr("ceil_mode", self.ceil_mode)
            for name, value in settings.items():
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
        data_format: Literal["NCHW", "NHWC"] = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, data_format)
        dilations = self._sizes(dilation, "dilation", 1)
        self.return_indices = return_indices
        if self.pad_mode != "PAD" and (return_indices or dilations != (1, 1)):
            raise ValueError(
                f"For '{self.cls_name}', 'dilation' and 'return_indices' must be left alone unless "
                f"'pad_mode' is 'pad', but got {dilation}, {return_indices} and '{pad_mode}'."
            )
        make = PlanePositions if return_indices else P.MaxPool
        self.max_pool = self._op(make, dilation=dilations)


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

    def construct(self, x: Tensor) -> Any:
        """The maxima, and their positions where asked."""
        return self.max_pool(x) if x.ndim == 4 else _batched(self.max_pool, x)


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

    def construct(self, x: Tensor) -> Any:
        """The maxima, and their positions where asked."""
        x = x.expand_dims(-2)
        return _flat(self.max_pool(x) if x.ndim == 4 else _batched(self.max_pool, x))


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
        data_format: Literal["NCHW", "NHWC"] = "NCHW",
    ) -> None:
        super().__init__(kernel_size, stride, pad_mode, padding, ceil_mode, data_format)
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override
        self.avg_pool = self._op(
            P.AvgPool,
            count_include_pad=self.count_include_pad,
            divisor_override=divisor_override or 0,
        )


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
        divisor_override: With 'pad', what sums are divided by instead of the count.
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

    def construct(self, x: Tensor) -> Tensor:
        """The means."""
        return self.avg_pool(x) if x.ndim == 4 else _batched(self.avg_pool, x)


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

    def construct(self, x: Tensor) -> Tensor:
        """The means."""
        x = x.expand_dims(-2)
        return _flat(self.avg_pool(x) if x.ndim == 4 else _batched(self.avg_pool, x))


class AdaptiveAvgPool2d(Cell):
    """The mean over windows chosen so that the output has a given size.

    Args:
        output_size: An int, or (height, width); None keeps the input's size.
    """

    def __init__(self, output_size: PositiveInt | Sequence[PositiveInt | None] | None) -> None:
        super().__init__()
        items: tuple[int | None, ...] = (
            (output_size, output_size)
            if output_size is None or isinstance(output_size, int)
            else tuple(output_size)
        )
        if len(items) != 2:
            raise ValueError(
                f"For '{self.cls_name}', 'output_size' must be an int or a tuple of 2, "
                f"but got {output_size}."
            )
        self.output_size = items

    def construct(self, x: Tensor) -> Tensor:
        """The means."""
        return ops.adaptive_avg_pool2d(x, self.output_size)


class AdaptiveAvgPool1d(Cell):
    """The mean over windows of sequences, chosen so that the output has a given length.

    Args:
        output_size: The length.
    """

    def __init__(self, output_size: PositiveInt) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, x: Tensor) -> Tensor:
        """The means."""
        return ops.adaptive_avg_pool2d(x.expand_dims(-2), (1, self.output_size)).squeeze(-2)


def _batched(pool: Any, x: Tensor) -> Any:
    """The pool of x, which lacks the dimension of the batch."""
    output = pool(x.expand_dims(0))
    if isinstance(output, tuple):
        return output[0].squeeze(0), output[1].squeeze(0)
    return output.squeeze(0)


def _flat(output: Any) -> Any:
    """The outputs without the height of 1."""
    if isinstance(output, tuple):
        return output[0].squeeze(-2), output[1].squeeze(-2)
    return output.squeeze(-2)


__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AvgPool1d",
    "AvgPool2d",
    "MaxPool1d",
    "MaxPool2d",
]

"""Pooling layers with the arguments of `mindspore.mint.nn`: windows step by their own size, and padding is a number of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import ops
from mindspore.common._kinds import Ints
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell


class _Pool(Cell):
    """A function of windows with its settings."""

    _function: Callable

    def __init__(self, kernel_size: Ints, stride: Ints | None, **settings: Any) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.settings = settings

    def construct(self, input: Tensor) -> Any:
        return type(self)._function(input, self.kernel_size, self.stride, **self.settings)


class AvgPool1dExt(_Pool):
    """The mean of each window of sequences.

    Args:
        kernel_size: The size of a window.
        stride: From one window to the next; None is the size.
        padding: Zeros before and behind.
        ceil_mode: Whether windows may end outside.
        count_include_pad: Whether the zeros count.
    """

    _function = staticmethod(ops.avg_pool1d)

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(
            kernel_size,
            stride,
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
        )


class AvgPool2dExt(_Pool):
    """The mean of each window of images.

    Args:
        kernel_size: The size of a window.
        stride: From one window to the next; None is the size.
        padding: Zeros on each side.
        ceil_mode: Whether windows may end outside.
        count_include_pad: Whether the zeros count.
        divisor_override: What sums are divided by instead of the number of elements.
    """

    _function = staticmethod(ops.avg_pool2d)

    def __init__(
        self,
        kernel_size: Ints,
        stride: Ints | None = None,
        padding: Ints = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__(
            kernel_size,
            stride,
            padding=padding,
            ceil_mode=ceil_mode,
            count_include_pad=count_include_pad,
            divisor_override=0 if divisor_override is None else divisor_override,
        )


class AvgPool3dExt(AvgPool2dExt):
    """The mean of each window of volumes; the arguments are those of AvgPool2dExt."""

    _function = staticmethod(ops.avg_pool3d)


class MaxPool2dExt(_Pool):
    """The largest element of each window of images.

    Args:
        kernel_size: The size of a window.
        stride: From one window to the next; None is the size.
        padding: How far windows may begin outside.
        dilation: From one element of a window to the next.
        return_indices: Whether the positions are given, too.
        ceil_mode: Whether windows may end outside.
    """

    _function = staticmethod(ops.max_pool2d)

    def __init__(
        self,
        kernel_size: Ints = 1,
        stride: Ints | None = None,
        padding: Ints = 0,
        dilation: Ints = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__(
            kernel_size,
            stride,
            padding=padding,
            dilation=dilation,
            return_indices=return_indices,
            ceil_mode=ceil_mode,
        )


__all__ = ["AvgPool1dExt", "AvgPool2dExt", "AvgPool3dExt", "MaxPool2dExt"]

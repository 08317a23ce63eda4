"""Convolutions in one and two dimensions, and their transposes."""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

from mindspore.common import dtype as mstype
from mindspore.common._kinds import Ints, PositiveInt
from mindspore.common.initializer import HeUniform, Uniform, initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P

PadMode: TypeAlias = Literal["same", "valid", "pad"]


def _int_tuple(value: Ints, size: int, name: str, owner: str, minimum: int = 1) -> tuple[int, ...]:
    """A tuple of `size` ints from one, or from so many, each at least `minimum`."""
    items = (value,) * size if isinstance(value, int) else tuple(value)
    if len(items) != size:
        raise TypeError(
            f"For '{owner}', '{name}' must be an int or a tuple of {size} ints, but got {value}."
        )
    if min(items) < minimum:
        raise ValueError(
            f"For '{owner}', every size in '{name}' must be at least {minimum}, but got {value}."
        )
    return items


class _Conv(Cell):
    """What all convolutions share: settings, their checks, weight and bias.

    `rank` is the number of spatial dimensions. In one dimension all sizes get a 1 in front, as the
    ops work on images.
    """

    def __init__(
        self,
        rank: int,
        in_channels: PositiveInt,
        out_channels: PositiveInt,
        kernel_size: Ints,
        stride: Ints,
        pad_mode: PadMode,
        padding: Ints,
        dilation: Ints,
        group: PositiveInt,
        has_bias: bool,
        weight_init: Any,
        bias_init: Any,
        data_format: Literal["NCHW", "NHWC"],
        dtype: Any,
        transposed: bool = False,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.group = group
        lead = (1,) * (2 - rank)
        self.kernel_size = lead + _int_tuple(kernel_size, rank, "kernel_size", owner)
        self.stride = lead + _int_tuple(stride, rank, "stride", owner)
        self.dilation = lead + _int_tuple(dilation, rank, "dilation", owner)
        self.pad_mode = pad_mode
        self.pads = self._check_padding(rank, padding)
        self.padding = padding if rank == 2 else self.pads
        self.has_bias = has_bias
        self.data_format = data_format
        if in_channels % group or out_channels % group:
            raise ValueError(
                f"For '{owner}', 'in_channels' and 'out_channels' must be divisible by 'group', "
                f"but got {in_channels}, {out_channels} and {group}."
            )
        shape = self._weight_shape(transposed)
        self.weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(self.weight_init, shape, dtype), name="weight")
        self.bias_init = bias_init
        self.bias = None
        if self.has_bias:
            if bias_init is None:
                fan_in = math.prod(shape) // shape[0]
                self.bias_init = Uniform(1 / math.sqrt(fan_in))
            self.bias = Parameter(initializer(self.bias_init, (out_channels,), dtype), name="bias")
            self.bias_add = P.BiasAdd(data_format=self.data_format)

    def _weight_shape(self, transposed: bool) -> tuple[int, ...]:
        first, second = self.out_channels, self.in_channels // self.group
        if transposed:
            first, second = self.in_channels, self.out_channels // self.group
        if self.data_format == "NHWC":
            return (first, *self.kernel_size, second)
        return (first, second, *self.kernel_size)

    def _check_padding(self, rank: int, padding: Any) -> tuple[int, ...]:
        """(top, bottom, left, right) from what the user gave."""
        pads = _int_tuple(padding, 2 * rank, "padding", self.cls_name, minimum=0)
        if self.pad_mode != "pad" and any(pads):
            raise ValueError(
                f"For '{self.cls_name}', 'padding' must be 0 unless 'pad_mode' is 'pad', "
                f"but got padding {padding} and pad_mode '{self.pad_mode}'."
            )
        return (0,) * (4 - 2 * rank) + pads

    def extend_repr(self) -> str:
        """The settings."""
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, "
            f"has_bias={self.has_bias}, weight_init={self.weight_init}, "
            f"bias_init={self.bias_init}, format={self.data_format}"
        )


class Conv2d(_Conv):
    """A convolution over images.

    Args:
        in_channels: The channels of the input.
        out_channels: The channels of the output.
        kernel_size: An int, or (height, width).
        stride: An int, or (vertical, horizontal).
        pad_mode: 'same' pads so that the output has ceil(size / stride) positions, 'valid' does
            not pad, 'pad' pads by `padding`.
        padding: An int, or (top, bottom, left, right).
        dilation: An int, or (vertical, horizontal).
        group: Channels are split into this many groups that do not see each other.
        has_bias: Whether a bias is added.
        weight_init: How the weight starts; None is HeUniform(sqrt(5)).
        bias_init: How the bias starts; None is uniform within 1 / sqrt(fan_in).
        data_format: 'NCHW' or 'NHWC'.
        dtype: The dtype of the parameters.

    Inputs:
        x: [N, in_channels, H, W] or, as `data_format` says, [N, H, W, in_channels].
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: PadMode = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: Literal["NCHW", "NHWC"] = "NCHW",
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(
            2,
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
            data_format,
            dtype,
        )
        self.conv2d = P.Conv2D(
            out_channel=self.out_channels,
            kernel_size=self.kernel_size,
            mode=1,
            pad_mode=self.pad_mode,
            pad=self.pads,
            stride=self.stride,
            dilation=self.dilation,
            group=self.group,
            data_format=self.data_format,
        )

    def construct(self, x: Tensor) -> Tensor:
        """The convolution."""
        output = self.conv2d(x, self.weight)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output


class Conv1d(_Conv):
    """A convolution over sequences.

    Args:
        in_channels: The channels of the input.
        out_channels: The channels of the output.
        kernel_size: The length of the kernel.
        stride: The step.
        pad_mode: 'same', 'valid' or 'pad', as for Conv2d.
        padding: With 'pad', the zeros on both sides, or (left, right).
        dilation: The distance between taps.
        group: Channels are split into this many groups that do not see each other.
        has_bias: Whether a bias is added.
        weight_init: How the weight starts; None is HeUniform(sqrt(5)).
        bias_init: How the bias starts; None is uniform within 1 / sqrt(fan_in).
        dtype: The dtype of the parameters.

    Inputs:
        x: [N, in_channels, L].
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: PadMode = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(
            1,
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
            "NCHW",
            dtype,
        )
        self.conv2d = P.Conv2D(
            out_channel=self.out_channels,
            kernel_size=self.kernel_size,
            mode=1,
            pad_mode=self.pad_mode,
            pad=self.pads,
            stride=self.stride,
            dilation=self.dilation,
            group=self.group,
        )

    def construct(self, x: Tensor) -> Tensor:
        """The convolution."""
        output = self.conv2d(x.expand_dims(2), self.weight)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output.squeeze(2)


def _transposed_size(
    mode: str, size: int, kernel: int, stride: int, dilation: int, pads: int, extra: int
) -> int:
    """The output size of a transposed convolution along one dimension."""
    reach = (kernel - 1) * dilation + 1
    if mode == "same":
        return size * stride
    if mode == "valid":
        return size * stride + max(reach - stride, 0)
    return (size - 1) * stride - pads + reach + extra


class Conv2dTranspose(_Conv):
    """A transposed convolution: the gradient of Conv2d with respect to its input.

    Args:
        in_channels: The channels of the input.
        out_channels: The channels of the output.
        kernel_size: An int, or (height, width).
        stride: An int, or (vertical, horizontal).
        pad_mode: 'same', 'valid' or 'pad': what the convolution it is the gradient of has.
        padding: With 'pad', an int, or (top, bottom, left, right).
        output_padding: With 'pad', how much larger the output is at the bottom and at the right.
        dilation: An int, or (vertical, horizontal).
        group: Channels are split into this many groups that do not see each other.
        has_bias: Whether a bias is added.
        weight_init: How the weight starts; None is HeUniform(sqrt(5)).
        bias_init: How the bias starts; None is uniform within 1 / sqrt(fan_in).
        dtype: The dtype of the parameters.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: PadMode = "same",
        padding: Ints = 0,
        output_padding: Ints = 0,
        dilation: Ints = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(
            2,
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
            "NCHW",
            dtype,
            transposed=True,
        )
        self.output_padding = output_padding
        self.extra = _int_tuple(output_padding, 2, "output_padding", self.cls_name, minimum=0)
        if any(self.extra) and pad_mode != "pad":
            raise ValueError(
                f"For '{self.cls_name}', 'output_padding' must be 0 unless 'pad_mode' is 'pad', "
                f"but got output_padding {output_padding} and pad_mode '{pad_mode}'."
            )
        if any(e >= max(s, d) for e, s, d in zip(self.extra, self.stride, self.dilation)):
            raise ValueError(
                f"For '{self.cls_name}', 'output_padding' must be less than 'stride' or "
                f"'dilation', but got {output_padding}, {stride} and {dilation}."
            )
        self.conv2d_transpose = P.Conv2DTranspose(
            out_channel=self.in_channels,
            kernel_size=self.kernel_size,
            mode=1,
            pad_mode=self.pad_mode,
            pad=self.pads,
            stride=self.stride,
            dilation=self.dilation,
            group=self.group,
        )

    def _size(self, size: int, dim: int) -> int:
        """The output size along spatial dimension `dim`."""
        return _transposed_size(
            self.pad_mode,
            size,
            self.kernel_size[dim],
            self.stride[dim],
            self.dilation[dim],
            self.pads[2 * dim] + self.pads[2 * dim + 1],
            self.extra[dim],
        )

    def construct(self, x: Tensor) -> Tensor:
        """The transposed convolution."""
        if x.ndim != 4:
            raise ValueError(
                f"For '{self.cls_name}', the input must have 4 dimensions, but got shape {x.shape}."
            )
        n, _, h, w = x.shape
        size = (n, self.out_channels, self._size(h, 0), self._size(w, 1))
        output = self.conv2d_transpose(x, self.weight, size)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output


class Conv1dTranspose(_Conv):
    """A transposed convolution over sequences.

    Args:
        in_channels: The channels of the input.
        out_channels: The channels of the output.
        kernel_size: The length of the kernel.
        stride: The step.
        pad_mode: 'same', 'valid' or 'pad', as for Conv2dTranspose.
        padding: With 'pad', the padding on both sides.
        dilation: The distance between taps.
        group: Channels are split into this many groups that do not see each other.
        has_bias: Whether a bias is added.
        weight_init: How the weight starts; None is HeUniform(sqrt(5)).
        bias_init: How the bias starts; None is uniform within 1 / sqrt(fan_in).
        dtype: The dtype of the parameters.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Ints,
        stride: Ints = 1,
        pad_mode: PadMode = "same",
        padding: Ints = 0,
        dilation: Ints = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(
            1,
            in_channels,
            out_channels,
            kernel_size,
            stride,
            pad_mode,
            padding,
            dilation,
            group,
            has_bias,
            weight_init,
            bias_init,
            "NCHW",
            dtype,
            transposed=True,
        )
        self.conv2d_transpose = P.Conv2DTranspose(
            out_channel=self.in_channels,
            kernel_size=self.kernel_size,
            mode=1,
            pad_mode=self.pad_mode,
            pad=self.pads,
            stride=self.stride,
            dilation=self.dilation,
            group=self.group,
        )

    def construct(self, x: Tensor) -> Tensor:
        """The transposed convolution."""
        if x.ndim != 3:
            raise ValueError(
                f"For '{self.cls_name}', the input must have 3 dimensions, but got shape {x.shape}."
            )
        n, _, length = x.shape
        width = _transposed_size(
            self.pad_mode,
            length,
            self.kernel_size[1],
            self.stride[1],
            self.dilation[1],
            self.pads[2] + self.pads[3],
            0,
        )
        size = (n, self.out_channels, 1, width)
        output = self.conv2d_transpose(x.expand_dims(2), self.weight, size)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output.squeeze(2)


__all__ = ["Conv1d", "Conv1dTranspose", "Conv2d", "Conv2dTranspose"]

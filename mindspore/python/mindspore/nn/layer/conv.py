"""Convolutions in one, two and three dimensions."""

from __future__ import annotations

from typing import Any, Literal

from mindspore.common import dtype as mstype
from mindspore.common._kinds import Ints
from mindspore.common.tensor import Tensor
from mindspore.nn.layer._conv_base import PadMode, _Conv
from mindspore.nn.layer.conv_transpose import Conv1dTranspose, Conv2dTranspose, Conv3dTranspose
from mindspore.ops import operations as P


def _check_input_3d(input_shape: tuple[int, ...], op_name: str) -> None:
    """Refuses what has not three dimensions."""
    if not isinstance(input_shape, (tuple, list)):
        raise TypeError(f"For '{op_name}', the shape must be a tuple, but got {input_shape!r}.")
    if len(input_shape) != 3:
        raise ValueError(
            f"For '{op_name}', the input must have 3 dimensions, but got {len(input_shape)}."
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
        self.conv2d = self._op(P.Conv2D, out_channels)

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
        self.conv2d = self._op(P.Conv2D, out_channels)

    def construct(self, x: Tensor) -> Tensor:
        """The convolution."""
        output = self.conv2d(x.expand_dims(2), self.weight)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output.squeeze(2)


class Conv3d(_Conv):
    """A convolution over volumes.

    Args:
        in_channels: The channels of the input.
        out_channels: The channels of the output.
        kernel_size: An int, or (depth, height, width).
        stride: An int, or one for each dimension.
        pad_mode: 'same' pads so that the output has ceil(size / stride) positions, 'valid' does
            not pad, 'pad' pads by `padding`.
        padding: An int, or (front, back, top, bottom, left, right).
        dilation: An int, or one for each dimension.
        group: Channels are split into this many groups that do not see each other.
        has_bias: Whether a bias is added.
        weight_init: How the weight starts; None is HeUniform(sqrt(5)).
        bias_init: How the bias starts; None is uniform within 1 / sqrt(fan_in).
        data_format: 'NCDHW'.
        dtype: The dtype of the parameters.

    Inputs:
        x: [N, in_channels, D, H, W].
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
        data_format: Literal["NCDHW"] = "NCDHW",
        dtype: mstype.Type = mstype.float32,
    ) -> None:
        super().__init__(
            3,
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
        self.conv3d = self._op(P.Conv3D, out_channels)

    def construct(self, x: Tensor) -> Tensor:
        """The convolution."""
        output = self.conv3d(x, self.weight)
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output


__all__ = [
    "Conv1d",
    "Conv1dTranspose",
    "Conv2d",
    "Conv2dTranspose",
    "Conv3d",
    "Conv3dTranspose",
]

"""Transposed convolutions: the gradients of convolutions with respect to their inputs."""

from __future__ import annotations

from typing import Any, Literal

from mindspore.common import dtype as mstype
from mindspore.common._kinds import Ints
from mindspore.common.tensor import Tensor
from mindspore.nn.layer._conv_base import PadMode, _Conv, _int_tuple
from mindspore.ops import operations as P
from mindspore.ops.function.conv_func import transposed_size


class _ConvTranspose(_Conv):
    """What all transposed convolutions share: the size of the output."""

    extra: tuple[int, ...] = (0, 0, 0)

    def _check_extra(self, rank: int, output_padding: Ints) -> tuple[int, ...]:
        """How much larger the output is, from what the user gave."""
        extra = _int_tuple(output_padding, rank, "output_padding", self.cls_name, minimum=0)
        if any(extra) and self.pad_mode != "pad":
            raise ValueError(
                f"For '{self.cls_name}', 'output_padding' must be 0 unless 'pad_mode' is 'pad', "
                f"but got output_padding {output_padding} and pad_mode '{self.pad_mode}'."
            )
        if any(e >= max(s, d) for e, s, d in zip(extra, self.stride, self.dilation)):
            raise ValueError(
                f"For '{self.cls_name}', 'output_padding' must be less than 'stride' or "
                f"'dilation', but got {output_padding}, {self.stride} and {self.dilation}."
            )
        return extra

    def _output_shape(self, x: Tensor) -> tuple[int, ...]:
        rank = len(self.kernel_size)
        if x.ndim != rank + 2:
            raise ValueError(
                f"For '{self.cls_name}', the input must have {rank + 2} dimensions, "
                f"but got shape {x.shape}."
            )
        sizes = [
            transposed_size(
                self.pad_mode,
                size,
                self.kernel_size[i],
                self.stride[i],
                self.dilation[i],
                self.pads[2 * i] + self.pads[2 * i + 1],
                self.extra[i],
            )
            for i, size in enumerate(x.shape[2:])
        ]
        return (x.shape[0], self.out_channels, *sizes)


class Conv2dTranspose(_ConvTranspose):
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
        self.extra = self._check_extra(2, output_padding)
        self.conv2d_transpose = self._op(P.Conv2DTranspose, in_channels)

    def construct(self, x: Tensor) -> Tensor:
        """The transposed convolution."""
        output = self.conv2d_transpose(x, self.weight, self._output_shape(x))
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output


class Conv1dTranspose(_ConvTranspose):
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
        self.conv2d_transpose = self._op(P.Conv2DTranspose, in_channels)

    def construct(self, x: Tensor) -> Tensor:
        """The transposed convolution."""
        if x.ndim != 3:
            raise ValueError(
                f"For '{self.cls_name}', the input must have 3 dimensions, but got shape {x.shape}."
            )
        x = x.expand_dims(2)
        output = self.conv2d_transpose(x, self.weight, self._output_shape(x))
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output.squeeze(2)


class Conv3dTranspose(_ConvTranspose):
    """A transposed convolution over volumes: the gradient of Conv3d with respect to its input.

    Args:
        in_channels: The channels of the input.
        out_channels: The channels of the output.
        kernel_size: An int, or (depth, height, width).
        stride: An int, or one for each dimension.
        pad_mode: 'same', 'valid' or 'pad': what the convolution it is the gradient of has.
        padding: With 'pad', an int, or (front, back, top, bottom, left, right).
        dilation: An int, or one for each dimension.
        group: Channels are split into this many groups that do not see each other.
        output_padding: With 'pad', how much larger the output is behind each dimension.
        has_bias: Whether a bias is added.
        weight_init: How the weight starts; None is HeUniform(sqrt(5)).
        bias_init: How the bias starts; None is uniform within 1 / sqrt(fan_in).
        data_format: 'NCDHW'.
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
        output_padding: Ints = 0,
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
            transposed=True,
        )
        self.output_padding = output_padding
        self.extra = self._check_extra(3, output_padding)
        self.conv3d_transpose = self._op(P.Conv3DBackpropInput, in_channels)

    def construct(self, x: Tensor) -> Tensor:
        """The transposed convolution."""
        output = self.conv3d_transpose(x, self.weight, self._output_shape(x))
        if self.has_bias:
            output = self.bias_add(output, self.bias)
        return output


__all__ = ["Conv1dTranspose", "Conv2dTranspose", "Conv3dTranspose"]

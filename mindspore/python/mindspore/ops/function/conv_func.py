"""Convolutions in one, two and three dimensions, and the transposed ones."""

from __future__ import annotations

from typing import Any, Literal

from mindspore._core import Tensor
from mindspore.common._kinds import Ints, PositiveInt
from mindspore.ops._bind import raw
from mindspore.ops._windows import images, lead, pads, restored, sizes
from mindspore.ops.primitive import PythonPrimitive

_bias_add, _reshape, _transpose = raw("BiasAdd"), raw("Reshape"), raw("Transpose")
_OPS = {2: raw("Conv2D"), 3: raw("Conv3D")}
_INPUT_GRADS = {2: raw("Conv2DBackpropInput"), 3: raw("Conv3DBackpropInput")}


def _with_bias(y: Tensor, bias: Tensor | None) -> Tensor:
    if bias is None:
        return y
    return _bias_add(y, bias, data_format="NCDHW" if y.ndim == 5 else "NCHW")


def _windows(
    owner: str, rank: int, stride: Ints, pad_mode: str, padding: Ints, dilation: Ints
) -> dict[str, Any]:
    """The attributes of the ops. Those of sequences have sizes of height 1 in front."""
    return {
        "pad_mode": pad_mode,
        "pad": lead(rank, 0) * 2 + pads(owner, padding, rank),
        "stride": lead(rank, 1) + sizes(owner, "stride", stride, rank),
        "dilation": lead(rank, 1) + sizes(owner, "dilation", dilation, rank),
    }


def _conv(
    rank: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    pad_mode: str,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Tensor:
    owner = f"conv{rank}d"
    if weight.ndim != rank + 2:
        raise ValueError(
            f"For '{owner}', 'weight' must have {rank + 2} dimensions, but got shape {weight.shape}."
        )
    x = images(owner, input, rank)
    w = images(owner, weight, rank)
    y = _OPS[max(rank, 2)](
        x,
        w,
        out_channel=w.shape[0],
        kernel_size=w.shape[2:],
        group=groups,
        **_windows(owner, rank, stride, pad_mode, padding, dilation),
    )
    return restored(input, _with_bias(y, bias), rank)


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    pad_mode: Literal["valid", "same", "pad"] = "valid",
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of sequences [N, channels, length] with filters [out, in / groups, length]."""
    return _conv(1, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    pad_mode: Literal["valid", "same", "pad"] = "valid",
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of images with filters [out channels, in channels / groups, height, width]."""
    return _conv(2, input, weight, bias, stride, pad_mode, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    pad_mode: Literal["valid", "same", "pad"] = "valid",
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of volumes with filters [out channels, in channels / groups, depth, height, width]."""
    return _conv(3, input, weight, bias, stride, pad_mode, padding, dilation, groups)


# ---- transposed ----------------------------------------------------------------------------------
def transposed_size(
    mode: str, size: int, kernel: int, stride: int, dilation: int, padding: int, extra: int
) -> int:
    """The output size of a transposed convolution along one dimension."""
    reach = (kernel - 1) * dilation + 1
    if mode == "same":
        return size * stride
    if mode == "valid":
        return size * stride + max(reach - stride, 0)
    return (size - 1) * stride - padding + reach + extra


def _transposed(
    owner: str,
    rank: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    windows: dict[str, Any],
    extra: tuple[int, ...],
    groups: int,
) -> Tensor:
    """The gradient of a convolution with respect to its input; weight [in, out / groups, ...]."""
    x = images(owner, input, rank)
    if weight.ndim != rank + 2:
        raise ValueError(
            f"For '{owner}', 'weight' must have {rank + 2} dimensions, but got shape {weight.shape}."
        )
    kernel, pad, mode = weight.shape[2:], windows["pad"], windows["pad_mode"].lower()
    stride, dilation = windows["stride"], windows["dilation"]
    if any(extra) and mode != "pad":
        raise ValueError(
            f"For '{owner}', 'output_padding' must be 0 unless 'pad_mode' is 'pad', "
            f"but got {extra} and '{mode}'."
        )
    if any(e and e >= max(s, d) for e, s, d in zip(extra, stride, dilation)):
        raise ValueError(
            f"For '{owner}', 'output_padding' must be less than 'stride' or 'dilation', "
            f"but got {extra}, {stride} and {dilation}."
        )
    out = tuple(
        transposed_size(
            mode, size, kernel[i], stride[i], dilation[i], pad[2 * i] + pad[2 * i + 1], extra[i]
        )
        for i, size in enumerate(x.shape[2:])
    )
    if min(out) < 1:
        raise ValueError(
            f"For '{owner}', the output must not be empty, but its size would be {out}."
        )
    y = _INPUT_GRADS[rank](
        x,
        weight,
        out_channel=weight.shape[0],
        kernel_size=kernel,
        group=groups,
        input_size=(x.shape[0], weight.shape[1] * groups, *out),
        **windows,
    )
    return restored(input, _with_bias(y, bias), rank)


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: int = 1,
    dilation: Ints = 1,
) -> Tensor:
    """The transposed convolution of images with filters [in channels, out channels / groups, height, width]."""
    owner = "conv_transpose2d"
    windows = _windows(owner, 2, stride, "pad", padding, dilation)
    extra = sizes(owner, "output_padding", output_padding, 2, 0)
    return _transposed(owner, 2, input, weight, bias, windows, extra, groups)


def conv3d_transpose(
    inputs: Tensor,
    weight: Tensor,
    pad_mode: Literal["valid", "same", "pad"] = "valid",
    padding: Ints = 0,
    stride: Ints = 1,
    dilation: Ints = 1,
    group: int = 1,
    output_padding: Ints = 0,
) -> Tensor:
    """The transposed convolution of volumes with filters [in channels, out channels / group, depth, height, width]."""
    owner = "conv3d_transpose"
    windows = _windows(owner, 3, stride, pad_mode, padding, dilation)
    extra = sizes(owner, "output_padding", output_padding, 3, 0)
    return _transposed(owner, 3, inputs, weight, None, windows, extra, group)


class Conv3DTranspose(PythonPrimitive):
    """The gradient of Conv3D with respect to its input, of the size that follows from its arguments."""

    def __init__(
        self,
        in_channel: PositiveInt,
        out_channel: PositiveInt,
        kernel_size: Ints,
        mode: int = 1,
        pad_mode: str = "valid",
        pad: Ints = 0,
        stride: Ints = 1,
        dilation: Ints = 1,
        group: PositiveInt = 1,
        output_padding: Ints = 0,
        data_format: str = "NCDHW",
    ) -> None:
        super().__init__(
            in_channel,
            out_channel,
            kernel_size,
            mode,
            pad_mode,
            pad,
            stride,
            dilation,
            group,
            output_padding,
            data_format,
        )

    def __call__(self, dout: Tensor, weight: Tensor) -> Tensor:
        name = self.name
        kernel = sizes(name, "kernel_size", self.kernel_size, 3, 1)
        shape = (self.in_channel, self.out_channel // self.group, *kernel)
        if tuple(weight.shape) != shape:
            raise ValueError(
                f"For '{name}', the weight must have shape {shape}, but got {tuple(weight.shape)}."
            )
        windows = _windows(name, 3, self.stride, self.pad_mode, self.pad, self.dilation)
        windows.update(mode=self.mode, data_format=self.data_format)
        extra = sizes(name, "output_padding", self.output_padding, 3, 0)
        return _transposed(name, 3, dout, weight, None, windows, extra, self.group)


class DepthwiseConv2dNative(PythonPrimitive):
    """Convolution of each channel with `channel_multiplier` filters of its own, whose results lie side by side."""

    def __init__(
        self,
        channel_multiplier: PositiveInt,
        kernel_size: Ints,
        mode: int = 3,
        pad_mode: str = "valid",
        pad: Ints = 0,
        stride: Ints = 1,
        dilation: Ints = 1,
        group: PositiveInt = 1,
    ) -> None:
        super().__init__(
            channel_multiplier, kernel_size, mode, pad_mode, pad, stride, dilation, group
        )

    def __call__(self, x: Tensor, weight: Tensor) -> Tensor:
        name = self.name
        kernel = sizes(name, "kernel_size", self.kernel_size, 2, 1)
        channels = x.shape[1] if x.ndim == 4 else 0
        shape = (self.channel_multiplier, channels, *kernel)
        if tuple(weight.shape) != shape:
            raise ValueError(
                f"For '{name}', the weight must have shape {shape}, but got {tuple(weight.shape)}."
            )
        filters = _reshape(_transpose(weight, perm=(1, 0, 2, 3)), shape=(-1, 1, *kernel))
        return _OPS[2](
            x,
            filters,
            out_channel=filters.shape[0],
            kernel_size=kernel,
            group=channels,
            **_windows(name, 2, self.stride, self.pad_mode, self.pad, self.dilation),
        )


CLASSES = {c.__name__: c for c in (Conv3DTranspose, DepthwiseConv2dNative)}
__all__ = ["conv1d", "conv2d", "conv3d", "conv3d_transpose", "conv_transpose2d"]

"""Convolution, pooling, normalisation and softmax in their 2.x forms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._kinds import Ints
from mindspore.ops._bind import bound, classes, raw

_conv2d, _max_pool, _max_pool_argmax = raw("Conv2D"), raw("MaxPool"), raw("MaxPoolWithArgmax")
_avg_pool, _adaptive_avg_pool = raw("AvgPool"), raw("AdaptiveAvgPool2D")
_batch_norm, _batch_norm_inference = raw("BatchNorm"), raw("BatchNormInference")
_layer_norm, _softmax = raw("LayerNorm"), raw("Softmax")
_reshape, _fill, _cast, _bias_add = raw("Reshape"), raw("Fill"), raw("Cast"), raw("BiasAdd")


def _pair(name: str, argument: str, value: Ints) -> tuple[int, ...]:
    items = (value, value) if isinstance(value, int) else tuple(value)
    if len(items) == 1:
        items = items * 2
    if len(items) != 2:
        raise ValueError(
            f"For '{name}', '{argument}' must be an int or a tuple of 2 ints, but got {value}."
        )
    return items


def _pads(name: str, value: Ints) -> tuple[int, ...]:
    """(top, bottom, left, right) of one int, (vertical, horizontal), or all four."""
    items = (value,) if isinstance(value, int) else tuple(value)
    if len(items) == 1:
        return items * 4
    if len(items) == 2:
        return (items[0], items[0], items[1], items[1])
    if len(items) != 4:
        raise ValueError(
            f"For '{name}', 'padding' must be an int or a tuple of 2 or 4 ints, but got {value}."
        )
    return items


def _images(name: str, x: Tensor) -> Tensor:
    """The input with a batch dimension."""
    if x.ndim not in (3, 4):
        raise ValueError(
            f"For '{name}', the input must have 3 or 4 dimensions, but got shape {x.shape}."
        )
    return x if x.ndim == 4 else _reshape(x, shape=(1, *x.shape))


def _unbatched(like: Tensor, y: Tensor) -> Tensor:
    return y if like.ndim == 4 else _reshape(y, shape=y.shape[1:])


# ---- convolution ---------------------------------------------------------------------------------
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
    if weight.ndim != 4:
        raise ValueError(
            f"For 'conv2d', 'weight' must have 4 dimensions, but got shape {weight.shape}."
        )
    y = _conv2d(
        _images("conv2d", input),
        weight,
        out_channel=weight.shape[0],
        kernel_size=weight.shape[2:],
        pad_mode=pad_mode,
        pad=_pads("conv2d", padding),
        stride=_pair("conv2d", "stride", stride),
        dilation=_pair("conv2d", "dilation", dilation),
        group=groups,
    )
    return _unbatched(input, y if bias is None else _bias_add(y, bias))


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

    def one(argument: str, value: Ints) -> int:
        items = (value,) if isinstance(value, int) else tuple(value)
        if len(items) != 1:
            raise ValueError(f"For 'conv1d', '{argument}' must be one int, but got {value}.")
        return items[0]

    pads = (padding,) if isinstance(padding, int) else tuple(padding)
    if len(pads) not in (1, 2):
        raise ValueError(f"For 'conv1d', 'padding' must be one or two ints, but got {padding}.")
    if weight.ndim != 3 or input.ndim not in (2, 3):
        raise ValueError(
            "For 'conv1d', 'weight' must have 3 dimensions and 'input' 2 or 3, but got shapes "
            f"{weight.shape} and {input.shape}."
        )
    x = input if input.ndim == 3 else _reshape(input, shape=(1, *input.shape))
    y = conv2d(
        _reshape(x, shape=(*x.shape[:2], 1, x.shape[2])),
        _reshape(weight, shape=(*weight.shape[:2], 1, weight.shape[2])),
        bias,
        (1, one("stride", stride)),
        pad_mode,
        (0, 0, pads[0], pads[-1]),
        (1, one("dilation", dilation)),
        groups,
    )
    shape = (*y.shape[:2], y.shape[3])
    return _reshape(y, shape=shape if input.ndim == 3 else shape[1:])


# ---- pooling -------------------------------------------------------------------------------------
def max_pool2d(
    x: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    return_indices: bool = False,
    ceil_mode: bool = False,
) -> Any:
    """The largest element of each window, with its position in the plane when asked for."""
    attributes = {
        "kernel_size": _pair("max_pool2d", "kernel_size", kernel_size),
        "strides": _pair("max_pool2d", "stride", kernel_size if stride is None else stride),
        "pad_mode": "pad",
        "pad": _pads("max_pool2d", padding),
        "dilation": _pair("max_pool2d", "dilation", dilation),
        "ceil_mode": ceil_mode,
    }
    images = _images("max_pool2d", x)
    if not return_indices:
        return _unbatched(x, _max_pool(images, **attributes))
    values, positions = _max_pool_argmax(images, **attributes)
    return _unbatched(x, values), _cast(_unbatched(x, positions), dtype=_core.int64)


def avg_pool2d(
    input_x: Tensor,
    kernel_size: Ints = 1,
    stride: Ints = 1,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int = 0,
) -> Tensor:
    """The mean of each window."""
    y = _avg_pool(
        _images("avg_pool2d", input_x),
        kernel_size=_pair("avg_pool2d", "kernel_size", kernel_size),
        strides=_pair("avg_pool2d", "stride", stride),
        pad_mode="pad",
        pad=_pads("avg_pool2d", padding),
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )
    return _unbatched(input_x, y)


def _grid(output_size: Any) -> Any:
    """The size of a grid as the op takes it: -1 for None, which keeps a size of the input."""
    size = (None, None) if output_size is None else output_size
    return size if isinstance(size, int) else tuple(-1 if s is None else s for s in size)


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None] | None) -> Tensor:
    """Means over a grid of `output_size` windows; None keeps a size of the input."""
    return _adaptive_avg_pool(input, output_size=_grid(output_size))


class AdaptiveAvgPool2D(classes["AdaptiveAvgPool2D"]):  # type: ignore[misc, valid-type]
    """Means over a grid of `output_size` windows; None keeps a size of the input."""

    def __init__(self, output_size: Any) -> None:
        super().__init__(_grid(output_size))


# ---- normalisation -------------------------------------------------------------------------------
def batch_norm(
    input_x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor,
    bias: Tensor,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Channels normalised by the batch (training; this moves the running statistics) or by the
    running statistics."""
    statistics = (running_mean, running_var)
    if not training:
        return _batch_norm_inference(input_x, weight, bias, *statistics, epsilon=eps)
    return _batch_norm(input_x, weight, bias, *statistics, epsilon=eps, momentum=momentum)[0]


class BatchNorm(classes["BatchNorm"]):  # type: ignore[misc, valid-type]
    """Channels normalised by the batch (training; this moves the stored statistics) or by the
    stored statistics."""

    def __call__(
        self, input_x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor
    ) -> tuple:
        if self.is_training:
            return self._call(input_x, scale, bias, mean, variance)
        y = _batch_norm_inference(
            input_x,
            scale,
            bias,
            mean,
            variance,
            epsilon=self.epsilon,
            data_format=self.data_format,
        )
        return y, mean, variance, mean, variance


# The BatchNorm of the registry is the training form only: inference must not look like a write.
classes.update(AdaptiveAvgPool2D=AdaptiveAvgPool2D, BatchNorm=BatchNorm)


def _constant(value: float, shape: tuple, dtype: Any) -> Tensor:
    return _fill(dtype=dtype, shape=shape, value=value)


def layer_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """The last dimensions, of `normalized_shape`, normalised together."""
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    begin = input.ndim - len(shape)
    if not shape or begin < 0 or input.shape[begin:] != shape:
        raise ValueError(
            "For 'layer_norm', 'normalized_shape' must be the last dimensions of the input, "
            f"but got {shape} for shape {input.shape}."
        )
    gamma = _constant(1, shape, input.dtype) if weight is None else weight
    beta = _constant(0, shape, input.dtype) if bias is None else bias
    return _layer_norm(
        input, gamma, beta, begin_norm_axis=begin, begin_params_axis=begin, epsilon=eps
    )[0]


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Channels normalised in groups, image by image, then scaled and shifted per channel."""
    if input.ndim < 2 or num_groups < 1 or input.shape[1] % num_groups:
        raise ValueError(
            "For 'group_norm', the channels in dimension 1 must be divisible by 'num_groups', "
            f"but got shape {input.shape} and {num_groups}."
        )
    size = math.prod(input.shape[1:]) // num_groups
    rows = _reshape(input, shape=(input.shape[0] * num_groups, size))
    y = _reshape(layer_norm(rows, size, eps=eps), shape=input.shape)
    channels = (input.shape[1],) + (1,) * (input.ndim - 2)
    if weight is not None:
        y = bound.mul(y, _reshape(weight, shape=channels))
    return y if bias is None else bound.add(y, _reshape(bias, shape=channels))


def lrn(
    x: Tensor,
    depth_radius: int = 5,
    bias: float = 1.0,
    alpha: float = 1.0,
    beta: float = 0.5,
    norm_region: Literal["ACROSS_CHANNELS"] = "ACROSS_CHANNELS",
) -> Tensor:
    """`x / (bias + alpha * sum of squares of neighbouring channels) ** beta`."""
    if x.ndim != 4:
        raise ValueError(f"For 'lrn', 'x' must have 4 dimensions, but got shape {x.shape}.")
    n, c, h, w = x.shape
    # Channels as the height of an image: sums over neighbours are a pooling, clipped at the ends.
    radius = min(depth_radius, c - 1)
    squares = _avg_pool(
        _reshape(bound.mul(x, x), shape=(n, 1, c, h * w)),
        kernel_size=(2 * radius + 1, 1),
        strides=1,
        pad_mode="pad",
        pad=(radius, radius, 0, 0),
        divisor_override=1,
    )
    base = bound.add(bound.mul(_reshape(squares, shape=(n, c, h, w)), alpha), bias)
    return bound.mul(x, bound.pow(base, -beta))


# ---- softmax -------------------------------------------------------------------------------------
def softmax(input: Tensor, axis: int = -1, *, dtype: DType | None = None) -> Tensor:
    """exp(x) along an axis, divided by its sum."""
    return _softmax(input if dtype is None else _cast(input, dtype=dtype), axis=axis)


def softmin(x: Tensor, axis: int = -1, *, dtype: DType | None = None) -> Tensor:
    """Softmax of -x."""
    return softmax(bound.neg(x), axis, dtype=dtype)


def _softmax_method(self: Tensor, axis: int = -1, *, dtype: DType | None = None) -> Tensor:
    return softmax(self, axis, dtype=dtype)


_softmax_method.__name__ = "softmax"

__all__ = [
    "adaptive_avg_pool2d",
    "avg_pool2d",
    "batch_norm",
    "conv1d",
    "conv2d",
    "group_norm",
    "layer_norm",
    "lrn",
    "max_pool2d",
    "softmax",
    "softmin",
]
METHODS = [_softmax_method]

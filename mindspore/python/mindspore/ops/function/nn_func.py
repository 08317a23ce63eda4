"""Normalisation and softmax in their 2.x forms."""

from __future__ import annotations

import math
from typing import Any, Literal

from mindspore._core import DType, Tensor
from mindspore.common._dtypes import rounded, wide
from mindspore.common._kinds import Ints
from mindspore.ops._bind import bound, classes, raw

_avg_pool = raw("AvgPool")
_batch_norm, _batch_norm_inference = raw("BatchNorm"), raw("BatchNormInference")
_layer_norm, _softmax = raw("LayerNorm"), raw("Softmax")
_reshape, _fill, _cast = raw("Reshape"), raw("Fill"), raw("Cast")


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
classes.update(BatchNorm=BatchNorm)


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
    for name, value in (("weight", weight), ("bias", bias)):
        if value is not None and value.size != input.shape[1]:
            raise ValueError(
                f"For 'group_norm', '{name}' must have one element for each of the {input.shape[1]} channels, but got shape "
                f"{value.shape}."
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
    radius, exact = min(depth_radius, c - 1), wide(x)
    squares = _avg_pool(
        _reshape(bound.mul(exact, exact), shape=(n, 1, c, h * w)),
        kernel_size=(2 * radius + 1, 1),
        strides=1,
        pad_mode="pad",
        pad=(radius, radius, 0, 0),
        divisor_override=1,
    )
    base = bound.add(bound.mul(_reshape(squares, shape=(n, c, h, w)), alpha), bias)
    return rounded(bound.mul(exact, bound.pow(base, -beta)), x)


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
    "batch_norm",
    "group_norm",
    "layer_norm",
    "lrn",
    "softmax",
    "softmin",
]
METHODS = [_softmax_method]

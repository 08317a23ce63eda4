"""Functions of `mint.nn.functional` that take other arguments, or give something else, than those of `ops` of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from mindspore import _core, ops
from mindspore._core import DType, Tensor
from mindspore.common._checked import check_functions
from mindspore.common._dtypes import rounded, wide
from mindspore.common._kinds import Ints, Real, Reduction
from mindspore.common.parameter import Parameter
from mindspore.mint.functions import around_or_mode, conv2d, flatten
from mindspore.mint.functions import softmax as mint_softmax
from mindspore.ops.function.interpolate_func import MINT_SAMPLING, Scales, _interpolate

_Mode = Literal["nearest", "linear", "bilinear", "bicubic", "trilinear"]


# ---- activations, which may write where they read ------------------------------------------------
def _done(input: Tensor, result: Tensor, inplace: bool) -> Tensor:
    return input.copy_(result) if inplace else result


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """x where it is positive, else 0."""
    return _done(input, ops.relu(input), inplace)


def relu_(input: Tensor) -> Tensor:
    """The tensor itself, with 0 in place of what is negative."""
    return relu(input, True)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x cut to [0, 6]."""
    return _done(input, ops.relu6(input), inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x times its logistic function."""
    return _done(input, ops.silu(input), inplace)


def elu(input: Tensor, alpha: Real = 1.0, inplace: bool = False) -> Tensor:
    """x where it is positive, else `alpha (exp(x) - 1)`."""
    curve = ops.mul(ops.expm1(ops.minimum(input, 0)), alpha)
    return _done(input, ops.where(ops.greater(input, 0), input, curve), inplace)


def elu_(input: Tensor, alpha: Real = 1.0) -> Tensor:
    """The tensor itself, after `elu`."""
    return elu(input, alpha, True)


def leaky_relu(input: Tensor, negative_slope: Real = 0.01) -> Tensor:
    """x where it is positive, else a small part of it."""
    return ops.leaky_relu(input, negative_slope)


def hardtanh(
    input: Tensor, min_val: Real = -1.0, max_val: Real = 1.0, inplace: bool = False
) -> Tensor:
    """x cut to a range."""
    return _done(input, ops.hardtanh(input, min_val, max_val), inplace)


def hardtanh_(input: Tensor, min_val: Real = -1, max_val: Real = 1) -> Tensor:
    """The tensor itself, cut to a range."""
    return hardtanh(input, min_val, max_val, True)


def threshold(input: Tensor, threshold: Real, value: Real, inplace: bool = False) -> Tensor:
    """x where it is above the threshold, else a value."""
    return _done(input, ops.threshold(input, threshold, value), inplace)


def threshold_(input: Tensor, threshold: Real, value: Real) -> Tensor:
    """The tensor itself, with a value where it is not above the threshold."""
    return _done(input, ops.threshold(input, threshold, value), True)


def sigmoid_(input: Tensor) -> Tensor:
    """The tensor itself, after `sigmoid`."""
    return _done(input, ops.sigmoid(input), True)


def dropout(input: Tensor, p: Real = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Elements set to 0 with probability p, the others scaled up."""
    return _done(input, ops.dropout(input, p, training), inplace)


def dropout2d(input: Tensor, p: Real = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Channels set to 0 with probability p, the others scaled up."""
    return _done(input, ops.dropout2d(input, p, training), inplace)


def _dimension(dim: int | None, input: Tensor) -> int:
    return dim if dim is not None else 0 if input.ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, dtype: DType | None = None) -> Tensor:
    """Exponentials along a dimension, divided by their sum."""
    return mint_softmax(input, _dimension(dim, input), dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: DType | None = None) -> Tensor:
    """The logarithm of `softmax`."""
    input = input if dtype is None else ops.cast(input, dtype)
    axis = _dimension(dim, input)
    if input.ndim:
        return ops.log_softmax(input, axis)
    return ops.log_softmax(ops.reshape(input, (1,)), axis).reshape(())


# ---- convolutions and pools -----------------------------------------------------------------------
def _convolution(convolve: Any, spatial: int, arguments: tuple) -> Tensor:
    input, weight, bias, stride, padding, dilation, groups = arguments
    mode, around = around_or_mode(padding)
    single = input.ndim == spatial + 1
    input = ops.expand_dims(input, 0) if single else input
    result = convolve(input, weight, bias, stride, mode, around, dilation, groups)
    return ops.squeeze(result, 0) if single else result


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of sequences."""
    return _convolution(ops.conv1d, 1, (input, weight, bias, stride, padding, dilation, groups))


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints | str = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> Tensor:
    """Convolution of volumes."""
    return _convolution(ops.conv3d, 3, (input, weight, bias, stride, padding, dilation, groups))


def avg_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Means of windows of sequences."""
    return ops.avg_pool1d(
        input, kernel_size, stride or kernel_size, padding, ceil_mode, count_include_pad
    )


def avg_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Means of windows of images."""
    pooled = (kernel_size, stride or kernel_size, padding, ceil_mode, count_include_pad)
    return ops.avg_pool2d(input, *pooled, divisor_override or 0)


def avg_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Means of windows of volumes."""
    pooled = (kernel_size, stride or kernel_size, padding, ceil_mode, count_include_pad)
    return ops.avg_pool3d(input, *pooled, divisor_override or 0)


def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest elements of windows of images, and where these stand, if asked for."""
    return ops.max_pool2d(input, kernel_size, stride, padding, dilation, return_indices, ceil_mode)


def _largest(pool: Any, input: Tensor, size: Any, return_indices: bool) -> Any:
    result = pool(input, size, True)
    values, indices = result
    return (values, ops.cast(indices, _core.int64)) if return_indices else values


def adaptive_max_pool1d(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """Largest elements of as many windows as asked for, and where these stand, if asked for."""
    if not isinstance(output_size, int) and len(output_size) != 1:
        raise ValueError(
            f"For 'adaptive_max_pool1d', 'output_size' must be one int, but got {output_size}."
        )
    size = output_size if isinstance(output_size, int) else output_size[0]
    single = input.ndim == 2
    images = ops.expand_dims(ops.expand_dims(input, 0) if single else input, -2)
    values, indices = ops.adaptive_max_pool2d(images, (1, size), True)
    axes = (0, -2) if single else (-2,)
    values, indices = ops.squeeze(values, axes), ops.squeeze(indices, axes)
    return (values, ops.cast(indices, _core.int64)) if return_indices else values


def adaptive_max_pool2d(
    input: Tensor, output_size: int | Sequence[int | None], return_indices: bool = False
) -> Any:
    """Largest elements of as many windows as asked for, and where these stand, if asked for."""
    return _largest(ops.adaptive_max_pool2d, input, output_size, return_indices)


def interpolate(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: Scales | None = None,
    mode: _Mode = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Images [N, C, ...] in another size, or `scale_factor` times as large; pixels count as areas in all modes, which
    `ops.interpolate` has otherwise for 'linear' and 'bicubic'."""
    return _interpolate(
        "interpolate",
        input,
        size,
        scale_factor,
        mode,
        align_corners,
        recompute_scale_factor,
        MINT_SAMPLING,
    )


def upsample(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: Scales | None = None,
    mode: _Mode = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Images of another size; `interpolate` by its older name."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def pad(
    input: Tensor,
    pad: Ints,
    mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
    value: Real | None = None,
) -> Tensor:
    """Elements put around, pairs of counts from the last dimension on."""
    return ops.pad(input, pad, mode, value)


# ---- norms, embeddings and losses -----------------------------------------------------------------
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Each channel less its mean and by its deviation: those of the batch in training, which move the running ones, else the
    running ones."""
    channels = (input.shape[1],)
    scale = ops.ones(channels, input.dtype) if weight is None else weight
    shift = ops.zeros(channels, input.dtype) if bias is None else bias
    kept = isinstance(running_mean, Parameter) and isinstance(running_var, Parameter)
    count = input.size // max(input.shape[1], 1)
    if training and count == 1:
        raise ValueError(
            "For 'batch_norm', 'input' must have more than one value for each channel in training, but got the shape "
            f"{input.shape}."
        )
    if kept or not training:
        moving: Any = running_mean, running_var
        return ops.batch_norm(input, moving[0], moving[1], scale, shift, training, momentum, eps)
    axes = [i for i in range(input.ndim) if i != 1]
    exact = wide(input)
    variance, mean = ops.var_mean(exact, axes, 0)
    if running_mean is not None:
        running_mean.copy_(running_mean * (1 - momentum) + mean * momentum)
    if running_var is not None:
        running_var.copy_(
            running_var * (1 - momentum) + variance * (momentum * count / (count - 1))
        )
    y = ops.batch_norm(exact, mean, variance, wide(scale), wide(shift), False, momentum, eps)
    return rounded(y, input)


def layer_norm(
    input: Tensor,
    normalized_shape: Ints,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Rows less their mean and by their deviation."""
    return ops.layer_norm(input, normalized_shape, weight, bias, eps)


def normalize(input: Tensor, p: Real = 2.0, dim: Ints = 1, eps: Real = 1e-12) -> Tensor:
    """Rows by their p-norm."""
    exact = wide(input)
    length = ops.norm(exact, p, dim, True)
    return rounded(ops.div(exact, ops.maximum(length, eps)), input)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the place that each number names, else 0; as many places as the largest number asks for where none are given."""
    if num_classes == -1:
        num_classes = int(ops.amax(tensor)) + 1
    return ops.cast(ops.one_hot(tensor, num_classes, 1, 0, -1), _core.int64)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Binary cross entropy of the logistic function of the input."""
    return ops.binary_cross_entropy_with_logits(input, target, weight, pos_weight, reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Distances between input and target."""
    return ops.l1_loss(input, target, reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, reduction: Reduction = "mean", beta: Real = 1.0
) -> Tensor:
    """Distances, squared where they are below beta."""
    return ops.smooth_l1_loss(input, target, float(beta), reduction)


def kl_div(
    input: Tensor,
    target: Tensor,
    reduction: Literal["none", "mean", "sum", "batchmean"] = "mean",
    log_target: bool = False,
) -> Tensor:
    """The divergence of the target from distributions whose logarithms are the input."""
    if not log_target:
        return ops.kl_div(input, target, reduction)
    divergence = ops.mul(ops.exp(target), ops.sub(target, input))
    if reduction == "none":
        return divergence
    if reduction == "mean":
        return divergence.mean()
    return divergence.sum() / (input.shape[0] if reduction == "batchmean" else 1)


__all__ = [
    *(
        name
        for name, value in list(globals().items())
        if not name.startswith("_")
        and getattr(value, "__module__", "") == __name__
        and callable(value)
    ),
]
globals().update(check_functions(__import__(__name__, fromlist=["_"]), __all__))
__all__ += ["conv2d", "flatten"]

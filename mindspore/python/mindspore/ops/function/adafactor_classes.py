"""Adafactor (Shazeer and Stern, 2018) as a primitive: second moments of matrices as the products of those of rows and columns."""

from __future__ import annotations

from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.ops._bind import bound, raw

_assign, _mean, _cast = raw("Assign"), raw("ReduceMean"), raw("Cast")
_FACTORED = 2  # from so many axes on


def _root_mean_square(x: Tensor) -> Tensor:
    return bound.sqrt(_mean(bound.square(x), axis=()))


def _running(moment: Tensor, new: Tensor, decay: Any) -> Tensor:
    return _assign(moment, moment * decay + _cast(new, dtype=moment.dtype) * (1.0 - decay))


def _direction(
    gradient: Tensor, floor: Any, decay: Any, rows: Tensor, columns: Tensor, squares: Tensor
) -> Tensor:
    """The gradient over the root of its second moment, which is updated."""
    square = bound.square(gradient) + floor
    if gradient.ndim < _FACTORED:
        return gradient * bound.rsqrt(_running(squares, square, decay))
    by_row = _running(rows, _mean(square, axis=-1), decay)
    by_column = _running(columns, _mean(square, axis=-2), decay)
    by_row = by_row / _mean(by_row, axis=-1, keep_dims=True)
    scale = raw("ExpandDims")(bound.rsqrt(by_row), axis=-1)
    return gradient * scale * raw("ExpandDims")(bound.rsqrt(by_column), axis=-2)


def _adafactor(
    epsilon: Tensor,
    clip_threshold: Any,
    beta1: Any,
    beta2: Any,
    weight_decay: Any,
    learning_rate: Any,
    gradient: Tensor,
    param: Tensor,
    exp_avg: Tensor,
    exp_avg_sq_row: Tensor,
    exp_avg_sq_col: Tensor,
    exp_avg_sq: Tensor,
    global_norm: Any = None,
    enable_scale_parameter: bool = False,
    enable_first_moment: bool = False,
    enable_weight_decay: bool = False,
) -> Tensor:
    """A step of Adafactor: the direction is cut to a root mean square, and steps may count in that of the parameter."""
    wide = _cast(param, dtype=_core.float32)
    gradient = _cast(gradient, dtype=_core.float32)
    if global_norm is not None:
        gradient = gradient / global_norm
    step = _direction(gradient, epsilon[0], beta2, exp_avg_sq_row, exp_avg_sq_col, exp_avg_sq)
    step = step / bound.maximum(_root_mean_square(step) / clip_threshold, 1.0)
    rate = learning_rate
    if enable_scale_parameter:
        rate = rate * bound.maximum(epsilon[1], _root_mean_square(wide))
    step = step * rate
    if enable_first_moment:
        step = _running(exp_avg, step, beta1)
    if enable_weight_decay:
        step = step + wide * weight_decay * rate
    return _assign(param, _cast(wide - step, dtype=param.dtype))


_OPTIONS = "enable_scale_parameter=False, enable_first_moment=False, enable_weight_decay=False"
_INPUTS = (
    "epsilon, clip_threshold, beta1, beta2, weight_decay, learning_rate, gradient, param, exp_avg, exp_avg_sq_row, "
    "exp_avg_sq_col, exp_avg_sq"
)
FACES = {
    f"FusedAdaFactor({_OPTIONS})({_INPUTS})": _adafactor,
    f"FusedAdaFactorWithGlobalNorm({_OPTIONS})({_INPUTS}, global_norm)": _adafactor,
}
__all__: list[str] = []

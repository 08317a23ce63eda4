"""Layers of newer networks as functions: root mean square norm, gated units, rotary positions, embeddings."""

from __future__ import annotations

from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._dtypes import rounded
from mindspore.common._kinds import Real
from mindspore.common.parameter import Parameter
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.activation_func import glu
from mindspore.ops.function.array_func import _axis
from mindspore.ops.function.join_func import chunk
from mindspore.ops.function.linalg_func import dense
from mindspore.ops.function.nn_func import layer_norm
from mindspore.ops.function.norm_func import length_of

_cast, _reshape, _mean = raw("Cast"), raw("Reshape"), raw("ReduceMean")


# ---- norms ----------------------------------------------------------------------------------------
def rms_norm(x: Tensor, gamma: Tensor, epsilon: Real = 1e-6) -> tuple[Tensor, Tensor]:
    """The last axes, those of `gamma`, over their root mean square, times gamma; and the reciprocals of the roots."""
    first = x.ndim - gamma.ndim
    if first < 0 or tuple(x.shape[first:]) != tuple(gamma.shape):
        raise ValueError(
            f"For 'rms_norm', the shape of 'gamma' must end that of 'x', {tuple(x.shape)}, but got {tuple(gamma.shape)}."
        )
    wide = x if x.dtype is _core.float64 else _cast(x, dtype=_core.float32)
    squares = _mean(bound.square(wide), axis=tuple(range(first, x.ndim)), keep_dims=True)
    root = bound.rsqrt(squares + float(epsilon))
    y = wide * root * _cast(gamma, dtype=wide.dtype)
    return _cast(y, dtype=x.dtype), root


def add_rms_norm(
    x1: Tensor, x2: Tensor, gamma: Tensor, epsilon: Real = 1e-6
) -> tuple[Tensor, Tensor, Tensor]:
    """`rms_norm` of a sum, the reciprocals of the roots, and the sum."""
    total = x1 + x2
    y, root = rms_norm(total, gamma, epsilon)
    return y, root, total


def add_layer_norm(
    x1: Tensor,
    x2: Tensor,
    gamma: Tensor,
    beta: Tensor,
    epsilon: Real = 1e-5,
    additional_output: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The layer norm of a sum, the means, the reciprocals of the deviations, and the sum, or zeros where it is not asked for."""
    total = x1 + x2
    y = layer_norm(total, tuple(gamma.shape), gamma, beta, float(epsilon))
    axes = tuple(range(total.ndim - gamma.ndim, total.ndim))
    wide = _cast(total, dtype=_core.float32)
    mean = _mean(wide, axis=axes, keep_dims=True)
    variance = _mean(bound.square(wide - mean), axis=axes, keep_dims=True)
    root = bound.rsqrt(variance + float(epsilon))
    return y, mean, root, total if additional_output else raw("ZerosLike")(total)


# ---- gates and positions ----------------------------------------------------------------------------
def swiglu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along an axis times its own logistic function, times the second half."""
    axis = _axis("swiglu", dim, input.ndim)
    if input.shape[axis] % 2 or not input.shape[axis]:
        raise ValueError(
            f"For 'swiglu', the size along the axis must be even and not 0, but got {input.shape[axis]}."
        )
    first, second = chunk(input, 2, axis)
    return first * bound.sigmoid(first) * second


def rotary_position_embedding(x: Tensor, cos: Tensor, sin: Tensor, mode: int = 0) -> Tensor:
    """Pairs of elements of the last axis turned by angles: those half an axis apart (mode 0), or neighbours (mode 1)."""
    if mode not in (0, 1):
        raise ValueError(f"For 'rotary_position_embedding', 'mode' must be 0 or 1, but got {mode}.")
    if not x.ndim or x.shape[-1] % 2 or not x.shape[-1]:
        raise ValueError(
            f"For 'rotary_position_embedding', the last size of 'x' must be even and not 0, but got shape {x.shape}."
        )
    size = x.shape[-1]
    if mode == 0:
        first, second = chunk(x, 2, -1)
        turned = raw("Concat")([-second, first], axis=-1)
    else:
        pairs = _reshape(x, shape=(*x.shape[:-1], size // 2, 2))
        first, second = pairs[..., 0], pairs[..., 1]
        turned = _reshape(raw("Stack")([-second, first], axis=-1), shape=x.shape)
    return x * cos + turned * sin


# ---- products ---------------------------------------------------------------------------------------
def bidense(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x1 W[k] x2 + b[k]` for each output k."""
    out, first, second = weight.shape
    if input1.shape[-1] != first or input2.shape[-1] != second:
        raise ValueError(
            f"For 'bidense', the last sizes of the inputs must be {first} and {second}, but got {input1.shape[-1]} and "
            f"{input2.shape[-1]}."
        )
    lead = tuple(input1.shape[:-1])
    rows, columns = (_reshape(x, shape=(-1, x.shape[-1])) for x in (input1, input2))
    spread = _reshape(raw("Transpose")(weight, perm=(1, 0, 2)), shape=(first, out * second))
    middle = _reshape(raw("MatMul")(rows, spread), shape=(-1, out, second))
    made = raw("ReduceSum")(middle * raw("ExpandDims")(columns, axis=1), axis=-1)
    made = _reshape(made, shape=(*lead, out))
    return made if bias is None else made + bias


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: Real | None = None,
    norm_type: Real = 2.0,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """Rows of a table. With `max_norm`, those of a Parameter that are looked up are made shorter where they are longer; the row
    of `padding_idx` takes no gradient; `scale_grad_by_freq` shares a row's gradient by how often it is looked up."""
    if padding_idx is not None:
        padding_idx = _axis("embedding", padding_idx, weight.shape[0])
    if max_norm is not None:
        weight = _shortened(input, weight, float(max_norm), float(norm_type))
    rows = raw("Gather")(weight, input, axis=0)
    counted = _shares(input, weight, scale_grad_by_freq, padding_idx)
    if counted is None:
        return rows
    held = raw("StopGradient")(rows)  # the value is that of the rows, the gradient that of a share
    return held + (rows - held) * counted


def _shares(input: Tensor, weight: Tensor, by_frequency: bool, padding: int | None) -> Any:
    """What the gradient of each row that is looked up is multiplied by."""
    share = None
    if by_frequency:
        flat = _reshape(input, shape=(-1,))
        ones = raw("Ones")(shape=flat.shape, dtype=weight.dtype)
        counts = raw("UnsortedSegmentSum")(ones, flat, num_segments=weight.shape[0])
        share = bound.reciprocal(raw("Gather")(counts, input, axis=0))
    if padding is not None:
        there = _cast(bound.not_equal(input, padding), dtype=weight.dtype)
        share = there if share is None else share * there
    return None if share is None else raw("ExpandDims")(share, axis=-1)


def _shortened(input: Tensor, weight: Tensor, most: float, order: float) -> Tensor:
    fixed = raw("StopGradient")(weight)
    norms = length_of(fixed, order, (-1,), True)
    factors = bound.minimum(most / (norms + 1e-07), 1.0)
    flat = _reshape(input, shape=(-1,))
    ones = raw("Ones")(shape=flat.shape, dtype=weight.dtype)
    counts = raw("UnsortedSegmentSum")(ones, flat, num_segments=weight.shape[0])
    used = _reshape(bound.greater(counts, 0), shape=(-1, 1))
    scaled = raw("Select")(used, rounded(fixed * factors, fixed), fixed)
    if isinstance(weight, Parameter):
        raw("Assign")(weight, scaled)
        return weight
    return weight + (scaled - fixed)


def _dense(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`input @ weight.T + bias`."""
    return dense(input, weight, bias)


FACES = {
    "RmsNorm(epsilon=1e-06)(x, gamma)": "rms_norm",
    "GLU(axis=-1)(x)": glu,
    "Dense()(x@input, w@weight, b@bias=None)": _dense,
}
__all__ = [
    "add_layer_norm",
    "add_rms_norm",
    "bidense",
    "embedding",
    "rms_norm",
    "rotary_position_embedding",
    "swiglu",
]

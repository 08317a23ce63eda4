"""Losses of margins and of likelihoods, and similarities of vectors: compositions, and the primitive classes of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._dtypes import floating, rounded, wide
from mindspore.common._kinds import NotNegative, Real, Reduction
from mindspore.common._size import broadcast_shapes
from mindspore.ops._bind import bound, raw
from mindspore.ops._effects import _do
from mindspore.ops.function.array_func import _axis
from mindspore.ops.function.loss_func import _reduced
from mindspore.ops.function.math_func import where
from mindspore.ops.function.norm_func import length_of

_cast, _reshape, _gather_d = raw("Cast"), raw("Reshape"), raw("GatherD")
_sum, _mean = raw("ReduceSum"), raw("ReduceMean")


def gaussian_nll_loss(
    x: Tensor,
    target: Tensor,
    var: Tensor,
    full: bool = False,
    eps: Real = 1e-6,
    reduction: Reduction = "mean",
) -> Tensor:
    """The negative log likelihood of targets under normal distributions; `full` adds the constant part."""
    if eps <= 0:
        raise ValueError(f"For 'gaussian_nll_loss', 'eps' must be greater than 0, but got {eps}.")
    if var.ndim and tuple(var.shape) == tuple(x.shape[:-1]):
        var = raw("ExpandDims")(var, axis=-1)
    # The bound is no reason for the gradient to vanish.
    given, (x, target, var) = (x, target, var), [floating(t) for t in (x, target, var)]
    lifted = var + raw("StopGradient")(bound.maximum(eps - var, 0.0))
    distance = bound.square(x - target)
    loss = (bound.log(lifted) + distance / lifted) * 0.5
    loss = loss + 0.5 * math.log(2 * math.pi) if full else loss
    return rounded(_reduced(loss, reduction), *given)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: Literal[1, 2] = 1,
    margin: Real = 1,
    weight: Tensor | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """For each row the mean over the other classes of max(0, margin - x[target] + x[i]) to the power p."""
    if input.ndim != 2 or tuple(target.shape) != (input.shape[0],):
        raise ValueError(
            "For 'multi_margin_loss', 'input' must be a matrix and 'target' have a class for each of its rows, but got shapes "
            f"{tuple(input.shape)} and {tuple(target.shape)}."
        )
    classes = input.shape[1]
    at = _reshape(_cast(target, dtype=_core.int64), shape=(-1, 1))
    scores = wide(input)
    distance = scores - _gather_d(scores, at, dim=1) + float(margin)
    distance = bound.maximum(distance, 0.0)
    if p == 2:
        distance = bound.square(distance)
    if weight is not None:
        distance = distance * raw("Gather")(weight, at, axis=0)
    others = bound.not_equal(Tensor(np.arange(classes), _core.int64), at)
    loss = _mean(where(others, distance, 0.0), axis=1, keep_dims=False)
    return rounded(_reduced(loss, reduction), input)


def _multi_margin(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    p: int = 1,
    margin: Real = 1.0,
    reduction: str = "mean",
) -> Tensor:
    """A loss of margins between the class of each row and the others."""
    return multi_margin_loss(x, target, p, margin, weight, reduction)  # type: ignore[arg-type]


def _label_margins(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of each row against the classes that are listed up to the first -1, and which classes those are."""
    rows = _reshape(input, shape=(-1, input.shape[-1]))
    labels = _reshape(target, shape=rows.shape)
    listed = bound.less(
        raw("CumSum")(_cast(bound.less(labels, 0), dtype=_core.int32), axis=1), 1
    )  # before the first -1
    at = _cast(where(listed, labels, 0), dtype=_core.int64)
    counts = raw("TensorScatterElements")(
        raw("ZerosLike")(rows), at, _cast(listed, dtype=rows.dtype), axis=1, reduction="add"
    )
    is_target = bound.greater(counts, 0)
    chosen = raw("ExpandDims")(_gather_d(rows, at, dim=1), axis=2)
    gaps = raw("ExpandDims")(rows, axis=1) - chosen + 1.0
    counted = bound.logical_and(
        raw("ExpandDims")(listed, axis=2), raw("ExpandDims")(bound.logical_not(is_target), axis=1)
    )
    loss = _sum(where(counted, bound.maximum(gaps, 0.0), 0.0), axis=(1, 2), keep_dims=False)
    return loss / float(rows.shape[1]), is_target


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """The sum of max(0, 1 - x[y] + x[i]) over listed classes y and others i, over the number of classes; a row of the target lists
    its classes up to the first -1."""
    if tuple(input.shape) != tuple(target.shape) or input.ndim not in (1, 2):
        raise ValueError(
            "For 'multilabel_margin_loss', 'input' and 'target' must be vectors or matrices of one shape, but got "
            f"{tuple(input.shape)} and {tuple(target.shape)}."
        )
    loss = _reshape(_label_margins(input, target)[0], shape=input.shape[:-1])
    return _reduced(loss, reduction)


def _multilabel_margin(
    x: Tensor, target: Tensor, reduction: Reduction = "mean"
) -> tuple[Tensor, Tensor]:
    """A loss of margins between the listed classes of each row and the others, and which classes are listed."""
    if not x.ndim:
        raise ValueError("For 'MultilabelMarginLoss', 'x' must have a dimension, but got a scalar.")
    loss, is_target = _label_margins(x, target)
    loss = _reduced(_reshape(loss, shape=x.shape[:-1]), reduction)
    return loss, _cast(_reshape(is_target, shape=x.shape), dtype=target.dtype)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: Reduction = "mean"
) -> Tensor:
    """The mean over classes of the cross entropy of each with its target."""
    score = input * target
    loss = raw("Softplus")(input) - score
    if weight is not None:
        loss = loss * weight
    return _reduced(_mean(loss, axis=-1, keep_dims=False), reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: Real | Tensor = 1.0,
    p: Real = 2,
    eps: Real = 1e-06,
    swap: bool = False,
    reduction: Reduction = "mean",
) -> Tensor:
    """How much nearer an anchor should be to what is like it than to what is not, by a margin; `swap` takes the nearer of anchor and
    what is like it."""
    order = float(p)

    def distance(x: Tensor, y: Tensor) -> Tensor:
        gap = floating(x) - floating(y) + float(eps)
        return length_of(gap, order, (-1,), False)

    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = bound.minimum(far, distance(positive, negative))
    loss = _reduced(bound.maximum(near - far + margin, 0.0), reduction)
    return rounded(loss, anchor, positive, negative)


def _triplet_margin(
    x: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: Tensor | Real,
    p: Real = 2,
    swap: bool = False,
    eps: Real = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """How much nearer an anchor should be to what is like it than to what is not."""
    return triplet_margin_loss(x, positive, negative, margin, p, eps, swap, reduction)  # type: ignore[arg-type]


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: NotNegative = 1e-08) -> Tensor:
    """The cosine of the angle between vectors along an axis."""
    shape = broadcast_shapes("cosine_similarity", tuple(x1.shape), tuple(x2.shape))
    axis = _axis("cosine_similarity", dim, len(shape))
    one, other = (raw("BroadcastTo")(floating(x), shape=shape) for x in (x1, x2))

    def unit(x: Tensor) -> Tensor:
        return x / bound.maximum(length_of(x, 2, (axis,), True), float(eps))

    return rounded(_sum(unit(one) * unit(other), axis=axis, keep_dims=False), x1, x2)


def _refuse_not_finite(norm: Tensor) -> None:
    value = float(norm.asnumpy())
    if not np.isfinite(value):
        raise RuntimeError(f"For 'clip_by_norm', the norm must be finite, but got {value}.")


def clip_by_norm(
    x: Tensor | Sequence[Tensor],
    max_norm: Real,
    norm_type: Real | Literal["inf", "-inf"] = 2.0,
    error_if_nonfinite: bool = False,
) -> Any:
    """A tensor, or several of which all elements count as one vector, made shorter where the norm is above a limit."""
    alone = isinstance(x, Tensor)
    parts: list[Any] = [x] if alone else list(x)
    if not parts:
        return x
    order = float(norm_type)
    norms = [length_of(_reshape(part, shape=(-1,)), order, (), False) for part in parts]
    total = norms[0] if alone else length_of(raw("Stack")(norms), order, (), False)
    if error_if_nonfinite:
        _do(_refuse_not_finite, total)
    factor = bound.minimum(float(max_norm) / (total + 1e-06), 1.0)
    made = [rounded(floating(part) * factor, part) for part in parts]
    return made[0] if alone else made if isinstance(x, list) else tuple(made)


FACES = {
    "SoftMarginLoss(reduction='mean')(logits@input, labels@target)": "soft_margin_loss",
    "MultiMarginLoss(p=1, margin=1.0, reduction='mean')(x, target, weight=None)": _multi_margin,
    "MultilabelMarginLoss(reduction='mean')(x, target)": _multilabel_margin,
    "TripletMarginLoss(p=2, swap=False, eps=1e-06, reduction='mean')(x, positive, negative, margin)": _triplet_margin,
}
__all__ = [
    "clip_by_norm",
    "cosine_similarity",
    "gaussian_nll_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "triplet_margin_loss",
]

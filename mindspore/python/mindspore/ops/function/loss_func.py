"""Losses in their 2.x forms, and the Primitive classes of losses whose weights may be left out."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._dtypes import COMPLEX, FLOATS, floating, rounded, unwrapped
from mindspore.common._kinds import Reduction, Where
from mindspore.ops._bind import bound, classes, raw

_nll, _cross_entropy, _log_softmax, _sum, _mean = (
    raw("NLLLoss"),
    raw("CrossEntropy"),
    raw("LogSoftmax"),
    raw("ReduceSum"),
    raw("ReduceMean"),
)
_reshape, _transpose, _cast, _fill = raw("Reshape"), raw("Transpose"), raw("Cast"), raw("Fill")
_bce, _bce_logits, _smooth_l1 = (
    raw("BinaryCrossEntropy"),
    raw("BCEWithLogitsLoss"),
    raw("SmoothL1Loss"),
)
_kl_div, _select, _divide = raw("KLDivLoss"), raw("Select"), raw("RealDiv")

_INDEX = (_core.int32, _core.int64)


def _reduced(loss: Tensor, reduction: str) -> Tensor:
    if reduction == "none":
        return loss
    return (_mean if reduction == "mean" else _sum)(loss, axis=(), keep_dims=False)


def _ones(shape: tuple, like: Tensor) -> Tensor:
    return _fill(dtype=like.dtype, shape=shape, value=1.0)


# ---- classes ----------------------------------------------------------------------------------
def _rows(x: Tensor) -> Tensor:
    """[N, C, ...] as [rows, C]."""
    if x.ndim == 2:
        return x
    if x.ndim == 1:
        return _reshape(x, shape=(1, -1))
    order = (0, *range(2, x.ndim), 1)
    return _reshape(_transpose(x, perm=order), shape=(-1, x.shape[1]))


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross entropy of softmax(input) over dimension 1 against classes, or probabilities of the
    shape of the input."""
    probabilities = target.shape == input.shape and target.dtype not in _INDEX
    _check_smoothing("cross_entropy", label_smoothing)
    if not probabilities and not label_smoothing:
        return _class_loss(
            "cross_entropy", _cross_entropy, input, target, weight, ignore_index, reduction
        )[0]
    logits = _log_softmax(input, axis=1 if input.ndim > 1 else 0)
    if probabilities:
        return _probabilities_loss(logits, target, weight, reduction, label_smoothing)
    return nll_loss(logits, target, weight, ignore_index, reduction, label_smoothing)


def _check_smoothing(name: str, smoothing: float) -> None:
    if not 0 <= smoothing <= 1:
        raise ValueError(f"For '{name}', 'label_smoothing' must be in [0, 1], but got {smoothing}.")


def _class_loss(
    name: str,
    op: Any,
    inputs: Tensor,
    target: Tensor,
    weight: Tensor | None,
    ignore_index: int,
    reduction: str,
) -> tuple:
    """The loss against classes, and what a smoothed one needs besides: rows, labels, weights and their sum."""
    if inputs.ndim == 0:
        raise ValueError(f"For '{name}', the input must have at least 1 dimension, but got 0.")
    wanted = () if inputs.ndim == 1 else (inputs.shape[0], *inputs.shape[2:])
    if target.shape != wanted:
        raise ValueError(
            f"For '{name}', 'target' must have shape {wanted} for inputs of shape "
            f"{inputs.shape}, but got {target.shape}."
        )
    rows = _rows(inputs)
    labels = target if target.ndim == 1 else _reshape(target, shape=(-1,))
    if labels.dtype in FLOATS:
        raise TypeError(f"For '{name}', classes must be integers, but got {labels.dtype}.")
    if labels.dtype not in _INDEX:
        labels = _cast(labels, dtype=_core.int32)
    weights = _ones((rows.shape[1],), rows) if weight is None else weight
    loss, total = op(rows, labels, weights, reduction=reduction, ignore_index=ignore_index)
    loss = _reshape(loss, shape=wanted) if reduction == "none" else loss
    return loss, rows, labels, weights, total


def _probabilities_loss(
    logits: Tensor, target: Tensor, weight: Any, reduction: str, smoothing: float
) -> Tensor:
    axis = 1 if logits.ndim > 1 else 0
    classes_count = logits.shape[axis]
    if smoothing:
        target = bound.add(bound.mul(target, 1.0 - smoothing), smoothing / classes_count)
    loss = bound.mul(logits, target)
    if weight is not None:
        loss = bound.mul(loss, _reshape(weight, shape=(-1,) + (1,) * (logits.ndim - 1 - axis)))
    loss = bound.neg(_sum(loss, axis=axis, keep_dims=False))
    return _reduced(loss, reduction)


def nll_loss(
    inputs: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: Reduction = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Minus the log probabilities (dimension 1 of the inputs) of the target classes."""
    _check_smoothing("nll_loss", label_smoothing)
    loss, rows, labels, weights, total = _class_loss(
        "nll_loss", _nll, inputs, target, weight, ignore_index, reduction
    )
    if label_smoothing:
        smooth = _smooth_loss(rows, labels, weights, ignore_index, reduction, total)
        share = label_smoothing / rows.shape[1]
        smooth = _reshape(smooth, shape=loss.shape)
        loss = bound.add(bound.mul(loss, 1.0 - label_smoothing), bound.mul(smooth, share))
    return loss


def _smooth_loss(
    rows: Tensor, labels: Tensor, weights: Tensor, ignored: int, reduction: str, total: Tensor
) -> Tensor:
    """The loss against all classes at once."""
    loss = bound.neg(_sum(bound.mul(rows, weights), axis=1, keep_dims=False))
    loss = _select(bound.not_equal(labels, ignored), loss, bound.mul(loss, 0.0))
    if reduction == "none":
        return loss
    loss = _sum(loss, axis=(), keep_dims=False)
    return loss if reduction == "sum" else bound.true_divide(loss, total)


# ---- element by element -----------------------------------------------------------------------
def mse_loss(input: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Squared differences."""
    difference = bound.sub(floating(input), floating(target))
    difference = bound.abs(difference) if difference.dtype in COMPLEX else difference
    return rounded(_reduced(bound.mul(difference, difference), reduction), input, target)


def l1_loss(input: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Absolute differences."""
    return _reduced(bound.abs(bound.sub(unwrapped(input), unwrapped(target))), reduction)


def smooth_l1_loss(
    input: Tensor, target: Tensor, beta: float = 1.0, reduction: Reduction = "none"
) -> Tensor:
    """Half the squared difference over beta where that is below beta, else the difference less
    beta / 2."""
    return _smooth_l1(input, target, beta=float(beta), reduction=reduction)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: Reduction = "mean",
    delta: Annotated[float, Where(lambda x: x > 0, "be positive")] = 1.0,
) -> Tensor:
    """Half the squared difference up to delta, a line beyond."""
    if input.shape != target.shape:
        like = bound.sub(input, target)
        zeros = bound.mul(like, 0.0)
        input, target = bound.add(input, zeros), bound.add(target, zeros)
    loss = _smooth_l1(input, target, beta=float(delta), reduction=reduction)
    return bound.mul(loss, float(delta))


def binary_cross_entropy(
    logits: Tensor, labels: Tensor, weight: Tensor | None = None, reduction: Reduction = "mean"
) -> Tensor:
    """Cross entropy of probabilities against targets."""
    weight = _ones((), logits) if weight is None else weight
    return _bce(logits, labels, weight, reduction=reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Cross entropy of sigmoid(input) against targets."""
    weight = _ones((), input) if weight is None else weight
    pos_weight = _ones((), input) if pos_weight is None else pos_weight
    return _bce_logits(input, target, weight, pos_weight, reduction=reduction)


def kl_div(
    logits: Tensor,
    labels: Tensor,
    reduction: Literal["none", "mean", "sum", "batchmean"] = "mean",
) -> Tensor:
    """Kullback-Leibler divergence from log probabilities to probabilities."""
    return _kl_div(logits, labels, reduction=reduction)


def _require_same_shape(name: str, **tensors: Tensor) -> None:
    shapes = [x.shape for x in tensors.values()]
    if shapes[0] != shapes[1]:
        first, second = tensors
        raise ValueError(
            f"For '{name}', '{first}' and '{second}' must have the same shape, but got {shapes[0]} and {shapes[1]}."
        )


def soft_margin_loss(input: Tensor, target: Tensor, reduction: Reduction = "mean") -> Tensor:
    """log(1 + exp(-target * input)), for targets of -1 and 1."""
    _require_same_shape("soft_margin_loss", input=input, target=target)
    score = bound.neg(bound.mul(input, target))
    loss = bound.add(bound.log1p(bound.exp(bound.neg(bound.abs(score)))), bound.maximum(score, 0.0))
    return _reduced(loss, reduction)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: Reduction = "mean",
) -> Tensor:
    """max(0, -target * (input1 - input2) + margin)."""
    score = bound.neg(bound.mul(target, bound.sub(input1, input2)))
    return _reduced(bound.maximum(bound.add(score, margin), 0.0), reduction)


def hinge_embedding_loss(
    inputs: Tensor, targets: Tensor, margin: float = 1.0, reduction: Reduction = "mean"
) -> Tensor:
    """The input where the target is 1, max(0, margin - input) where it is -1."""
    below = bound.maximum(bound.sub(float(margin), inputs), 0.0)
    loss = _select(bound.equal(targets, 1), inputs, below)
    return _reduced(loss, reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0.0,
    reduction: Reduction = "mean",
) -> Tensor:
    """1 - cosine where the target is 1, max(0, cosine - margin) where it is -1."""
    _require_same_shape("cosine_embedding_loss", input1=input1, input2=input2)
    if not -1 <= margin <= 1:
        raise ValueError(
            f"For 'cosine_embedding_loss', 'margin' must be in [-1, 1], but got {margin}."
        )

    def dot(x: Tensor, y: Tensor) -> Tensor:
        return _sum(bound.mul(x, y), axis=-1, keep_dims=False)

    one, other = floating(input1), floating(input2)
    norms = [bound.sqrt(bound.add(dot(x, x), 1e-12)) for x in (one, other)]
    cosine = bound.true_divide(bound.true_divide(dot(one, other), norms[0]), norms[1])
    apart = bound.maximum(bound.sub(cosine, margin), 0.0)
    loss = _select(bound.equal(target, 1), bound.sub(1.0, cosine), apart)
    return rounded(_reduced(loss, reduction), input1, input2)


# ---- Primitive classes ------------------------------------------------------------------------
class BinaryCrossEntropy(classes["BinaryCrossEntropy"]):  # type: ignore[misc, valid-type]
    """Cross entropy of probabilities against targets; the weight may be left out."""

    def __call__(self, input: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        return binary_cross_entropy(input, target, weight, self.reduction)


class BCEWithLogitsLoss(classes["BCEWithLogitsLoss"]):  # type: ignore[misc, valid-type]
    """Cross entropy of sigmoid(logits) against targets; both weights may be left out."""

    def __call__(
        self,
        input: Tensor,
        target: Tensor,
        weight: Tensor | None = None,
        posWeight: Tensor | None = None,
    ) -> Tensor:
        return binary_cross_entropy_with_logits(input, target, weight, posWeight, self.reduction)


# The classes made from the registry want every input of their op.
classes.update(BinaryCrossEntropy=BinaryCrossEntropy, BCEWithLogitsLoss=BCEWithLogitsLoss)

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
]

"""Losses of margins, of likelihoods under a distribution, and of sequences."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import PositiveFloat, Real, Reduction, described
from mindspore.common.tensor import Tensor
from mindspore.nn.loss.loss import LossBase


class GaussianNLLLoss(LossBase):
    """Minus the logarithm of the likelihood of labels under normal distributions.

    Args:
        full: Whether the constant part counts.
        eps: The least variance.
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(
        self, *, full: bool = False, eps: PositiveFloat = 1e-6, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction)
        self.full = full
        self.eps = eps

    def construct(self, logits: Tensor, labels: Tensor, var: Tensor) -> Tensor:
        """The loss of means and variances."""
        return ops.gaussian_nll_loss(logits, labels, var, self.full, self.eps, self.reduction)


class PoissonNLLLoss(LossBase):
    """Minus the logarithm of the likelihood of counts under Poisson distributions.

    Args:
        log_input: Whether the input holds logarithms of rates.
        full: Whether the part that the rates do not change counts, by Stirling's formula.
        eps: Added to rates before their logarithm.
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        eps: Real = 1e-8,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def construct(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss, in the dtype of the input."""
        if not input.is_floating_point():
            raise TypeError(
                f"For '{self.cls_name}', 'input' must be of a float type, but got {input.dtype}."
            )
        target = target.astype(input.dtype)
        if self.log_input:
            loss = ops.exp(input) - target * input
        else:
            loss = input - target * ops.log(input + self.eps)
        if self.full:
            many = target > 1
            count = ops.select(many, target, ops.ones_like(target))
            rest = count * ops.log(count) - count + 0.5 * ops.log(2 * math.pi * count)
            loss = loss + ops.select(many, rest, ops.zeros_like(rest))
        return self.get_loss(loss)


class MultiLabelSoftMarginLoss(LossBase):
    """The mean over classes of the binary cross entropy of each with its label.

    Args:
        weight: The weight of each class.
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(self, weight: Tensor | Real | None = None, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        if isinstance(weight, (int, float)):
            weight = Tensor(float(weight), mstype.float32)
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """The loss of [N, C] and labels of 0 and 1."""
        if not x.is_floating_point():
            raise TypeError(
                f"For '{self.cls_name}', 'x' must be of a float type, but got {x.dtype}."
            )
        return ops.multilabel_soft_margin_loss(x, target, self.weight, self.reduction)


class MultiMarginLoss(LossBase):
    """How far the class of each row is not above the others by a margin.

    Args:
        p: The power, 1 or 2.
        margin: The margin.
        reduction: 'mean', 'sum' or 'none'.
        weight: The weight of each class.
    """

    def __init__(
        self,
        p: Literal[1, 2] = 1,
        margin: Real = 1.0,
        reduction: Reduction = "mean",
        weight: Tensor | None = None,
    ) -> None:
        super().__init__(reduction)
        self.p = p
        self.margin = margin
        self.weight = weight

    def construct(self, x: Tensor, target: Tensor, weight: Tensor | None = None) -> Tensor:
        """The loss of [N, C] and classes [N]."""
        weight = self.weight if weight is None else weight
        return ops.multi_margin_loss(x, target, self.p, self.margin, weight, self.reduction)


class MultilabelMarginLoss(LossBase):
    """How far the listed classes of each row are not above the others by 1.

    Args:
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)

    def construct(self, x: Tensor, target: Tensor) -> Tensor:
        """The loss of [N, C] or [C] and classes, listed up to the first -1."""
        return ops.multilabel_margin_loss(x, target, self.reduction)


class TripletMarginLoss(LossBase):
    """How much nearer an anchor should be to what is like it than to what is not, by a margin.

    Args:
        p: The order of the norm of differences.
        swap: Whether the nearer of anchor and positive counts for the negative.
        eps: Added to differences.
        reduction: 'mean', 'sum' or 'none'.
        margin: The margin.
    """

    def __init__(
        self,
        p: int = 2,
        swap: bool = False,
        eps: Real = 1e-6,
        reduction: Reduction = "mean",
        margin: Tensor | Real = 1.0,
    ) -> None:
        super().__init__(reduction)
        self.p = p
        self.swap = swap
        self.eps = eps
        self.margin = margin

    def construct(
        self, x: Tensor, positive: Tensor, negative: Tensor, margin: Tensor | Real | None = None
    ) -> Tensor:
        """The loss."""
        if max(x.ndim, positive.ndim, negative.ndim) < 2:
            raise ValueError(
                f"For '{self.cls_name}', one of the inputs must have at least 2 dimensions, "
                f"but got shapes {x.shape}, {positive.shape} and {negative.shape}."
            )
        margin = self.margin if margin is None else margin
        return ops.triplet_margin_loss(
            x, positive, negative, margin, self.p, self.eps, self.swap, self.reduction
        )


class TripletMarginWithDistanceLoss(LossBase):
    """As TripletMarginLoss, with a distance of one's own.

    Args:
        distance_function: A function of two tensors; None is the Euclidean distance of rows.
        swap: Whether the nearer of anchor and positive counts for the negative.
        reduction: 'mean', 'sum' or 'none'.
        margin: The margin.
    """

    def __init__(
        self,
        distance_function: Callable | None = None,
        swap: bool = False,
        reduction: Reduction = "mean",
        margin: Real = 1.0,
    ) -> None:
        super().__init__(reduction)
        self.distance_function: Any = distance_function or _euclidean
        self.swap = swap
        self.margin = margin

    def construct(self, x: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss."""
        near = self.distance_function(x, positive)
        far = self.distance_function(x, negative)
        if self.swap:
            far = ops.minimum(far, self.distance_function(positive, negative))
        return self.get_loss(ops.maximum(near - far + self.margin, 0.0))


def _euclidean(x: Tensor, y: Tensor) -> Tensor:
    """The distance of rows."""
    gap = x - y
    if gap.ndim < 2:
        raise ValueError(
            f"For 'TripletMarginWithDistanceLoss', inputs must have at least 2 dimensions, but got shape {gap.shape}."
        )
    return ops.norm(gap, 2, 1)


class CTCLoss(LossBase):
    """Minus the logarithm of the likelihood of label sequences under all alignments to longer ones.

    Args:
        blank: The class that means no label.
        reduction: 'mean', 'sum' or 'none'.
        zero_infinity: Whether infinite losses, and their gradients, are zero.
    """

    def __init__(
        self, blank: int = 0, reduction: Reduction = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def construct(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any
    ) -> Tensor:
        """The loss of [T, N, C], or [T, C] of one sequence."""
        alone = log_probs.ndim == 2
        if alone:
            log_probs = log_probs.expand_dims(1)
        if targets.ndim == 1:
            targets = targets.expand_dims(0) if alone else _rows(targets, target_lengths)
        loss = ops.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )[0]
        return loss.squeeze(0) if alone and self.reduction == "none" else loss


_INTEGERS = mstype.int_type + mstype.uint_type


def _rows(targets: Tensor, lengths: Any) -> Tensor:
    """Sequences that lie one behind the other as rows of a matrix."""
    if isinstance(lengths, Tensor):
        fits = lengths.ndim == 1 and lengths.dtype in _INTEGERS
    else:
        fits = isinstance(lengths, (tuple, list)) and all(isinstance(n, int) for n in lengths)
    if not fits:
        raise TypeError(
            f"For 'CTCLoss', 'target_lengths' must be a vector of integers, but got {described(lengths)}."
        )
    sizes = [int(size) for size in (lengths.asnumpy() if isinstance(lengths, Tensor) else lengths)]
    if not sizes or sum(sizes) != targets.shape[0]:
        raise ValueError(
            f"For 'CTCLoss', the 'target_lengths' of 'targets' of shape {targets.shape} must add up to its size, "
            f"but got {sizes[:8]}."
        )
    longest, start, rows = max(sizes), 0, []
    for size in sizes:
        row = targets[start : start + size]
        rows.append(ops.pad(row, (0, longest - size)) if size < longest else row)
        start += size
    return ops.stack(rows)


__all__ = [
    "CTCLoss",
    "GaussianNLLLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "MultilabelMarginLoss",
    "PoissonNLLLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]

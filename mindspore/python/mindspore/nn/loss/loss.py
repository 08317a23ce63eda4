"""Loss functions: cells that take a prediction and a target and return a number.

LossBase weighs and reduces. A subclass computes the loss of each element and passes it to
`get_loss`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._dtypes import floating, rounded, unwrapped, wide
from mindspore.common._kinds import Finite, NotNegative, PositiveFloat, Reduction, within
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P
from mindspore.ops.function.math_func import _promoted


class LossBase(Cell):
    """Base of all losses.

    Args:
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__()
        if reduction not in ("mean", "sum", "none"):
            raise ValueError(
                f"For '{self.cls_name}', 'reduction' must be one of 'mean', 'sum', 'none', "
                f"but got {reduction!r}."
            )
        self.reduction = reduction
        self.average = reduction == "mean"
        self.reduce = reduction != "none"
        self.reduce_mean = P.ReduceMean()
        self.reduce_sum = P.ReduceSum()
        self.mul = P.Mul()
        self.cast = P.Cast()

    def get_axis(self, x: Tensor) -> tuple[int, ...]:
        """All axes of a tensor."""
        return tuple(range(len(x.shape)))

    def get_loss(self, x: Tensor, weights: Any = 1.0) -> Tensor:
        """The elements times the weights, reduced; computed in float32 and returned in x's type."""
        dtype = x.dtype
        x = self.mul(self.cast(weights, mstype.float32), self.cast(x, mstype.float32))
        if self.reduce and self.average:
            x = self.reduce_mean(x, self.get_axis(x))
        if self.reduce and not self.average:
            x = self.reduce_sum(x, self.get_axis(x))
        return self.cast(x, dtype)

    def construct(self, *inputs: Any) -> Any:
        """The loss. Every subclass defines it."""
        raise NotImplementedError(
            f"For '{self.cls_name}', the method 'construct' must be defined, but got none."
        )


class _Loss(LossBase):
    """The name LossBase had in the first releases."""


class L1Loss(LossBase):
    """|logits - labels|.

    Args:
        reduction: 'mean', 'sum' or 'none'.
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        return self.get_loss(ops.abs(unwrapped(logits) - unwrapped(labels)))


class MSELoss(LossBase):
    """(logits - labels) squared.

    Args:
        reduction: 'mean', 'sum' or 'none'.
    """

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        difference = wide(unwrapped(logits)) - wide(unwrapped(labels))
        return rounded(self.get_loss(ops.square(difference)), logits, labels)


class RMSELoss(LossBase):
    """The root of the mean squared difference."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        """The loss."""
        difference = floating(logits) - floating(label)
        return rounded(ops.sqrt(self.get_loss(ops.square(difference))), logits, label)


class MAELoss(LossBase):
    """The mean absolute difference.

    Args:
        reduction: 'mean', 'sum' or 'none'.
    """

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        """The loss."""
        return self.get_loss(ops.abs(unwrapped(logits) - unwrapped(label)))


class SmoothL1Loss(LossBase):
    """Quadratic below beta, linear above (Girshick, 2015).

    Args:
        beta: Where the two meet.
        reduction: 'none', 'mean' or 'sum'.
    """

    def __init__(self, beta: NotNegative = 1.0, reduction: Reduction = "none") -> None:
        super().__init__(reduction)
        self.beta = beta

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        logits, labels = _promoted(logits, labels)
        return ops.smooth_l1_loss(logits, labels, self.beta, self.reduction)


class HuberLoss(LossBase):
    """Quadratic below delta, linear above, with delta as slope.

    Args:
        reduction: 'mean', 'sum' or 'none'.
        delta: Where the two meet.
    """

    def __init__(self, reduction: Reduction = "mean", delta: Finite = 1.0) -> None:
        super().__init__(reduction)
        if delta <= 0:
            raise ValueError(
                f"For '{self.cls_name}', 'delta' must be greater than 0, but got {delta}."
            )
        self.delta = delta

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        logits, labels = _promoted(logits, labels)
        return ops.huber_loss(logits, labels, self.reduction, self.delta)


class SoftMarginLoss(LossBase):
    """log(1 + exp(-labels * logits)), labels being 1 or -1.

    Args:
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(self, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        return ops.soft_margin_loss(logits, labels, self.reduction)


class BCELoss(LossBase):
    """Binary cross entropy of probabilities.

    Args:
        weight: Multiplies the loss of each element; it broadcasts to the inputs.
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(self, weight: Tensor | None = None, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        if weight is not None and not isinstance(weight, Tensor):
            raise TypeError(
                f"For '{self.cls_name}', 'weight' must be a Tensor or None, "
                f"but got {type(weight).__name__}."
            )
        self.weight = weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        return ops.binary_cross_entropy(logits, labels, self.weight, self.reduction)


class BCEWithLogitsLoss(LossBase):
    """Binary cross entropy of the sigmoid of logits.

    Args:
        reduction: 'mean', 'sum' or 'none'.
        weight: Multiplies the loss of each element; it broadcasts to the inputs.
        pos_weight: Multiplies the loss of positive labels; it broadcasts to the inputs.
    """

    def __init__(
        self,
        reduction: Reduction = "mean",
        weight: Tensor | None = None,
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(reduction)
        for name, value in (("weight", weight), ("pos_weight", pos_weight)):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"For '{self.cls_name}', '{name}' must be a Tensor or None, "
                    f"but got {type(value).__name__}."
                )
        self.weight = weight
        self.pos_weight = pos_weight

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        if logits.is_floating_point() and labels.is_floating_point():
            logits, labels = _promoted(logits, labels)
        return ops.binary_cross_entropy_with_logits(
            logits, labels, self.weight, self.pos_weight, self.reduction
        )


class CosineEmbeddingLoss(LossBase):
    """1 - cosine for labels of 1, max(cosine - margin, 0) for labels of -1.

    Args:
        margin: In [-1, 1].
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(
        self,
        margin: Annotated[float, within(-1.0, 1.0, "both")] = 0.0,
        reduction: Reduction = "mean",
    ) -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, logits_x1: Tensor, logits_x2: Tensor, labels: Tensor) -> Tensor:
        """The loss of vectors along axis 1."""
        return ops.cosine_embedding_loss(logits_x1, logits_x2, labels, self.margin, self.reduction)


class DiceLoss(LossBase):
    """1 - 2 * overlap / (sum of squares of both + smooth).

    Args:
        smooth: Keeps the quotient finite where both are zero.
    """

    def __init__(self, smooth: PositiveFloat = 1e-5) -> None:
        super().__init__()
        self.smooth = smooth

    def construct(self, logits: Tensor, label: Tensor) -> Tensor:
        """The loss."""
        if logits.shape != label.shape:
            raise ValueError(
                f"For 'DiceLoss', logits and label must have one shape, but got {logits.shape} and {label.shape}."
            )
        x, y = floating(logits), floating(label)
        total = ops.square(x).sum() + ops.square(y).sum()
        return rounded(1.0 - 2.0 * (x * y).sum() / (total + self.smooth), logits, label)


class MarginRankingLoss(LossBase):
    """max(0, margin - target * (input1 - input2)).

    Args:
        margin: By how much the inputs must differ in the direction of the target.
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(self, margin: Finite = 0.0, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss."""
        return ops.margin_ranking_loss(input1, input2, target, self.margin, self.reduction)


class HingeEmbeddingLoss(LossBase):
    """logits for labels of 1, max(0, margin - logits) for labels of -1.

    Args:
        margin: From where on a pair that differs costs nothing.
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(self, margin: Finite = 1.0, reduction: Reduction = "mean") -> None:
        super().__init__(reduction)
        self.margin = margin

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        return ops.hinge_embedding_loss(logits, labels, self.margin, self.reduction)


class KLDivLoss(LossBase):
    """labels * (log(labels) - logits), logits being logarithms.

    Args:
        reduction: 'mean', 'sum', 'none', or 'batchmean', which divides the sum by the batch.
    """

    def __init__(self, reduction: Literal["none", "mean", "sum", "batchmean"] = "mean") -> None:
        super().__init__("sum" if reduction == "batchmean" else reduction)
        self.kind = reduction

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        return ops.kl_div(logits, labels, self.kind)


L1LossExt = L1Loss  # under the name of `mindspore.mint.nn`

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CosineEmbeddingLoss",
    "DiceLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "L1LossExt",
    "LossBase",
    "MAELoss",
    "MSELoss",
    "MarginRankingLoss",
    "RMSELoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
]

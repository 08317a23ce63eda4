"""Losses of classification: softmax cross entropy in its forms, and negative log likelihood."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import Finite, Reduction, within
from mindspore.common.tensor import Tensor
from mindspore.nn.loss.loss import LossBase
from mindspore.ops import operations as P


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy of the softmax of logits [N, C].

    Args:
        sparse: Whether labels are classes [N] instead of probabilities [N, C].
        reduction: 'none', 'mean' or 'sum'.
        is_grad: Of the first releases: must be False, since gradients come by themselves.
        smooth_factor: Of the first releases: what classes other than the label share of the probability, where labels are sparse.
        num_classes: Of the first releases: among how many classes the others share it, with the label's.
    """

    def __init__(
        self,
        sparse: bool = False,
        reduction: Reduction = "none",
        *,
        is_grad: Literal[False] = False,
        smooth_factor: Annotated[float, within(0, 1, "both")] = 0.0,
        num_classes: Annotated[int, within(2, 1 << 31, "both")] = 2,
    ) -> None:
        super().__init__(reduction)
        del is_grad
        self.sparse = sparse
        self.smooth_factor = smooth_factor
        self.softmax_cross_entropy = P.SoftmaxCrossEntropyWithLogits()
        self.sparse_softmax_cross_entropy = P.SparseSoftmaxCrossEntropyWithLogits()
        self.one_hot = P.OneHot()
        self.on_value = Tensor(1.0 - smooth_factor, mstype.float32)
        self.off_value = Tensor(smooth_factor / (num_classes - 1), mstype.float32)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        if not isinstance(logits, Tensor) or not isinstance(labels, Tensor):
            raise TypeError(
                f"For '{self.cls_name}', 'logits' and 'labels' must be Tensors, "
                f"but got {type(logits).__name__} and {type(labels).__name__}."
            )
        if self.sparse:
            if self.reduction == "mean" and not self.smooth_factor:
                return self.sparse_softmax_cross_entropy(logits, labels)
            on_value = self.on_value.astype(logits.dtype)
            off_value = self.off_value.astype(logits.dtype)
            labels = self.one_hot(labels, logits.shape[-1], on_value, off_value)
        return self.get_loss(self.softmax_cross_entropy(logits, labels)[0])


class _ClassLoss(LossBase):
    """What losses over classes share: class weights and a class that is ignored."""

    def __init__(self, weight: Tensor | None, ignore_index: int, reduction: Reduction) -> None:
        super().__init__(reduction)
        if weight is not None and not isinstance(weight, Tensor):
            raise TypeError(
                f"For '{self.cls_name}', 'weight' must be a Tensor or None, "
                f"but got {type(weight).__name__}."
            )
        self.weight = weight
        self.ignore_index = ignore_index


class NLLLoss(_ClassLoss):
    """Minus the logarithm of the probability of the class, from logarithms.

    Args:
        weight: The weight of each class, [C].
        ignore_index: A label that counts nothing.
        reduction: 'mean', weighted by class, 'sum' or 'none'.
    """

    def __init__(
        self, weight: Tensor | None = None, ignore_index: int = -100, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(weight, ignore_index, reduction)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        return ops.nll_loss(logits, labels, self.weight, self.ignore_index, self.reduction)


class CrossEntropyLoss(_ClassLoss):
    """Cross entropy of the softmax of logits [N, C, ...] and classes or probabilities.

    Args:
        weight: The weight of each class, [C].
        ignore_index: A label that counts nothing.
        reduction: 'mean', weighted by class, 'sum' or 'none'.
        label_smoothing: The share of each label that is spread over all classes, in [0, 1].
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: Reduction = "mean",
        label_smoothing: Annotated[float, within(0.0, 1.0, "both")] = 0.0,
    ) -> None:
        super().__init__(weight, ignore_index, reduction)
        self.label_smoothing = label_smoothing

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        return ops.cross_entropy(
            logits, labels, self.weight, self.ignore_index, self.reduction, self.label_smoothing
        )


class FocalLoss(LossBase):
    """Cross entropy with less weight on what is predicted well (Lin et al., 2017).

    Args:
        weight: The weight of each class, [C].
        gamma: How fast the weight falls.
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(
        self, weight: Tensor | None = None, gamma: Finite = 2.0, reduction: Reduction = "mean"
    ) -> None:
        super().__init__(reduction)
        if weight is not None and not isinstance(weight, Tensor):
            raise TypeError(
                f"For '{self.cls_name}', 'weight' must be a Tensor or None, "
                f"but got {type(weight).__name__}."
            )
        if weight is not None and weight.ndim != 1:
            raise ValueError(
                f"For '{self.cls_name}', 'weight' must have 1 dimension, but got {weight.ndim}."
            )
        self.weight = weight
        self.gamma = gamma
        self.log_softmax = P.LogSoftmax(1)

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        """The loss of [N, C, ...]: of each sample for classes [N, 1, ...], also of each class for one-hot [N, C, ...]."""
        if len(labels.shape) != len(logits.shape) or len(logits.shape) < 2:
            raise ValueError(
                "For 'FocalLoss', the labels must have as many axes as the logits, at least 2, "
                f"but got {labels.shape} and {logits.shape}."
            )
        log_probs = self.log_softmax(logits)
        is_hot = labels.shape[1] == logits.shape[1]
        if not is_hot:
            classes = ops.one_hot(
                labels.squeeze(1),
                logits.shape[1],
                Tensor(1.0, logits.dtype),
                Tensor(0.0, logits.dtype),
            )
            rank = len(classes.shape)
            labels = ops.transpose(classes, (0, rank - 1, *range(1, rank - 1)))
        labels = labels.astype(logits.dtype)
        if self.weight is not None:
            shape = (1, -1) + (1,) * (len(logits.shape) - 2)
            labels = labels * self.weight.reshape(shape)
        loss = -ops.pow(1.0 - ops.exp(log_probs), self.gamma) * log_probs * labels
        loss = loss.reshape(loss.shape[:2] + (-1,)).mean(-1)
        return self.get_loss(loss if is_hot else loss.sum(1))


__all__ = ["CrossEntropyLoss", "FocalLoss", "NLLLoss", "SoftmaxCrossEntropyWithLogits"]

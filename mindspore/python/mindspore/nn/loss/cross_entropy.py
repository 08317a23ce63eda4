"""Losses of classification: softmax cross entropy in its forms, and negative log likelihood."""
from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.nn import _checks
from mindspore.nn.loss.loss import LossBase
from mindspore.ops import operations as P


class SoftmaxCrossEntropyWithLogits(LossBase):
    """Cross entropy of the softmax of logits [N, C].

    Args:
        sparse: Whether labels are classes [N] instead of probabilities [N, C].
        reduction: 'none', 'mean' or 'sum'.
    """

    def __init__(self, sparse: bool = False, reduction: str = "none") -> None:
        super().__init__(reduction)
        self.sparse = _checks.check_bool(sparse, "sparse", self.cls_name)
        self.softmax_cross_entropy = P.SoftmaxCrossEntropyWithLogits()
        self.sparse_softmax_cross_entropy = P.SparseSoftmaxCrossEntropyWithLogits()
        self.one_hot = P.OneHot()
        self.on_value = Tensor(1.0, mstype.float32)
        self.off_value = Tensor(0.0, mstype.float32)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        if not isinstance(logits, Tensor) or not isinstance(labels, Tensor):
            raise TypeError(
                f"For '{self.cls_name}', 'logits' and 'labels' must be Tensors, "
                f"but got {type(logits).__name__} and {type(labels).__name__}."
            )
        if self.sparse:
            if self.reduction == "mean":
                return self.sparse_softmax_cross_entropy(logits, labels)
            on_value = self.on_value.astype(logits.dtype)
            off_value = self.off_value.astype(logits.dtype)
            labels = self.one_hot(labels, logits.shape[-1], on_value, off_value)
        return self.get_loss(self.softmax_cross_entropy(logits, labels)[0])


class _ClassLoss(LossBase):
    """What losses over classes share: class weights and a class that is ignored."""

    def __init__(self, weight: Tensor | None, ignore_index: int, reduction: str) -> None:
        super().__init__(reduction)
        if weight is not None and not isinstance(weight, Tensor):
            raise TypeError(
                f"For '{self.cls_name}', 'weight' must be a Tensor or None, "
                f"but got {type(weight).__name__}."
            )
        self.weight = weight
        self.ignore_index = _checks.check_int(ignore_index, "ignore_index", self.cls_name)

    def _rows(self, logits: Tensor) -> Tensor:
        """[N, C, d1, ...] as [N * d1 * ..., C]."""
        rank = len(logits.shape)
        if rank > 2:
            logits = ops.transpose(logits, (0, *range(2, rank), 1))
        return logits.reshape((-1, logits.shape[-1]))

    def _check(self, logits: Tensor, labels: Tensor) -> None:
        """Raise a ValueError unless logits are [N, C, ...] or [C] and labels [N, ...] or []."""
        shape = logits.shape
        expected = shape[:1] + shape[2:] if len(shape) > 1 else ()
        if len(shape) < 1 or labels.shape != expected:
            raise ValueError(
                f"For '{self.cls_name}', the shape of 'labels' must be {expected} for logits of "
                f"the shape {shape}, but got {labels.shape}."
            )

    def _picked(self, log_probs: Tensor, labels: Tensor, smoothing: float) -> Tensor:
        """The loss from [M, C] logarithms and [M] classes, reduced, or [M] without reduction."""
        classes = log_probs.shape[-1]
        kept = labels != self.ignore_index
        safe = ops.select(kept, labels, ops.zeros_like(labels))
        on_value, off_value = Tensor(1.0, log_probs.dtype), Tensor(0.0, log_probs.dtype)
        one_hot = ops.one_hot(safe, classes, on_value, off_value)
        weights = kept.astype(log_probs.dtype)
        if self.weight is not None:
            weights = weights * (one_hot * self.weight).sum(-1)
        loss = -(one_hot * log_probs).sum(-1) * weights
        if smoothing > 0.0:
            spread = log_probs if self.weight is None else log_probs * self.weight
            uniform = -spread.sum(-1) * kept.astype(log_probs.dtype) / classes
            loss = (1.0 - smoothing) * loss + smoothing * uniform
        if self.reduction == "mean":
            return loss.sum() / weights.sum()
        return loss.sum() if self.reduction == "sum" else loss


class NLLLoss(_ClassLoss):
    """Minus the logarithm of the probability of the class, from logarithms.

    Args:
        weight: The weight of each class, [C].
        ignore_index: A label that counts nothing.
        reduction: 'mean', weighted by class, 'sum' or 'none'.
    """

    def __init__(
        self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean"
    ) -> None:
        super().__init__(weight, ignore_index, reduction)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        self._check(logits, labels)
        loss = self._picked(self._rows(logits), labels.reshape((-1,)), 0.0)
        return loss.reshape(labels.shape) if self.reduction == "none" else loss


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
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, ignore_index, reduction)
        self.label_smoothing = _checks.check_range(
            label_smoothing, 0.0, 1.0, "label_smoothing", self.cls_name
        )
        self.log_softmax = P.LogSoftmax(-1)

    def construct(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss."""
        if logits.shape == labels.shape:
            return self._soft(logits, labels)
        self._check(logits, labels)
        log_probs = self.log_softmax(self._rows(logits))
        loss = self._picked(log_probs, labels.reshape((-1,)), self.label_smoothing)
        return loss.reshape(labels.shape) if self.reduction == "none" else loss

    def _soft(self, logits: Tensor, labels: Tensor) -> Tensor:
        """The loss when labels are probabilities."""
        log_probs = self.log_softmax(self._rows(logits))
        targets = self._rows(labels)
        if self.label_smoothing > 0.0:
            spread = self.label_smoothing / log_probs.shape[-1]
            targets = targets * (1.0 - self.label_smoothing) + spread
        weighted = log_probs if self.weight is None else log_probs * self.weight
        loss = -(weighted * targets).sum(-1)
        if self.reduction == "mean":
            return loss.mean()
        if self.reduction == "sum":
            return loss.sum()
        return loss.reshape(logits.shape[:1] + logits.shape[2:])


class FocalLoss(LossBase):
    """Cross entropy with less weight on what is predicted well (Lin et al., 2017).

    Args:
        weight: The weight of each class, [C].
        gamma: How fast the weight falls.
        reduction: 'mean', 'sum' or 'none'.
    """

    def __init__(
        self, weight: Tensor | None = None, gamma: float = 2.0, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction)
        if weight is not None and not isinstance(weight, Tensor):
            raise TypeError(
                f"For '{self.cls_name}', 'weight' must be a Tensor or None, "
                f"but got {type(weight).__name__}."
            )
        self.weight = weight
        self.gamma = _checks.check_number(gamma, "gamma", self.cls_name)
        self.log_softmax = P.LogSoftmax(1)

    def construct(self, logits: Tensor, labels: Tensor) -> Any:
        """The loss of [N, C, ...] and classes [N, 1, ...] or one-hot [N, C, ...]."""
        log_probs = self.log_softmax(logits)
        if labels.shape[1] != logits.shape[1]:
            classes = ops.one_hot(
                labels.squeeze(1), logits.shape[1], Tensor(1.0, logits.dtype),
                Tensor(0.0, logits.dtype),
            )
            rank = len(classes.shape)
            labels = ops.transpose(classes, (0, rank - 1, *range(1, rank - 1)))
        labels = labels.astype(logits.dtype)
        if self.weight is not None:
            shape = (1, -1) + (1,) * (len(logits.shape) - 2)
            labels = labels * self.weight.reshape(shape)
        loss = -ops.pow(1.0 - ops.exp(log_probs), self.gamma) * log_probs * labels
        loss = loss.reshape(loss.shape[:2] + (-1,)).mean(-1).sum(1)
        return self.get_loss(loss)


__all__ = ["CrossEntropyLoss", "FocalLoss", "NLLLoss", "SoftmaxCrossEntropyWithLogits"]

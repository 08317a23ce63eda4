"""Losses over classes one by one, and over a sample of many classes."""

from __future__ import annotations

from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common._kinds import PositiveInt, Reduction
from mindspore.common.tensor import Tensor
from mindspore.nn.layer.activation import get_activation
from mindspore.nn.loss.loss import DiceLoss, LossBase
from mindspore.ops import operations as P

_ACTIVATIONS = ("softmax", "logsoftmax", "relu", "relu6", "tanh", "sigmoid")


class MultiClassDiceLoss(LossBase):
    """The mean of the DiceLoss of each class.

    Args:
        weights: The weight of each class, a matrix with a row for each.
        ignore_indiex: A class that counts nothing.
        activation: What is applied to logits: 'softmax', 'logsoftmax', 'relu', 'relu6', 'tanh', 'sigmoid', or None.
    """

    def __init__(
        self,
        weights: Tensor | None = None,
        ignore_indiex: int | None = None,
        activation: Any = "softmax",
    ) -> None:
        super().__init__()
        owner = self.cls_name
        if weights is not None and weights.ndim != 2:
            raise ValueError(
                f"For '{owner}', 'weights' must have 2 dimensions, but got {weights.ndim}."
            )
        if isinstance(activation, str) and activation not in _ACTIVATIONS:
            raise ValueError(
                f"For '{owner}', 'activation' must be one of {', '.join(map(repr, _ACTIVATIONS))}, but got {activation!r}."
            )
        if not (activation is None or callable(activation) or isinstance(activation, str)):
            raise TypeError(
                f"For '{owner}', 'activation' must be a name, a Cell or None, but got {type(activation).__name__}."
            )
        self.binarydiceloss = DiceLoss(1e-5)
        self.weights = weights
        self.ignore_indiex = ignore_indiex
        self.activation: Any = (
            get_activation(activation, owner) if isinstance(activation, str) else activation
        )

    def construct(self, logits: Tensor, label: Tensor) -> Any:
        """The loss of [N, C, ...] and labels of the same shape."""
        if logits.shape != label.shape or logits.ndim < 2 or not logits.shape[1]:
            raise ValueError(
                f"For '{self.cls_name}', logits and labels must have one shape, [N, C, ...] with classes, but got {logits.shape} and "
                f"{label.shape}."
            )
        classes = label.shape[1]
        if self.weights is not None and self.weights.shape[0] != classes:
            raise ValueError(
                f"For '{self.cls_name}', 'weights' must have {classes} rows, but got {self.weights.shape[0]}."
            )
        if self.activation is not None:
            logits = self.activation(logits)
        total: Any = 0.0
        for i in range(classes):
            if i != self.ignore_indiex:
                loss = self.binarydiceloss(logits[:, i], label[:, i])
                total = total + (loss if self.weights is None else loss * self.weights[i])
        return total / classes


class SampledSoftmaxLoss(LossBase):
    """Cross entropy over the classes of labels and a sample of the others, for training with very many classes.

    Args:
        num_sampled: Classes in the sample.
        num_classes: All classes.
        num_true: Labels of each row.
        sampled_values: The sample, the expected counts of labels, and those of the sample; None draws one uniformly.
        remove_accidental_hits: Whether a sampled class that is a label of a row does not count there.
        seed: Picks the sample.
        reduction: 'none', 'mean' or 'sum'.
    """

    def __init__(
        self,
        num_sampled: PositiveInt,
        num_classes: PositiveInt,
        num_true: PositiveInt = 1,
        sampled_values: list | tuple | None = None,
        remove_accidental_hits: bool = True,
        seed: int = 0,
        reduction: Reduction = "none",
    ) -> None:
        super().__init__(reduction)
        owner = self.cls_name
        if max(num_sampled, num_true) > num_classes:
            raise ValueError(
                f"For '{owner}', 'num_sampled' and 'num_true' must be at most 'num_classes', but got {num_sampled}, {num_true} "
                f"and {num_classes}."
            )
        if sampled_values is not None and len(sampled_values) != 3:
            raise ValueError(
                f"For '{owner}', 'sampled_values' must be 3 Tensors, but got {len(sampled_values)}."
            )
        self.num_sampled = num_sampled
        self.num_classes = num_classes
        self.num_true = num_true
        self.sampled_values = sampled_values
        self.remove_accidental_hits = remove_accidental_hits
        self.seed = seed
        if sampled_values is None:
            primitives: Any = P  # some are made from a table, and no type checker knows them
            self.sampler = primitives.UniformCandidateSampler(
                num_true, num_sampled, True, num_classes, seed
            )

    def construct(self, weights: Tensor, bias: Tensor, labels: Tensor, logits: Tensor) -> Tensor:
        """The loss of activations [N, dim] under the weights [C, dim] and biases [C] of classes."""
        if labels.dtype not in (mstype.int32, mstype.int64):
            raise TypeError(
                f"For '{self.cls_name}', labels must be int32 or int64, but got {labels.dtype}."
            )
        labels = labels.reshape((-1, self.num_true))
        drawn = self.sampler(labels) if self.sampled_values is None else self.sampled_values
        sampled, true_count, sampled_count = drawn
        of_labels = (logits.expand_dims(1) * weights[labels]).sum(-1) + bias[labels]
        of_sample = ops.matmul(logits, weights[sampled].swapaxes(0, 1)) + bias[sampled]
        if self.remove_accidental_hits:
            hits = labels.expand_dims(2) == sampled.reshape((1, 1, -1)).astype(labels.dtype)
            of_sample = of_sample - hits.any(axis=1).astype(of_sample.dtype) * 3.0e38
        scores = ops.concat(
            (of_labels - ops.log(true_count), of_sample - ops.log(sampled_count)), 1
        )
        loss = -ops.log_softmax(scores, 1)[:, : self.num_true].sum(1) / self.num_true
        return self.get_loss(loss)


__all__ = ["MultiClassDiceLoss", "SampledSoftmaxLoss"]

"""Accuracy: the share of samples that are predicted right, first guess or among the first k."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.common._kinds import PositiveInt
from mindspore.nn.metrics.metric import EvalType, EvaluationBase, Metric, rearrange_inputs


class Accuracy(EvaluationBase):
    """The share of right predictions.

    Args:
        eval_type: 'classification' for scores [N, C, ...] and classes [N, ...] or one-hot
            [N, C, ...]; 'multilabel' for zeros and ones [N, C, ...], right when all C are.
    """

    _sums = ("_correct_num", "_total_num")

    def __init__(self, eval_type: EvalType = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        """Forget all batches."""
        self._correct_num = 0
        self._total_num = 0
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take predictions and targets."""
        y_pred, y = self._take(inputs, 2)
        self._check_shape(y_pred, y)
        self._check_value(y_pred, y)
        if self._class_num == 0:
            self._class_num = y_pred.shape[1]
        elif y_pred.shape[1] != self._class_num:
            raise ValueError(
                f"For 'Accuracy.update', all batches must have {self._class_num} classes, "
                f"but got {y_pred.shape[1]}."
            )
        if not self._class_num:
            raise ValueError("For 'Accuracy.update', there must be classes, but got none.")
        if self._type == "classification":
            if y.shape == y_pred.shape:
                y = y.argmax(axis=1)
            right = y_pred.argmax(axis=1) == y
        else:
            rows = (np.moveaxis(data, 1, -1).reshape(-1, self._class_num) for data in (y_pred, y))
            right = np.equal(*rows).all(axis=1)
        self._correct_num += int(right.sum())
        self._total_num += right.size

    def eval(self) -> float:
        """The share."""
        self._require(self._total_num)
        return self._correct_num / self._total_num


class TopKCategoricalAccuracy(Metric):
    """The share of samples whose class is among the k highest scores.

    Args:
        k: How many guesses count.
    """

    _sums = ("_correct_num", "_samples_num")

    def __init__(self, k: PositiveInt) -> None:
        super().__init__()
        self.k = k
        self.clear()

    def clear(self) -> None:
        """Forget all batches."""
        self._correct_num = 0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take scores [N, C] and classes [N] or one-hot [N, C]."""
        y_pred, y = self._take(inputs, 2)
        if y_pred.ndim == y.ndim == 2 and y_pred.shape == y.shape:
            y = y.argmax(axis=1)
        if y_pred.ndim != 2 or y.shape != y_pred.shape[:1]:
            raise ValueError(
                f"For '{type(self).__name__}.update', scores must be [N, C] and targets [N] or [N, C], "
                f"but got {y_pred.shape} and {y.shape}."
            )
        if y_pred.shape[1] < self.k:
            raise ValueError(
                f"For '{type(self).__name__}.update', there must be at least {self.k} classes, but got {y_pred.shape[1]}."
            )
        guesses = np.argsort(-y_pred.astype(np.float64), axis=1, kind="stable")[:, : self.k]
        self._correct_num += int((guesses == y.reshape(-1, 1)).any(axis=1).sum())
        self._samples_num += y.shape[0]

    def eval(self) -> float:
        """The share."""
        self._require(self._samples_num)
        return self._correct_num / self._samples_num


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class has the highest score."""

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """The share of samples whose class is among the five highest scores."""

    def __init__(self) -> None:
        super().__init__(5)

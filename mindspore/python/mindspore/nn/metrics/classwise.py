"""Metrics by class: precision, recall and their F score, and the confusion matrix."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from mindspore.common._kinds import Float, Positive, PositiveInt
from mindspore.common._size import require_memory
from mindspore.nn.metrics.metric import EvalType, EvaluationBase, Metric, rearrange_inputs


def _one_hot(classes: np.ndarray, count: int, owner: str) -> np.ndarray:
    """[M] classes as [M, count] zeros and ones."""
    classes = classes.astype(np.int64).reshape(-1)
    if classes.size and (classes.max() >= count or classes.min() < 0):
        raise ValueError(
            f"For '{owner}.update', targets must be classes in [0, {count}), "
            f"but got {int(classes.min())} to {int(classes.max())}."
        )
    return (classes[:, None] == np.arange(count)).astype(np.int64)


def _rows(data: np.ndarray) -> np.ndarray:
    """[N, C, ...] as [M, C]."""
    return np.moveaxis(data, 1, -1).reshape(-1, data.shape[1])


class _Counts(EvaluationBase):
    """True positives, predicted positives and actual positives of each class."""

    def __init__(self, eval_type: EvalType = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        """Forget all batches."""
        self._class_num = 0
        # Rows: true positives, predicted positives, actual positives.
        self._counts = np.zeros((3, 0))

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take predictions and targets."""
        y_pred, y = self._take(inputs, 2)
        self._check_shape(y_pred, y)
        self._check_value(y_pred, y)
        owner = type(self).__name__
        if self._class_num == 0:
            self._class_num = y_pred.shape[1]
        elif y_pred.shape[1] != self._class_num:
            raise ValueError(
                f"For '{owner}.update', all batches must have {self._class_num} classes, "
                f"but got {y_pred.shape[1]}."
            )
        if not self._class_num:
            raise ValueError(f"For '{owner}.update', there must be classes, but got none.")
        if self._type == "classification":
            if y.shape == y_pred.shape:
                y = y.argmax(axis=1)
            y = _one_hot(y, self._class_num, owner)
            y_pred = _one_hot(y_pred.argmax(axis=1), self._class_num, owner)
        else:
            y, y_pred = _rows(y).astype(np.int64), _rows(y_pred).astype(np.int64)
        # A class is the unit with one label per sample, a sample with several.
        axis = 0 if self._type == "classification" else 1
        batch = np.stack([(y * y_pred).sum(axis=axis), y_pred.sum(axis=axis), y.sum(axis=axis)])
        if self._type == "classification" and self._counts.size:
            self._counts = self._counts + batch
        else:
            self._counts = np.concatenate([self._counts, batch], axis=1)

    def _share(self, part: Any, whole: Any, average: bool) -> Any:
        """part / whole by class, with 0 where there is nothing; or its mean."""
        self._require(self._class_num)
        whole = np.asarray(whole, np.float64)
        shares = np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
        return float(shares.mean()) if average else shares


class Precision(_Counts):
    """Of what was predicted as a class, the share that is of the class.

    Args:
        eval_type: 'classification' or 'multilabel', as for Accuracy.
    """

    def eval(self, average: bool = False) -> Any:
        """The share of each class, or their mean."""
        return self._share(self._counts[0], self._counts[1], average)


class Recall(_Counts):
    """Of what is of a class, the share that was predicted as the class.

    Args:
        eval_type: 'classification' or 'multilabel', as for Accuracy.
    """

    def eval(self, average: bool = False) -> Any:
        """The share of each class, or their mean."""
        return self._share(self._counts[0], self._counts[2], average)


class Fbeta(_Counts):
    """The weighted harmonic mean of precision and recall.

    Args:
        beta: How much recall weighs more than precision.
    """

    def __init__(self, beta: Positive) -> None:
        self.beta = beta
        super().__init__("classification")

    def eval(self, average: bool = False) -> Any:
        """The score of each class, or their mean."""
        self._require(self._class_num)
        weight = self.beta**2
        right, positives, actual = self._counts
        return self._share((1 + weight) * right, weight * actual + positives, average)


class F1(Fbeta):
    """The harmonic mean of precision and recall."""

    def __init__(self) -> None:
        super().__init__(1.0)


class ConfusionMatrix(Metric):
    """How often class i was predicted as class j.

    Args:
        num_classes: The number of classes.
        normalize: 'no_norm' counts; 'target' divides by rows, 'prediction' by columns, 'all' by the
            number of samples.
        threshold: From where on a number is a prediction of class 1 of 2.
    """

    _sums = ("_counts", "_seen")

    def __init__(
        self,
        num_classes: PositiveInt,
        normalize: Literal["no_norm", "target", "prediction", "all"] = "no_norm",
        threshold: Float = 0.5,
    ) -> None:
        super().__init__()
        require_memory("ConfusionMatrix", num_classes**2, 8)
        self.num_classes = num_classes
        self.normalize = normalize
        self.threshold = threshold
        self.clear()

    def clear(self) -> None:
        """Forget all batches."""
        self._counts = np.zeros((self.num_classes, self.num_classes))
        self._seen = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take predictions, as classes or scores [N, C, ...] or numbers of class 1, and targets."""
        y_pred, y = self._take(inputs, 2)
        if y_pred.ndim == y.ndim + 1 > 1 and y_pred.shape[1] > 0:
            y_pred = y_pred.argmax(axis=1)
        elif self.num_classes == 2 and np.issubdtype(y_pred.dtype, np.floating):
            y_pred = y_pred >= self.threshold
        if y_pred.shape != y.shape or y.ndim == 0:
            raise ValueError(
                "For 'ConfusionMatrix.update', the shape of the prediction must be that of the "
                f"target, or have the classes on axis 1, but got {y_pred.shape} and {y.shape}."
            )
        owner = type(self).__name__
        rows = _one_hot(y, self.num_classes, owner)
        columns = _one_hot(y_pred, self.num_classes, owner)
        self._counts += rows.T @ columns
        self._seen = True

    def eval(self) -> np.ndarray:
        """The matrix; a row or column without samples stays zero."""
        self._require(self._seen)
        if self.normalize == "no_norm":
            return self._counts
        axis = {"target": 1, "prediction": 0, "all": None}[self.normalize]
        total = np.broadcast_to(self._counts.sum(axis=axis, keepdims=True), self._counts.shape)
        return np.divide(self._counts, total, out=np.zeros_like(self._counts), where=total > 0)

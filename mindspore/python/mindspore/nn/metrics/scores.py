"""Metrics of segmentation, language and similarity, and the ROC curve."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from mindspore.common._checked import check_value, checked
from mindspore.common._kinds import Positive, Reduction, within
from mindspore.nn.metrics.metric import Metric, rearrange_inputs

Words: TypeAlias = Sequence[str]


class Dice(Metric):
    """Twice the overlap of prediction and target over the sum of their squares + smooth, per sample.

    As in the public API, the quotient of a batch is divided by its samples.

    Args:
        smooth: Keeps the quotient finite where both are zero.
    """

    _sums = ("_sum", "_samples")

    def __init__(self, smooth: Positive = 1e-5) -> None:
        super().__init__()
        self.smooth = smooth
        self.clear()

    def clear(self) -> None:
        """Forget all batches."""
        self._sum = 0.0
        self._samples = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take predictions and targets of one shape."""
        y_pred, y = self._take(inputs, 2)
        if y_pred.shape != y.shape or y.ndim == 0:
            raise ValueError(
                "For 'Dice.update', prediction and target must have one shape, "
                f"but got {y_pred.shape} and {y.shape}."
            )
        overlap = float((y_pred * y).sum())
        total = float((y_pred**2).sum() + (y**2).sum())
        self._sum += 2 * overlap / (total + self.smooth)
        self._samples += y.shape[0]

    def eval(self) -> float:
        """The quotients over the samples."""
        self._require(self._samples)
        return self._sum / self._samples


class Perplexity(Metric):
    """exp of the mean negative log likelihood of the targets.

    Args:
        ignore_label: A target that counts nothing.
    """

    _sums = ("_sum", "_count")

    def __init__(self, ignore_label: int | None = None) -> None:
        super().__init__()
        self.ignore_label = ignore_label
        self.clear()

    def clear(self) -> None:
        """Forget all batches."""
        self._sum = 0.0
        self._count = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take probabilities [..., C] and classes [...]."""
        probs, classes = self._take(inputs, 2)
        if probs.ndim != classes.ndim + 1 or probs.shape[:-1] != classes.shape:
            raise ValueError(
                "For 'Perplexity.update', the shape of the prediction without its last axis must "
                f"be that of the target, but got {probs.shape} and {classes.shape}."
            )
        classes = classes.reshape(-1).astype(np.int64)
        rows = probs.reshape(-1, probs.shape[-1]).astype(np.float64)
        kept = np.ones(classes.shape, bool)
        if self.ignore_label is not None:
            kept = classes != self.ignore_label
        if ((classes < 0) | (classes >= rows.shape[1]))[kept].any():
            raise ValueError(
                f"For 'Perplexity.update', targets must be classes in [0, {rows.shape[1]}), "
                f"but got {classes.min()} to {classes.max()}."
            )
        picked = rows[np.flatnonzero(kept), classes[kept]]
        self._sum -= float(np.log(np.maximum(picked, 1e-10)).sum())
        self._count += int(kept.sum())

    def eval(self) -> float:
        """The perplexity."""
        self._require(self._count)
        return math.exp(self._sum / self._count)


class BleuScore(Metric):
    """How much of a translation's n-grams its references have (Papineni et al., 2002).

    Args:
        n_gram: The longest n-gram.
        smooth: Whether one is added to the counts of n-grams of two words and more.
    """

    _sums = ("_right", "_all", "_length", "_reference_length")

    def __init__(
        self, n_gram: Annotated[int, within(1, 4, "both")] = 4, smooth: bool = False
    ) -> None:
        super().__init__()
        self.n_gram = n_gram
        self.smooth = smooth
        self.clear()

    def clear(self) -> None:
        """Forget all sentences."""
        self._right = np.zeros(self.n_gram)
        self._all = np.zeros(self.n_gram)
        self._length = 0
        self._reference_length = 0

    def _grams(self, words: list[str]) -> Counter[tuple[str, ...]]:
        return Counter(
            tuple(words[i : i + n])
            for n in range(1, self.n_gram + 1)
            for i in range(len(words) - n + 1)
        )

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take translations, lists of words, and for each a list of references."""
        if len(inputs) == 2:
            check_value(Sequence[Words], inputs[0], "candidates", "BleuScore.update")
            check_value(Sequence[Sequence[Words]], inputs[1], "references", "BleuScore.update")
        if len(inputs) != 2 or len(inputs[0]) != len(inputs[1]) or not all(inputs[1]):
            raise ValueError(
                "For 'BleuScore.update', there must be as many translations as lists of "
                f"references that are not empty, but got {len(inputs)} inputs."
            )
        for candidate, references in zip(*inputs):
            self._length += len(candidate)
            lengths = [len(reference) for reference in references]
            self._reference_length += min(lengths, key=lambda n: (abs(n - len(candidate)), n))
            known: Counter[tuple[str, ...]] = Counter()
            for reference in references:
                known |= self._grams(reference)
            grams = self._grams(candidate)
            for gram, count in grams.items():
                self._right[len(gram) - 1] += min(count, known[gram])
                self._all[len(gram) - 1] += count

    def eval(self) -> float:
        """The score."""
        self._require(self._length)
        if self._right.min() == 0:
            return 0.0
        shares = self._right / self._all
        if self.smooth:
            shares[1:] = (self._right[1:] + 1) / (self._all[1:] + 1)
        penalty = min(0.0, 1 - self._reference_length / self._length)
        return math.exp(penalty + float(np.log(shares).mean()))


class CosineSimilarity(Metric):
    """The similarity of each pair of rows of a matrix.

    Args:
        similarity: 'cosine' or 'dot'.
        reduction: 'none', or 'sum' or 'mean' over the last axis.
        zero_diagonal: Whether rows count as not similar to themselves.
    """

    def __init__(
        self,
        similarity: Literal["cosine", "dot"] = "cosine",
        reduction: Reduction = "none",
        zero_diagonal: bool = True,
    ) -> None:
        super().__init__()
        self.similarity = similarity
        self.reduction = reduction
        self.zero_diagonal = zero_diagonal
        self.clear()

    def clear(self) -> None:
        """Forget the matrix."""
        self._matrix: np.ndarray | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take a matrix."""
        (rows,) = self._take(inputs, 1)
        if rows.ndim != 2:
            raise ValueError(
                f"For 'CosineSimilarity.update', there must be a matrix, but got shape {rows.shape}."
            )
        if self.similarity == "cosine":
            rows = rows / np.linalg.norm(rows, ord=2, axis=-1, keepdims=True)
        self._matrix = rows @ rows.T
        if self.zero_diagonal:
            np.fill_diagonal(self._matrix, 0)

    def eval(self) -> np.ndarray:
        """The similarities."""
        self._require(self._matrix is not None)
        matrix = np.asarray(self._matrix)
        if self.reduction == "none":
            return matrix
        return matrix.mean(axis=-1) if self.reduction == "mean" else matrix.sum(axis=-1)


class ROC(Metric):
    """The share of false and of true positives at every threshold.

    Args:
        class_num: The number of classes, where there are more than two.
        pos_label: The class that is positive, where there are two.
    """

    _sums = ("_scores", "_classes")

    def __init__(self, class_num: int | None = None, pos_label: int | None = None) -> None:
        super().__init__()
        self.class_num = class_num
        self.pos_label = 1 if pos_label is None else pos_label
        self.clear()

    def clear(self) -> None:
        """Forget all batches."""
        self._scores: list[np.ndarray] = []
        self._classes: list[np.ndarray] = []

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take scores, [N] or [N, C], and classes [N]."""
        scores, classes = self._take(inputs, 2)
        columns = scores.shape[1] if scores.ndim == 2 else 1
        if (
            scores.ndim not in (1, 2)
            or scores.shape[:1] != classes.shape
            or columns != (self.class_num or 1)
        ):
            raise ValueError(
                f"For 'ROC.update', scores must be [N] or [N, class_num] and targets [N], "
                f"but got {scores.shape} and {classes.shape}."
            )
        self._scores.append(scores)
        self._classes.append(classes)

    def eval(self) -> tuple[Any, Any, Any]:
        """False positive rates, true positive rates and thresholds; lists of them by class."""
        self._require(self._scores)
        scores, classes = np.concatenate(self._scores), np.concatenate(self._classes)
        if scores.ndim == 1:
            return _roc_curve(scores, classes == self.pos_label)
        curves = [_roc_curve(scores[:, i], classes == i) for i in range(scores.shape[1])]
        false, true, thresholds = (list(part) for part in zip(*curves))
        return false, true, thresholds


def _roc_curve(scores: np.ndarray, positive: np.ndarray) -> tuple[Any, Any, Any]:
    """The points where the score changes, from the highest score on."""
    order = np.argsort(scores, kind="mergesort")[::-1]
    scores, positive = scores[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)
    true = np.cumsum(positive)[last].astype(np.float64)
    false = 1 + last - true
    thresholds = scores[last]
    true, false = np.append(0.0, true), np.append(0.0, false)
    thresholds = np.append(thresholds[0] + 1, thresholds)
    if true[-1] <= 0 or false[-1] <= 0:
        raise ValueError("For 'ROC', there must be positive and negative samples of each class.")
    return false / false[-1], true / true[-1], thresholds


@checked
def auc(x: np.ndarray, y: np.ndarray, reorder: bool = False) -> float:
    """The area under a curve, by trapezoids.

    Args:
        x: Where the curve is known, in order.
        y: Its values.
        reorder: Whether x may come in any order.
    """
    if x.dtype.kind not in "biuf" or y.dtype.kind not in "biuf":
        raise TypeError(
            f"For 'auc', 'x' and 'y' must be arrays of numbers, but got {x.dtype} and {y.dtype}."
        )
    if x.ndim != 1 or x.shape != y.shape or x.size < 2:
        raise ValueError(
            "For 'auc', 'x' and 'y' must be of one length of at least 2, "
            f"but got {x.shape} and {y.shape}."
        )
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    steps = np.diff(x)
    if np.any(steps < 0) and np.any(steps > 0):
        raise ValueError("For 'auc', 'x' must be in order, but got numbers that rise and fall.")
    area = float((steps * (y[1:] + y[:-1]) / 2).sum())
    return -area if np.any(steps < 0) else area

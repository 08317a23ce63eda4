"""Rates that come from how often a class was predicted rightly and wrongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from mindspore.nn.metrics.metric import Metric, rearrange_inputs


def _share(part: Any, whole: Any) -> Any:
    """part / whole, NaN where there is nothing."""
    whole = np.asarray(whole, np.float64)
    return np.divide(part, whole, out=np.full_like(whole, np.nan), where=whole > 0)


class _Rates:
    """What counts tp, fp, tn and fn say."""

    def __init__(self, tp: Any, fp: Any, tn: Any, fn: Any) -> None:
        self.tp, self.fp, self.tn, self.fn = tp, fp, tn, fn
        self.tpr = _share(tp, tp + fn)
        self.tnr = _share(tn, tn + fp)
        self.ppv = _share(tp, tp + fp)
        self.npv = _share(tn, tn + fn)
        self.fnr, self.fpr = 1 - self.tpr, 1 - self.tnr

    def correlation(self) -> Any:
        """Matthews' coefficient."""
        tp, fp, tn, fn = (np.asarray(x, np.float64) for x in (self.tp, self.fp, self.tn, self.fn))
        size = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return np.divide(tp * tn - fp * fn, size, out=np.full_like(size, np.nan), where=size > 0)


_RATES: dict[str, Callable[[_Rates], Any]] = {
    "sensitivity": lambda r: r.tpr,
    "specificity": lambda r: r.tnr,
    "precision": lambda r: r.ppv,
    "negative predictive value": lambda r: r.npv,
    "miss rate": lambda r: r.fnr,
    "fall out": lambda r: r.fpr,
    "false discovery rate": lambda r: 1 - r.ppv,
    "false omission rate": lambda r: 1 - r.npv,
    "prevalence threshold": lambda r: (np.sqrt(r.tpr * r.fpr) - r.fpr) / (r.tpr - r.fpr),
    "threat score": lambda r: _share(r.tp, r.tp + r.fn + r.fp),
    "accuracy": lambda r: _share(r.tp + r.tn, r.tp + r.tn + r.fp + r.fn),
    "balanced accuracy": lambda r: (r.tpr + r.tnr) / 2,
    "f1 score": lambda r: _share(2.0 * r.tp, 2.0 * r.tp + r.fn + r.fp),
    "matthews correlation coefficient": lambda r: r.correlation(),
    "fowlkes mallows index": lambda r: np.sqrt(r.ppv * r.tpr),
    "informedness": lambda r: r.tpr + r.tnr - 1,
    "markedness": lambda r: r.ppv + r.npv - 1,
}
_ALIASES = {
    "sensitivity": ("recall", "hit rate", "true positive rate", "tpr"),
    "specificity": ("selectivity", "true negative rate", "tnr"),
    "precision": ("positive predictive value", "ppv"),
    "negative predictive value": ("npv",),
    "miss rate": ("false negative rate", "fnr"),
    "fall out": ("false positive rate", "fpr"),
    "false discovery rate": ("fdr",),
    "false omission rate": ("for",),
    "prevalence threshold": ("pt",),
    "threat score": ("critical success index", "ts", "csi"),
    "accuracy": ("acc",),
    "balanced accuracy": ("ba",),
    "f1 score": ("f1",),
    "matthews correlation coefficient": ("mcc",),
    "fowlkes mallows index": ("fm",),
    "informedness": ("bookmaker informedness", "bm"),
    "markedness": ("deltap", "mk"),
}
_NAMES = {alias: name for name, others in _ALIASES.items() for alias in (name, *others)}

# Over which axes of [batch, channel] values are joined, and whether by their mean or their sum.
_DECREASES: dict[str, tuple] = {
    "none": ((), "mean"),
    "mean": ((1, 0), "mean"),
    "sum": ((1, 0), "sum"),
    "mean_batch": ((0,), "mean"),
    "sum_batch": ((0,), "sum"),
    "mean_channel": ((1,), "mean"),
    "sum_channel": ((1,), "sum"),
}


class ConfusionMatrixMetric(Metric):
    """A rate of what was predicted rightly or wrongly.

    Args:
        skip_channel: False leaves the first channel, the background, out; True counts it as the others.
        metric_name: The rate, under one of its usual names: 'sensitivity', 'precision', 'f1 score', 'mcc' and others.
        calculation_method: Whether the rate is taken for each sample, and then joined; else the counts of all are joined first.
        decrease: How rates of samples and channels are joined: 'none', 'mean', 'sum', or one of the latter with '_batch' or
            '_channel'.
    """

    def __init__(
        self,
        skip_channel: bool = True,
        metric_name: str = "sensitivity",
        calculation_method: bool = False,
        decrease: Literal[
            "none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel"
        ] = "mean",
    ) -> None:
        super().__init__()
        name = _NAMES.get(metric_name.replace("_", " ").lower())
        if name is None:
            raise NotImplementedError(
                f"For 'ConfusionMatrixMetric', 'metric_name' must be one of {sorted(_RATES)} or a usual name of one, "
                f"but got {metric_name!r}."
            )
        self.skip_channel = skip_channel
        self.metric_name = name
        self.calculation_method = calculation_method
        self.decrease = decrease
        self.clear()

    def clear(self) -> None:
        """Forget all batches."""
        self._counts = np.zeros(4)
        self._total, self._weight = 0.0, 0.0
        self._seen = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take predictions and targets of zeros and ones, [batch, channel, ...]."""
        y_pred, y = self._take(inputs, 2)
        if y_pred.shape != y.shape or y.ndim < 2 or not y.size:
            raise ValueError(
                "For 'ConfusionMatrixMetric.update', prediction and target must have one shape, [batch, channel, ...], and elements, "
                f"but got {y_pred.shape} and {y.shape}."
            )
        self._seen = True
        if not self.skip_channel and y.shape[1] > 1:
            y_pred, y = y_pred[:, 1:], y[:, 1:]
        pred, real = ((x.reshape(*x.shape[:2], -1) == 1) for x in (y_pred, y))
        counts = np.stack(
            [
                (a & b).sum(-1)
                for a, b in ((pred, real), (pred, ~real), (~pred, ~real), (~pred, real))
            ]
        )
        if not self.calculation_method:
            self._counts = self._counts + counts.sum(axis=(1, 2))
            return
        rates = _RATES[self.metric_name](_Rates(*counts))
        joined, weight = _joined(rates, *_DECREASES[self.decrease])
        self._total = self._total + joined * weight
        self._weight = self._weight + weight

    def eval(self) -> Any:
        """The rate."""
        self._require(self._seen)
        if not self.calculation_method:
            return np.atleast_1d(_RATES[self.metric_name](_Rates(*self._counts)))
        result = _share(self._total, self._weight)
        return result if result.ndim else float(result)


def _joined(rates: np.ndarray, axes: tuple[int, ...], how: str) -> tuple[Any, Any]:
    """Rates joined over axes, those that are known, and how many these are."""
    known = ~np.isnan(rates)
    weight = known.sum(axis=axes) if axes else known.astype(np.float64)
    values: Any = np.where(known, rates, 0.0)
    for axis in axes:
        counts = known.sum(axis=axis)
        values = values.sum(axis=axis)
        if how == "mean":
            values = values / np.maximum(counts, 1)
        known = counts > 0
    return values, weight

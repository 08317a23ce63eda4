"""Metrics of evaluation, and their names for `Model(metrics=...)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore.common._checked import checked
from mindspore.nn.metrics.accuracy import (
    Accuracy,
    Top1CategoricalAccuracy,
    Top5CategoricalAccuracy,
    TopKCategoricalAccuracy,
)
from mindspore.nn.metrics.classwise import F1, ConfusionMatrix, Fbeta, Precision, Recall
from mindspore.nn.metrics.confusion import ConfusionMatrixMetric
from mindspore.nn.metrics.metric import EvaluationBase, Metric, rearrange_inputs
from mindspore.nn.metrics.occlusion import OcclusionSensitivity
from mindspore.nn.metrics.regression import MAE, MSE, Loss
from mindspore.nn.metrics.scores import ROC, BleuScore, CosineSimilarity, Dice, Perplexity, auc
from mindspore.nn.metrics.surface import (
    HausdorffDistance,
    MeanSurfaceDistance,
    RootMeanSquareDistance,
)

_FACTORIES: dict[str, Callable[..., Any]] = {
    "F1": F1,
    "acc": Accuracy,
    "accuracy": Accuracy,
    "auc": auc,
    "bleu_score": BleuScore,
    "confusion_matrix": ConfusionMatrix,
    "confusion_matrix_metric": ConfusionMatrixMetric,
    "cosine_similarity": CosineSimilarity,
    "dice": Dice,
    "hausdorff_distance": HausdorffDistance,
    "loss": Loss,
    "mae": MAE,
    "mean_surface_distance": MeanSurfaceDistance,
    "mse": MSE,
    "occlusion_sensitivity": OcclusionSensitivity,
    "perplexity": Perplexity,
    "precision": Precision,
    "recall": Recall,
    "roc": ROC,
    "root_mean_square_distance": RootMeanSquareDistance,
    "top_1_accuracy": Top1CategoricalAccuracy,
    "top_5_accuracy": Top5CategoricalAccuracy,
    "topk": TopKCategoricalAccuracy,
}


def names() -> list[str]:
    """The names that metrics are known by."""
    return sorted(_FACTORIES)


@checked
def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """A new metric by its name.

    Args:
        name: One of `names()`.
        args: Arguments of the metric.
        kwargs: Arguments of the metric by name.
    """
    if name not in _FACTORIES:
        raise KeyError(
            f"For 'get_metric_fn', 'name' must be one of {', '.join(names())}, but got {name!r}."
        )
    return _FACTORIES[name](*args, **kwargs)


@checked
def get_metrics(metrics: dict | set | Sequence[str] | None) -> dict[str, Metric] | None:
    """Metrics by name, from names or from a dictionary.

    Args:
        metrics: None, a set of names, or a dictionary of metrics or names.
    """
    if metrics is None:
        return None
    if isinstance(metrics, dict):
        for name, metric in metrics.items():
            if not isinstance(name, str):
                raise TypeError(
                    f"For 'get_metrics', the keys of 'metrics' must be str, but got {name!r}."
                )
            if not isinstance(metric, (Metric, str)):
                raise TypeError(
                    f"For 'get_metrics', '{name}' must be a Metric or its name, "
                    f"but got {type(metric).__name__}."
                )
        return {
            name: get_metric_fn(metric) if isinstance(metric, str) else metric
            for name, metric in metrics.items()
        }
    return {name: get_metric_fn(name) for name in metrics}


__all__ = [
    "F1",
    "MAE",
    "MSE",
    "ROC",
    "Accuracy",
    "BleuScore",
    "ConfusionMatrix",
    "ConfusionMatrixMetric",
    "CosineSimilarity",
    "Dice",
    "EvaluationBase",
    "Fbeta",
    "HausdorffDistance",
    "Loss",
    "MeanSurfaceDistance",
    "Metric",
    "OcclusionSensitivity",
    "Perplexity",
    "Precision",
    "Recall",
    "RootMeanSquareDistance",
    "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy",
    "TopKCategoricalAccuracy",
    "auc",
    "get_metric_fn",
    "get_metrics",
    "names",
    "rearrange_inputs",
]

"""Metrics of predictions, after updates."""

import numpy as np
from differential.calllib import call, case, f32, i32, of

SCORES = f32(6, 3, low=0.05, high=1.0).value
CLASSES = i32(6, low=0, high=3).value
HOT = np.eye(3, dtype=np.float32)[CLASSES]
BITS = i32(6, 3, low=0, high=2).value
ROUND = (SCORES > 0.5).astype(np.float32)
REAL, NEAR = f32(2, 5).value, f32(2, 5, seed=1).value


def measured(name, inputs, *args, times=1, evaluate=(), **kwargs):
    """The result after updates; each update's inputs are the first ones in another order."""

    @case(f"train.{name}", tol=1e-5)
    def program(ms):
        metric = getattr(ms.train, name)(*args, **kwargs)
        metric.clear()
        for i in range(times):
            turned = [
                np.roll(x, i, -1) if isinstance(x, np.ndarray) and x.ndim > 1 else x for x in inputs
            ]
            metric.update(*[ms.Tensor(x) if isinstance(x, np.ndarray) else x for x in turned])
        result = metric.eval(*evaluate)
        return float(result) if np.ndim(result) == 0 else result


for name in ("Accuracy", "Precision", "Recall"):
    measured(name, (SCORES, CLASSES))
    measured(name, (SCORES, CLASSES), times=3)
    measured(name, (SCORES, HOT))
    measured(name, (ROUND, BITS), "multilabel")
    measured(name, (ROUND, BITS), "multilabel", times=2)
    measured(name, (SCORES, BITS), "multilabel")
    measured(name, (SCORES[:4], CLASSES))
    measured(name, (SCORES, CLASSES), "most")
    measured(name, (SCORES, CLASSES), times=0)
    measured(name, (SCORES,))
    measured(name, (SCORES.tolist(), CLASSES.tolist()))
for average in (False, True):
    measured("Precision", (SCORES, CLASSES), evaluate=(average,), times=2)
    measured("Recall", (SCORES, CLASSES), evaluate=(average,), times=2)
    measured("Precision", (ROUND, BITS), "multilabel", evaluate=(average,))
    measured("Recall", (ROUND, BITS), "multilabel", evaluate=(average,))
    measured("Fbeta", (SCORES, CLASSES), 2.0, evaluate=(average,), times=2)
measured("F1", (SCORES, CLASSES), times=2)
measured("F1", (SCORES, HOT))
measured("F1", (SCORES, CLASSES[:3]))
measured("F1", (SCORES, CLASSES), times=0)
measured("Fbeta", (SCORES, CLASSES), 0.0)
measured("Fbeta", (SCORES, CLASSES), -1)
measured("Fbeta", (SCORES, CLASSES), 2, evaluate=(3,))
for name in ("MAE", "MSE"):
    measured(name, (REAL, NEAR))
    measured(name, (REAL, NEAR), times=2)
    measured(name, (REAL, NEAR[:1]))
    measured(name, (REAL, NEAR), times=0)
    measured(name, (REAL,))
measured("Loss", (np.array(0.5, np.float32),), times=2)
measured("Loss", (np.array([0.5], np.float32),))
measured("Loss", (REAL,))
measured("Loss", (np.array(0.5, np.float32),), times=0)
measured("Top1CategoricalAccuracy", (SCORES, CLASSES), times=2)
measured("Top5CategoricalAccuracy", (f32(4, 8).value, i32(4, low=0, high=8).value))
measured("Top5CategoricalAccuracy", (SCORES, CLASSES))
for k in (1, 2, 3, 4, 0, -1, 1.5, True):
    measured("TopKCategoricalAccuracy", (SCORES, CLASSES), k)
measured("TopKCategoricalAccuracy", (SCORES, HOT), 2)
measured("TopKCategoricalAccuracy", (SCORES[:4], CLASSES), 2)
measured("TopKCategoricalAccuracy", (SCORES, CLASSES), 2, times=0)
measured("Dice", (SCORES, HOT), times=2)
measured("Dice", (ROUND, BITS), 0.1)
measured("Dice", (ROUND, BITS), 0)
measured("Dice", (ROUND, BITS), "a")
measured("Dice", (ROUND, BITS[:3]))
measured("Dice", (ROUND, BITS), times=0)
measured("CosineSimilarity", (REAL,))
measured("CosineSimilarity", (f32(4, 3).value,), "cosine", "sum", False)
measured("CosineSimilarity", (f32(4, 3).value,), "dot", "mean", True)
measured("CosineSimilarity", (f32(4, 3).value,), "dot", "none")
measured("CosineSimilarity", (f32(4, 3).value,), "near")
measured("CosineSimilarity", (f32(4, 3).value,), zero_diagonal=1)
measured("CosineSimilarity", (f32(4, 3).value,), reduction="most")
measured("CosineSimilarity", (REAL, NEAR))
measured("CosineSimilarity", (REAL,), times=0)
for how in ("no_norm", "target", "prediction", "all_norm"):
    measured("ConfusionMatrix", (SCORES, CLASSES), 3, how)
measured("ConfusionMatrix", (np.array([0.2, 0.7, 0.5], np.float32), np.array([0, 1, 1])), 2)
measured(
    "ConfusionMatrix",
    (np.array([0.2, 0.7, 0.5], np.float32), np.array([0, 1, 1])),
    2,
    "no_norm",
    0.1,
)
measured("ConfusionMatrix", (np.array([2, 1, 0, 2]), np.array([2, 1, 1, 0])), 3, times=2)
measured("ConfusionMatrix", (SCORES, CLASSES), 3, "most")
measured("ConfusionMatrix", (SCORES, CLASSES), 2)
measured("ConfusionMatrix", (SCORES, CLASSES), "a")
measured("ConfusionMatrix", (SCORES, CLASSES), 3, times=0)
measured("Perplexity", (SCORES / SCORES.sum(1, keepdims=True), CLASSES))
measured("Perplexity", (SCORES / SCORES.sum(1, keepdims=True), CLASSES), times=2)
measured("Perplexity", (SCORES, CLASSES), ignore_label=1)
measured("Perplexity", (SCORES, CLASSES), ignore_label=1.0)
measured("Perplexity", (SCORES, CLASSES[:3]))
measured("Perplexity", (SCORES, CLASSES), times=0)
CANDIDATE, REFERENCES = (
    [["i", "have", "a", "pen", "on", "my", "desk"]],
    [
        [
            ["i", "have", "a", "pen", "in", "my", "desk"],
            ["there", "is", "a", "pen", "on", "the", "desk"],
        ]
    ],
)
measured("BleuScore", (CANDIDATE, REFERENCES))
measured("BleuScore", (CANDIDATE, REFERENCES), times=2)
for n in (1, 2, 3, 5, 0):
    measured("BleuScore", (CANDIDATE, REFERENCES), n)
    measured("BleuScore", (CANDIDATE, REFERENCES), n, True)
measured("BleuScore", ([["the"] * 3], [[["the", "cat", "is", "here"]]]), 2, True)
measured("BleuScore", ([["a"]], [[["b"]]]))
measured("BleuScore", (CANDIDATE, REFERENCES + REFERENCES))
measured("BleuScore", (CANDIDATE, REFERENCES), smooth=1)
measured("BleuScore", (CANDIDATE,))
measured("ROC", (np.array([3, 1, 4, 2], np.float32), np.array([0, 1, 1, 0])))
measured("ROC", (np.array([0.3, 0.6, 0.6, 0.2], np.float32), np.array([0, 1, 1, 0])), pos_label=1)
measured("ROC", (np.array([3, 1, 4, 2], np.float32), np.array([0, 1, 1, 0])), pos_label=0)
measured("ROC", (f32(4, 3, low=0.0).value, np.array([0, 1, 2, 0])), 3)
measured("ROC", (f32(4, 3, low=0.0).value, np.array([0, 1, 2, 0])), class_num=2)
measured("ROC", (REAL,))
measured("ROC", (np.array([3, 1], np.float32), np.array([0, 1])), "a")
measured("ROC", (np.array([3, 1], np.float32), np.array([0, 1])), times=0)
call("train.auc", [0.0, 0.2, 1.0], [0.0, 0.5, 1.0])
call("train.auc", [0.0, 0.2, 1.0], [0.0, 0.5, 1.0], False)
call("train.auc", [1.0, 0.5, 0.0], [0.0, 0.5, 1.0])
call("train.auc", [0.0, 1.0, 0.5], [0.0, 0.5, 1.0])
call("train.auc", [0.0, 1.0, 0.5], [0.0, 0.5, 1.0], True)
call("train.auc", [0.0, 1.0], [0.0])
call("train.auc", [0.0], [0.0])
call("train.auc", f32(3), f32(3))


@case("train.names")
def _(ms):
    """those that 2.10 has"""
    known = "F1 accuracy bleu_score confusion_matrix cosine_similarity dice hausdorff_distance loss mae mse precision recall roc_curve"
    return [n in ms.train.names() for n in known.split()]


for name in (
    "accuracy",
    "mse",
    "loss",
    "F1",
    "topk",
    "nothing",
    "top_1_accuracy",
    "recall",
    "error",
):

    @case("train.get_metric_fn")
    def _(ms, name=name):
        return type(ms.train.get_metric_fn(name, *([1] if name == "topk" else []))).__name__


@case("train.get_metric_fn")
def _(ms):
    """with arguments"""
    metric = ms.train.get_metric_fn("precision", eval_type="classification")
    metric.update(ms.Tensor(SCORES), ms.Tensor(CLASSES))
    return metric.eval()


for wanted in ({"accuracy", "mse"}, None, {"a": 3}, ["loss"], {"nothing"}, "acc"):

    @case("nn.get_metrics")
    def _(ms, wanted=wanted):
        from importlib import import_module

        found = import_module(f"{ms.__name__}.train.metrics").get_metrics(wanted)
        return (
            {k: type(v).__name__ for k, v in sorted(found.items())} if found is not None else None
        )


class Watched:
    """A metric that reports the sizes of what it is given."""

    def __new__(cls, ms, indexes=None):
        class Sizes(ms.train.Metric):
            def __init__(self):
                super().__init__()
                self.clear()

            def clear(self):
                self.seen = []

            @ms.train.rearrange_inputs
            def update(self, *inputs):
                self.seen.append([self._convert_data(x).shape for x in inputs])

            def eval(self):
                return self.seen

        made = Sizes()
        return made if indexes is None else made.set_indexes(indexes)


for indexes in (None, [0, 1], [1, 0], [2], [0, 0, 2], [5], "a", [0.5]):

    @case("train.rearrange_inputs")
    def _(ms, indexes=indexes):
        metric = Watched(ms, indexes)
        metric.update(ms.Tensor(SCORES), ms.Tensor(CLASSES), ms.Tensor(REAL))
        return [metric.eval(), metric.indexes]


for given in (SCORES, [1, 2], 3, "a", None, of([1.5]).value):

    @case("train.Metric")
    def _(ms, given=given):
        return Watched(ms)._convert_data(given)


@case("train.Metric")
def _(ms):
    """that is not written"""
    return ms.train.Metric()

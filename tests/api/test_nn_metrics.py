"""Metrics: results over batches, names and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore import Tensor, nn
from mindspore.nn.metrics import get_metrics, names

X = Tensor(np.array([[0.2, 0.5, 0.1], [0.3, 0.9, 0.2]], np.float32))
Y = Tensor(np.array([1, 0], np.int32))
ONE_HOT = Tensor(np.array([[1.0, 0, 0], [0, 1, 0]], np.float32))
LABELS = (Tensor(np.array([[0, 1, 1], [1, 0, 1]])), Tensor(np.array([[0, 1, 0], [1, 0, 1]])))


def result(metric, *inputs, **settings):
    metric.clear()
    metric.update(*inputs)
    return metric.eval(**settings)


def test_accuracy():
    metric = nn.Accuracy()
    metric.update(X, Y)
    assert metric.eval() == 0.5
    metric.update(X, ONE_HOT)
    assert metric.eval() == 0.5
    metric.update(X, Tensor(np.array([1, 1], np.int32)))
    assert metric.eval() == pytest.approx(4 / 6)
    assert result(nn.Accuracy("multilabel"), *LABELS) == 0.5


def test_top_k():
    scores = Tensor(np.arange(12.0).reshape(2, 6))
    assert result(nn.Top5CategoricalAccuracy(), scores, Tensor(np.array([0, 1]))) == 0.5
    assert result(nn.Top1CategoricalAccuracy(), scores, Tensor(np.array([5, 5]))) == 1.0
    assert result(nn.TopKCategoricalAccuracy(2), X, ONE_HOT) == 1.0


def test_regression_metrics():
    assert result(nn.MAE(), X, ONE_HOT) == pytest.approx(1.0)
    assert result(nn.MSE(), X, ONE_HOT) == pytest.approx(0.52)
    loss = nn.Loss()
    loss.update(Tensor(2.0))
    loss.update(Tensor([3.0]))
    assert loss.eval() == 2.5


def test_classwise():
    assert result(nn.Precision(), X, Y).tolist() == [0.0, 0.5, 0.0]
    assert result(nn.Recall(), X, Y).tolist() == [0.0, 1.0, 0.0]
    assert result(nn.F1(), X, Y)[1] == pytest.approx(2 / 3)
    assert result(nn.Fbeta(2.0), X, Y, average=True) == pytest.approx(5 / 6 / 3)
    assert result(nn.Precision("multilabel"), *LABELS).tolist() == [0.5, 1.0]
    metric = nn.Recall()
    metric.update(X, Y)
    metric.update(X, Y)
    assert metric.eval(True) == pytest.approx(1 / 3)


def test_confusion_matrix():
    counts = result(nn.ConfusionMatrix(3), Tensor(np.array([1, 2, 0])), Tensor(np.array([1, 1, 0])))
    assert counts.tolist() == [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    shares = result(
        nn.ConfusionMatrix(2, "prediction", 0.5),
        Tensor(np.array([0.1, 0.7, 0.3])),
        Tensor(np.array([1, 1, 0])),
    )
    assert shares.tolist() == [[0.5, 0.0], [0.5, 1.0]]


def test_dice_and_perplexity():
    p = Tensor(np.array([[0.2, 0.5], [0.3, 0.1], [0.9, 0.6]], np.float32))
    y = Tensor(np.array([[0, 1], [1, 0], [0, 1]], np.float32))
    assert result(nn.Dice(), p, y) == pytest.approx(0.20467793, rel=1e-5)
    classes = Tensor(np.array([0, 1, 1]))
    assert result(nn.Perplexity(), p, classes) == pytest.approx((0.2 * 0.1 * 0.6) ** (-1 / 3))
    assert result(nn.Perplexity(ignore_label=1), p, classes) == pytest.approx(5.0)


def test_bleu():
    candidate = [["i", "have", "a", "pen", "on", "my", "desk"]]
    references = [
        [
            ["i", "have", "a", "pen", "in", "my", "desk"],
            ["there", "is", "a", "pen", "on", "the", "desk"],
        ]
    ]
    assert result(nn.BleuScore(), candidate, references) == pytest.approx(0.5946035575)
    assert result(nn.BleuScore(2, True), candidate, references) == pytest.approx(0.9258200998)


def test_similarity():
    rows = np.array([[1, 3, 4], [2, 4, 2], [0, 1, 1]], np.float32)
    matrix = result(nn.CosineSimilarity(), rows)
    assert matrix[0, 0] == 0 and matrix[0, 1] == pytest.approx(0.8807048)
    dots = result(nn.CosineSimilarity("dot", "mean", False), rows)
    assert dots.tolist() == pytest.approx([55 / 3, 52 / 3, 5])


def test_roc_and_auc():
    false, true, thresholds = result(
        nn.ROC(pos_label=1), Tensor(np.array([3, 1, 4, 2])), Tensor(np.array([0, 1, 2, 3]))
    )
    assert false.tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1, 1])
    assert true.tolist() == [0, 0, 0, 0, 1] and thresholds.tolist() == [5, 4, 3, 2, 1]
    scores = Tensor(np.array([[0.3, 0.5, 0.2], [0.7, 0.2, 0.1], [0.1, 0.1, 0.8]]))
    false, true, _ = result(nn.ROC(class_num=3), scores, Tensor(np.array([1, 0, 2])))
    assert false[0].tolist() == [0, 0, 0.5, 1] and true[0].tolist() == [0, 1, 1, 1]
    assert nn.auc(np.array([0, 0.3, 1]), np.array([0, 0.5, 1])) == pytest.approx(0.6)
    assert nn.auc(np.array([1, 0.3, 0]), np.array([1, 0.5, 0])) == pytest.approx(0.6)
    unordered = nn.auc(np.array([0.3, 0, 1]), np.array([0.5, 0, 1]), reorder=True)
    assert unordered == pytest.approx(0.6)


def test_indexes_and_user_metrics():
    metric = nn.Accuracy().set_indexes([2, 0])
    metric.update(Y, None, X)
    assert metric.eval() == 0.5

    class Count(nn.Metric):
        def clear(self):
            self.count = 0

        def update(self, *inputs):
            self.count += len(self._convert_data(inputs[0]))

        def eval(self):
            return self.count

    assert result(Count(), Y) == 2


def test_names():
    assert {"accuracy", "loss", "F1", "top_5_accuracy"} <= set(names())
    made = get_metrics({"acc", "loss"})
    assert isinstance(made["acc"], nn.Accuracy) and isinstance(made["loss"], nn.Loss)
    assert isinstance(get_metrics({"mine": nn.MSE()})["mine"], nn.MSE)
    assert get_metrics(None) is None


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.Accuracy("foo"), ValueError, "'eval_type' must be one of"),
        (lambda: nn.Accuracy().eval(), RuntimeError, "before 'eval'"),
        (lambda: nn.Accuracy().update(1), ValueError, "2 inputs"),
        (lambda: nn.Accuracy().update(X, Tensor([1, 2, 3])), ValueError, "shape"),
        (lambda: nn.Accuracy("multilabel").update(X, X), ValueError, "zeros and ones"),
        (lambda: nn.Precision().update(X, Tensor([1, 7])), ValueError, r"\[0, 3\)"),
        (lambda: nn.Loss().update(X), ValueError, "one number"),
        (lambda: nn.TopKCategoricalAccuracy(0), ValueError, "'k'"),
        (lambda: nn.get_metric_fn("foo"), KeyError, "'name' must be one of"),
        (lambda: get_metrics("accuracy"), TypeError, "'metrics' must be"),
        (lambda: nn.Fbeta(0), ValueError, "'beta'"),
        (lambda: nn.Dice(0), ValueError, "'smooth'"),
        (lambda: nn.Dice().update(X, Y), ValueError, "one shape"),
        (lambda: nn.Perplexity().update(X, X), ValueError, "without its last axis"),
        (lambda: nn.BleuScore(5), ValueError, r"\[1, 4\]"),
        (lambda: nn.CosineSimilarity("foo"), ValueError, "'similarity'"),
        (lambda: nn.ROC().update(X, Y), ValueError, "class_num"),
        (lambda: nn.auc([0], [1]), TypeError, "numpy.ndarrays"),
        (lambda: nn.auc(np.array([0.3, 0, 1]), np.ones(3)), ValueError, "in order"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_many_classes_of_few_rows():
    """What is counted is as large as the rows, not as the square of the classes."""
    metric = nn.Fbeta(1.0)
    metric.update(Tensor(np.eye(1, 100_000, dtype=np.float32)), Tensor([0]))
    assert metric.eval(True) == pytest.approx(1 / 100_000, rel=1e-3)

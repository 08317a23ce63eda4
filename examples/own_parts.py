"""Parts of your own: a cell, a loss, a metric and a callback, used with Model like those of the package.

Trains on scikit-learn's wines (178 rows of 13 measurements) until the score on held-back wines no longer rises.
"""

from __future__ import annotations

import argparse

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

import mindspore as ms
from mindspore import Model, Parameter, Tensor, nn, ops
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Callback, Metric, RunContext


class Gate(nn.Cell):
    """x * sigmoid(steepness * x) with a steepness that is learned, one for each feature."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.steepness = Parameter(ops.ones(features, ms.float32), name="steepness")

    def construct(self, x: Tensor) -> Tensor:
        return x * ops.sigmoid(self.steepness * x)


class Smoothed(nn.LossBase):
    """Cross entropy that takes a share of the truth from the right class and gives it to all."""

    def __init__(self, share: float = 0.1) -> None:
        super().__init__(reduction="mean")
        self.share = share

    def construct(self, scores: Tensor, label: Tensor) -> Tensor:
        logs = ops.log_softmax(scores, -1)
        right = ops.gather_elements(logs, 1, label.expand_dims(1)).squeeze(1)
        return self.get_loss(-(1 - self.share) * right - self.share * logs.mean(-1))


class WorstClass(Metric):
    """The share of right answers in the class where it is smallest."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.classes = classes
        self.clear()

    def clear(self) -> None:
        self.right, self.all = np.zeros(self.classes), np.zeros(self.classes)

    def update(self, *inputs: Tensor) -> None:
        guess, label = inputs[0].asnumpy().argmax(1), inputs[1].asnumpy()
        np.add.at(self.right, label, guess == label)
        np.add.at(self.all, label, 1)

    def eval(self) -> float:
        return float((self.right / np.maximum(self.all, 1)).min())


class Patience(Callback):
    """Stops when the metric has not risen for some evaluations, and brings the best weights back."""

    def __init__(self, metric: str, patience: int) -> None:
        super().__init__()
        self.metric, self.patience = metric, patience
        self.best, self.since = -np.inf, 0
        self.weights: dict[str, Tensor] = {}

    def on_eval_end(self, run_context: RunContext) -> None:
        state = run_context.original_args()
        score = state.metrics[self.metric]
        if score > self.best:
            self.best, self.since = score, 0
            self.weights = {p.name: p.asnumpy().copy() for p in state.network.get_parameters()}
        else:
            self.since += 1

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        if self.since >= self.patience:
            print("stopping after epoch", run_context.original_args().cur_epoch_num)
            run_context.request_stop()

    def on_train_end(self, run_context: RunContext) -> None:
        for parameter in run_context.original_args().network.get_parameters():
            if parameter.name in self.weights:
                parameter.set_data(Tensor(self.weights[parameter.name]))


def main() -> None:
    """Fit with all four."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--epochs", type=int, default=60)
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(6)

    wines = load_wine()
    x = ((wines.data - wines.data.mean(0)) / wines.data.std(0)).astype(np.float32)
    columns = train_test_split(x, wines.target.astype(np.int32), random_state=0)
    train = NumpySlicesDataset((columns[0], columns[2]), ["x", "y"], shuffle=True).batch(16)
    held_back = NumpySlicesDataset((columns[1], columns[3]), ["x", "y"], shuffle=False).batch(16)

    net = nn.SequentialCell(nn.Dense(13, 24), Gate(24), nn.Dense(24, 3))
    metrics = {"accuracy": nn.Accuracy(), "worst class": WorstClass(3)}
    model = Model(net, Smoothed(), nn.Adam(net.trainable_params(), 0.005), metrics=metrics)
    model.fit(options.epochs, train, held_back, callbacks=Patience("worst class", 8))
    scores = model.eval(held_back)
    print("steepness:", np.round(net[1].steepness.asnumpy(), 2))
    print(f"worst class: {scores['worst class']:.3f}")
    print(f"accuracy: {scores['accuracy']:.3f}")


if __name__ == "__main__":
    main()

"""What dataset_sink_mode saves of a step: `python benchmarks/sink.py [dense | lenet ...]`.

Each network is trained by Model.train with and without, by turns, on rows that lie in memory; of the rounds the best is kept. A ratio
below 1 is in favour of the mode.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mindspore as ms
from mindspore import Model, nn
from mindspore.dataset import NumpySlicesDataset
from mindspore.model_zoo.lenet import LeNet5

ROUNDS, STEPS, BATCH = 20, 128, 32


def dense() -> Any:
    """Three layers of 64."""
    return nn.SequentialCell(
        nn.Flatten(), nn.Dense(1024, 64), nn.ReLU(), nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 10)
    )


def lenet() -> Any:
    """LeNet-5."""
    return LeNet5()


def trained(make: Callable[[], Any], sink: bool) -> Callable[[], float]:
    """A training that goes on at each call, which tells the milliseconds of a step."""
    ms.set_seed(1)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((BATCH * STEPS, 1, 32, 32)).astype(np.float32)
    y = rng.integers(0, 10, BATCH * STEPS).astype(np.int32)
    data = NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(BATCH)
    net = make()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Momentum(net.trainable_params(), 0.001, 0.9))
    model.train(1, data, dataset_sink_mode=sink)

    def epoch() -> float:
        begin = time.perf_counter()
        model.train(1, data, dataset_sink_mode=sink)
        return (time.perf_counter() - begin) / STEPS * 1000

    return epoch


def main() -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    chosen = sys.argv[1:] or ["dense", "lenet"]
    for name in chosen:
        ways = {
            sink: trained({"dense": dense, "lenet": lenet}[name], sink) for sink in (True, False)
        }
        best = dict.fromkeys(ways, float("inf"))
        for _ in range(ROUNDS):
            for sink, epoch in ways.items():
                best[sink] = min(best[sink], epoch())
        print(
            f"{name:8} sink {best[True]:.3f} ms a step   steps {best[False]:.3f}   "
            f"ratio {best[True] / best[False]:.3f}"
        )


if __name__ == "__main__":
    main()

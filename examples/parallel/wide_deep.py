"""Wide & Deep: who clicks on what, from the numbers of features. The tables of features are the large part: processes share them out.

msrun --worker_num=2 --local_worker_num=2 --join=True examples/parallel/wide_deep.py
"""

from __future__ import annotations

import argparse

import numpy as np

import mindspore as ms
from mindspore import Model, Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.communication import get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import LossMonitor

FEATURES, FIELDS, WIDTH = 2048, 6, 8


class WideDeep(nn.Cell):
    """Numbers of features [batch, fields] -> the log odds of a click [batch, 1]."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = Parameter(initializer("zeros", (FEATURES, 1)), name="wide")
        self.table = Parameter(initializer(Normal(0.05), (FEATURES, WIDTH)), name="table")
        self.deep = nn.SequentialCell(nn.Dense(FIELDS * WIDTH, 64), nn.ReLU(), nn.Dense(64, 1))

    def construct(self, features: Tensor) -> Tensor:
        """The log odds."""
        wide = ops.gather(self.wide, features, 0).sum(1)
        rows = ops.gather(self.table, features, 0)
        return wide + self.deep(rows.reshape(features.shape[0], FIELDS * WIDTH))


def clicks(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features, and whether there was a click: pairs of them decide."""
    rng = np.random.default_rng(seed)
    features = rng.integers(0, FEATURES, (count, FIELDS)).astype(np.int32)
    taste = np.random.default_rng(0).standard_normal(FEATURES)
    score = taste[features].sum(1) + 0.5 * (features[:, 0] % 2 == features[:, 1] % 2)
    return features, (score > 0.25).astype(np.float32)[:, None]


def main() -> None:
    """Train, and say how many unseen rows are told right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    ms.set_auto_parallel_context(
        parallel_mode="auto_parallel", search_mode="dynamic_programming", full_batch=True
    )
    ms.set_seed(1)
    net = WideDeep()
    loss = nn.BCEWithLogitsLoss()
    model = Model(net, loss, nn.Adam(net.trainable_params(), 0.01))
    data = NumpySlicesDataset(clicks(16384, 1), ["features", "click"]).batch(256)
    model.train(options.epochs, data, callbacks=LossMonitor(64))

    features, clicked = clicks(2048, 2)
    odds = model.predict(Tensor(features)).asnumpy()
    if get_rank() == 0:
        print(f"accuracy: {((odds > 0) == (clicked > 0)).mean():.3f}", flush=True)


if __name__ == "__main__":
    main()

"""A small Transformer that learns to sort: each place of the answer asks all places of the question.

The data is made: rows of ten random digits, and the same digits in order.
"""

from __future__ import annotations

import argparse

import numpy as np

import mindspore as ms
from mindspore import Model, Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import LossMonitor

DIGITS = 10


class Sorter(nn.Cell):
    """Digits [batch, length] -> scores of the digit at each place [batch, length, 10]."""

    def __init__(self, length: int, width: int = 48, heads: int = 4, layers: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(DIGITS, width)
        self.places = Parameter(initializer(Normal(0.02), (length, width)), name="places")
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers)
        self.head = nn.Dense(width, DIGITS)

    def construct(self, digits: Tensor) -> Tensor:
        return self.head(self.encoder(self.embedding(digits) + self.places))


class EachPlace(nn.LossBase):
    """Cross entropy over all places of all rows."""

    def construct(self, scores: Tensor, digits: Tensor) -> Tensor:
        return self.get_loss(
            ops.cross_entropy(scores.reshape(-1, DIGITS), digits.reshape(-1), reduction="none")
        )


def main() -> None:
    """Train on rows of digits, sort rows that were never seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--rows", type=int, default=24_000)
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(4)

    rng = np.random.default_rng(4)
    rows = rng.integers(0, DIGITS, (options.rows, 10)).astype(np.int32)
    data = NumpySlicesDataset((rows, np.sort(rows, 1)), ["digits", "sorted"], shuffle=True)
    data = data.batch(64, drop_remainder=True)

    net = Sorter(length=10)
    print(f"{sum(p.size for p in net.trainable_params())} weights")
    rate = nn.cosine_decay_lr(1e-4, 1e-3, data.get_dataset_size(), data.get_dataset_size(), 1)
    model = Model(net, EachPlace(), nn.AdamWeightDecay(net.trainable_params(), rate))
    model.train(1, data, callbacks=LossMonitor(75))

    fresh = rng.integers(0, DIGITS, (1000, 10)).astype(np.int32)
    found = model.predict(Tensor(fresh)).asnumpy().argmax(-1)
    print("digits:", fresh[0], "sorted:", found[0])
    print(f"accuracy: {(found == np.sort(fresh, 1)).mean():.3f}")


if __name__ == "__main__":
    main()

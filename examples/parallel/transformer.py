"""A Transformer that learns to sort, trained by several processes in a loop of one's own: gradients, a reducer, an optimizer.

msrun --worker_num=2 --local_worker_num=2 --join=True examples/parallel/transformer.py
"""

from __future__ import annotations

import argparse

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.communication import get_group_size, get_rank, init

DIGITS, LENGTH, BATCH = 10, 10, 64


class Sorter(nn.Cell):
    """Digits [batch, length] -> scores of the digit at each place [batch, length, 10]."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.embedding = nn.Embedding(DIGITS, width)
        self.places = Parameter(initializer(Normal(0.02), (LENGTH, width)), name="places")
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Dense(width, DIGITS)

    def construct(self, digits: Tensor) -> Tensor:
        return self.head(self.encoder(self.embedding(digits) + self.places))


def main() -> None:
    """Train on rows of digits, sort rows that were never seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--steps", type=int, default=375)
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE if options.mode == "graph" else ms.PYNATIVE_MODE)
    init()
    rank, size = get_rank(), get_group_size()
    ms.set_seed(4)  # all draw the same weights

    net = Sorter()
    rate = nn.cosine_decay_lr(1e-4, 4e-3, options.steps, options.steps, 1)
    optimizer = nn.AdamWeightDecay(net.trainable_params(), rate)
    reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True)

    def loss_of(digits: Tensor, ordered: Tensor) -> Tensor:
        return ops.cross_entropy(net(digits).reshape(-1, DIGITS), ordered.reshape(-1))

    gradient = ms.value_and_grad(loss_of, None, optimizer.parameters)

    @ms.jit
    def step(digits: Tensor, ordered: Tensor) -> Tensor:
        loss, grads = gradient(digits, ordered)
        optimizer(reducer(grads))
        return loss

    rng = np.random.default_rng(4)
    for number in range(1, options.steps + 1):
        rows = rng.integers(0, DIGITS, (BATCH, LENGTH)).astype(np.int32)
        mine = rows[rank * BATCH // size : (rank + 1) * BATCH // size]
        loss = step(Tensor(mine), Tensor(np.sort(mine, 1)))
        if number % 75 == 0:
            mean = ops.AllReduce("avg")(loss)
            if rank == 0:
                print(f"step {number}: loss {float(mean):.3f}", flush=True)

    fresh = rng.integers(0, DIGITS, (1000, LENGTH)).astype(np.int32)
    found = net(Tensor(fresh)).asnumpy().argmax(-1)
    if rank == 0:
        print(f"accuracy: {(found == np.sort(fresh, 1)).mean():.3f}", flush=True)


if __name__ == "__main__":
    main()

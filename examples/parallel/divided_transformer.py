"""A Transformer that learns to sort, divided among processes by the compiler: heads and hidden units, or what the planner finds better.

msrun --worker_num=2 --local_worker_num=2 --join=True examples/parallel/divided_transformer.py
"""

from __future__ import annotations

import argparse

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.communication import get_group_size, get_rank, init

DIGITS, LENGTH, BATCH, HEADS = 10, 10, 64, 4


class Layer(nn.Cell):
    """Attention and two dense layers. `cuts`: among how many processes heads and hidden units are shared; 0: the planner decides."""

    def __init__(self, width: int, cuts: int) -> None:
        super().__init__()
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.up, self.down = nn.Dense(width, 2 * width), nn.Dense(2 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.scores, self.mixed = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul()
        if cuts:
            heads = (1, cuts, 1, 1)
            self.scores.shard((heads, heads))
            self.mixed.shard((heads, heads))
            self.up.shard(None, ((1, 1, cuts),), {"weight": (cuts, 1)})

    def construct(self, x: Tensor) -> Tensor:
        """One layer further."""
        batch, length, width = x.shape
        size = width // HEADS
        parts = self.qkv(self.norm1(x)).reshape(batch, length, 3, HEADS, size)
        q, k, v = parts.transpose(2, 0, 3, 1, 4)
        weights = ops.softmax(self.scores(q, k) / size**0.5, -1)
        mixed = self.mixed(weights, v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = x + self.out(mixed)
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class Sorter(nn.Cell):
    """Digits [batch, length] and these in order -> how wrong the network is."""

    def __init__(self, cuts: int, width: int = 48) -> None:
        super().__init__()
        self.embedding = nn.Embedding(DIGITS, width)
        self.places = Parameter(initializer(Normal(0.02), (LENGTH, width)), name="places")
        self.layers = nn.SequentialCell(Layer(width, cuts), Layer(width, cuts))
        self.head = nn.Dense(width, DIGITS)

    def scores(self, digits: Tensor) -> Tensor:
        """Scores of the digit at each place."""
        return self.head(self.layers(self.embedding(digits) + self.places))

    def construct(self, digits: Tensor, ordered: Tensor) -> Tensor:
        """The loss."""
        return ops.cross_entropy(self.scores(digits).reshape(-1, DIGITS), ordered.reshape(-1))


def main() -> None:
    """Train on rows of digits, sort rows that were never seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--mode", choices=["semi_auto_parallel", "auto_parallel"], default="semi_auto_parallel"
    )
    parser.add_argument("--steps", type=int, default=375)
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    ms.set_auto_parallel_context(
        parallel_mode=options.mode, search_mode="dynamic_programming", full_batch=True
    )
    ms.set_seed(4)

    pinned = options.mode == "semi_auto_parallel" and HEADS % get_group_size() == 0
    net = Sorter(get_group_size() if pinned else 0)
    rate = nn.cosine_decay_lr(1e-4, 4e-3, options.steps, options.steps, 1)
    step = nn.TrainOneStepCell(net, nn.AdamWeightDecay(net.trainable_params(), rate)).set_train()

    rng = np.random.default_rng(4)  # the same rows in all processes
    for number in range(1, options.steps + 1):
        rows = rng.integers(0, DIGITS, (BATCH, LENGTH)).astype(np.int32)
        loss = step(Tensor(rows), Tensor(np.sort(rows, 1)))
        if number % 75 == 0 and get_rank() == 0:
            print(f"step {number}: loss {float(loss):.3f}", flush=True)

    fresh = rng.integers(0, DIGITS, (1000, LENGTH)).astype(np.int32)
    found = ms.jit(net.scores)(Tensor(fresh)).asnumpy().argmax(-1)
    if get_rank() == 0:
        print(f"accuracy: {(found == np.sort(fresh, 1)).mean():.3f}", flush=True)


if __name__ == "__main__":
    main()

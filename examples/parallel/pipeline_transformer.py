"""A Transformer that learns to sort, in the stages of a pipeline: with 4 processes 2 stages, and in each stage two processes share
heads and hidden units.

msrun --worker_num=4 --local_worker_num=4 --join=True examples/parallel/pipeline_transformer.py
"""

from __future__ import annotations

import argparse

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.communication import get_group_size, get_rank, init
from mindspore.parallel import explain

DIGITS, LENGTH, BATCH, HEADS, PARTS = 10, 10, 64, 4, 4


class Layer(nn.Cell):
    """Attention and two dense layers. `cuts`: among how many processes heads and hidden units are shared."""

    def __init__(self, width: int, cuts: int) -> None:
        super().__init__()
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.up, self.down = nn.Dense(width, 2 * width), nn.Dense(2 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.scores, self.mixed = ops.BatchMatMul(transpose_b=True), ops.BatchMatMul()
        if cuts > 1:
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
    """Digits [batch, length] and these in order -> how wrong the network is. `stages`: into how many the layers are put."""

    def __init__(self, stages: int, cuts: int, width: int = 48) -> None:
        super().__init__()
        self.embedding = nn.Embedding(DIGITS, width)
        self.places = Parameter(initializer(Normal(0.02), (LENGTH, width)), name="places")
        self.layers = nn.CellList([Layer(width, cuts), Layer(width, cuts)])
        self.head = nn.Dense(width, DIGITS)
        self.embedding.pipeline_stage = 0
        for number, layer in enumerate(self.layers):
            layer.pipeline_stage = number * stages // len(self.layers)
        self.head.pipeline_stage = stages - 1

    def scores(self, digits: Tensor) -> Tensor:
        """Scores of the digit at each place."""
        x = self.embedding(digits) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.head(x)

    def construct(self, digits: Tensor, ordered: Tensor) -> Tensor:
        """The loss."""
        return ops.cross_entropy(self.scores(digits).reshape(-1, DIGITS), ordered.reshape(-1))


def main() -> None:
    """Train on rows of digits, sort rows that were never seen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=375)
    parser.add_argument("--schedule", choices=["1f1b", "gpipe"], default="1f1b")
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    stages = 2 if get_group_size() % 2 == 0 else 1
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel",
        full_batch=True,
        pipeline_stages=stages,
        pipeline_config={"pipeline_scheduler": options.schedule},
    )
    ms.set_seed(4)

    inside = get_group_size() // stages
    net = Sorter(stages, inside if HEADS % inside == 0 else 1)
    parts = nn.PipelineCell(net, PARTS)
    rate = nn.cosine_decay_lr(1e-4, 4e-3, options.steps, options.steps, 1)
    # The loss is the sum of those of the parts: their mean is what the steps are made for.
    step = nn.TrainOneStepCell(
        parts, nn.AdamWeightDecay(net.trainable_params(), rate), sens=1 / PARTS
    ).set_train()

    rng = np.random.default_rng(4)  # the same rows in all processes
    rows = rng.integers(0, DIGITS, (BATCH, LENGTH)).astype(np.int32)
    plan = explain(step, Tensor(rows), Tensor(np.sort(rows, 1))).data["pipeline"]
    if get_rank() == 0 and plan:
        print(f"{plan['schedule']}: devices wait {plan['bubble']:.0%} of the time", flush=True)
    for number in range(1, options.steps + 1):
        rows = rng.integers(0, DIGITS, (BATCH, LENGTH)).astype(np.int32)
        loss = step(Tensor(rows), Tensor(np.sort(rows, 1)))
        if number % 75 == 0 and get_rank() == 0:
            print(f"step {number}: loss {float(loss) / PARTS:.3f}", flush=True)

    fresh = rng.integers(0, DIGITS, (1000, LENGTH)).astype(np.int32)
    found = ms.jit(net.scores)(Tensor(fresh)).asnumpy().argmax(-1)
    if get_rank() == 0:
        print(f"accuracy: {(found == np.sort(fresh, 1)).mean():.3f}", flush=True)


if __name__ == "__main__":
    main()

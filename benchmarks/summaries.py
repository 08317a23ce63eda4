"""Times what summary ops cost in a training: `python benchmarks/summaries.py`.

LeNet is trained step by step: without summary ops; with those of a network, a loss and an optimizer, which nobody records; with the
loss alone, which a SummaryRecord writes every 10 steps; with the images, logits and all gradients too, kept by each step and never
written, and written every 10 steps. The last is mostly the writing. There are three trainings of each, since equal ones differ by a
few percent, by where their memory is. All take turns, block by block; of the rounds the least is kept, in time of the processor. The
exit status tells whether those that have a bar stay within it.
"""

from __future__ import annotations

import sys
import tempfile
import time

import numpy as np

import mindspore as ms
from mindspore import SummaryRecord, Tensor, nn, ops
from mindspore.model_zoo.lenet import LeNet5

BATCH, EVERY, ROUNDS, BLOCKS, EQUALS = 32, 10, 45, 2, 3
BARS = {"nobody records": 1.02, "loss, every 10 steps": 1.02, "all kinds, kept": 1.05}


class Watched(nn.Cell):
    """LeNet with its loss, which record."""

    def __init__(self, net: nn.Cell, kinds: str) -> None:
        super().__init__()
        self.kinds = kinds
        self.net, self.loss = net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        self.scalar, self.image, self.tensor = (
            ops.ScalarSummary(),
            ops.ImageSummary(),
            ops.TensorSummary(),
        )

    def construct(self, x, label):
        """The loss."""
        logits = self.net(x)
        if self.kinds == "all":
            self.image("images", x)
            self.tensor("logits", logits)
        loss = self.loss(logits, label)
        self.scalar("loss", loss)
        return loss


class WatchedMomentum(nn.Momentum):
    """Momentum that records the gradients."""

    def __init__(self, *arguments) -> None:
        super().__init__(*arguments)
        self.histogram = ops.HistogramSummary()

    def construct(self, gradients):
        """One step."""
        for parameter, gradient in zip(self.parameters, gradients):
            self.histogram(parameter.name, gradient)
        return super().construct(gradients)


def trainer(kinds: str) -> nn.Cell:
    """A step of LeNet's training that records nothing, the loss, or all kinds."""
    ms.set_seed(1)
    net = LeNet5()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = WatchedMomentum if kinds == "all" else nn.Momentum
    step = nn.TrainOneStepCell(
        Watched(net, kinds) if kinds else nn.WithLossCell(net, loss),
        optimizer(net.trainable_params(), 0.01, 0.9),
    )
    return step.set_train()


def block(step: nn.Cell, batch: tuple, record: SummaryRecord | None = None) -> float:
    """Processor seconds of some steps, with what is written after the first of each ten."""
    start = time.process_time()
    for number in range(BLOCKS * EVERY):
        step(*batch)
        if record is not None and number % EVERY == 0:
            record.record(number)
    step(*batch).asnumpy()
    return time.process_time() - start


def measure() -> dict[str, float]:
    """The least seconds by what is recorded."""
    ms.set_context(mode=ms.GRAPH_MODE)
    rng = np.random.default_rng(0)
    x = Tensor(rng.random((BATCH, 1, 32, 32), np.float32))
    batch = x, Tensor(rng.integers(0, 10, BATCH).astype(np.int32))
    trainings = [[trainer(kinds) for kinds in ("", "loss", "all")] for _ in range(EQUALS)]
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS + EQUALS):  # the first ones compile
            plain, loss, everything = trainings[number % EQUALS]
            times = {"none": block(plain, batch), "nobody records": block(everything, batch)}
            with SummaryRecord(folder) as record:
                times["loss, every 10 steps"] = block(loss, batch, record)
                times["all kinds, kept"] = block(everything, batch)
                times["all kinds, every 10 steps"] = block(everything, batch, record)
            rounds.append(times)
    return {name: min(times[name] for times in rounds[EQUALS:]) for name in rounds[0]}


def main() -> None:
    """Print the ratios; exit with 1 where one is over its bar."""
    least = measure()
    step = least.pop("none")
    print(f"LeNet, batch {BATCH}: {step / BLOCKS / EVERY * 1e3:.3f} ms a step without summary ops")
    for name, seconds in least.items():
        bar = f" (bar {BARS[name]})" if name in BARS else ""
        print(f"{name:>26}: {seconds / step:.3f} of it{bar}")
    sys.exit(any(least[name] / step > bar for name, bar in BARS.items()))


if __name__ == "__main__":
    main()

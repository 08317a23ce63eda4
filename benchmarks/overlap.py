"""How much of the sums of gradients passes while the backward pass runs: `python benchmarks/overlap.py`.

Two processes of one thread train LeNet and a small residual network over a link that is made to take time: DELAY has microseconds for
a sum and nanoseconds for a byte. What could be hidden are all sums but that of the last gradient, up to the time from the first
gradient to the last; the share of it that was, and the wait after the last gradient, are told: medians of steps, of the process that is
later there, which does not wait for the other one. With `--bare` the steps are timed without the link as well.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

RANKS, WARM, STEPS = 2, 14, 30
NAMES = ("sums", "hideable", "hidden", "tail", "buckets")
DELAY = {"lenet": "100,1", "residual": "200,1"}
LEAST_HIDDEN, MOST_TAIL_MS = 0.8, 2.0


def inside(case: str) -> None:
    """Trains; prints the time of each step and what NAMES has of it."""
    import mindspore as ms
    from mindspore import Tensor, _core, nn, ops
    from mindspore.communication import get_rank, init

    init()
    ms.set_context(mode=ms.GRAPH_MODE)

    class Block(nn.Cell):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.body = nn.SequentialCell(
                nn.Conv2d(width, width, 3), nn.BatchNorm2d(width), nn.ReLU(),
                nn.Conv2d(width, width, 3), nn.BatchNorm2d(width),
            )  # fmt: skip

        def construct(self, x: Tensor) -> Tensor:
            return ops.relu(x + self.body(x))

    class Mean(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x.mean((2, 3))

    draw = np.random.RandomState(get_rank())
    if case == "lenet":
        features = [
            nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
            nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(),
        ]  # fmt: skip
        head = [nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10)]
        net, shape = nn.SequentialCell([*features, *head]), (32, 1, 32, 32)
    else:
        blocks = [Block(64) for _ in range(4)]
        net = nn.SequentialCell([nn.Conv2d(3, 64, 3), *blocks, Mean(), nn.Dense(64, 10)])
        shape = (16, 3, 32, 32)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    cell = nn.WithLossCell(net, nn.CrossEntropyLoss())
    step = nn.TrainOneStepCell(cell, optimizer).set_train()
    x = Tensor(draw.randn(*shape).astype(np.float32))
    y = Tensor(draw.randint(0, 10, shape[0]).astype(np.int32))
    rows, before = [], _core.sum_times()
    for _ in range(WARM + STEPS):
        begin = time.perf_counter()
        step(x, y).asnumpy()
        took, now = time.perf_counter() - begin, _core.sum_times()
        rows.append([took, *(now[name] - before[name] for name in NAMES)])
        before = now
    print("figures", *np.array(rows[WARM:]).ravel(), flush=True)


def run(case: str, delay: str) -> np.ndarray:
    """Medians of steps: their time and what NAMES has, of the process that comes last to the end of its backward pass."""
    command = [sys.executable, __file__, "--inside", case]
    root = {f"{p}_ALLOW_RUN_AS_ROOT{s}": "1" for p in ("OMPI", "PRTE") for s in ("", "_CONFIRM")}
    env = {**os.environ, **root, "OMP_NUM_THREADS": "1", "OMPI_MCA_osc": "^ucx"}
    env["MS_COMM_DELAY"] = delay
    mpiexec = [str(Path(sys.prefix) / "bin" / "mpiexec"), "-n", str(RANKS)]
    out = subprocess.run([*mpiexec, *command], env=env, stdout=subprocess.PIPE, text=True).stdout
    found = [line.split()[1:] for line in out.splitlines() if line.startswith("figures")]
    ranks = np.array(found, float).reshape(RANKS, STEPS, 1 + len(NAMES))
    last = ranks[:, :, 1 + NAMES.index("tail")].argmin(0)
    return np.median(ranks[last, np.arange(STEPS)], 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bare", action="store_true")
    options = parser.parse_args()
    if options.inside:
        inside(options.inside)
        return 0
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    within = True
    for case, delay in DELAY.items():
        rounds = [run(case, delay) for _ in range(options.rounds)]
        step, sums, hideable, hidden, tail, buckets = min(rounds, key=lambda medians: medians[4])
        share = hidden / hideable if hideable else 0
        bare = f"  without the link {run(case, '')[0] * 1e3:.1f} ms" if options.bare else ""
        within &= share >= LEAST_HIDDEN and tail * 1e3 <= MOST_TAIL_MS
        print(
            f"{case:9} link {delay:7} step {step * 1e3:6.1f} ms  sums {sums * 1e3:5.2f} ms in {buckets:.0f} buckets  hidden {share:.0%} of what "
            f"could be  tail {tail * 1e3:.2f} ms{bare}",
            flush=True,
        )
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())

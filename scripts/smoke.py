"""What an installed package must do anywhere: its own check, and LeNet trained for some steps in both modes, with equal losses."""

from __future__ import annotations

import sys

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops


def losses(mode: int) -> list[float]:
    """Of ten steps on random pictures."""
    ms.set_context(mode=mode)
    ms.set_seed(1)
    net = nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(),
        nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10),
    )  # fmt: skip
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
    random = np.random.default_rng(0)
    x = Tensor(random.standard_normal((32, 1, 32, 32)).astype(np.float32))
    y = Tensor((np.arange(32) % 10).astype(np.int32))
    return [float(step(x, y)) for _ in range(10)]


def refusals() -> int:
    """How many wrong calls of four are refused: the errors of kernels, short and long, pass all libraries."""
    refused = 0
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        pick = ms.jit(lambda x, i: ops.gather(x, i, 0)) if mode == ms.GRAPH_MODE else ops.gather
        for size in (1, 20000):
            rest = () if mode == ms.GRAPH_MODE else (0,)
            try:
                pick(ops.ones((8, 64)), Tensor(np.full(size, 9, np.int32)), *rest).asnumpy()
            except IndexError:
                refused += 1
    return refused


def libraries() -> list[str]:
    """The copies of libgomp, oneDNN and libstdc++ in this process."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split()[-1] for line in maps if "/" in line}
    return sorted(p for p in paths if any(n in p for n in ("libgomp", "libdnnl", "libstdc++")))


def main() -> int:
    """Zero if all holds."""
    if not ms.run_check():
        return 1
    graph, eager = losses(ms.GRAPH_MODE), losses(ms.PYNATIVE_MODE)
    print("LeNet:", " ".join(f"{value:.4f}" for value in graph))
    print("loaded:", *libraries())
    same = bool(np.allclose(graph, eager, rtol=1e-4))
    return int(not (same and graph[-1] < graph[0] and refusals() == 4))


if __name__ == "__main__":
    sys.exit(main())

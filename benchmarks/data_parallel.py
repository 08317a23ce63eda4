"""Times data-parallel training by two processes of one thread: `python benchmarks/data_parallel.py`.

A Transformer and ResNet-18 for images of 32 x 32. Beside ours together stand the same two processes without a word to each other, which is what
the machine gives, and PyTorch's DistributedDataParallel over gloo. The frameworks take turns; of the rounds the least is kept.
The exit status says whether ours stay within the bars: 0.8 of PyTorch's time, and 0.9 of the rate of the two alone.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

RANKS, WARM, STEPS = 2, 3, 12
MOST_OF_TORCH, LEAST_OF_ALONE = 0.8, 0.9
CASES = ("transformer", "resnet18")
STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))  # width and stride, of two blocks each


def data_of(case: str, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """A batch of one process."""
    draw = np.random.RandomState(rank)
    if case == "transformer":
        return draw.randn(8, 64, 256).astype(np.float32), draw.randn(8, 64, 256).astype(np.float32)
    return draw.randn(16, 3, 32, 32).astype(np.float32), draw.randint(0, 10, 16).astype(np.int64)


def blocks_of() -> list[tuple[int, int, int]]:
    """Channels that come in, width and stride of each block of ResNet-18."""
    blocks, inside = [], 64
    for width, stride in STAGES:
        blocks += [(inside, width, stride), (width, width, 1)]
        inside = width
    return blocks


def ours(case: str, together: bool) -> Callable[[], None]:
    """A step of this process."""
    import mindspore as ms
    from mindspore import Tensor, nn, ops
    from mindspore.communication import get_rank, init

    init()
    ms.set_context(mode=ms.GRAPH_MODE)

    def norm_of(inside: int, outside: int, size: int, stride: int) -> list[nn.Cell]:
        return [nn.Conv2d(inside, outside, size, stride), nn.BatchNorm2d(outside)]

    class Block(nn.Cell):
        def __init__(self, inside: int, width: int, stride: int) -> None:
            super().__init__()
            first, second = norm_of(inside, width, 3, stride), norm_of(width, width, 3, 1)
            self.body = nn.SequentialCell([*first, nn.ReLU(), *second])
            same = inside == width
            self.short = (
                nn.Identity() if same else nn.SequentialCell(norm_of(inside, width, 1, stride))
            )

        def construct(self, x: Tensor) -> Tensor:
            return ops.relu(self.short(x) + self.body(x))

    class Residual(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.SequentialCell([*norm_of(3, 64, 3, 1), nn.ReLU()])
            self.blocks = nn.SequentialCell([Block(*sizes) for sizes in blocks_of()])
            self.head = nn.Dense(512, 10)

        def construct(self, x: Tensor) -> Tensor:
            return self.head(self.blocks(self.first(x)).mean((2, 3)))

    if case == "transformer":
        layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True)
        net, loss = nn.TransformerEncoder(layer, 4), nn.MSELoss()
    else:
        net, loss = Residual(), nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True) if together else None
    net.set_train()
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)

    @ms.jit
    def step(x: Tensor, y: Tensor) -> Tensor:
        value, grads = gradient(x, y)
        optimizer(reducer(grads) if together else grads)
        return value

    x, y = (Tensor(part) for part in data_of(case, get_rank()))
    y = y if y.dtype == ms.float32 else y.astype(ms.int32)
    return lambda: step(x, y).asnumpy()


def torchs(case: str) -> Callable[[], None]:
    """A step of this process under DistributedDataParallel."""
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")

    def norm_of(inside: int, outside: int, size: int, stride: int) -> list[nn.Module]:
        conv = nn.Conv2d(inside, outside, size, stride, padding=size // 2, bias=False)
        return [conv, nn.BatchNorm2d(outside)]

    class Block(nn.Module):
        def __init__(self, inside: int, width: int, stride: int) -> None:
            super().__init__()
            first, second = norm_of(inside, width, 3, stride), norm_of(width, width, 3, 1)
            self.body = nn.Sequential(*first, nn.ReLU(), *second)
            same = inside == width
            self.short = (
                nn.Identity() if same else nn.Sequential(*norm_of(inside, width, 1, stride))
            )

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.short(x) + self.body(x))

    if case == "transformer":
        layer = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True)
        net, loss = nn.TransformerEncoder(layer, 4), nn.MSELoss()
    else:
        blocks = [Block(*sizes) for sizes in blocks_of()]
        pool = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)]
        first = [*norm_of(3, 64, 3, 1), nn.ReLU()]
        net, loss = nn.Sequential(*first, *blocks, *pool), nn.CrossEntropyLoss()
    net = nn.parallel.DistributedDataParallel(net.train())
    optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)
    x, y = (torch.from_numpy(part) for part in data_of(case, torch.distributed.get_rank()))

    def step() -> None:
        optimizer.zero_grad()
        loss(net(x), y).backward()
        optimizer.step()

    return step


def inside(kind: str, case: str) -> None:
    """Prints the least time of a step."""
    step = torchs(case) if kind == "torch" else ours(case, kind == "together")
    times = []
    for _ in range(WARM + STEPS):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    print("seconds", min(times[WARM:]), flush=True)


def run(kind: str, case: str) -> float:
    """The slower of two processes, in seconds."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [sys.executable, __file__, "--inside", kind, case]
    root = {f"{p}_ALLOW_RUN_AS_ROOT{s}": "1" for p in ("OMPI", "PRTE") for s in ("", "_CONFIRM")}
    env = {**os.environ, **root, "OMP_NUM_THREADS": "1", "OMPI_MCA_osc": "^ucx"}
    if kind == "torch":
        env |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(RANKS)}
        ranks = [
            subprocess.Popen(
                command, env={**env, "RANK": str(r)}, stdout=subprocess.PIPE, text=True
            )
            for r in range(RANKS)
        ]
    else:
        mpiexec = [str(Path(sys.prefix) / "bin" / "mpiexec"), "-n", str(RANKS)]
        ranks = [subprocess.Popen([*mpiexec, *command], env=env, stdout=subprocess.PIPE, text=True)]
    lines = [line for rank in ranks for line in rank.communicate()[0].splitlines()]
    return max(float(line.split()[1]) for line in lines if line.startswith("seconds"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inside", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.inside:
        inside(*options.inside)
        return 0
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    within = True
    for case in CASES:
        kinds = ("together", "alone", "torch")
        rounds = [[run(kind, case) for kind in kinds] for _ in range(options.rounds)]
        together, alone, torch = map(min, zip(*rounds))
        within &= together <= MOST_OF_TORCH * torch and alone >= LEAST_OF_ALONE * together
        print(
            f"{case:12}  ours together {together * 1e3:7.1f} ms  alone {alone * 1e3:7.1f} ms ({alone / together:.2f} of the rate)  "
            f"PyTorch {torch * 1e3:7.1f} ms  ratio {together / torch:.2f}",
            flush=True,
        )
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())

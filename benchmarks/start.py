"""Times how long four processes take from the command to their first training step: `python benchmarks/start.py`.

`msrun` with four ranks that train LeNet data parallel, beside four processes without a word to each other that are started at once
and train the same; in turns, the least of the rounds is kept. The exit status says whether msrun is at most 1.5 s later.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RANKS, MOST_LATER = 4, 1.5


def inside(together: bool) -> None:
    """Makes one step, and says when it was done."""
    import numpy as np

    import mindspore as ms
    from mindspore import Tensor, nn

    if together:
        from mindspore.communication import init

        init()
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    ms.set_context(mode=ms.GRAPH_MODE)
    features = [
        nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid"), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(),
    ]  # fmt: skip
    head = [nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10)]
    net = nn.SequentialCell([*features, *head])
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
    x = Tensor(np.ones((32, 1, 32, 32), np.float32))
    step(x, Tensor(np.zeros(32, np.int32))).asnumpy()
    print("done", time.time(), flush=True)


def seconds(together: bool) -> float:
    """From the command to the last first step."""
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--inside"]
    with tempfile.TemporaryDirectory() as folder:
        begin = time.time()
        if together:
            counts = [f"--worker_num={RANKS}", f"--local_worker_num={RANKS}", "--join=True"]
            launcher = [sys.executable, "-m", "msrun", *counts, f"--log_dir={folder}"]
            started = [[*launcher, *command[1:], "together"]]
        else:
            started = [[*command, "alone"]] * RANKS
        jobs = [subprocess.Popen(c, env=env, stdout=subprocess.PIPE, text=True) for c in started]
        said = "".join(job.communicate()[0] for job in jobs)
    ends = [float(line.split()[1]) for line in said.splitlines() if line.startswith("done")]
    if len(ends) != RANKS:
        raise SystemExit(f"{RANKS} processes were to make a step, but:\n{said}")
    return max(ends) - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inside", choices=("together", "alone"), help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    if options.inside:
        inside(options.inside == "together")
        return 0
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (_tree(), os.environ.get("PYTHONPATH")))
    )
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    rounds = [(seconds(True), seconds(False)) for _ in range(options.rounds)]
    together, alone = map(min, zip(*rounds))
    print(
        f"msrun {together:.2f} s, {RANKS} processes alone {alone:.2f} s, {together - alone:+.2f} s"
    )
    return 0 if together - alone <= MOST_LATER else 1


def _tree() -> str:
    """Where the package is, also where it is not installed."""
    import mindspore

    return str(Path(mindspore.__file__).parent.parent)


if __name__ == "__main__":
    sys.exit(main())

"""The same program gives the same bits, run after run, at a fixed number of threads."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

PROGRAM = textwrap.dedent("""
    import hashlib, sys
    import numpy as np
    import mindspore as ms
    from mindspore import Tensor, nn, ops

    ms.set_context(mode=getattr(ms, sys.argv[1]))

    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16)
            self.wide, self.head = nn.Dense(16 * 16 * 16, 300), nn.Dense(300, 10)
            self.rows, self.drop = nn.LayerNorm((300,)), nn.Dropout(p=0.2)

        def construct(self, x):
            x = ops.max_pool2d(ops.relu(self.norm(self.conv(x))), 2, 2).reshape(x.shape[0], -1)
            x = self.drop(ops.gelu(self.rows(self.wide(x))))
            return self.head(ops.softmax(x, -1) * x)

    def train():
        ms.set_seed(3)
        net = Net()
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        update = nn.Adam(net.trainable_params(), 0.01, weight_decay=0.01)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), update).set_train()
        rng = np.random.default_rng(0)
        for _ in range(4):
            data = rng.standard_normal((24, 3, 32, 32)).astype(np.float32)
            step(Tensor(data), Tensor(rng.integers(0, 10, 24).astype(np.int32)))
        digest = hashlib.sha256()
        for parameter in net.get_parameters():
            digest.update(parameter.asnumpy().tobytes())
        return digest.hexdigest()

    print(train(), train())
""")


def digests(mode: str, threads: int) -> list[str]:
    """Of the trained parameters, twice in a new process."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, mode],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("mode", ["GRAPH_MODE", "PYNATIVE_MODE"])
def test_training_gives_the_same_bits(mode, threads):
    found = digests(mode, threads) + digests(mode, threads)
    assert len(found) == 4 and len(set(found)) == 1

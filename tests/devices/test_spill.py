"""A network that takes more memory than it may: what does not fit waits in a file, or on the host; the numbers are the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, context, nn
from mindspore.compile.versions.memory import memory_report, memory_table

BATCH, WIDTH, DEPTH = 512, 256, 12
SOME = 1 << 20


@pytest.fixture(autouse=True)
def no_limit_afterwards():
    yield
    context.set_context(max_device_memory="1024GB")


class Net(nn.Cell):
    """Deep: each layer keeps what its gradient needs."""

    def __init__(self):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(WIDTH, WIDTH) for _ in range(DEPTH)])

    def construct(self, x):
        for layer in self.layers:
            x = ms.ops.tanh(layer(x))
        return (x * x).mean()


def train(limit: str, steps: int = 3) -> tuple[list[float], dict]:
    """The losses, and the report of the step's memory."""
    context.set_context(mode=context.GRAPH_MODE, max_device_memory=limit)
    ms.set_seed(1)
    net = Net()
    step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    random = np.random.default_rng(0)
    losses = []
    for _ in range(steps):
        x = Tensor(random.normal(size=(BATCH, WIDTH)).astype(np.float32))
        losses.append(float(step(x)))
    return losses, memory_report(step)


def test_a_step_beyond_the_limit_gives_the_same_bits():
    losses, whole = train("1024GB")
    assert whole["spilled"] == 0
    limit = (whole["peak"] - 3 * SOME) >> 20
    assert limit * SOME > whole["peak"] - whole["feature_maps"]
    limited, report = train(f"{limit}MB")
    assert limited == losses
    assert report["peak"] <= limit * SOME
    # At its cost: each byte that does not fit goes out and comes back once.
    assert 3 * SOME <= report["spilled"] <= whole["feature_maps"]
    assert "spilled by each run" in memory_table(report)


def test_on_a_device_it_waits_on_the_host(fenced):
    losses, whole = train("1024GB")
    limited, report = train(f"{(whole['peak'] - 3 * SOME) >> 20}MB")
    assert limited == losses and report["spilled"] >= 3 * SOME


def test_what_cannot_fit_is_refused():
    """The message says what to write in place of it."""
    with pytest.raises(MemoryError, match=r"'max_device_memory' must be at least \d+KB") as refused:
        train("1MB")
    found = re.search(r"at least (\d+)KB", str(refused.value))
    assert found
    least = int(found.group(1))
    with pytest.raises(MemoryError, match=f"at least {least}KB"):
        train(f"{least - 2}KB")
    assert train(f"{least}KB")[0] == train("1024GB")[0]


@pytest.mark.parametrize("value", ["3", "GB", "-1GB", "0MB", "3TB", "many MB", "0.0001KB"])
def test_limits_that_are_none(value):
    with pytest.raises(ValueError, match="'max_device_memory' must be a number with GB, MB or KB"):
        context.set_context(max_device_memory=value)
    with pytest.raises(TypeError, match="'max_device_memory' must be a str"):
        context.set_context(max_device_memory=3)


def test_more_than_there_can_be():
    context.set_context(max_device_memory="99999999999999999999GB")


def test_a_folder_without_room(tmp_path):
    """The run is refused before it begins: what it was to update is as before."""
    program = f"""
import sys; sys.path[:0] = {[os.path.dirname(__file__), *sys.path]!r}
import numpy as np, mindspore as ms
import test_spill as t
from mindspore import Tensor, nn
whole = t.train("1024GB", 1)[1]["peak"]
ms.set_context(max_device_memory=f"{{(whole - 3 * t.SOME) >> 20}}MB")
net = t.Net()
before = [p.asnumpy().copy() for p in net.trainable_params()]
step = nn.TrainOneStepCell(net, nn.Momentum(net.trainable_params(), 0.1, 0.9))
try:
    step(Tensor(np.ones((t.BATCH, t.WIDTH), np.float32)))
except OSError as error:
    print(error)
assert all((a == p.asnumpy()).all() for a, p in zip(before, net.trainable_params()))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300,
        env={**os.environ, "MS_SPILL_PATH": str(tmp_path / "absent")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "For '" in done.stdout and "values that do not fit into memory" in done.stdout
    assert "absent" in done.stdout and "MS_SPILL_PATH" in done.stdout

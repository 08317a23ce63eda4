"""One of several processes comes to an end that nobody planned, at a given moment; the others go on until they need it."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np

import mindspore as ms
from mindspore import Model, Tensor, nn, ops
from mindspore.common import _planning
from mindspore.communication import get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Callback, CheckpointConfig, ModelCheckpoint, _manifest

HOW, WHEN = sys.argv[1:3]
LOST = int(os.environ.get("LOST", "1"))
begin = time.monotonic()


def end() -> None:
    if HOW == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if HOW == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if HOW == "exit":
        sys.exit(0)
    raise ValueError("the disk is full")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.sum = ops.AllReduce()

    def construct(self, x):
        if WHEN == "compile" and get_rank() == LOST:
            end()
        return self.sum(x) + 1


def steps() -> None:
    """Collectives alone; the end comes between two of them, or while the others are inside of a large one."""
    global begin
    net = Net()
    for step in range(10**6):
        if WHEN == "forward" and step == 3 and get_rank() == LOST:
            begin = time.monotonic()
            end()
        if WHEN == "collective" and get_rank() == LOST and step == 0:
            signal.signal(signal.SIGALRM, lambda *_: end())
            signal.setitimer(signal.ITIMER_REAL, 0.5)
        size = 1_000_000 if WHEN == "collective" else 100
        net(Tensor(np.ones(size, np.float32))).asnumpy()


def divided() -> None:
    """Steps of a divided network; the end comes while it is planned, or in one of them."""
    ms.set_auto_parallel_context(parallel_mode="auto_parallel", full_batch=True)
    if WHEN == "plan" and get_rank() == LOST:
        _planning.Planning.told = lambda *_: end()  # the others plan, and wait
    net = nn.Dense(300, 300)
    loss = nn.WithLossCell(net, nn.MSELoss())
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    x = Tensor(np.ones((300, 300), np.float32))
    for number in range(10**6):
        if number == 1 and WHEN == "divided" and get_rank() == LOST:
            signal.signal(signal.SIGALRM, lambda *_: end())
            signal.setitimer(signal.ITIMER_REAL, 0.3)
        step(x, x).asnumpy()


class Ends(Callback):
    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == 2 and get_rank() == LOST:
            if WHEN == "train":
                end()
            _manifest._own = lambda *_: end()  # in the middle of the next save


def training(folder: str) -> None:
    """A training that saves, in slices of all processes."""
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    x = np.ones((600, 4), np.float32)
    net = nn.Dense(4, 3)
    model = Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    config = CheckpointConfig(save_checkpoint_steps=1, integrated_save=False)
    data = NumpySlicesDataset((x, x[:, :3]), ["x", "y"]).batch(1)
    model.train(10**3, data, callbacks=[Ends(), ModelCheckpoint("net", folder, config)])


init()
ms.set_context(mode=ms.GRAPH_MODE)
if WHEN == "start" and get_rank() == LOST:
    end()
try:
    if WHEN in ("save", "train"):
        training(sys.argv[3])
    elif WHEN in ("plan", "divided"):
        divided()
    else:
        steps()
except RuntimeError as error:
    print(f"told after {time.monotonic() - begin:.1f} s: {error}", flush=True)
    os._exit(3)

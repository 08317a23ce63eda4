"""One of several processes comes to an end that nobody planned, at a given moment; the others go on until they need it."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import get_rank, init

HOW, WHEN = sys.argv[1:3]
LOST = 1


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


init()
ms.set_context(mode=ms.GRAPH_MODE)
if WHEN == "start" and get_rank() == LOST:
    end()
net = Net()
begin = time.monotonic()
try:
    for step in range(10**6):
        if WHEN == "forward" and step == 3 and get_rank() == LOST:
            begin = time.monotonic()
            end()
        net(Tensor(np.ones(100, np.float32))).asnumpy()
except RuntimeError as error:
    print(f"told after {time.monotonic() - begin:.1f} s: {error}", flush=True)
    os._exit(3)

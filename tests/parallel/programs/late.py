"""One of two processes ends while sums of gradients are on their way; the other one waits for them."""

from __future__ import annotations

import os
import signal
import sys
import time

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import get_rank, init

HOW, DIVIDED = sys.argv[1], "divided" in sys.argv[2:]
init()
ms.set_context(mode=ms.GRAPH_MODE)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell([nn.Dense(256, 256) for _ in range(6)])

    def construct(self, x):
        return self.layers(x).mean()


net = Net()
optimizer = nn.SGD(net.trainable_params(), 0.01)
reducer = nn.DistributedGradReducer(optimizer.parameters)
gradient = ms.value_and_grad(net, None, optimizer.parameters)


def divided(net, optimizer):
    ms.set_auto_parallel_context(
        parallel_mode="auto_parallel", search_mode="sharding_propagation", full_batch=True
    )
    return nn.TrainOneStepCell(net, optimizer).set_train()


@ms.jit
def step(x):
    value, grads = gradient(x)
    optimizer(reducer(grads))
    return value


if DIVIDED:
    step = divided(net, optimizer)
x = Tensor(np.ones((64, 256), np.float32))
for _ in range(3):
    step(x).asnumpy()
begin = time.monotonic()
if get_rank() == 1:
    if HOW == "raise":
        time.sleep(0.2)
        raise ValueError("the disk is full")
    signal.setitimer(signal.ITIMER_REAL, 0.1)  # its sums take longer, and nobody handles the signal
try:
    while True:
        step(x).asnumpy()
except RuntimeError as error:
    print(f"told after {time.monotonic() - begin:.1f} s: {error}", flush=True)
    # Nothing is under way any more: memory is as it was.
    ops.ones((1000, 1000)).asnumpy()
    os._exit(3)

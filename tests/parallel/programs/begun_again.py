"""A training that loses a process in its first start, and goes on from its last checkpoint in the second one."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np

import mindspore as ms
from mindspore import Model, nn
from mindspore.communication import get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Callback, CheckpointConfig, ModelCheckpoint

FOLDER, DEED = sys.argv[1:3]
START = int(os.environ.get("MS_RESTART_COUNT", "0"))


class Ends(Callback):
    def on_train_step_end(self, run_context):
        step = run_context.original_args().cur_step_num
        if get_rank() == 1 and START == 0 and step == 7:
            if DEED == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if DEED == "raise":
                raise ValueError("bad data")


init()
ms.set_context(mode=ms.GRAPH_MODE)
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
ms.set_seed(1)
x = np.random.RandomState(0).randn(80, 4).astype(np.float32)
data = NumpySlicesDataset((x, x.sum(1, keepdims=True)), ["x", "y"]).batch(4)
net = nn.SequentialCell(nn.Dense(4, 8), nn.Dropout(p=0.1), nn.Dense(8, 1))
model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.05))
resumed = model.resume(FOLDER)
assert resumed == (START > 0)
config = CheckpointConfig(save_checkpoint_steps=2, integrated_save=False)
model.train(2, data, callbacks=[Ends(), ModelCheckpoint("net", FOLDER, config)])
total = sum(float(np.abs(p.asnumpy().astype(np.float64)).sum()) for p in net.get_parameters())
print(f"start {START} rank {get_rank()} ends at {total!r}", flush=True)

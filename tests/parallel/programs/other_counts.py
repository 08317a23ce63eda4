"""A divided training goes on with another number of processes, where a device is lost: planned anew, from the slices of the last checkpoint
and the next sample. other_counts.py FOLDER FIRST LAST: steps FIRST + 1 to LAST, which have the losses of one process."""

from __future__ import annotations

import sys

import numpy as np

import mindspore as ms
from mindspore import Model, nn
from mindspore.communication import get_group_size, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Callback, CheckpointConfig, ModelCheckpoint

X = np.random.RandomState(0).randn(96, 12).astype(np.float32)
Y = np.random.RandomState(1).randn(96, 6).astype(np.float32)


class Losses(Callback):
    """Writes the losses down, and asks for the end."""

    def __init__(self, last):
        super().__init__()
        self.seen, self.last = [], last

    def step_end(self, run_context):
        params = run_context.original_args()
        self.seen.append(float(params.net_outputs.asnumpy()))
        if params.cur_step_num == self.last:
            run_context.request_stop()


def train(last, folder=None):
    """The losses of this part of the training."""
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(12, 48), nn.Tanh(), nn.Dense(48, 6))
    model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01))
    losses = Losses(last)
    callbacks = [losses]
    if folder:
        assert model.resume(folder) is (FIRST > 0)
        config = CheckpointConfig(save_checkpoint_steps=1, integrated_save=False)
        callbacks.append(ModelCheckpoint("net", folder, config))
    model.train(3, NumpySlicesDataset((X, Y), ["x", "y"]).batch(24), callbacks=callbacks)
    return losses.seen


FOLDER, FIRST, LAST = sys.argv[1], *map(int, sys.argv[2:])
init()
ms.set_context(mode=ms.GRAPH_MODE)
wanted = train(LAST)[FIRST:]
if get_group_size() > 1:
    ms.set_auto_parallel_context(
        parallel_mode="auto_parallel", search_mode="dynamic_programming", full_batch=True
    )
np.testing.assert_allclose(train(LAST, FOLDER), wanted, rtol=1e-4)
print("all is well", flush=True)

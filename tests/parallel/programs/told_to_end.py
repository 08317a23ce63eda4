"""One process is told to end, and all do so after the same step; the first one has saved what all have."""

from __future__ import annotations

import os
import signal
import sys

import numpy as np

import mindspore as ms
from mindspore import Model, nn, train
from mindspore.communication import get_rank, init
from mindspore.dataset import NumpySlicesDataset

init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
ms.set_seed(1)
x = np.random.RandomState(0).randn(40, 4).astype(np.float32)
net = nn.Dense(4, 1)
model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.1))


class Told(train.Callback):
    def on_train_step_end(self, context):
        self.step = context.original_args().cur_step_num
        if self.step == 3 and get_rank() == 1:
            os.kill(os.getpid(), signal.SIGTERM)


told = Told()
leaving = [train.OnRequestExit(save_mindir=False, directory=sys.argv[1])]
leaving.append(train.BackupAndRestore(sys.argv[1]))
try:
    data = NumpySlicesDataset((x, x.sum(1, keepdims=True)), ["x", "y"]).batch(4)
    model.train(2, data, callbacks=[told, *leaving])
except SystemExit as end:
    assert end.code == 143 and told.step == 3, (end.code, told.step)
    print("all is well", flush=True)

"""A part of a training, from its begin or from the newest checkpoint: which samples it saw, and its losses, as JSON.

Arguments: the folder, the last epoch, the step after which it is left (0: none), the size of a batch.
"""

from __future__ import annotations

import itertools
import json
import os
import sys

import numpy as np

import mindspore as ms
from mindspore import Model, nn, train
from mindspore.communication import get_group_size, get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train._together import gather_objects

folder, epochs, leave, batch = sys.argv[1], *map(int, sys.argv[2:])
init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
ms.set_seed(3)
ROWS = 44
x = np.random.RandomState(0).randn(ROWS, 4).astype(np.float32)
y = x.sum(1, keepdims=True)


class Loss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net, self.loss = net, nn.MSELoss()

    def construct(self, x, y, number):
        return self.loss(self.net(x), y)


class Seen(train.Callback):
    def __init__(self):
        self.losses, self.samples = [], []

    def on_train_step_end(self, context):
        params = context.original_args()
        self.losses.append(float(params.net_outputs.asnumpy()))
        if context._run.together.has_rows:
            self.samples += params.train_dataset_element[-1].asnumpy().tolist()
        if params.cur_step_num == leave:
            context.request_stop()


data = NumpySlicesDataset((x, y, np.arange(ROWS)), ["x", "y", "number"], shuffle=True)
net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 1))
model = Model(Loss(net), optimizer=nn.Adam(net.trainable_params(), 0.05))
model.resume(folder)
seen = Seen()
config = train.CheckpointConfig(keep_checkpoint_max=2, integrated_save=batch % 2 == 1)
saved = train.ModelCheckpoint("net", folder, config)
model.train(epochs, data.batch(batch), callbacks=[seen, saved])
everywhere = gather_objects(seen.samples) if get_group_size() > 1 else [seen.samples]
if get_rank() == 0:
    print(json.dumps({"losses": seen.losses, "samples": sorted(itertools.chain(*everywhere))}))
names = [name for name in os.listdir(folder) if name.startswith("net")]
assert all(
    name.endswith(".slices") == (get_group_size() > 1 and batch % 2 == 0) for name in names if leave
)
print("all is well", flush=True)

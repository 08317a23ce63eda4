"""Model.train by several processes: one file of each checkpoint, whoever divides the data."""

from __future__ import annotations

import os
import sys

import numpy as np

import mindspore as ms
from mindspore import Model, Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import CheckpointConfig, ModelCheckpoint

init()
rank, size = get_rank(), get_group_size()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
assert ms.get_auto_parallel_context("device_num") == size
assert ms.get_auto_parallel_context("global_rank") == rank
x = np.random.RandomState(0).randn(30, 4).astype(np.float32)
y = x.sum(1, keepdims=True)
part = {"num_shards": size, "shard_id": rank} if sys.argv[2] == "divided" else {}
data = NumpySlicesDataset((x, y), ["x", "y"], shuffle=False, **part).batch(4)
net = nn.Dense(4, 1)
model = Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9))
saved = ModelCheckpoint("net", sys.argv[1], CheckpointConfig(save_checkpoint_steps=2))
model.train(3, data, callbacks=saved)
ops.Barrier()()
assert os.path.exists(saved.latest_ckpt_file_name)
assert all(name.startswith("net-") for name in os.listdir(sys.argv[1]))  # no second set of files
weights = ops.AllGather()(Tensor(net.weight.asnumpy())).asnumpy()
assert (weights == weights[:1]).all()
print("all is well", flush=True)

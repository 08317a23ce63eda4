"""A script without a seed trains and evaluates a divided network on the whole of each batch, or each process on its rows."""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Model, nn
from mindspore.communication import init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train._together import gather_objects

init()
ms.set_context(mode=ms.GRAPH_MODE)
x = np.random.RandomState(0).randn(32, 6).astype(np.float32)
for full_batch in (True, False):
    ms.set_auto_parallel_context(parallel_mode="auto_parallel", full_batch=full_batch)
    data = NumpySlicesDataset((x, x[:, :2]), ["x", "y"]).batch(8)
    net = nn.Dense(6, 2)
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1), metrics={"mse"})
    before = model.eval(data)["mse"]
    model.train(2, data)
    after = model.eval(data)["mse"]
    assert after < before, (before, after)
    assert len(set(gather_objects(after))) == 1
    # What comes back is whole, also what went in.
    own = ms.Tensor(x[:4])
    assert ms.jit(lambda part: part)(own).shape == ((4, 6) if full_batch else (8, 6))
print("all is well", flush=True)

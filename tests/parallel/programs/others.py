"""Two processes train a network that the compiler divides, but not the same one, or not in the same way."""

import sys

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.communication import get_rank, init

what = sys.argv[1]
init()
rank = get_rank()
ms.set_seed(1)
ms.set_context(mode=ms.GRAPH_MODE)
settings = {"parallel_mode": "auto_parallel", "full_batch": True}
if what == "search" and rank == 1:
    settings["search_mode"] = "sharding_propagation"
if what in ("stages", "thirds") and rank == 1:
    settings["pipeline_stages"] = 2 if what == "stages" else 3
if what == "batch" and rank == 1:
    settings["full_batch"] = False
if what == "memory" and rank == 1:
    ms.set_context(max_device_memory="500MB")
ms.set_auto_parallel_context(**settings)
act = nn.ReLU() if what == "ops" and rank == 1 else nn.GELU()
net = nn.SequentialCell(nn.Dense(64, 256), act, nn.Dense(256, 64), act, nn.Dense(64, 8))
if what == "pins" and rank == 1:
    net[0].weight._shard_pin = (1, 2)
step = nn.TrainOneStepCell(
    nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9)
)
x = np.random.default_rng(0).normal(size=(16, 64)).astype(np.float32)
try:
    for _ in range(2):
        print("loss", float(step(Tensor(x), Tensor(x[:, :8])).asnumpy()))
except (ValueError, RuntimeError) as error:
    print(f"refused by {rank}: {error}")

"""Model.train, data parallel by one line, has the losses of one process, of all networks of `nets`: curves.py NET,..."""

from __future__ import annotations

import sys

import nets
import numpy as np

import mindspore as ms
from mindspore import Model, nn
from mindspore.communication import get_group_size, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Callback

BATCHES = 3


class Losses(Callback):
    """Writes the losses down."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def step_end(self, run_context):
        self.seen.append(float(run_context.original_args().net_outputs.asnumpy()))


def varied(column: np.ndarray) -> np.ndarray:
    """The rows of some batches, made of those of one."""
    copies = [np.roll(column, i, 0) * (1 + 0.1 * i) for i in range(BATCHES)]
    whole = column.dtype.kind == "i" or set(np.unique(column)) <= {0, 1}
    return np.concatenate([np.roll(column, i, 0) for i in range(BATCHES)] if whole else copies)


def curve(name: str, together: bool) -> list[float]:
    """The losses of two epochs."""
    ms.reset_auto_parallel_context()
    if together:
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    local = nn.BatchNorm2d
    nn.BatchNorm2d = nn.SyncBatchNorm if together else local  # with the statistics of all
    try:
        case = nets.built(name)
    finally:
        nn.BatchNorm2d = local
    rows = len(case.data[0]) // (get_group_size() if together else 1)
    columns = tuple(map(varied, case.data))
    data = NumpySlicesDataset(columns, [f"c{i}" for i in range(len(columns))], shuffle=False)
    model = Model(case.net, optimizer=nn.Momentum(case.net.trainable_params(), 0.01, 0.9))
    losses = Losses()
    model.train(2, data.batch(rows), callbacks=losses)
    return losses.seen


init()
for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
    ms.set_context(mode=mode)
    for name in sys.argv[1].split(","):
        alone = curve(name, False)
        assert len(alone) == 2 * BATCHES and len(set(alone)) == len(alone), alone
        np.testing.assert_allclose(curve(name, True), alone, rtol=3e-4, err_msg=f"{name} {mode}")
print("all is well", flush=True)

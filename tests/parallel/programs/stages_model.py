"""Model with a network in stages: losses, results and checkpoints are those of one process, whatever the number of stages that write
and read them.

stages_model.py FOLDER STAGES,..."""

from __future__ import annotations

import sys

import auto
import numpy as np
from divided_model import Losses, X, Y, same, whole

import mindspore as ms
from mindspore import Model, nn, ops
from mindspore.communication import get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import CheckpointConfig, ModelCheckpoint


class Net(nn.Cell):
    """Layers, of which the first and the last use one weight. `stages`: into how many they are marked."""

    def __init__(self, stages: int) -> None:
        super().__init__()
        self.table = nn.Dense(12, 16, has_bias=False)
        self.middle = nn.CellList([nn.Dense(16, 16) for _ in range(4)])
        self.back = nn.Dense(12, 8)
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        if stages:
            self.table.pipeline_stage = 0
            for number, layer in enumerate(self.middle):
                layer.pipeline_stage = number * stages // 4
            self.back.pipeline_stage = stages - 1

    def construct(self, x, y):
        x = self.table(x)
        for layer in self.middle:
            x = x + ops.tanh(layer(x))
        return self.loss(self.back(ops.matmul(x, self.table.weight)), y)


def built(stages: int) -> tuple[nn.Cell, Model]:
    """The network, and a Model of it."""
    ms.set_seed(3)
    np.random.seed(3)
    net = Net(stages)
    model = Model(nn.PipelineCell(net, 4), optimizer=nn.Adam(net.trainable_params(), 0.01))
    return net, model


def data() -> NumpySlicesDataset:
    """Batches of all rows."""
    return NumpySlicesDataset((X, Y), ["x", "y"], shuffle=False).batch(8)


def trained(folder: str, stages: int, integrated: bool = True) -> tuple:
    """A network after two epochs, with checkpoints."""
    net, model = built(stages)
    losses = Losses()
    config = CheckpointConfig(save_checkpoint_steps=4, integrated_save=integrated)
    model.train(2, data(), callbacks=[losses, ModelCheckpoint("net", folder, config)])
    return net, model, losses.seen


def settings(stages: int) -> None:
    """The settings of so many stages; 0: of one process."""
    ms.reset_auto_parallel_context()
    if stages:
        ms.set_auto_parallel_context(
            full_batch=True, pipeline_stages=stages, **auto.MODES["dynamic"]
        )


def main() -> None:
    """Trains alone, then in each number of stages; reads what each has written in the others."""
    folder, counts = sys.argv[1], [int(n) for n in sys.argv[2].split(",")]
    init()
    ms.set_context(mode=ms.GRAPH_MODE)
    settings(0)
    net, _, losses = trained(f"{folder}/alone-{get_rank()}", 0)
    assert losses[-1] < losses[0], losses
    wanted = whole(net)
    for count in counts:
        for integrated in (True, False):
            settings(count)
            where = f"{folder}/{count}-{integrated}"
            net, _, staged = trained(where, count, integrated)
            np.testing.assert_allclose(staged, losses, 2e-4, 2e-5, err_msg=str(count))
            same(whole(net), wanted, f"{count} stages")
            file = f"{folder}/{count}-{integrated}.ckpt"
            ms.save_checkpoint(net, file)
            for other in [0, *counts]:
                settings(other)
                again, model = built(other)
                ms.load_param_into_net(again, ms.load_checkpoint(file))
                same(whole(again), wanted, f"loaded in {other}")
                if other and not integrated:
                    assert model.resume(where), where
                    more = Losses()
                    model.train(3, data(), callbacks=[more])
                    assert more.seen[-1] < losses[-1], more.seen
                    ms.load_param_into_net(again, ms.load_checkpoint(file))  # which lies in stages
                    same(whole(again), wanted, f"loaded into {other} stages")
    print("all is well", flush=True)


main()

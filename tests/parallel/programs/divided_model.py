"""Model in the modes that divide a network: losses, results and checkpoints are those of one process, whoever reads them.

divided_model.py FOLDER MODE,..."""

from __future__ import annotations

import sys

import auto
import numpy as np

import mindspore as ms
from mindspore import Model, nn
from mindspore.common import _planning
from mindspore.communication import get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.parallel import Layout, strategy
from mindspore.train import Callback, CheckpointConfig, ModelCheckpoint

X = np.random.RandomState(0).randn(32, 12).astype(np.float32)
Y = np.random.RandomState(1).randint(0, 8, 32).astype(np.int32)


class Losses(Callback):
    """Writes the losses down."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def step_end(self, run_context):
        loss = run_context.original_args().net_outputs
        self.seen.append(float((loss[0] if isinstance(loss, tuple) else loss).asnumpy()))


def built(pins):
    """A network of which, with pins, a weight lies in slices, and a Model of it."""
    ms.set_seed(3)
    np.random.seed(3)
    net = nn.SequentialCell(nn.Dense(12, 16), nn.ReLU(), nn.Dense(16, 8))
    if pins:
        layout = Layout((2,), ("mp",))
        net[0].shard((layout("None", "None"),), (layout("None", "mp"),), {"weight": (2, 1)})
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(net, loss, nn.Adam(net.trainable_params(), 0.01), metrics={"accuracy", "loss"})
    return net, model


def data():
    return NumpySlicesDataset((X, Y), ["x", "y"], shuffle=False).batch(8)


def whole(net):
    return [_planning.whole_value(p).asnumpy() for p in net.get_parameters()]


def trained(folder, pins, integrated=True):
    net, model = built(pins)
    losses = Losses()
    config = CheckpointConfig(save_checkpoint_steps=4, integrated_save=integrated)
    model.train(2, data(), callbacks=[losses, ModelCheckpoint("net", folder, config)])
    return net, model, losses.seen


def settings(mode, **more):
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(full_batch=True, **auto.MODES[mode], **more)


def same(got, wanted, what):
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, 2e-3, 2e-4, err_msg=what)


def check(folder, mode, wanted, losses, measured):
    """All of what a Model does, against what one process has made."""
    settings(mode)
    for integrated in (True, False):
        where = f"{folder}/{mode}-{integrated}"
        net, model, divided = trained(where, mode == "semi", integrated)
        np.testing.assert_allclose(divided, losses, 2e-4, 2e-5, err_msg=mode)
        same(whole(net), wanted, mode)
        if mode == "semi":
            assert strategy.get_strategy_metadata(net, get_rank()) is not None
            assert _planning.slice_of(net[0].weight)["local_shape"] == (8, 12)
        for name, value in model.eval(data()).items():
            np.testing.assert_allclose(value, measured[name], 1e-4, err_msg=name)
        file = f"{folder}/{mode}-{integrated}.ckpt"
        ms.save_checkpoint(net, file)
        again, other = built(mode == "semi")
        assert other.resume(where), where  # layouts come with the first step
        same(whole(again), wanted, "resumed")
        other.train(3, data())
        ms.ops.Barrier()()
        fresh, _ = built(False)
        assert not ms.load_param_into_net(fresh, ms.load_checkpoint(file))[0]
        same(whole(fresh), wanted, "loaded by one")
        ms.load_param_into_net(net, ms.load_checkpoint(file))  # which lies in slices
        same(whole(net), wanted, "loaded into slices")


def main():
    folder, modes = sys.argv[1], sys.argv[2].split(",")
    init()
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.reset_auto_parallel_context()
    net, model, losses = trained(f"{folder}/alone-{get_rank()}", False)
    assert losses[-1] < losses[0], losses
    wanted, measured = whole(net), model.eval(data())
    for mode in modes:
        check(folder, mode, wanted, losses, measured)
    print("all is well", flush=True)


if __name__ == "__main__":
    main()

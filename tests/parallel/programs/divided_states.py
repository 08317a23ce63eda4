"""Optimizers of which each process has a part: the losses of whole ones, checkpoints of whole ones, and less memory."""

from __future__ import annotations

import sys

import numpy as np

import mindspore as ms
from mindspore import Model, Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import CheckpointConfig, ModelCheckpoint

init()
RANK, SIZE = get_rank(), get_group_size()
x = np.random.RandomState(0).randn(32, 6).astype(np.float32)
y = np.random.RandomState(1).randint(0, 3, 32).astype(np.int32)
OPTIMIZERS = {
    "Adam": lambda p: nn.Adam(p, [0.01 * n for n in range(1, 11)], weight_decay=0.01),
    "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 0.01, weight_decay=0.1),
    "Momentum": lambda p: nn.Momentum(
        [{"params": p[:1], "lr": 0.1, "grad_centralization": True}, {"params": p[1:]}], 0.05, 0.9
    ),
    "RMSProp": lambda p: nn.RMSProp(p, 0.01, centered=True),
    "Lamb": lambda p: nn.Lamb(p, 0.01),  # whole in each process
}


def settings(divided, **config):
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(
        parallel_mode="data_parallel",
        gradients_mean=True,
        enable_parallel_optimizer=divided,
        parallel_optimizer_config={"parallel_optimizer_threshold": 0, **config},
    )


def build(name):
    ms.set_seed(3)
    net = nn.SequentialCell(nn.Dense(6, 8), nn.Tanh(), nn.Dense(8, 3))
    return net, OPTIMIZERS[name](net.trainable_params())


def trained(name, divided, by_hand, level="level1"):
    settings(divided, optimizer_level=level)
    net, optimizer = build(name)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    whole = nn.WithLossCell(net, loss)
    if by_hand:
        reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True)
        gradient = ms.value_and_grad(whole, None, optimizer.parameters)
    else:
        step = nn.TrainOneStepCell(whole, optimizer).set_train()
    losses = []
    for part in np.split(np.arange(32), 4):
        mine = part[RANK * 8 // SIZE : (RANK + 1) * 8 // SIZE]
        batch = Tensor(x[mine]), Tensor(y[mine])
        if by_hand:
            value, gradients = gradient(*batch)
            optimizer(reducer(gradients))
        else:
            value = step(*batch)
        losses.append(float(value))
    return losses, [p.asnumpy() for p in net.get_parameters()], optimizer


def same_losses():
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        for name in OPTIMIZERS:
            for by_hand in (False, True):
                alone, weights, undivided = trained(name, False, by_hand)
                level = "level1" if by_hand else "level2"
                parts, mine, optimizer = trained(name, True, by_hand, level)
                np.testing.assert_allclose(parts, alone, rtol=1e-6, err_msg=name)
                for one, other in zip(weights, mine):
                    np.testing.assert_allclose(one, other, rtol=1e-6, err_msg=name)
                assert isinstance(optimizer, getattr(nn, name))
                names = {p.name for p in undivided.get_parameters()}
                assert {p.name for p in optimizer.get_parameters()} == names
                held = {p.name: p.shape for p in optimizer.get_parameters()}
                if name == "Adam":  # 8 rows; 3 rows are whole
                    assert held["moment1.0.weight"] == (8 // SIZE, 6), held
                    assert held["moment1.2.weight"] == (3, 8)


def checkpoints(folder, integrated):
    """A checkpoint has whole states: training goes on from it with divided or undivided ones."""
    losses = []
    for first, then in ((False, False), (True, True), (True, False), (False, True)):
        settings(first)
        ms.set_context(mode=ms.GRAPH_MODE)
        where = f"{folder}/{first}-{then}-{integrated}"
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        data = NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(8 // SIZE)
        for divided, epochs in ((first, 1), (then, 2)):
            settings(divided)
            net, optimizer = build("Adam")
            model = Model(net, loss, optimizer)
            assert model.resume(where) == (epochs == 2)
            config = CheckpointConfig(save_checkpoint_steps=4, integrated_save=integrated)
            model.train(epochs, data, callbacks=ModelCheckpoint("net", where, config))
        losses.append(net[0].weight.asnumpy())
    for other in losses[1:]:
        np.testing.assert_allclose(other, losses[0], rtol=1e-5)


def uneven_batches():
    """Rows of gradients are weighed as whole ones where a process has fewer samples."""
    found = []
    for level in ("level1", "level2", "level3"):
        settings(True, optimizer_level=level)
        ms.set_context(mode=ms.GRAPH_MODE)
        net, optimizer = build("Momentum")
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        data = NumpySlicesDataset((x[:29], y[:29]), ["x", "y"], shuffle=False).batch(4)
        Model(net, loss, optimizer).train(2, data)
        found.append([p.asnumpy() for p in net.get_parameters()])
    for other in found[1:]:
        for one, two in zip(found[0], other):
            np.testing.assert_allclose(one, two, rtol=1e-6)


def wrong_settings():
    for config, text in (
        (
            {"parallel_optimizer_threshold": -1},
            "'parallel_optimizer_threshold'",
        ),
        ({"optimizer_level": "level4"}, "'optimizer_level'"),
        ({"optimizer_weight_shard_size": SIZE + 1}, "'optimizer_weight_shard_size'"),
    ):
        try:
            settings(True, **config)
            build("Adam")
        except ValueError as error:
            assert text in str(error), error
        else:
            raise AssertionError(config)
    settings(True)
    _, optimizer = build("Adam")
    try:
        optimizer((Tensor(x),))
    except ValueError as error:
        assert "there must be a gradient for each of the 4 parameters" in str(error), error


same_losses()
for integrated in (True, False):
    checkpoints(sys.argv[1], integrated)
uneven_batches()
wrong_settings()
ops.Barrier()()
print("all is well", flush=True)

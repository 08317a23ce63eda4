"""Layouts of a network that is divided: what files have them, what reads them, and how values move between them.

divided_files.py FOLDER"""

from __future__ import annotations

import sys

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common import _planning
from mindspore.communication import get_rank, init
from mindspore.parallel.auto_parallel import AutoParallel

X = Tensor(np.random.RandomState(0).randn(32, 12).astype(np.float32))
Y = Tensor(np.random.RandomState(1).randn(32, 4).astype(np.float32))


def built(pins=None, **settings):
    """A step of a network of which some Parameters are pinned."""
    ms.reset_auto_parallel_context()
    if settings:
        ms.set_auto_parallel_context(full_batch=True, **settings)
    ms.set_seed(3)
    np.random.seed(3)
    net = nn.SequentialCell(nn.Dense(12, 64), nn.ReLU(), nn.Dense(64, 4))
    for number, cuts in (pins or {}).items():
        net[number].shard(((1, 1),), None, {"weight": cuts})
    optimizer = nn.AdamWeightDecay(net.trainable_params(), 0.01, weight_decay=0.1)
    return nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer).set_train()


def losses(step, count=2):
    return [float(step(X, Y).asnumpy()) for _ in range(count)]


def layouts(step):
    held = {p.name: _planning.slice_of(p) for p in step.get_parameters()}
    return {name: h["layout"] for name, h in held.items() if h is not None}


def same(got, wanted):
    np.testing.assert_allclose(got, wanted, 1e-4)


def main():
    folder, semi = f"{sys.argv[1]}/{get_rank()}", "semi_auto_parallel"
    alone = losses(built(), 4)

    file = f"{folder}-layouts.ckpt"
    step = built({0: (2, 1)}, parallel_mode=semi, strategy_ckpt_save_file=file)
    same(losses(step), alone[:2])
    assert "0.weight" in layouts(step) and "2.weight" not in layouts(step), layouts(step)
    saved = f"{folder}-whole.ckpt"
    ms.save_checkpoint(step, saved)
    same(losses(step), alone[2:])

    other = built({0: (1, 2), 2: (1, 2)}, parallel_mode=semi)
    ms.load_param_into_net(other, ms.load_checkpoint(saved))
    same(losses(other), alone[2:])

    pinned = built(None, parallel_mode="auto_parallel", strategy_ckpt_load_file=file)
    ms.load_param_into_net(pinned, ms.load_checkpoint(saved))
    same(losses(pinned), alone[2:])
    assert layouts(pinned)["0.weight"] == layouts(step)["0.weight"]

    everything = built(
        None,
        parallel_mode=semi,
        enable_parallel_optimizer=True,
        parallel_optimizer_config={"parallel_optimizer_threshold": 0},
    )
    same(losses(everything, 4), alone)
    assert {"0.weight", "2.weight", "0.bias", "2.bias"} <= set(layouts(everything))

    wrapped = AutoParallel(built(), "recursive_programming")
    wrapped.dataset_strategy("full_batch")
    same(losses(wrapped, 4), alone)

    try:
        ops.add(pinned.optimizer.parameters[0], 1)
    except RuntimeError as error:
        assert "must be whole where it is read" in str(error), error
    else:
        raise AssertionError("a slice was read")
    print("all is well", flush=True)


init()
ms.set_context(mode=ms.GRAPH_MODE)
main()

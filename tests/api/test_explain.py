"""`explain` and `dry_run`: plans to look at, in one process, of networks whose Parameters have no memory."""

from __future__ import annotations

import json

import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.nn.utils import no_init_parameters
from mindspore.parallel import _topology, dry_run, explain


def network() -> nn.Cell:
    """Two dense layers with much more weights than data."""
    with no_init_parameters():
        return nn.SequentialCell(nn.Dense(1024, 4096), nn.GELU(), nn.Dense(4096, 1024))


X = Tensor(shape=(8, 1024), dtype=ms.float32)


def test_a_plan_has_the_layouts_of_all_parameters():
    plan = explain(network(), X, devices=4)
    assert plan.data["devices"] == 4
    assert "Dense" in plan.text or "MatMul" in plan.text
    assert json.loads(plan.json()) == plan.data
    assert str(plan) == plan.text


def test_a_training_step_is_planned():
    net = network()
    loss = nn.WithLossCell(net, nn.MSELoss())
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    plan = explain(step.set_train(), X, X, devices=8, mode="recursive_programming")
    assert plan.data["seconds"] > 0


def test_slow_links_make_a_step_slower():
    with no_init_parameters():
        net = nn.SequentialCell(nn.Dense(4096, 16384), nn.GELU(), nn.Dense(16384, 4096))
    x = Tensor(shape=(64, 4096), dtype=ms.float32)
    fast = dry_run(net, x, devices=8, topology="fabric")
    slow = {"axes": [["link", 8, 1e-3, 1e-6]], "device": _topology.PRESETS["fabric"].device}
    assert dry_run(net, x, devices=8, topology=slow).data["seconds"] > fast.data["seconds"]


def test_many_devices_need_one_process():
    assert (
        dry_run(
            lambda x: ops.matmul(x, x), Tensor(shape=(8, 8), dtype=ms.float32), devices=64
        ).data["devices"]
        == 64
    )


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"devices": 0}, ValueError, "'devices' must be an int of at least 1"),
        ({"mode": "x"}, ValueError, "'mode' must be one of"),
        ({"topology": "x"}, ValueError, "there is no 'x'"),
        ({"topology": 1}, TypeError, "must be one of"),
        ({"topology": {"axes": [["a", 2, 0, 0]]}}, ValueError, "must multiply to 4"),
        ({"topology": {"axes": [["a", 2]]}}, ValueError, "each of 'axes'"),
        ({"topology": {"axes": [[1, 2, 0, 0]]}}, ValueError, "a name and a size"),
    ],
)
def test_wrong_machines(arguments, error, says):
    with pytest.raises(error, match=says):
        explain(
            nn.Dense(2, 2), Tensor(shape=(2, 2), dtype=ms.float32), **{"devices": 4, **arguments}
        )


def test_what_cannot_be_planned():
    with pytest.raises(TypeError, match="'network' must be a Cell or a function"):
        explain(1)


def test_links_of_presets():
    axes, device = _topology.axes_of(64, "fabric")
    assert [axis[1] for axis in axes] == [2] * 6
    assert [axis[2] for axis in axes] == [_topology.ROCE.alpha] * 3 + [_topology.FABRIC.alpha] * 3
    assert device["memory"] > 0

"""What a call holds and takes: nothing of its arguments, nothing new in a warm step."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, _core, nn, ops

MB = 1 << 20


def live() -> int:
    return _core.memory_stats()[0]


def training_step() -> nn.Cell:
    net = nn.SequentialCell(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Dense(8 * 32 * 32, 10)
    )
    loss = nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))
    step = nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), 1e-3, weight_decay=0.01))
    return step.set_train()


def test_a_warm_step_takes_no_memory_but_its_result():
    ms.set_context(mode=ms.GRAPH_MODE)
    step = training_step()
    data = Tensor(np.ones((16, 3, 32, 32), np.float32)), Tensor(np.zeros(16, np.int32))
    for _ in range(3):
        loss = step(*data)
    before = live()
    _core.reset_peak_memory()
    loss = step(*data)
    assert _core.memory_stats()[1] - before <= 64
    del loss
    assert live() <= before


@pytest.mark.host_device
@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_the_first_call_lets_its_arguments_go(mode):
    ms.set_context(mode=mode)
    param = Parameter(Tensor(np.ones((1 << 18,), np.float32)), name="p")
    optimizer = nn.Momentum([param], 0.1, 0.9)
    gradient = ops.ones((1 << 18,), ms.float32)
    seen, before = weakref.ref(gradient), live()
    optimizer((gradient,))
    del gradient
    assert seen() is None
    assert live() <= before - MB


def test_a_call_of_nested_arguments_is_found_again():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Net(nn.Cell):
        def construct(self, x, items, scale=1.0, **options):
            return x * scale + items["a"][0] - options["more"][1]

    net, x = Net(), Tensor(np.arange(3, dtype=np.float32))
    for scale in (2.0, -0.0, 0.0, np.float64(3.0), 2):
        for items in ({"a": (x, 1)}, {"a": [x]}):
            for _ in range(2):
                out = net(x, items, scale, more=(None, x))
                np.testing.assert_array_equal(out.asnumpy(), x.asnumpy() * np.float32(scale))


def test_arguments_that_contain_themselves_are_refused():
    ms.set_context(mode=ms.GRAPH_MODE)
    loop: list = []
    loop.append(loop)
    net = nn.ReLU()
    net(Tensor(1.0))
    with pytest.raises(RecursionError):
        net(loop)


def test_the_report_tells_kinds_apart(capfd, monkeypatch):
    from mindspore.compile import memory_report, memory_table

    monkeypatch.setenv("MS_DUMP", "memory")
    ms.set_context(mode=ms.GRAPH_MODE)
    step = training_step()
    data = Tensor(np.ones((16, 3, 32, 32), np.float32)), Tensor(np.zeros(16, np.int32))
    step(*data)
    report = memory_report(step)
    weights = sum(p.nbytes for p in step.network.trainable_params())
    assert 2 * weights <= report["optimizer_states"] <= 2 * weights + 64
    assert weights <= report["parameters"] <= weights + 4096
    given = sum(x.nbytes for x in data)
    assert given <= report["arguments"] <= given + 64
    assert report["outputs"] <= 64  # the loss: parameters are updated in place
    assert report["peak"] >= report["feature_maps"] + 3 * weights
    printed = capfd.readouterr().err
    assert "memory of TrainOneStepCell" in printed
    assert memory_table(report) in printed


@pytest.mark.fast_stage
@pytest.mark.parametrize("overflow", [False, True])
def test_a_step_that_may_be_left_out_updates_in_place(overflow):
    from mindspore.compile import memory_report

    values = []
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        net = nn.Dense(300, 40, weight_init="ones", bias_init="zeros")
        scale = nn.DynamicLossScaleUpdateCell(1e38 if overflow else 128.0, 2, 1)
        optimizer = nn.Adam(net.trainable_params(), 0.01, weight_decay=0.1)
        loss = nn.WithLossCell(net, nn.MSELoss())
        step = nn.TrainOneStepWithLossScaleCell(loss, optimizer, scale).set_train()
        data = ops.ones((8, 300), ms.float32), ops.zeros((8, 40), ms.float32)
        for _ in range(2):
            _, skipped, _ = step(*data)
            assert bool(skipped) == overflow
        if mode == ms.GRAPH_MODE:
            assert memory_report(step)["outputs"] <= 256
        values.append([p.asnumpy() for p in (*net.get_parameters(), *optimizer.moment1)])
    for a, b in zip(*values):
        np.testing.assert_array_equal(a, b)
    assert (values[0][0].max() == 1.0) == overflow

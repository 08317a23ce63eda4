"""The table of a network: shapes, parameters, FLOPs, memory."""

from __future__ import annotations

import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, has_bias=True)
        self.bn = nn.BatchNorm2d(8)
        self.head = nn.SequentialCell(nn.Flatten(), nn.Dense(512, 10))
        self.lstm = nn.LSTM(4, 5, 2, bidirectional=True)
        self.up = nn.Conv2dTranspose(8, 2, 2, stride=2)
        self.drop = nn.Dropout(p=0.5)

    def construct(self, x, y):
        a = ops.relu(self.bn(self.conv(x)))
        return self.head(a), self.lstm(y), self.up(self.drop(a))


def test_costs(mode):
    net = Net().set_train()
    ms.set_seed(1)
    table = ms.summary(net, (2, 3, 8, 8), ops.ones((7, 2, 4)))
    rows = {row.name: row for row in table.rows}
    flops = {name: row.flops for name, row in rows.items() if row.flops is not None}
    outputs = 2 * 8 * 8 * 8
    assert flops == {
        "conv": outputs * (2 * 27 + 1),
        "head.1": 2 * 10 * (2 * 512 + 1),
        "lstm": 2 * 7 * 2 * 2 * (20 * (4 + 5) + 20 * (10 + 5)),
        "up": 2 * outputs * 2 * 2 * 2,
    }
    assert table.flops == sum(flops.values())
    assert rows["conv"].output == "(2, 8, 8, 8)" and rows["conv"].parameters == 224
    assert rows["head.1"].depth == 2
    assert table.parameters == sum(int(p.size) for p in net.get_parameters())
    assert table.parameters - table.trainable == 16  # what BatchNorm counts
    assert table.parameter_bytes == 4 * table.parameters
    assert table.output_bytes > 4 * 3 * outputs
    # It leaves no trace.
    assert net.training and net.bn.training and ms.get_context("mode") == mode
    assert ms.get_rng_state().asnumpy().view("u8").tolist() == [1, 0]
    assert not net.conv._forward_hooks


def test_text():
    net = nn.SequentialCell(nn.Dense(3, 2), nn.ReLU())
    lines = str(ms.summary(net, Tensor([[1.0, 2.0, 3.0]]))).splitlines()
    assert lines[0].split() == ["cell", "output", "parameters", "FLOPs"]
    assert lines[3].split() == ["0:", "Dense", "(1,", "2)", "8", "14"]
    assert lines[-3:] == [
        "parameters: 8 (8 trainable), 32 B",
        "outputs of layers: 16 B",
        "FLOPs of a forward pass: 14",
    ]
    bare = ms.summary(net)
    assert bare.flops is None and str(bare).endswith("32 B")


def test_a_shared_layer_counts_each_call_and_its_parameters_once():
    class Twice(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(3, 3, has_bias=False)

        def construct(self, x):
            return self.dense(self.dense(x))

    table = ms.summary(Twice(), (1, 3))
    assert table.flops == 2 * 18 and table.parameters == 9


def test_what_goes_wrong_leaves_no_trace():
    net = nn.Dense(3, 2).set_train()
    with pytest.raises(ValueError, match=r"For '(Dense|MatMul)'"):
        ms.summary(net, (1, 4))
    assert net.training and not net._forward_hooks
    with pytest.raises(TypeError, match="For 'summary', 'net' must be a Cell, but got int"):
        ms.summary(3)

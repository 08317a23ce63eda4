"""What compiled training steps consist of: straight code, each op as often as it must run."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from graph_text import final_text, op_counts

import mindspore as ms
from mindspore import Tensor, nn, ops


@pytest.fixture(autouse=True)
def graph_mode():
    """Graphs as they are before groups of their nodes become one."""
    mode = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE, enable_graph_kernel=False)
    yield
    ms.set_context(mode=mode, enable_graph_kernel=True)


class Small(nn.Cell):
    """A convolution with statistics, dropout, a dense layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.dropout = nn.Dropout(p=0.5)
        self.dense = nn.Dense(4, 3)

    def construct(self, x: Tensor) -> Tensor:
        x = ops.relu(self.norm(self.conv(x)))
        x = self.dropout(x.mean((2, 3)))
        return self.dense(x)


def data() -> tuple[Tensor, Tensor]:
    random = np.random.RandomState(0)
    return Tensor(random.randn(2, 2, 6, 6).astype(np.float32)), Tensor(np.array([0, 2], np.int32))


def train_step() -> nn.Cell:
    net = Small()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()


def test_a_training_step_is_straight_code() -> None:
    step = train_step()
    text = final_text(lambda: step(*data()))
    assert text.count("graph ") == 1
    counts = op_counts(text)
    assert not {"Partial", "Call", "Switch", "Vjp", "BoxGet"} & set(counts)
    # One forward run serves loss and gradient, the random numbers of the dropout included; the
    # input has no gradient; statistics have no tangent and add nothing to that of the norm.
    expected = Counter(Conv2D=1, BatchNorm=1, ReLU=1, ReduceMean=1, Dropout=1, MatMul=3, BiasAdd=1)
    expected += Counter(Conv2DBackpropFilter=1, BatchNormGrad=1, ReluGrad=1, DropoutGrad=1)
    assert {op: counts[op] for op in expected} == dict(expected)
    assert not {"Fill", "ZerosLike", "BroadcastTo", "Mul", "Conv2DBackpropInput"} & set(counts)


def test_results_beside_the_loss_cost_no_gradient() -> None:
    def forward(x: Tensor) -> tuple[Tensor, Tensor]:
        return ops.sin(x).sum(), ops.exp(x)

    def step(x: Tensor) -> tuple:
        return ops.value_and_grad(forward, 0, has_aux=True)(x)

    counts = op_counts(final_text(lambda: ms.jit(step)(Tensor(np.ones(3, np.float32)))))
    assert counts == Counter(Sin=1, ReduceSum=1, Exp=1, Cos=1)


def test_only_what_is_asked_for_is_differentiated() -> None:
    def product(x: Tensor, w: Tensor) -> Tensor:
        return ops.matmul(x, w)

    x, w = Tensor(np.ones((2, 3), np.float32)), Tensor(np.ones((3, 4), np.float32))
    counts = op_counts(final_text(lambda: ms.jit(lambda x, w: ops.grad(product, 1)(x, w))(x, w)))
    assert counts["MatMul"] == 1

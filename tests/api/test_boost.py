"""GradientAccumulation: the optimizer steps with the mean of several gradients."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, boost, nn, ops


class Step(nn.Cell):
    def __init__(self, net, optimizer, steps):
        super().__init__()
        self.net, self.weights = net, optimizer.parameters
        self.grad = ops.GradOperation(get_by_list=True)
        self.accumulate = boost.GradientAccumulation(steps, optimizer)

    def construct(self, x):
        loss = self.net(x)
        return self.accumulate(loss, self.grad(self.net, self.weights)(x))


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.filterwarnings("error")  # it is compiled as a whole
def test_the_mean_of_several_gradients(mode):
    before = ms.get_context("mode")
    ms.set_context(mode=mode)
    try:
        net = nn.Dense(3, 1, has_bias=False)
        first = net.weight.asnumpy().copy()
        step = Step(net, nn.SGD(net.trainable_params(), 0.5), 2)
        inputs = np.random.default_rng(0).uniform(size=(4, 1, 3)).astype(np.float32)
        expected = first
        for i, x in enumerate(inputs):
            step(Tensor(x))
            if i % 2:
                expected = expected - 0.5 * inputs[i - 1 : i + 1].mean(0)
            np.testing.assert_allclose(net.weight.asnumpy(), expected, rtol=1e-5)
    finally:
        ms.set_context(mode=before)


def test_refusals():
    net = nn.Dense(3, 1)
    with pytest.raises(ValueError, match="'max_accumulation_step' must"):
        boost.GradientAccumulation(0, nn.SGD(net.trainable_params(), 0.5))
    with pytest.raises(TypeError, match="'optimizer' must be an Optimizer"):
        boost.GradientAccumulation(2, net)

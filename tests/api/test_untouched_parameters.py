"""Where nothing is drawn, Parameters and the states of their optimizer take no memory before they have a value."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import initializer
from mindspore.nn.utils import no_init_parameters

LARGE = """
import resource
import mindspore as ms
from mindspore import Tensor, nn
from mindspore.nn.utils import no_init_parameters
from mindspore.parallel import explain

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
with no_init_parameters():
    net = nn.SequentialCell([nn.Dense(4096, 4096) for _ in range(16)])
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params()))
x = Tensor(shape=(64, 4096), dtype=ms.float32)
plan = explain(step.set_train(), x, x, devices=8)
assert plan.data["memory"]["parameters"] > 0
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_a_large_network_is_planned_in_little_memory():
    done = subprocess.run(
        [sys.executable, "-c", LARGE], capture_output=True, text=True, check=True, timeout=120
    )
    megabytes = int(done.stdout.split()[-1])
    assert megabytes < 300, megabytes  # of 3 GB


def test_they_are_zeros_and_train_as_others():
    with no_init_parameters():
        net = nn.Dense(3, 2)
    optimizer = nn.Momentum(net.trainable_params(), 0.5, 0.9)
    assert not net.weight.asnumpy().any() and net.weight.shape == (2, 3)
    net.weight.set_data(Tensor(np.ones((2, 3), np.float32)))
    other = nn.Dense(3, 2, weight_init="ones", bias_init="zeros")
    steps = [
        nn.TrainOneStepCell(nn.WithLossCell(n, nn.MSELoss()), o).set_train()
        for n, o in ((net, optimizer), (other, nn.Momentum(other.trainable_params(), 0.5, 0.9)))
    ]
    x, y = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), Tensor(np.ones((2, 2), np.float32))
    for _ in range(3):
        assert steps[0](x, y) == steps[1](x, y)
    np.testing.assert_array_equal(net.weight.asnumpy(), other.weight.asnumpy())


def test_those_of_one_tensor_are_apart():
    with no_init_parameters():
        zeros = initializer("normal", (4,), ms.float32)
        first, second = Parameter(zeros, name="a"), Parameter(zeros, name="b")
        third = first.clone()
    ops.assign(first, Tensor(np.ones(4, np.float32)))
    second[0] = 2.0
    assert first.asnumpy().tolist() == [1, 1, 1, 1]
    assert second.asnumpy().tolist() == [2, 0, 0, 0]
    assert third.asnumpy().tolist() == zeros.asnumpy().tolist() == [0, 0, 0, 0]


def test_every_dtype_has_zeros():
    for dtype in (ms.bfloat16, ms.float16, ms.int8, ms.float64, ms.bool_, ms.complex64):
        with no_init_parameters():
            parameter = Parameter(initializer("zeros", (2, 3), dtype), name="p")
        assert parameter.dtype == dtype and parameter.shape == (2, 3)
        assert not parameter.astype(ms.float32).asnumpy().any()

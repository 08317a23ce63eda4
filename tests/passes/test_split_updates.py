"""Values that updates and others read are computed for each where that saves storing them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

N = 130


class Net(nn.Cell):
    def __init__(self, update: Callable) -> None:
        super().__init__()
        rng = np.random.default_rng(0)
        make = lambda: Tensor(rng.standard_normal((N, N)).astype(np.float32))
        self.p, self.m = Parameter(make(), name="p"), Parameter(make(), name="m")
        self.scale = Parameter(Tensor(np.float32(8)), name="scale")
        self.adam = nn.Adam([self.p], 0.1)
        self.update = update

    def construct(self, g: Tensor) -> Tensor:
        return self.update(self, g)


def scaled(s: Net, g: Tensor) -> Tensor:
    true = g * s.scale
    finite = ops.isfinite(true).all()
    ops.assign(s.scale, s.scale * 0.5)
    if finite:
        s.adam((true,))
    return finite


def several_steps(s: Net, g: Tensor) -> Tensor:
    true = ops.clip_by_value((g / s.scale).astype(ms.float16).astype(ms.float32) + 1.0, -3.0, 3.0)
    ops.assign(s.m, s.m * 0.9 + true)
    ops.assign_sub(s.p, s.m * 0.1)
    return ops.square(true).sum() + ops.abs(true).max()


def of_old_weights(s: Net, g: Tensor) -> Tensor:
    """What is made of a Parameter is not computed again once that may be written over."""
    half = s.p * 0.5
    ops.assign(s.p, s.p - g)
    ops.assign(s.m, s.m + half)
    return half.max()


def needed_in_memory(s: Net, g: Tensor) -> Tensor:
    true = g * s.scale
    ops.assign_sub(s.p, true * 0.1)
    return ops.matmul(true, g).max()


def of_a_product(s: Net, g: Tensor) -> Tensor:
    true = ops.matmul(g, s.p) * s.scale
    ops.assign(s.m, ops.maximum(s.m, true))
    ops.assign_sub(s.p, s.m * true)
    return ops.isnan(true).any()


def returned(s: Net, g: Tensor) -> Tensor:
    true = g * s.scale
    ops.assign_sub(s.p, true * 0.1)
    ops.assign(s.m, true)
    return true + 0.0


UPDATES = [scaled, several_steps, of_old_weights, needed_in_memory, of_a_product, returned]


@pytest.mark.parametrize("update", UPDATES)
def test_same_values_as_op_by_op(update):
    results = []
    for mode in (ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        net, rng = Net(update), np.random.default_rng(1)
        found = []
        for k in range(3):
            g = rng.standard_normal((N, N)).astype(np.float32)
            g[k, 5] = np.inf if k == 1 and update is scaled else g[k, 5]
            result = net(Tensor(g)).asnumpy()
            found.append([result] + [p.asnumpy().copy() for p in net.get_parameters()])
        results.append(found)
    for compiled, eager in zip(*results, strict=True):
        np.testing.assert_allclose(compiled[0], eager[0], rtol=1e-5)  # sums add in another order
        for a, b in zip(compiled[1:], eager[1:], strict=True):
            assert a.tobytes() == b.tobytes()


def test_a_scaled_gradient_is_not_stored():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_split_updates import *\n"
        "ms.set_context(mode=ms.GRAPH_MODE)\n"
        "Net(scaled)(Tensor(np.ones((N, N), np.float32)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, os.path.dirname(__file__)],
        env={**os.environ, "MS_DUMP": "plan", "MS_FUSION": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    plan = done.stdout + done.stderr
    # The test and the update scale as they read.
    assert "a group of 1 launches in 1 chains: Adam\n" in plan and plan.count("<- Fused(c0 ") == 1
    assert " Mul(c0 " not in plan and ": Mul" not in plan and ", Mul" not in plan

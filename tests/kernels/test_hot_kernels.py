"""Eager elementwise ops that have run for a while become generated code, with the same bits."""

from __future__ import annotations

import time

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

CASES = {
    "gelu": lambda x, y: ops.gelu(x, "none"),
    "row": lambda x, y: x * y[0],
    "column": lambda x, y: x + y[:, :1],
    "outer": lambda x, y: x[:, :1] - y[:1],
    "leaky_relu": lambda x, y: ops.leaky_relu(x, 0.1),
    "hardswish": lambda x, y: ops.hardswish(x),
    "lerp": lambda x, y: ops.lerp(x, y, 0.3),
    "softplus": lambda x, y: ops.softplus(x),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", CASES)
def test_results_do_not_change_when_the_code_is_there(name, dtype):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    generator = np.random.default_rng(0)
    x, y = (generator.standard_normal((515, 771)).astype(dtype) for _ in range(2))
    x[0, :4] = [np.nan, np.inf, -np.inf, -0.0]
    x, y, run = Tensor(x), Tensor(y), CASES[name]
    first = run(x, y).asnumpy().copy()
    deadline = time.monotonic() + 0.6
    while time.monotonic() < deadline:  # long enough for the interpreter's share and the assembler
        found = run(x, y)
    np.testing.assert_array_equal(
        found.asnumpy().view(f"u{first.itemsize}"), first.view(f"u{first.itemsize}")
    )

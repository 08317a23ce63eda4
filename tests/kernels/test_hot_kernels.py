"""Eager elementwise ops that have run for a while become generated code, with the same bits."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _core, ops

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


# By what a launch is expected to take, the slowest of these has run long enough after fewer.
LAUNCHES = 500


@pytest.fixture
def at_once() -> Iterator[None]:
    """A kernel that has asked for its code waits for it."""
    _core.assembler.generate_always(True)
    yield
    _core.assembler.generate_always(False)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("name", CASES)
def test_results_do_not_change_when_the_code_is_there(name, dtype, at_once):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    generator = np.random.default_rng(0)
    x, y = (generator.standard_normal((515, 771)).astype(dtype) for _ in range(2))
    x[0, :4] = [np.nan, np.inf, -np.inf, -0.0]
    x, y, run = Tensor(x), Tensor(y), CASES[name]
    first = run(x, y).asnumpy().copy()
    for _ in range(LAUNCHES):
        found = run(x, y)
    np.testing.assert_array_equal(
        found.asnumpy().view(f"u{first.itemsize}"), first.view(f"u{first.itemsize}")
    )


PROGRAM = f"""
import numpy as np
from mindspore import Tensor, _assembler, _core, ops

made, make = [], _assembler.Assembler._make
_assembler.Assembler._make = lambda self, code: (make(self, code), made.append(code))
_core.assembler.generate_always(True)
x = Tensor(np.ones((515, 771), np.float32))
ops.hardswish(x)
assert not made
for _ in range({LAUNCHES}):
    ops.hardswish(x)
assert len(made) == 1 and not made[0].pending
"""


def test_code_is_made_after_a_while():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False
    )
    assert run.returncode == 0, run.stderr

"""Signals may arrive while kernels run: nothing is harmed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Another process sends signals as fast as it can while small products run, whose generated code
# (of oneDNN) uses the stack pointer for other things.
PRODUCTS = """
import os, signal, time
import numpy as np
from mindspore import Tensor

signal.signal(signal.SIGUSR1, lambda *_: None)
random = np.random.RandomState(0)
a = Tensor(random.randn(16, 256).astype(np.float32))
b = Tensor(random.randn(256, 32).astype(np.float32))
expected = (a @ b).asnumpy()
parent, child = os.getpid(), os.fork()
if child == 0:
    for _ in range(150_000):
        os.kill(parent, signal.SIGUSR1)
    os._exit(0)
end = time.process_time() + 2
while time.process_time() < end:
    for product in [a @ b for _ in range(8)]:
        assert np.array_equal(product.asnumpy(), expected)
os.waitpid(child, 0)
print("fine")
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_signals_during_products(threads: int) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    run = subprocess.run(
        [sys.executable, "-c", PRODUCTS],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "fine\n"

"""Random numbers: reproducible, the same in both modes and with any number of threads, and of the
right distribution."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import mindspore as ms
from mindspore import Tensor, ops

MAKERS = {
    "standard_normal": lambda: ops.standard_normal((7, 13)),
    "normal": lambda: ops.normal((50,), Tensor(1.0), Tensor(2.0)),
    "uniform": lambda: ops.uniform((50,), Tensor(-1.0), Tensor(3.0)),
    "uniform int": lambda: ops.uniform(
        (50,), Tensor(0, ms.int32), Tensor(9, ms.int32), dtype=ms.int32
    ),
    "rand": lambda: ops.rand(3, 5),
    "randn": lambda: ops.randn(3, 5, dtype=ms.float64),
    "randint": lambda: ops.randint(-5, 5, (99,)),
    "randperm": lambda: ops.randperm(30),
    "bernoulli": lambda: ops.bernoulli(Tensor(np.zeros(99, np.float32)), 0.3),
    "multinomial": lambda: ops.multinomial(Tensor([0.1, 0.2, 0.7]), 20),
    "dropout": lambda: ops.dropout(Tensor(np.ones(99, np.float32)), 0.4),
    "seeded": lambda: ops.standard_normal((9,), seed=5),
}


@pytest.mark.parametrize("name", MAKERS)
def test_reproducible_in_both_modes(name):
    make = MAKERS[name]
    ms.set_seed(3)
    first, second = make().asnumpy(), make().asnumpy()
    assert not np.array_equal(first, second)
    ms.set_seed(3)
    np.testing.assert_array_equal(make().asnumpy(), first)
    ms.set_seed(3)
    compiled = ms.jit(make)
    np.testing.assert_array_equal(compiled().asnumpy(), first)
    np.testing.assert_array_equal(compiled().asnumpy(), second)


SCRIPT = """
import mindspore as ms, hashlib
from mindspore import ops, Tensor
import numpy as np
ms.set_seed(1)
n = 300000
ones = Tensor(np.ones(n, np.float32))
parts = [ops.randn(n), ops.rand(n), ops.randint(0, 9, (n,)), ops.dropout(ones)]
print(hashlib.sha256(b"".join(p.asnumpy().tobytes() for p in parts)).hexdigest())
"""


def test_threads_and_instruction_sets_do_not_matter():
    digests = set()
    for threads, isa in (("1", ""), ("2", ""), ("3", "avx2"), ("1", "base")):
        environment = {**os.environ, "OMP_NUM_THREADS": threads, "MS_MAX_ISA": isa}
        digests.add(
            subprocess.run(
                [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=True
            ).stdout
        )
    assert len(digests) == 1


def test_distributions():
    ms.set_seed(11)
    n = 200_000
    assert stats.kstest(ops.randn(n).asnumpy(), "norm").pvalue > 1e-3
    assert stats.kstest(ops.rand(n).asnumpy(), "uniform").pvalue > 1e-3
    counts = np.bincount(ops.randint(0, 10, (n,)).asnumpy(), minlength=10)
    assert stats.chisquare(counts).pvalue > 1e-3
    assert abs(ops.bernoulli(Tensor(np.zeros(n, np.float32)), 0.3).asnumpy().mean() - 0.3) < 0.01
    drawn = np.bincount(ops.multinomial(Tensor([1.0, 2.0, 7.0]), 10_000).asnumpy(), minlength=3)
    assert stats.chisquare(drawn, [1000, 2000, 7000]).pvalue > 1e-3
    kept = ops.dropout(Tensor(np.ones(n, np.float32)), 0.25).asnumpy()
    assert abs((kept > 0).mean() - 0.75) < 0.01
    np.testing.assert_allclose(kept[kept > 0], 1 / 0.75, rtol=1e-6)


def test_normals_are_independent():
    ms.set_seed(12)
    x = ops.randn(1 << 16).asnumpy()
    for lag in (1, 16, 32, 64):
        assert abs(np.corrcoef(x[:-lag], x[lag:])[0, 1]) < 0.02


def test_permutations_and_draws_without_replacement():
    ms.set_seed(13)
    assert sorted(ops.randperm(1000).asnumpy()) == list(range(1000))
    firsts = np.bincount([ops.randperm(4).asnumpy()[0] for _ in range(2000)], minlength=4)
    assert stats.chisquare(firsts).pvalue > 1e-3
    drawn = ops.multinomial(Tensor(np.ones((5, 9), np.float32)), 9, replacement=False).asnumpy()
    assert all(sorted(row) == list(range(9)) for row in drawn)


def test_large_ranges():
    numbers = ops.randint(-(2**62), 2**62, (1000,)).asnumpy()
    assert numbers.min() < -(2**60)
    assert numbers.max() > 2**60


def test_dropout_gradient_uses_the_same_mask():
    x = Tensor(np.ones(100, np.float32))
    y, dx = ms.value_and_grad(lambda a: ops.dropout(a, 0.5).sum())(x)
    assert y.item() == dx.asnumpy().sum()
    assert set(np.unique(dx.asnumpy())) == {0.0, 2.0}


def test_dropout_of_channels():
    y = ops.dropout2d(Tensor(np.ones((4, 8, 3, 3), np.float32)), 0.5).asnumpy()
    assert all(np.ptp(channel) == 0 for image in y for channel in image)
    x = Tensor(np.ones((2, 3), np.float32))
    assert ops.dropout(x, 0.5, training=False) is x
    np.testing.assert_array_equal(ops.dropout(x, 1.0).asnumpy(), np.zeros((2, 3)))

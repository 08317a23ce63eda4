"""Ops with many outputs, in both modes, with gradients."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("count", [1, 4, 5, 64, 65, 100, 700])
def test_unstack_gives_any_number_of_rows(mode, count):
    ms.set_context(mode=mode)
    x = np.random.default_rng(0).standard_normal((count, 3)).astype(np.float32)

    def rows(x):
        return ops.unstack(x, 0)

    def weighted(x):
        total = 0.0
        for i, row in enumerate(ops.unstack(x, 0)):
            total = total + (row * row * float(i + 1)).sum()
        return total

    found = (ms.jit(rows) if mode == ms.GRAPH_MODE else rows)(Tensor(x))
    assert len(found) == count
    np.testing.assert_array_equal(np.stack([row.asnumpy() for row in found]), x)
    gradient = ms.grad(weighted)
    gradient = (ms.jit(gradient) if mode == ms.GRAPH_MODE else gradient)(Tensor(x))
    expected = 2 * x * np.arange(1, count + 1, dtype=np.float32)[:, None]
    np.testing.assert_allclose(gradient.asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_split_into_many_pieces_joins_again(mode):
    ms.set_context(mode=mode)
    x = Tensor(np.arange(300, dtype=np.float32).reshape(2, 150))

    def there_and_back(x):
        return ops.concat(ops.split(x, 1, 1), 1)

    found = (ms.jit(there_and_back) if mode == ms.GRAPH_MODE else there_and_back)(x)
    np.testing.assert_array_equal(found.asnumpy(), x.asnumpy())

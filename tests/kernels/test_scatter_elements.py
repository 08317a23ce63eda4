"""Element by element writing at positions, of tensors that threads share: each element gets its updates in order."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore import Tensor, _core

# What is written to, where from, and along which axis.
FORMS = [
    ((37, 50), (2000, 50), 0),
    ((37, 51), (2000, 49), 0),
    ((3, 29, 40), (3, 900, 33), 1),
    ((4, 5, 2000), (4, 5, 3000), 2),
    ((2000, 3), (2000, 50), 1),
    ((60,), (50000,), 0),
]


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize(("target", "source", "axis"), FORMS)
def test_sums_in_order(target, source, axis, dtype, index):
    random = np.random.default_rng(0)
    y, x = (random.normal(size=shape) * 9 for shape in (target, source))
    y, x = y.astype(dtype), x.astype(dtype)
    at = random.integers(-target[axis], target[axis], source).astype(index)
    found = _core.op("TensorScatterElements")(
        Tensor(y), Tensor(at), Tensor(x), axis=axis, reduction="add"
    )
    where = list(np.indices(source))
    where[axis] = np.where(at < 0, at + target[axis], at)
    np.add.at(y, tuple(where), x)
    assert np.array_equal(found.asnumpy(), y)


@pytest.mark.parametrize("wrong", [5, -6, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**32])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_positions_out_of_range(wrong, index):
    if not np.iinfo(index).min <= wrong <= np.iinfo(index).max:
        pytest.skip("not a number of this type")
    at = np.zeros((70, 4), index)
    at[41, 2] = wrong
    y, x = Tensor(np.ones((5, 4), np.float32)), Tensor(np.ones((70, 4), np.float32))
    for reduction in ("add", "none"):
        with pytest.raises(IndexError, match=rf"in \[-5, 5\), but got {wrong} at position 166"):
            _core.op("TensorScatterElements")(y, Tensor(at), x, axis=0, reduction=reduction)
    assert (y.asnumpy() == 1).all()

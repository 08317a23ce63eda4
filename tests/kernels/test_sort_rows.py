"""Sorting, and the different elements, of rows of many lengths: short ones are compared, long ones sorted by the bytes of their
keys. NumPy's stable sort is the reference."""

from __future__ import annotations

import numpy as np
import pytest

from mindspore import Tensor, ops

DTYPES = [
    np.float16,
    np.float32,
    np.float64,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint64,
]
SIZES = [1, 2, 7, 255, 256, 1023, 1024, 5000]


def values(dtype: type, rows: int, size: int, kind: str) -> np.ndarray:
    rng = np.random.default_rng(size)
    if np.issubdtype(dtype, np.floating):
        x = rng.standard_normal((rows, size)).astype(dtype)
        if kind == "corners":
            corners = [
                np.nan,
                np.inf,
                -np.inf,
                0.0,
                -0.0,
                np.finfo(dtype).tiny,
                -np.finfo(dtype).max,
            ]
            x = rng.choice(np.array(corners, dtype), (rows, size))
        return np.round(x * 4) if kind == "few" else x
    info = np.iinfo(dtype)
    if kind == "few":
        return rng.integers(0, 5, (rows, size)).astype(dtype)
    x = rng.integers(info.min, info.max, (rows, size), dtype=dtype, endpoint=True)
    if kind == "corners":
        x = np.where(x & 1 == 1, dtype(info.min), dtype(info.max))
    return x


@pytest.mark.parametrize("kind", ["many", "few", "corners"])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("size", SIZES)
def test_sort_is_stable(size, dtype, kind):
    x = values(dtype, 3, size, kind)
    found, places = ops.sort(Tensor(x))
    where = np.argsort(x, axis=-1, kind="stable")
    assert np.array_equal(places.asnumpy(), where)
    np.testing.assert_array_equal(found.asnumpy(), np.take_along_axis(x, where, -1))


@pytest.mark.parametrize("kind", ["many", "few", "corners"])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("size", SIZES)
def test_the_greatest_are_the_first_of_equals_too(size, dtype, kind):
    x = values(dtype, 3, size, kind)
    ranks = np.unique(x, return_inverse=True)[1].reshape(x.shape)  # equal where elements are
    rising = np.argsort(ranks, axis=-1, kind="stable")
    for y, order in ((x, ranks), (np.take_along_axis(x, rising, -1), np.sort(ranks))):
        where = np.argsort(-order, axis=-1, kind="stable")
        for k in {1, min(8, size), min(64, size), size}:
            found, places = ops.topk(Tensor(y), k)
            assert np.array_equal(places.asnumpy(), where[:, :k])
            np.testing.assert_array_equal(found.asnumpy(), np.take_along_axis(y, where[:, :k], -1))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("span", [2**32 - 1, 2**32, 2**32 + 1])
def test_values_close_together_at_the_ends_of_a_wide_type(span, dtype):
    info = np.iinfo(dtype)
    offsets = np.random.default_rng(0).integers(0, span, 700, dtype=np.uint64, endpoint=True)
    offsets[:2] = 0, span
    for x in (info.max - offsets.astype(dtype), info.min + offsets.astype(dtype)):
        found, places = ops.sort(Tensor(x))
        where = np.argsort(x, kind="stable")
        assert np.array_equal(places.asnumpy(), where)
        assert np.array_equal(found.asnumpy(), x[where])
        top, at = ops.topk(Tensor(x[:200]), 9)
        assert np.array_equal(top.asnumpy(), np.sort(x[:200])[::-1][:9])
        assert np.array_equal(at.asnumpy(), np.argsort(~x[:200], kind="stable")[:9])


@pytest.mark.parametrize("size", [5, 1023, 1024, 3000])
@pytest.mark.parametrize("dtype", [np.float32, np.int64], ids=lambda d: d.__name__)
def test_descending_and_along_the_first_axis(size, dtype):
    x = values(dtype, 3, size, "few").T
    found, places = ops.sort(Tensor(np.ascontiguousarray(x)), axis=0, descending=True)
    where = np.argsort(-x, axis=0, kind="stable")
    assert np.array_equal(places.asnumpy(), where)
    assert np.array_equal(found.asnumpy(), np.take_along_axis(x, where, 0))


def by_appearance(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The definition of unique."""
    seen: dict = {}
    order, which = [], []
    for v in x.ravel().tolist():
        key = "nan" if v != v else v
        if key not in seen:
            seen[key] = len(order)
            order.append(v)
        which.append(seen[key])
    return np.array(order, x.dtype), np.array(which).reshape(x.shape)


@pytest.mark.parametrize("kind", ["many", "few", "corners"])
@pytest.mark.parametrize("dtype", [*DTYPES, np.bool_, np.complex64], ids=lambda d: d.__name__)
@pytest.mark.parametrize("size", SIZES)
def test_unique(size, dtype, kind):
    if dtype in (np.bool_, np.complex64):
        x = values(np.float32, 3, size, "few").astype(dtype)
    else:
        x = values(dtype, 3, size, kind)
    found, which = ops.unique(Tensor(x))
    expected, places = by_appearance(x)
    np.testing.assert_array_equal(found.asnumpy(), expected)
    assert np.array_equal(which.asnumpy(), places)


def test_unique_of_nothing_and_of_one():
    for x in (np.zeros((0, 3), np.float32), np.zeros((), np.int32)):
        found, which = ops.unique(Tensor(x))
        assert found.shape == (x.size,) and which.shape == x.shape

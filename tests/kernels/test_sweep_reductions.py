"""Reductions in PYNATIVE_MODE against NumPy: sizes around those at which the loops change their way."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from mindspore import Tensor, ops

# Around vectors, short rows that are taken together (64 elements), tiles of columns (512) and pieces of rows (32768).
ROWS = [1, 2, 7, 16, 17, 33, 130]
COLUMNS = [1, 3, 16, 17, 31, 64, 65, 511, 512, 513, 529, 1024, 1041, 8721]
KINDS = {
    "sum": (ops.sum, np.sum),
    "mean": (ops.mean, np.mean),
    "max": (ops.amax, np.max),
    "min": (ops.amin, np.min),
}


def check(kind: str, array: np.ndarray, axes: tuple[int, ...]) -> None:
    ours, numpy = KINDS[kind]
    got, expected = ours(Tensor(array), axes).asnumpy(), numpy(array.astype(np.float64), axes)
    if kind in ("max", "min"):
        np.testing.assert_array_equal(got, expected.astype(array.dtype))
    else:
        unit = np.finfo(array.dtype).eps * max(1.0, float(np.abs(array).sum() / expected.size))
        assert np.abs(got - expected).max() <= 2 * unit, (array.shape, axes)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [0, 1])
def test_matrices(kind: str, dtype: type, axis: int) -> None:
    random = np.random.default_rng(axis)
    for shape in itertools.product(ROWS, COLUMNS):
        check(kind, random.standard_normal(shape).astype(dtype), (axis,))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axes", [(0, 1), (0, 2), (1, 2), (0, 1, 2), (0,), (1,), (2,)])
def test_three_axes(kind: str, axes: tuple[int, ...]) -> None:
    random = np.random.default_rng(len(axes))
    for shape in itertools.product([1, 3, 18], [1, 17, 513], [1, 5, 33, 600]):
        check(kind, random.standard_normal(shape).astype(np.float32), axes)


@pytest.mark.parametrize("elements", [32767, 32768, 32769, 65537, 1_000_003])
@pytest.mark.parametrize("kind", KINDS)
def test_long_rows(kind: str, elements: int) -> None:
    random = np.random.default_rng(elements)
    check(kind, random.standard_normal((2, elements)).astype(np.float32), (1,))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, np.bool_, np.float16])
def test_other_types(dtype: type) -> None:
    random = np.random.default_rng(3)
    for shape in itertools.product(ROWS, COLUMNS):
        array = random.integers(0, 2, shape).astype(dtype)
        for axis in (0, 1):
            for ours, numpy in ((ops.amax, np.max), (ops.amin, np.min)):
                np.testing.assert_array_equal(
                    ours(Tensor(array), axis).asnumpy(), numpy(array, axis)
                )
            if dtype == np.bool_:
                np.testing.assert_array_equal(
                    ops.any(Tensor(array), axis).asnumpy(), array.any(axis)
                )
                np.testing.assert_array_equal(
                    ops.all(Tensor(array), axis).asnumpy(), array.all(axis)
                )

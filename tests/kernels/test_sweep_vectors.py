"""Kernels whose vector lanes are rows, and products with a vector, at odd sizes, eager and compiled."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch
from sweep import begin, check_with_gradients, close, normal

import mindspore as ms
from mindspore import Tensor, ops

functional = torch.nn.functional


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_of_many_short_rows(name: str, dtype: type) -> None:
    begin()
    ours, peer = getattr(ops, name), getattr(functional, name)
    tolerance = 5e-6 if dtype is np.float32 else 1e-13
    for rows in (1, 7, 8, 63, 64, 65, 130):
        for size in (1, 2, 3, 8, 31, 32, 33):
            for shape, axis in (((rows, size), -1), ((size, rows), 0), ((2, size, rows), 1)):
                check_with_gradients(
                    lambda x, axis=axis: ours(x, axis),
                    lambda x, axis=axis: peer(x, axis),
                    [3 * normal(*shape)],
                    tolerance,
                    dtype,
                )


@pytest.mark.parametrize("shape", [(70, 3), (3, 70), (9, 40)])
def test_softmax_of_rows_with_infinities(shape: tuple[int, int]) -> None:
    begin()
    x = normal(*shape).astype(np.float32)
    x[0, 0], x[1, :], x[2, 1] = -np.inf, -np.inf, np.nan
    for axis in (0, 1):
        for ours, peer in (
            (ops.softmax, functional.softmax),
            (ops.log_softmax, functional.log_softmax),
        ):
            expected = peer(torch.tensor(x), axis).numpy()
            np.testing.assert_allclose(ours(Tensor(x), axis).asnumpy(), expected, 1e-5, 1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_with_a_vector(dtype: type) -> None:
    begin()
    tolerance = 2e-6 if dtype is np.float32 else 1e-14
    for rows in (1, 2, 5, 8, 17, 513):
        for k in (1, 3, 8, 9, 33, 259, 4097):
            m, v, w = (
                normal(rows, k).astype(dtype),
                normal(k).astype(dtype),
                normal(rows).astype(dtype),
            )
            close(ops.matmul(Tensor(m), Tensor(v)), m.astype(np.float64) @ v, tolerance * k**0.5)
            close(ops.matmul(Tensor(w), Tensor(m)), w.astype(np.float64) @ m, tolerance * rows**0.5)
            product = ops.MatMul(transpose_a=True)(Tensor(m), Tensor(w[:, None]))
            close(product, m.T.astype(np.float64) @ w[:, None], tolerance * rows**0.5)
            product = ops.MatMul(transpose_b=True)(Tensor(v[None]), Tensor(m))
            close(product, v[None].astype(np.float64) @ m.T, tolerance * k**0.5)
    a, b = normal(3, 1, 6, 20).astype(dtype), normal(4, 20, 1).astype(dtype)
    close(ops.matmul(Tensor(a), Tensor(b)), np.matmul(a.astype(np.float64), b), 10 * tolerance)
    check_with_gradients(ops.matmul, torch.matmul, [normal(9, 33), normal(33)], 1e-5, dtype)


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.float16, np.int32, np.int64, np.bool_]
)
def test_positions_in_short_and_long_rows(dtype: type) -> None:
    begin()
    for rows in (1, 3, 63, 64, 65, 257, 300):
        for size in (1, 2, 8, 31, 32, 33, 63, 64, 65, 130):
            x = (4 * normal(rows, size)).astype(dtype)  # with equals
            if dtype in (np.float32, np.float64, np.float16) and size > 2:
                x[0, 1], x[0, size - 1], x[rows // 2, size // 2] = np.nan, np.nan, np.inf
            for axis in (0, 1):
                got = ops.argmax(Tensor(x), axis).asnumpy()
                assert np.array_equal(got, np.argmax(x, axis))
                if dtype is not np.bool_:
                    value, index = ops.min(Tensor(x), axis)
                    assert np.array_equal(index.asnumpy(), np.argmin(x, axis))
                    expected = np.take_along_axis(x, np.expand_dims(np.argmin(x, axis), axis), axis)
                    assert np.array_equal(value.asnumpy(), expected.squeeze(axis), equal_nan=True)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64, np.complex128])
def test_copies_of_short_rows(dtype: type) -> None:
    begin()
    for shape in ((1, 3), (65, 2), (5, 7, 3), (3, 4, 5, 2), (33, 17)):
        x = (10 * normal(*shape)).astype(dtype)
        for index in ((..., slice(None, None, 2)), (..., slice(1, None)), (slice(None, None, 2),)):
            assert np.array_equal(Tensor(x)[index].asnumpy(), x[index])
        if dtype is not np.complex128:
            for axis in range(x.ndim):
                assert np.array_equal(ops.flip(Tensor(x), (axis,)).asnumpy(), np.flip(x, axis))


def test_rows_between_tiny_and_long_are_summed_exactly() -> None:
    begin()
    for rows in (1, 5, 70):
        for size in (16, 17, 28, 63, 64, 65, 1000, 1 << 15, (1 << 15) + 1):
            x = (10 * normal(rows, size)).astype(np.int64)
            assert np.array_equal(ops.sum(Tensor(x), -1).asnumpy(), x.sum(-1))
            half = (10 * normal(rows, size)).astype(np.float16)
            assert np.array_equal(ops.amax(Tensor(half), -1).asnumpy(), half.max(-1))
    assert ops.zeros((3, 5), ms.complex64).asnumpy().any() == 0
    assert (ops.full((1000,), 7, dtype=ms.int16).asnumpy() == 7).all()


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64, np.complex128])
def test_short_rows_and_elements_are_repeated(dtype: type) -> None:
    begin()
    for rows, size in ((1, 3), (700, 3), (2050, 2), (64, 32), (65, 33), (1025, 5), (3, 1)):
        x = (4 * normal(rows, size)).astype(dtype)
        for other in ((size,), (rows, 1), (1, 1)):
            y = (4 * normal(*other)).astype(dtype)
            assert np.array_equal((Tensor(x) + Tensor(y)).asnumpy(), x + y)
            assert np.array_equal((Tensor(y) - Tensor(x)).asnumpy(), y - x)

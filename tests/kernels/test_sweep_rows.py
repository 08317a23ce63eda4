"""Kernels that take rows in blocks, eager and compiled, against NumPy and PyTorch in float64.

Sizes lie around vectors, lanes (16, 64), panels of columns (64, 256) and the rows between two additions to
float64 (32, 64, 512).
"""

# ruff: noqa: B023 (functions that are made in a loop are called at once)

from __future__ import annotations

import itertools

import numpy as np
import pytest
from peers import torch
from sweep import check_with_gradients, close, normal

import mindspore as ms
from mindspore import Parameter, Tensor, ops

functional = torch.nn.functional
SIZES = [1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 255, 257, 513, 1041]


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_along_every_axis(name: str, dtype: type) -> None:
    ours, peer = getattr(ops, name), getattr(functional, name)
    tolerance = 5e-6 if dtype is np.float32 else 1e-13
    for size in SIZES:
        for shape in ((5, size), (size, 17), (3, size, 5)):
            for axis in range(len(shape)):
                check_with_gradients(
                    lambda x, axis=axis: ours(x, axis),
                    lambda x, axis=axis: peer(x, axis),
                    [3 * normal(*shape)],
                    tolerance,
                    dtype,
                )


@pytest.mark.parametrize("size", SIZES)
def test_layer_norm(size: int) -> None:
    for rows, columns in ((5, size + 2), (size, 33), (600, size + 2)):
        check_with_gradients(
            lambda x, g, b: ops.LayerNorm(1, 1, 1e-5)(x, g, b)[0],
            lambda x, g, b: functional.layer_norm(x, g.shape, g, b, 1e-5),
            [2 * normal(rows, columns) + 1, normal(columns), normal(columns)],
            1e-4,
        )


@pytest.mark.parametrize(
    "shape",
    [(2, 3, 5, 7), (3, 17, 1, 1), (2, 65, 7, 7), (33, 5, 1, 33), (65, 16, 1, 1), (31, 300, 1, 1)]
    + [(2, 3, 130, 131), (129, 63, 1, 2), (2, 128, 33, 5), (2, 4, 1, 16385), (65, 257), (513, 64)],
)
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(shape: tuple[int, ...], training: bool) -> None:
    channels = shape[1]
    mean, variance = normal(channels), np.abs(normal(channels)) + 0.5

    def ours(x, gamma, beta):
        state = [Parameter(Tensor(s.astype(np.float32))) for s in (mean, variance)]
        return ops.BatchNorm(is_training=training, epsilon=1e-5)(x, gamma, beta, *state)[0]

    def peer(x, gamma, beta):
        state = [torch.tensor(s) for s in (mean, variance)]
        return functional.batch_norm(x, *state, gamma, beta, training)

    arrays = [2 * normal(*shape) + 0.5, normal(channels), normal(channels)]
    check_with_gradients(ours, peer, arrays, 3e-4)


@pytest.mark.parametrize("classes", [2, 15, 17, 63, 64, 65, 127, 129, 1041])
def test_cross_entropy(classes: int) -> None:
    for rows, reduction in itertools.product((1, 17, 65, 300), ("mean", "none")):
        labels = np.random.default_rng(rows).integers(0, classes, rows)
        check_with_gradients(
            lambda x: ops.cross_entropy(
                x, Tensor(labels.astype(np.int32)), reduction=reduction, label_smoothing=0.1
            ),
            lambda x: functional.cross_entropy(
                x, torch.tensor(labels), reduction=reduction, label_smoothing=0.1
            ),
            [3 * normal(rows, classes)],
            2e-5,
        )


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.int8, np.float16])
def test_positions_scans_and_sorting(dtype: type) -> None:
    random = np.random.default_rng(5)
    for size in SIZES:
        for shape in ((5, size), (size, 17), (3, size, 5)):
            array = random.integers(-3, 4, shape).astype(dtype)
            tensor = Tensor(array)
            for axis in range(len(shape)):
                close(ops.argmax(tensor, axis), array.argmax(axis))
                close(ops.argmin(tensor, axis), array.argmin(axis))
                ordered, where = ops.sort(tensor, axis=axis, descending=True)
                expected = np.flip(np.sort(array, axis), axis)
                close(ordered, expected)
                close(np.take_along_axis(array, where.asnumpy().astype(int), axis), expected)
                count = max(1, shape[axis] // 2)
                close(ops.topk(tensor, count, axis)[0], np.take(expected, range(count), axis))
                if dtype not in (np.int8, np.float16):
                    close(ops.cumsum(tensor, axis), array.cumsum(axis, dtype=dtype))
                    backwards = ops.CumSum(exclusive=True, reverse=True)(tensor, axis)
                    sums = np.flip(np.flip(array, axis).cumsum(axis, dtype=dtype), axis)
                    close(backwards, sums - array)


@pytest.mark.parametrize("kind", [ms.float16, ms.bfloat16])
def test_half_precision_is_rounded_float32(kind: ms.dtype) -> None:
    tolerance = 2e-3 if kind == ms.float16 else 2e-2
    for size in SIZES:
        x = Tensor(normal(9, size).astype(np.float32)).astype(kind)
        exact = x.astype(ms.float64)
        for axis in (0, 1):
            for op in (ops.softmax, ops.log_softmax, ops.sum, ops.mean):
                close(op(x, axis).astype(ms.float64), op(exact, axis).asnumpy(), tolerance)

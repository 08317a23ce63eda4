"""Kernels that work on tiles, windows and copies, in PYNATIVE_MODE against NumPy and PyTorch in float64.

Sizes lie around tiles (8 by 8, 32 columns), blocks of keys and queries (96, 128, 512), panels of a product (16, 32,
128 deep) and the vectors of a recurrent step.
"""

# ruff: noqa: B023 (functions that are made in a loop are called at once)

from __future__ import annotations

import itertools

import numpy as np
import pytest
from peers import torch
from sweep import check_with_gradients, close, normal

from mindspore import Tensor, _core, nn, ops

functional = torch.nn.functional
SIZES = [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 65, 129]
TYPES = [np.bool_, np.int8, np.float16, np.float32, np.float64, np.complex128]


def numbers(shape: tuple[int, ...], dtype: type) -> np.ndarray:
    values = np.random.default_rng(len(shape)).integers(0, 60000, shape)
    return values % 2 == 0 if dtype is np.bool_ else values.astype(dtype)


@pytest.mark.parametrize("dtype", TYPES)
def test_transposed_and_strided_copies(dtype: type) -> None:
    for shape in itertools.product(SIZES, SIZES):
        array = numbers(shape, dtype)
        assert np.array_equal(ops.transpose(Tensor(array), (1, 0)).asnumpy(), array.T)
    for shape in ((3, 33, 65), (2, 17, 3, 19), (3, 64, 7, 7), (2, 3, 2, 3, 4), (1, 65, 31, 1)):
        array = numbers(shape, dtype)
        for order in itertools.permutations(range(len(shape))):
            got = ops.transpose(Tensor(array), order).asnumpy()
            assert np.array_equal(got, array.transpose(order)), (shape, order)
        for part in (np.s_[1:, 3::2], np.s_[:, ::-1], np.s_[::-2, :, 1:], np.s_[..., :1]):
            assert np.array_equal(Tensor(array)[part].asnumpy(), array[part]), (shape, part)


@pytest.mark.parametrize("dtype", TYPES)
def test_joins_and_shifts(dtype: type) -> None:
    for sizes, axis in itertools.product([(1, 2, 3), (17, 1, 33), (64, 65, 1)], range(3)):
        arrays = [numbers((5, 9, 6)[:axis] + (n,) + (5, 9, 6)[axis + 1 :], dtype) for n in sizes]
        joined = np.concatenate(arrays, axis)
        got = ops.concat([Tensor(array) for array in arrays], axis)
        assert np.array_equal(got.asnumpy(), joined)
        for piece, array in zip(ops.split(Tensor(joined), list(sizes), axis), arrays, strict=True):
            assert np.array_equal(piece.asnumpy(), array)
        tensor = Tensor(joined)
        assert np.array_equal(ops.flip(tensor, (axis,)).asnumpy(), np.flip(joined, axis))
        assert np.array_equal(ops.roll(tensor, -37, axis).asnumpy(), np.roll(joined, -37, axis))
        assert np.array_equal(ops.tile(tensor, (2, 1, 3)).asnumpy(), np.tile(joined, (2, 1, 3)))


POOLED = [(1, 1, 4, 4), (2, 3, 7, 9), (1, 5, 16, 17), (1, 65, 8, 8), (1, 2, 66, 130)]


@pytest.mark.parametrize("shape", [*POOLED, (1, 1, 8, 2050)])
@pytest.mark.parametrize("ceil", [False, True])
def test_pooling(shape: tuple[int, ...], ceil: bool) -> None:
    distinct = np.random.default_rng(1).permutation(np.prod(shape)).reshape(shape) / 100
    ties = np.round(2 * normal(*shape))
    for kernel, stride, pad in [(2, 2, 0), (3, 2, 1), (3, 1, 1), ((2, 3), (1, 2), (1, 0))]:
        for array in (distinct, ties):
            check_with_gradients(
                lambda x: ops.max_pool2d(x, kernel, stride, pad, 1, ceil_mode=ceil),
                lambda x: functional.max_pool2d(x, kernel, stride, pad, 1, ceil),
                [array],
                1e-6,
            )
        for counted in (True, False):
            check_with_gradients(
                lambda x: ops.avg_pool2d(x, kernel, stride, pad, ceil, counted),
                lambda x: functional.avg_pool2d(x, kernel, stride, pad, ceil, counted),
                [distinct],
                1e-5,
            )


# images, channels, results, height, width, kernel, stride, padding, dilation, groups
CONVOLUTIONS = [
    (2, 3, 5, 9, 11, 3, 1, 1, 1, 1),
    (2, 16, 17, 8, 9, 1, 2, 0, 1, 1),
    (1, 33, 33, 10, 7, 3, 2, 1, 1, 33),
    (2, 8, 24, 9, 9, 3, 1, 1, 1, 8),
    (1, 4, 6, 15, 15, 5, 2, 2, 1, 2),
    (1, 5, 7, 8, 8, 3, 1, 0, 3, 1),
    (2, 1, 1, 17, 17, 7, 3, 3, 1, 1),
    (3, 65, 31, 5, 5, 3, 1, 1, 1, 1),
]


@pytest.mark.parametrize("sizes", CONVOLUTIONS)
def test_convolutions(sizes: tuple[int, ...]) -> None:
    n, channels, results, height, width, kernel, stride, pad, dilation, groups = sizes
    check_with_gradients(
        lambda x, w, b: ops.conv2d(x, w, b, stride, "pad", (pad, pad), dilation, groups),
        lambda x, w, b: functional.conv2d(x, w, b, stride, pad, dilation, groups),
        [
            normal(n, channels, height, width),
            normal(results, channels // groups, kernel, kernel),
            normal(results),
        ],
        2e-5,
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64, np.int8])
def test_products_of_matrices(dtype: type) -> None:
    random = np.random.default_rng(2)
    for rows, depth, columns in itertools.product([1, 3, 5, 7, 65], [*SIZES, 257], [1, 3, 17, 33]):
        left, right = (
            random.integers(-2, 3, shape).astype(dtype)
            for shape in ((2, rows, depth), (2, depth, columns))
        )
        expected = (left.astype(np.int64) @ right.astype(np.int64)).astype(dtype)
        for across in itertools.product([False, True], repeat=2):
            operands = [
                np.ascontiguousarray(array.swapaxes(1, 2)) if turned else array
                for array, turned in zip((left, right), across, strict=True)
            ]
            close(ops.BatchMatMul(*across)(*map(Tensor, operands)), expected)
            close(ops.MatMul(*across)(*(Tensor(x[1]) for x in operands)), expected[1])


@pytest.mark.parametrize("sizes", [(5, 1), (33, 17), (100, 64), (257, 65), (10, 513), (3, 5000)])
@pytest.mark.parametrize("count", [1, 17, 64, 300])
def test_rows_by_index(sizes: tuple[int, int], count: int) -> None:
    array, random = normal(*sizes), np.random.default_rng(count)
    for axis in (0, 1):
        index = random.integers(0, sizes[axis], count)
        check_with_gradients(
            lambda x: ops.gather(x, Tensor(index.astype(np.int32)), axis),
            lambda x: torch.index_select(x, axis, torch.tensor(index)),
            [array],
            1e-5,
        )
        shape = (count, sizes[1]) if axis == 0 else (sizes[0], count)
        each = random.integers(0, sizes[axis], shape)
        check_with_gradients(
            lambda x: ops.gather_elements(x, axis, Tensor(each.astype(np.int32))),
            lambda x: torch.gather(x, axis, torch.tensor(each)),
            [array],
            1e-5,
        )


@pytest.mark.parametrize(
    "sizes",
    [(1, 1, 1, 1), (17, 17, 5, 7), (95, 65, 16, 16), (97, 129, 33, 15), (193, 511, 8, 64)]
    + [(7, 513, 31, 32), (63, 1025, 129, 3), (96, 128, 64, 64)],
)
@pytest.mark.parametrize("masked", ["no", "causal", "random", "end"])
def test_attention(sizes: tuple[int, ...], masked: str) -> None:
    queries, keys, depth, values = sizes
    hidden = np.zeros((queries, keys), bool)
    if masked == "random":
        hidden[:, 1:] = np.random.default_rng(4).random((queries, keys - 1)) < 0.4
    elif masked == "end":
        hidden[:, max(1, keys - 40) :] = True
    late = np.arange(keys) > np.arange(queries)[:, None]
    left_out = torch.tensor(hidden | (late & (masked == "causal")))
    no_dropout = Tensor(np.zeros(2, np.int64))

    def ours(q, k, v):
        attrs = {"scale": depth**-0.5, "causal": masked == "causal", "fill": -1e30}
        return _core.op("Attention")(q, k, v, Tensor(hidden), no_dropout, keep_prob=1.0, **attrs)[0]

    def peer(q, k, v):
        scores = q @ k.transpose(-1, -2) * depth**-0.5
        return scores.masked_fill(left_out, -torch.inf).softmax(-1) @ v

    arrays = [normal(2, queries, depth), normal(2, keys, depth), normal(2, keys, values)]
    check_with_gradients(ours, peer, arrays, 5e-5)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers(kind: str) -> None:
    for batch, steps, hidden in [
        (1, 1, 1),
        (3, 4, 7),
        (8, 5, 16),
        (9, 3, 17),
        (15, 2, 65),
        (5, 2, 129),
    ]:
        layer = getattr(nn, kind)(4, hidden, bidirectional=True)
        twin = getattr(torch.nn, kind)(4, hidden, bidirectional=True).double()
        for parameter in layer.trainable_params():
            weight = twin.get_parameter(parameter.name.split(".")[-1])
            weight.data = torch.tensor(parameter.asnumpy().astype(np.float64))
        check_with_gradients(
            lambda x: layer(x)[0], lambda x: twin(x)[0], [normal(steps, batch, 4)], 3e-5
        )

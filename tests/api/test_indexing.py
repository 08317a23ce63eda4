"""Indexing against NumPy: reading, writing, gradients, in both modes."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, ops

SHAPE = (4, 5, 6)
MASK1 = np.array([True, False, True, True])
MASK2 = np.arange(20).reshape(4, 5) % 3 == 0
MASK3 = np.arange(120).reshape(SHAPE) % 7 == 0
ROWS = np.array([2, 0, -1])
COLUMNS = np.array([[1], [4]])
BASIC = [
    1,
    -1,
    (2, 3),
    (1, 2, 3),
    slice(None),
    slice(1, 3),
    slice(None, None, -1),
    slice(3, 0, -2),
    slice(10, 20),
    (slice(None), 1),
    (slice(1, None), slice(None, -1), slice(None, None, 2)),
    (Ellipsis, 2),
    (1, Ellipsis),
    Ellipsis,
    None,
    (None, 1),
    (slice(None), None, slice(1, 3)),
    (Ellipsis, None),
    (0, Ellipsis, None, slice(4, 1, -1)),
    (),
    np.int64(2),
    True,
]
ADVANCED = [
    ROWS,
    [1, 2],
    [[0, 1], [2, 3]],
    (slice(None), ROWS),
    (slice(None), slice(None), COLUMNS),
    (ROWS, ROWS),
    (ROWS, COLUMNS),
    (slice(None), ROWS, COLUMNS),
    (ROWS, slice(None), ROWS),
    (ROWS, slice(1, 4), COLUMNS),
    (0, ROWS),
    (0, slice(None), ROWS),
    (slice(None), 1, ROWS),
    (ROWS, None, slice(1, 3)),
    (Ellipsis, ROWS),
    (None, ROWS),
    (ROWS, Ellipsis, 1),
    np.array(2),
    (slice(None), np.array(1)),
    np.zeros((2, 0), int),
    ([1, 2], [0, 1], [3, -1]),
    (slice(None, None, -1), ROWS, slice(0, 4, 2)),
]
MASKS = [
    MASK1,
    MASK2,
    MASK3,
    (slice(None), np.array([True, False] * 2 + [True])),
    (MASK1, 1),
    (MASK1, slice(1, 3)),
    (1, MASK2[1]),
]


def ours(key):
    """The key with arrays as tensors."""
    if isinstance(key, tuple):
        return tuple(ours(k) for k in key)
    return Tensor(key) if isinstance(key, np.ndarray) else key


def data():
    return np.arange(120, dtype=np.float32).reshape(SHAPE)


@pytest.mark.parametrize("key", BASIC + ADVANCED + MASKS, ids=str)
def test_read(key):
    x = data()
    np.testing.assert_array_equal(Tensor(x)[ours(key)].asnumpy(), x[key])
    np.testing.assert_array_equal(Tensor(x)[key].asnumpy(), x[key])


@pytest.mark.parametrize("key", BASIC + ADVANCED + MASKS, ids=str)
def test_read_compiled(key):
    x = data()
    given = key if any(key is mask for mask in MASKS) else ours(key)  # a mask must be a constant

    @ms.jit
    def read(t):
        return t[given]

    np.testing.assert_array_equal(read(Tensor(x)).asnumpy(), x[key])


@pytest.mark.parametrize("key", [ROWS, COLUMNS // 2], ids=str)
def test_read_at_positions_known_at_run_time(key):
    x = data()

    @ms.jit
    def read(t, i, j):
        return t[i], t[:, i], t[i, j], t[i, :, j], t[0, i]

    i, j = key, np.int64([3])
    for a, b in zip(
        read(Tensor(x), Tensor(i), Tensor(j)), (x[i], x[:, i], x[i, j], x[i, :, j], x[0, i])
    ):
        np.testing.assert_array_equal(a.asnumpy(), b)


@pytest.mark.parametrize("key", BASIC + ADVANCED + MASKS, ids=str)
def test_write(key):
    for value in (7.0, np.float32(-1) - data()[key]):
        x = data()
        t = Tensor(x.copy())
        t[ours(key)] = Tensor(value) if isinstance(value, np.ndarray) else value
        x[key] = value  # where positions repeat, the last write wins in both
        np.testing.assert_array_equal(t.asnumpy(), x)


def test_write_broadcasts_and_converts():
    x = data()
    t = Tensor(x.copy())
    t[1:3, :, 0] = Tensor(np.arange(5))
    x[1:3, :, 0] = np.arange(5)
    t[0] = [1, 2, 3, 4, 5, 6]
    x[0] = [1, 2, 3, 4, 5, 6]
    t[MASK2] = Tensor(np.arange(6))
    x[MASK2] = np.arange(6)
    t[3:, 0] = Tensor(np.ones((1, 1, 6)))
    x[3:, 0] = np.ones((1, 1, 6))
    np.testing.assert_array_equal(t.asnumpy(), x)


def test_write_leaves_copies_alone():
    t = Tensor(data())
    row, copy = t[0], t[0].copy()
    alias = t + 0
    t[0] = 9.0
    assert row.asnumpy()[0, 0] == 9 and copy.asnumpy()[0, 0] == 0
    assert alias.asnumpy()[0, 0, 0] == 0
    assert t.asnumpy()[0, 0, 0] == 9


@pytest.mark.parametrize(
    "key",
    [1, (slice(1, 3), Ellipsis, slice(None, None, -2)), ROWS, (ROWS, slice(None), COLUMNS)],
    ids=str,
)
def test_gradients(key):
    given = ours(key)
    weights = np.random.default_rng(0).random(data()[key].shape).astype(np.float32)

    def loss(t):
        return (t[given] * t[given] * Tensor(weights)).sum()

    wanted = np.zeros(SHAPE, np.float32)
    np.add.at(wanted, key, 2 * data()[key] * weights)
    gradient = ms.grad(loss)

    @ms.jit
    def compiled(t):
        return gradient(t)

    for fn in (gradient, compiled, ms.jit(ms.grad(loss))):
        np.testing.assert_allclose(fn(Tensor(data())).asnumpy(), wanted, rtol=1e-5)


def test_gradient_of_a_write():
    def loss(t, v):
        u = t * 1.0
        u[1:3, 0] = v
        u[ms.Tensor([0, 3]), 2] = v[0]
        return (u * u).sum()

    x, v = data() / 100, np.ones((2, 6), np.float32)
    dx, dv = ms.grad(loss, grad_position=(0, 1))(Tensor(x), Tensor(v))
    wanted = 2 * x
    wanted[1:3, 0] = 0
    wanted[[0, 3], 2] = 0
    np.testing.assert_allclose(dx.asnumpy(), wanted, rtol=1e-6)
    np.testing.assert_allclose(dv.asnumpy(), [[6] * 6, [2] * 6], rtol=1e-6)


def test_iteration_and_length():
    x = data()
    assert len(Tensor(x)) == 4
    np.testing.assert_array_equal(np.stack([row.asnumpy() for row in Tensor(x)]), x)
    with pytest.raises(IndexError):
        Tensor(x)[4]


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (4, "the index into axis 0 must be in [-4, 4), but got 4"),
        ((0, 0, 0, 0), "takes at most that many indices, but got 4"),
        ("a", "an index must be an int, a slice, None"),
        (1.5, "an index must be an int, a slice, None"),
        ((Ellipsis, Ellipsis), "at most one Ellipsis"),
        ([0, 9], "the indices into axis 0 must be in [-4, 4), but got 9"),
        (np.array([True, False]), "a mask must have the shape of what it covers"),
        (np.array([1.5]), "an index must be an int, a slice"),
        ((ROWS, np.array([0, 1])), "the shapes of the index arrays must broadcast"),
        (slice("a", None), "the bounds of a slice must be ints or None"),
        (False, "must not be False"),
    ],
    ids=str,
)
def test_refusals(key, says):
    with pytest.raises(IndexError) as caught:
        Tensor(data())[key]
    assert says in str(caught.value)


def test_zero_step_and_wrong_values():
    with pytest.raises(ValueError, match="must not be zero"):
        Tensor(data())[::0]
    with pytest.raises(ValueError, match="must broadcast to the shape of the slice"):
        Tensor(data())[0] = Tensor(np.ones(4))
    with pytest.raises(IndexError, match="must be in"):
        Tensor(data())[Tensor([9])].asnumpy()


def test_masks_must_be_known():
    def read(t):
        return t[t > 3]

    with pytest.raises(IndexError, match="must be known while compiling"):
        ms.jit(read, fullgraph=True)(Tensor(data()))
    with pytest.warns(UserWarning, match="eagerly"):
        read_eagerly = ms.jit(read)(Tensor(data()))
    np.testing.assert_array_equal(read_eagerly.asnumpy(), data()[data() > 3])


def test_write_under_a_mask_known_at_run_time():
    @ms.jit
    def clip(t):
        t[t > 3] = 3.0
        return t

    np.testing.assert_array_equal(clip(Tensor(data())).asnumpy(), np.minimum(data(), 3))


def test_data_dependent_sizes():
    x = np.array([[0, 3, 0], [5, 0, 3]], np.float32)
    for array in (x, x[0], x.reshape(1, 3, 2) > 2, np.zeros((0, 3), bool), np.zeros((2, 2))):
        np.testing.assert_array_equal(ops.nonzero(Tensor(array)).asnumpy(), np.argwhere(array))
        for ours, peer in zip(
            ops.nonzero(Tensor(array), as_tuple=True), np.nonzero(array), strict=True
        ):
            np.testing.assert_array_equal(ours.asnumpy(), peer)
    np.testing.assert_array_equal(ops.masked_select(Tensor(x), Tensor(x > 2)).asnumpy(), x[x > 2])
    values, where = ops.unique(Tensor(x))
    np.testing.assert_array_equal(values.asnumpy(), [0, 3, 5])
    np.testing.assert_array_equal(values.asnumpy()[where.asnumpy()].reshape(2, 3), x)
    with pytest.raises(TypeError, match="must be known while compiling"):
        ms.jit(ops.nonzero, fullgraph=True)(Tensor(x))


@pytest.mark.parametrize("value", [None, [None, 1.0, 2.0]])
def test_nothing_is_no_value(value):
    x = Tensor(np.zeros((2, 3), np.float32))
    with pytest.raises(TypeError, match="must be numbers"):
        x[0] = value


def test_a_list_of_complex_numbers_is_none_of_real_ones():
    x = Tensor(np.zeros((2, 2), np.float32))
    for value in ([1j, 1.0], np.array([1j, 1.0])):
        with pytest.raises(TypeError, match="must be real"):
            x[0] = value

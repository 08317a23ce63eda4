"""mindspore.numpy beyond what the lists of calls compare: gradients, compiled programs, imports and refusals."""

from __future__ import annotations

import importlib
import math
import subprocess
import sys

import numpy as np
import pytest

import mindspore as ms
import mindspore.numpy as mnp
from mindspore import Tensor, ops

RNG = np.random.default_rng(0)
M, N = RNG.uniform(0.3, 0.9, (3, 4)), RNG.uniform(0.3, 0.9, (3, 4))
V, W, S = M[0], N[0][:3], RNG.uniform(-1, 1, (3, 3))

# Each of arrays of Float64; all of them are differentiable there.
DIFFERENTIABLE = {
    "abs": (mnp.abs, M),
    "add": (mnp.add, M, V),
    "amax": (lambda x: mnp.amax(x, 1), M),
    "append": (mnp.append, V, W),
    "apply_along_axis": (lambda x: mnp.apply_along_axis(lambda r: r * r[0], 1, x), M),
    "apply_over_axes": (lambda x: mnp.apply_over_axes(mnp.sum, x, [0, 1]), M),
    "arctan2": (mnp.arctan2, M, N),
    "array_split": (lambda x: mnp.array_split(x, 3, 1), M),
    "array": (lambda x: mnp.array([x, x * 2]), V),
    "average": (lambda x, w: mnp.average(x, 1, w), M, V),
    "bincount": (lambda w: mnp.bincount(mnp.array([0, 2, 0, 1]), w, length=4), V.astype("f4")),
    "cbrt": (mnp.cbrt, M),
    "choose": (lambda x, y: mnp.choose(mnp.array([0, 1, 1, 0]), [x, y]), V, V[::-1].copy()),
    "clip": (lambda x: mnp.clip(x, 0.4, 0.8), M),
    "column_stack": (lambda x, y: mnp.column_stack((x, y)), V, V[::-1].copy()),
    "concatenate": (lambda x, y: mnp.concatenate((x, y), 1), M, N),
    "convolve": (mnp.convolve, V, W),
    "corrcoef": (mnp.corrcoef, M),
    "correlate": (lambda x, y: mnp.correlate(x, y, "full"), V, W),
    "cov": (lambda x, y: mnp.cov(x, y), M, N),
    "cross": (mnp.cross, M.T.copy(), N.T.copy()),
    "cumprod": (lambda x: mnp.cumprod(x, 1), M),
    "diagflat": (mnp.diagflat, V),
    "diff": (lambda x: mnp.diff(x, 2), M),
    "divide": (mnp.divide, M, N),
    "dot": (mnp.dot, M, N.T.copy()),
    "ediff1d": (mnp.ediff1d, M),
    "exp2": (mnp.exp2, M),
    "flip": (mnp.flip, M),
    "fliplr": (mnp.fliplr, M),
    "float_power": (mnp.float_power, M, N),
    "geomspace": (lambda a, b: mnp.geomspace(a, b, 5), V, V[::-1].copy()),
    "gradient": (mnp.gradient, M),
    "gradient of points": (lambda f, x: mnp.gradient(f, x), V, np.cumsum(V)),
    "gradient of order 2": (lambda f: mnp.gradient(f, edge_order=2), V),
    "histogram": (lambda w: mnp.histogram(mnp.arange(4.0), 3, weights=w), V.astype("f4")),
    "hypot": (mnp.hypot, M, N),
    "inner": (mnp.inner, M, N),
    "interp": (lambda x, f: mnp.interp(x, [0.0, 0.5, 0.8, 1.0], f), M, V),
    "kron": (mnp.kron, M, W),
    "linspace": (lambda a, b: mnp.linspace(a, b, 4, axis=1), V, V[::-1].copy()),
    "log10": (mnp.log10, M),
    "logaddexp2": (mnp.logaddexp2, M, N),
    "logspace": (lambda a, b: mnp.logspace(a, b, 4), V, V[::-1].copy()),
    "matrix_power": (lambda x: mnp.matrix_power(x, 5), S),
    "meshgrid": (lambda x, y: mnp.meshgrid(x, y), V, W),
    "multi_dot": (lambda x, y, z: mnp.multi_dot([x, y, z]), M, N.T.copy(), W),
    "nanmean": (mnp.nanmean, M),
    "nanstd": (lambda x: mnp.nanstd(x, 1), M),
    "norm": (lambda x: mnp.norm(x, 3, axis=1), M),
    "outer": (mnp.outer, V, W),
    "pad reflect": (lambda x: mnp.pad(x, 5, "reflect"), M),
    "pad odd": (lambda x: mnp.pad(x, 4, "symmetric", reflect_type="odd"), M),
    "pad mean": (lambda x: mnp.pad(x, 2, "mean", stat_length=2), M),
    "pad ramp": (lambda x: mnp.pad(x, 2, "linear_ramp"), M),
    "piecewise": (lambda x: mnp.piecewise(x, [x < 0.6], [lambda a: a * a, mnp.exp]), M),
    "polyint": (lambda x: mnp.polyint(x, 2), V),
    "polymul": (mnp.polymul, V, W),
    "polyval": (mnp.polyval, W, M),
    "power": (mnp.power, M, N),
    "ptp": (lambda x: mnp.ptp(x, 1), M),
    "ravel": (mnp.ravel, M),
    "repeat": (lambda x: mnp.repeat(x, [1, 0, 2, 1], 1), M),
    "roll": (lambda x: mnp.roll(x, (1, 2), (0, 1)), M),
    "rot90": (mnp.rot90, M),
    "select": (lambda x: mnp.select([x < 0.5, x < 0.7], [x * 2, x * x], 1.0), M),
    "stack": (lambda x, y: mnp.stack((x, y), 1), V, V[::-1].copy()),
    "std": (lambda x: mnp.std(x, 1, 1), M),
    "take": (lambda x: mnp.take(x, [0, -1, 9], 1), M),
    "take_along_axis": (lambda x: mnp.take_along_axis(x, mnp.array([[3, 0]]), 1), M),
    "tensordot": (lambda x, y: mnp.tensordot(x, y, ((0,), (0,))), M, N),
    "tile": (lambda x: mnp.tile(x, (2, 1, 3)), M),
    "trace": (mnp.trace, S),
    "trapz": (lambda y, x: mnp.trapz(y, x), M, np.cumsum(V)),
    "tril": (mnp.tril, M),
    "unwrap": (lambda x: mnp.unwrap(x * 20), M),
    "vander": (mnp.vander, V),
    "where": (lambda x, y: mnp.where(x > y, x * x, y), M, N),
}


def _weighed(function, *arrays):
    """All elements of the results, each with a weight of its own."""
    results = function(*arrays)
    total = 0.0
    for i, r in enumerate(results if isinstance(results, (tuple, list)) else (results,)):
        weights = np.cos(np.arange(math.prod(r.shape)) + i).reshape(r.shape)
        total = total + (r * Tensor(weights, r.dtype)).sum()
    return total


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients(name, mode):
    function, *arrays = DIFFERENTIABLE[name]
    inputs = [Tensor(a) for a in arrays]
    found = ms.grad(lambda *x: _weighed(function, *x), tuple(range(len(inputs))))(*inputs)
    direction = [RNG.standard_normal(a.shape) for a in arrays]
    step = 1e-6 if arrays[0].dtype == np.float64 else 1e-2
    high, low = (
        float(
            _weighed(
                function,
                *(Tensor((a + s * d).astype(a.dtype)) for a, d in zip(arrays, direction)),
            )
        )
        for s in (step, -step)
    )
    found = found if isinstance(found, tuple) else (found,)
    along = sum(float((g.asnumpy() * d).sum()) for g, d in zip(found, direction))
    assert along == pytest.approx((high - low) / (2 * step), rel=1e-4, abs=1e-4)


def test_derivatives_at_their_edges(mode):
    """The cube root rises without bound at 0, the powers of 0 do not."""
    slope = ms.grad(lambda x: mnp.cbrt(x).sum())(Tensor([0.0, 8.0]))
    assert slope[0] > 1e3 and float(slope[1]) == pytest.approx(1 / 12, rel=1e-4)
    powers = ms.grad(lambda x: mnp.vander(x, 3).sum())(Tensor([0.0]))
    assert powers.asnumpy().tolist() == [1.0]


# ---- compiled ---------------------------------------------------------------------------------------------------------------
def test_lists_of_tensors_and_numbers_become_arrays(mode):
    def made(x, y):
        return mnp.array([[x, 1.0], [y[0], x * 2]]), mnp.stack([y, [1, 2]]), mnp.add([x, x], y)

    x, y = Tensor(3.0), Tensor([4.0, 5.0])
    run = ms.jit(made) if mode == ms.GRAPH_MODE else made
    first, second, third = (r.asnumpy().tolist() for r in run(x, y))
    assert first == [[3.0, 1.0], [4.0, 6.0]]
    assert second == [[4.0, 5.0], [1.0, 2.0]] and third == [7.0, 8.0]


def test_functions_of_the_user_are_parsed():
    """A function given to apply_along_axis may decide by values in compiled code, too."""

    @ms.jit(fullgraph=True)
    def signed(x):
        def one(row):
            if row.sum() > 0:
                return row
            return -row

        return mnp.apply_along_axis(one, 1, x)

    x = Tensor([[1.0, 2.0], [-3.0, 1.0]])
    assert signed(x).asnumpy().tolist() == [[1.0, 2.0], [3.0, -1.0]]


def test_what_depends_on_shapes_alone_compiles_whole():
    @ms.jit(fullgraph=True)
    def program(x):
        counts, edges = mnp.histogram(x, 4)
        near = mnp.isin(mnp.digitize(x, edges), [1, 2])
        smooth = mnp.convolve(mnp.pad(x, 1, "edge"), [0.25, 0.5, 0.25], "valid")
        grid = mnp.mgrid[0:2, 0:3]
        return counts, near, mnp.interp(x, ops.sort(x)[0], smooth), grid.sum()

    x = RNG.standard_normal(9).astype(np.float32)
    counts, near, between, total = program(Tensor(x))
    expected, edges = np.histogram(x, 4)
    assert counts.asnumpy().tolist() == expected.tolist() and int(total) == 9
    assert near.asnumpy().tolist() == np.isin(np.digitize(x, edges), [1, 2]).tolist()
    smooth = np.convolve(np.pad(x, 1, "edge"), [0.25, 0.5, 0.25], "valid")
    np.testing.assert_allclose(between.asnumpy(), np.interp(x, np.sort(x), smooth), rtol=1e-4)


def test_sizes_that_change():
    """One compiled version for all sizes."""

    @ms.jit(dynamic=1)
    def program(x):
        return mnp.concatenate([mnp.cumsum(x), mnp.zeros(x.shape)]) * mnp.arange(x.shape[0] * 2)

    for n in (2, 3, 5):
        expected = np.concatenate([np.cumsum(np.ones(n)), np.zeros(n)]) * np.arange(2 * n)
        assert program(Tensor(np.ones(n, np.float32))).asnumpy().tolist() == expected.tolist()


def test_random_arrays_follow_the_seed(mode):
    def drawn():
        return mnp.rand(2, 3), mnp.randn(4), mnp.randint(1, 9, (5,))

    ms.set_seed(3)
    first = [r.asnumpy() for r in drawn()]
    ms.set_seed(3)
    again = [r.asnumpy() for r in drawn()]
    assert all((a == b).all() for a, b in zip(first, again))
    assert first[2].min() >= 1 and first[2].max() < 9
    assert not (first[0] == mnp.rand(2, 3).asnumpy()).all()


# ---- names and dtypes -------------------------------------------------------------------------------------------------------
def test_it_loads_when_it_is_named():
    program = (
        "import sys, mindspore; assert 'mindspore.numpy' not in sys.modules; mindspore.numpy.pi"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("array_creations", "zeros"),
        ("array_creations", "pad"),
        ("array_ops", "where"),
        ("math_ops", "sin"),
        ("math_ops", "histogram"),
        ("logic_ops", "isclose"),
        ("dtypes", "promote_types"),
    ],
)
def test_modules_have_what_the_package_has(module, name):
    there = importlib.import_module(f"mindspore.numpy.{module}")
    assert getattr(there, name) is getattr(mnp, name)
    assert getattr(mnp, name).__name__ == name and getattr(mnp, name).__doc__


def test_every_name_of_all_is_there_once():
    assert len(mnp.__all__) == len(set(mnp.__all__))
    assert all(hasattr(mnp, name) for name in mnp.__all__)


def test_arrays_of_numpy_are_taken_with_their_dtype():
    x = np.arange(3.0)
    assert mnp.array(x).dtype == ms.float64 and mnp.add(x, 1).dtype == ms.float64
    assert mnp.stack([x, x]).shape == (2, 3) and mnp.zeros_like(x.astype("i2")).dtype == ms.int16


def test_numbers_have_the_dtype_of_32_bits_beside_smaller_ones():
    small, half = Tensor([1], ms.int8), Tensor([1], ms.float16)
    assert mnp.add(small, 1).dtype == ms.int32 and mnp.add(half, 1).dtype == ms.float16
    assert mnp.add(half, 1.5).dtype == ms.float32
    assert mnp.multiply(Tensor([1], ms.int64), 2).dtype == ms.int64


REFUSED = {
    "ragged": (
        lambda: mnp.array([[1], [1, 2]]),
        ValueError,
        "For 'array', 'obj' must hold items of",
    ),
    "text": (
        lambda: mnp.sin("x"),
        TypeError,
        "For 'sin', 'x' must be a Tensor, number, tuple, list",
    ),
    "letters": (
        lambda: mnp.add([1], ["a"]),
        TypeError,
        "For 'add', 'x2' must hold numbers or Tensors",
    ),
    "dtype": (lambda: mnp.zeros(2, "floaty"), TypeError, "For 'zeros', 'dtype' must be a dtype"),
    "axis": (
        lambda: mnp.sum([1, 2], 3),
        ValueError,
        "For 'sum', the axis must be in [-1, 1), but got 3",
    ),
    "axes": (lambda: mnp.flip([[1]], (0, 0)), ValueError, "For 'flip', the axes must differ"),
    "sizes": (lambda: mnp.ones((2, -1)), ValueError, "For 'ones', the sizes must not be negative"),
    "take": (
        lambda: mnp.take([1, 2], [5], mode="raise"),
        IndexError,
        "For 'take', the positions must",
    ),
    "choose": (lambda: mnp.choose([0.5], [[1]]), TypeError, "For 'choose', 'a' must hold integers"),
    "split": (
        lambda: mnp.split([1, 2, 3], 2),
        ValueError,
        "For 'split', the size of the axis must be a",
    ),
    "gcd": (lambda: mnp.gcd(1.5, 2), TypeError, "For 'gcd', 'x1' and 'x2' must hold integers"),
    "memory": (lambda: mnp.hanning(1 << 50), MemoryError, "For 'hanning'"),
    "windows": (lambda: mnp.pad([1], 1 << 50, "edge"), MemoryError, "For 'pad'"),
    "norm": (lambda: mnp.norm(mnp.ones((2, 2, 2)), 1), ValueError, "For 'norm'"),
    "cross": (
        lambda: mnp.cross([1, 2, 3, 4], [1, 2, 3]),
        ValueError,
        "For 'cross', the vectors must",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name, mode):
    call, error, says = REFUSED[name]
    with pytest.raises(error) as caught:
        call() if mode == ms.PYNATIVE_MODE else ms.jit(call)()
    assert str(caught.value).startswith(says)

"""Special functions over their ranges: Float32 to half a unit in the last place of SciPy's, Float64 to its last digits."""

import numpy as np
import pytest
from scipy import special

import mindspore as ms
from mindspore import Tensor, ops

RANDOM = np.random.default_rng(0)
POSITIVE = np.concatenate([np.linspace(1e-3, 30, 3001), np.geomspace(1e-6, 80, 1000)])
SHAPES = RANDOM.gamma(0.5, 20, 2000) + 1e-3
BESSEL = {
    f"bessel_{n}": getattr(special, n) for n in "i0 i0e i1 i1e j0 j1 k0 k0e k1 k1e y0 y1".split()
}
CASES = {
    **{name: (f, (POSITIVE,)) for name, f in BESSEL.items()},
    "erfinv": (
        special.erfinv,
        (np.concatenate([np.linspace(-1, 1, 3001), 1 - np.geomspace(1e-7, 1, 500)]),),
    ),
    "igamma": (special.gammainc, (SHAPES, SHAPES * RANDOM.uniform(0, 3, 2000))),
    "igammac": (special.gammaincc, (SHAPES, SHAPES * RANDOM.uniform(0, 3, 2000))),
    "zeta": (special.zeta, (1.01 + RANDOM.gamma(1, 3, 1000), RANDOM.uniform(0.1, 20, 1000))),
}


def ulps(found, wanted):
    """The largest distance in units of the last place of Float32; what is not finite must be the same."""
    near = wanted.astype(np.float32)
    finite = np.isfinite(near)
    np.testing.assert_array_equal(found[~finite], near[~finite])
    unit = np.spacing(np.abs(near[finite])).astype(np.float64)
    return np.max(np.abs(found[finite].astype(np.float64) - wanted[finite]) / unit)


@pytest.mark.parametrize("name", CASES)
def test_float32(name):
    reference, inputs = CASES[name]
    inputs = [x.astype(np.float32) for x in inputs]
    found = getattr(ops, name)(*map(Tensor, inputs)).asnumpy()
    with np.errstate(all="ignore"):
        assert ulps(found, reference(*(x.astype(np.float64) for x in inputs))) < 1


@pytest.mark.parametrize("name", CASES)
def test_float64(name):
    reference, inputs = CASES[name]
    found = getattr(ops, name)(*map(Tensor, inputs)).asnumpy()
    np.testing.assert_allclose(found, reference(*inputs), rtol=2e-12, atol=1e-14)


@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e", "j0", "j1"])
def test_parity(name):
    x = Tensor(POSITIVE)
    even = getattr(ops, f"bessel_{name}")(-x).asnumpy()
    sign = -1 if "1" in name else 1
    np.testing.assert_array_equal(even, sign * getattr(ops, f"bessel_{name}")(x).asnumpy())


def test_ends():
    at_zero = {
        "i0": 1,
        "i1": 0,
        "k0": np.inf,
        "k1": np.inf,
        "j0": 1,
        "j1": 0,
        "y0": -np.inf,
        "y1": -np.inf,
    }
    for name, value in at_zero.items():
        assert getattr(ops, f"bessel_{name}")(Tensor([0.0])).asnumpy()[0] == np.float32(value)
    for name in ("k0", "k1e", "y0", "y1"):
        assert np.isnan(getattr(ops, f"bessel_{name}")(Tensor([-1.0])).asnumpy()[0])
    for name in ("i1", "j1", "i1e"):  # whose gradients have the limit 1 / 2
        assert ms.grad(getattr(ops, f"bessel_{name}"))(Tensor(0.0)).asnumpy() == 0.5
    # Negative numbers are a finite part of the sum.
    np.testing.assert_allclose(
        ops.zeta(Tensor([2.0, 3.0]), Tensor([-2.3, -2.3])).asnumpy(),
        [special.zeta(s, 0.7) + sum((-2.3 + k) ** -s for k in range(3)) for s in (2, 3)],
        rtol=1e-5,
    )


def test_incomplete_gamma_of_large_numbers():
    a = np.array([1e4, 1e5, 1e6])
    for share in (0.999, 1.001):
        np.testing.assert_allclose(
            ops.igamma(Tensor(a), Tensor(a * share)).asnumpy(),
            special.gammainc(a, a * share),
            rtol=1e-10,
        )


def test_neighbours_of_half_numbers():
    x = RANDOM.normal(size=200).astype(np.float16)
    y = RANDOM.normal(size=200).astype(np.float16)
    x[:3], y[2] = [0.0, -0.0, 1.0], np.nan
    found = ops.nextafter(Tensor(x), Tensor(y)).asnumpy()
    np.testing.assert_array_equal(found, np.nextafter(x, y))


def test_gradients_of_the_incomplete_gamma_function():
    a, x, step = 2.5, 1.7, 1e-5
    by_a, by_x = ms.grad(ops.igamma, (0, 1))(Tensor(a, ms.float64), Tensor(x, ms.float64))
    near = [(special.gammainc(a + d, x), special.gammainc(a, x + d)) for d in (step, -step)]
    wanted = [(p - m) / (2 * step) for p, m in zip(*near)]
    np.testing.assert_allclose([by_a.asnumpy(), by_x.asnumpy()], wanted, rtol=1e-7)

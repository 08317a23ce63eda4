"""Fourier transforms of lengths that take each way through the kernel, against NumPy in double precision."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore.ops._bind import raw

_fft = raw("FFT")
# Powers, products of small primes, primes within and beyond the radices, lines that are cut, and primes of such length.
LENGTHS = [
    *range(1, 40),
    64,
    77,
    97,
    127,
    128,
    243,
    360,
    509,
    1000,
    1009,
    2048,
    4096,
    5000,
    10007,
    16384,
]


def _layouts(n: int) -> list[tuple[tuple[int, ...], int]]:
    few = [((n,), 0), ((2, n), 1), ((n, 3), 0)]
    return few if n > 600 else [*few, ((20, n), 1), ((2, n, 19), 1), ((3, n, 40), 1)]


def _near(found: ms.Tensor, wanted: np.ndarray) -> None:
    got = found.asnumpy()
    assert got.shape == wanted.shape
    rounding = np.finfo(got.dtype).eps * (4 + np.log2(wanted.size + 1))
    assert np.abs(got - wanted).max() <= 4 * rounding * max(np.abs(wanted).max(), 1e-30)


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lengths(n: int, dtype: str) -> None:
    random = np.random.default_rng(n)
    for shape, axis in _layouts(n):
        x = random.standard_normal(shape).astype(dtype)
        z = (x + 1j * random.standard_normal(shape)).astype(np.result_type(dtype, np.complex64))
        wide = z.astype(np.complex128)
        half = np.take(z, range(n // 2 + 1), axis)
        on = {"axes": (axis,)}
        _near(_fft(ms.Tensor(z), **on), np.fft.fft(wide, axis=axis))
        back = {"inverse": True, "scale": "whole"}
        _near(_fft(ms.Tensor(z), **on, **back), np.fft.ifft(wide, axis=axis))
        _near(_fft(ms.Tensor(x), **on), np.fft.rfft(x.astype(float), axis=axis))
        wanted = np.fft.irfft(half.astype(np.complex128), n, axis=axis)
        _near(_fft(ms.Tensor(half), **on, **back, size=n), wanted)
        wanted = np.fft.hfft(half.astype(np.complex128), n, axis=axis)
        _near(_fft(ms.Tensor(half), **on, size=n), wanted)


def test_several_axes() -> None:
    x = np.random.default_rng(0).standard_normal((4, 5, 6, 7)).astype(np.float32)
    for axes in ((1, 2), (3, 0), (0, 1, 2, 3), (-1, -2)):
        half = np.fft.rfftn(x.astype(float), axes=axes)
        _near(_fft(ms.Tensor(x), axes=axes), half)
        size = x.shape[axes[-1]]
        spectrum = ms.Tensor(half.astype(np.complex64))
        _near(_fft(spectrum, axes=axes, inverse=True, scale="whole", size=size), x.astype(float))


def test_input_is_not_changed() -> None:
    x = np.random.default_rng(0).standard_normal((3, 4096)).astype(np.complex64)
    tensor = ms.Tensor(x)
    _fft(tensor, axes=(0, 1))
    assert np.array_equal(tensor.asnumpy(), x)

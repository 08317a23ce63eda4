"""Window functions of signal processing, computed when they are called."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._kinds import Real
from mindspore.common._size import require_memory
from mindspore.ops.function.array_func import _ints

_FLOATS = (_core.float16, _core.float32, _core.float64)


def _window(
    name: str,
    length: int | Tensor,
    periodic: bool,
    dtype: DType | None,
    shape: Callable[[np.ndarray], np.ndarray],
) -> Tensor:
    """A window over `length` points: a function of where a point is, from 0 at the first to 1 at the last one, or, if it is
    periodic, at the first one of the next period."""
    sizes = _ints(name, length)
    if len(sizes) != 1:
        raise ValueError(f"For '{name}', 'window_length' must be one int, but got {sizes}.")
    (points,) = sizes
    if points < 0:
        raise ValueError(f"For '{name}', 'window_length' must not be negative, but got {points}.")
    if dtype not in _FLOATS:
        raise TypeError(f"For '{name}', 'dtype' must be a float type, but got {dtype}.")
    require_memory(name, points, 8)
    if points == 1:
        return Tensor(np.ones(1), dtype)
    return Tensor(shape(np.arange(points) / max(points if periodic else points - 1, 1)), dtype)


def _cosines(*factors: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.asarray(sum(f * np.cos(2 * np.pi * k * x) for k, f in enumerate(factors)))


def bartlett_window(
    window_length: int | Tensor, periodic: bool = True, *, dtype: DType | None = None
) -> Tensor:
    """A triangle."""
    kind = dtype or _core.float32
    return _window(
        "bartlett_window", window_length, periodic, kind, lambda x: 1 - np.abs(2 * x - 1)
    )


def blackman_window(
    window_length: int | Tensor, periodic: bool = True, *, dtype: DType | None = None
) -> Tensor:
    """Blackman's sum of three cosines."""
    kind = dtype or _core.float32
    return _window("blackman_window", window_length, periodic, kind, _cosines(0.42, -0.5, 0.08))


def hamming_window(
    window_length: int | Tensor,
    periodic: bool = True,
    alpha: Real = 0.54,
    beta: Real = 0.46,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """`alpha - beta * cos(2 pi x)`."""
    kind = dtype or _core.float32
    return _window("hamming_window", window_length, periodic, kind, _cosines(alpha, -beta))


def hann_window(
    window_length: int | Tensor, periodic: bool = True, *, dtype: DType | None = None
) -> Tensor:
    """Half of 1 less a cosine; in Float64 where no dtype is given."""
    return _window(
        "hann_window", window_length, periodic, dtype or _core.float64, _cosines(0.5, -0.5)
    )


def kaiser_window(
    window_length: int | Tensor,
    periodic: bool = True,
    beta: Real = 12.0,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """Kaiser's window, made of the Bessel function I0; in Float64 where no dtype is given."""

    def shape(x: np.ndarray) -> np.ndarray:
        inside = np.maximum(1 - (2 * x - 1) ** 2, 0)
        return np.i0(beta * np.sqrt(inside)) / np.i0(np.float64(beta))

    return _window("kaiser_window", window_length, periodic, dtype or _core.float64, shape)


FACES = {
    "BartlettWindow(periodic=True, dtype=None)(window_length)": "bartlett_window",
    "BlackmanWindow(periodic=True, dtype=None)(window_length)": "blackman_window",
    "HammingWindow(periodic=True, alpha=0.54, beta=0.46, dtype=None)(length@window_length)": "hamming_window",
}
__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]

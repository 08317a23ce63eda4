"""Cosine transforms under SciPy's names: type II and its inverse, always orthonormal."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Literal

import numpy as np

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import PositiveInt
from mindspore.ops._bind import raw
from mindspore.ops.function.fft_func import _COMPLEX, _chosen_axes, _floats, _resized

_real, _imag, _fft, _cast = raw("Real"), raw("Imag"), raw("FFT"), raw("Cast")
_Norm = Literal["ortho"]
_Type = Literal[2]


def _factors(n: int, x: Tensor) -> tuple[Tensor, Tensor]:
    """e^(-i pi k / 2n), and what makes the transform of n elements orthonormal."""
    k = np.arange(n)
    size = np.where(k == 0, math.sqrt(1 / n), math.sqrt(2 / n))
    wide = x.dtype in (_core.float64, _core.complex128)
    root = Tensor(np.exp(-0.5j * np.pi * k / n), _core.complex128 if wide else _core.complex64)
    return root, Tensor(size, _core.float64 if wide else _core.float32)


def _folded(n: int) -> np.ndarray:
    """Where the elements come from whose spectrum the cosine transform is made of: even ones, then odd ones backwards."""
    return np.concatenate([np.arange(0, n, 2), np.arange(1, n, 2)[::-1]])


def _pick(x: Tensor, places: np.ndarray) -> Tensor:
    return raw("Gather")(x, Tensor(places), axis=-1)


def _forward(x: Tensor) -> Tensor:
    n = x.shape[-1]
    root, size = _factors(n, x)
    spectrum = _fft(_pick(x, _folded(n)), axes=(-1,))
    # The other half is that of the conjugates, backwards.
    k = np.arange(n)
    whole = _pick(spectrum, np.minimum(k, n - k))
    mirrored = Tensor(k > n - k)
    whole = ops.select(ops.broadcast_to(mirrored, whole.shape), ops.conj(whole), whole)
    return _real(whole * root) * size


def _backward(x: Tensor) -> Tensor:
    n = x.shape[-1]
    root, size = _factors(n, x)
    half = np.arange(n // 2 + 1)
    # Divided by two where an element stands for two, by the factor of the spectrum everywhere.
    y = x / size
    opposite = _pick(y, (n - half) % n) * Tensor(half > 0).astype(x.dtype)
    spectrum = raw("Complex")(_pick(y, half), -opposite) * ops.conj(_pick(root, half))
    return _pick(
        _fft(spectrum, axes=(-1,), inverse=True, scale="whole", size=n), np.argsort(_folded(n))
    )


def _transform(
    name: str, x: Tensor, sizes: Sequence[int] | None, axes: Sequence[int] | None, inverse: bool
) -> Tensor:
    chosen = _chosen_axes(name, x, sizes, axes)
    x = _floats(name, x)
    lengths = [x.shape[a] for a in chosen] if sizes is None else sizes
    for axis, length in zip(chosen, lengths):
        x = _resized(x, axis, length)
    if x.dtype in _COMPLEX:
        parts = [_transform(name, part, None, chosen, inverse) for part in (_real(x), _imag(x))]
        return raw("Complex")(*parts)
    for axis in chosen:
        moved = ops.swapaxes(x, axis, -1)
        x = ops.swapaxes(_backward(moved) if inverse else _forward(moved), axis, -1)
    return x


def dct(
    x: Tensor,
    type: _Type = 2,
    n: PositiveInt | None = None,
    axis: int = -1,
    norm: _Norm | None = None,
) -> Tensor:
    """The cosine transform along an axis."""
    return _transform("dct", x, None if n is None else (n,), (axis,), False)


def idct(
    x: Tensor,
    type: _Type = 2,
    n: PositiveInt | None = None,
    axis: int = -1,
    norm: _Norm | None = None,
) -> Tensor:
    """What `dct` gives, undone."""
    return _transform("idct", x, None if n is None else (n,), (axis,), True)


def dctn(
    x: Tensor,
    type: _Type = 2,
    s: Sequence[PositiveInt] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm | None = None,
) -> Tensor:
    """The cosine transform along several axes, all by default."""
    return _transform("dctn", x, s, axes, False)


def idctn(
    x: Tensor,
    type: _Type = 2,
    s: Sequence[PositiveInt] | None = None,
    axes: Sequence[int] | None = None,
    norm: _Norm | None = None,
) -> Tensor:
    """What `dctn` gives, undone."""
    return _transform("idctn", x, s, axes, True)


__all__ = ["dct", "dctn", "idct", "idctn"]
globals().update(check_functions(sys.modules[__name__], __all__))

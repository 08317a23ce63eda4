"""Complex numbers and their parts, and spectra of signals over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import PositiveInt
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import pad, swapaxes
from mindspore.ops.function.fft_func import _COMPLEX, Norm, _complex, _scale
from mindspore.ops.function.math_func import angle
from mindspore.ops.function.matrix_classes import _NEEDED, _made

_join, _real, _imag, _conj = raw("Complex"), raw("Real"), raw("Imag"), raw("Conj")
_stack, _cast, _fft, _reshape = raw("Stack"), raw("Cast"), raw("FFT"), raw("Reshape")
_FLOATS = (_core.float32, _core.float64)


def _require_complex(name: str, x: Tensor) -> None:
    if x.dtype not in _COMPLEX:
        raise TypeError(f"For '{name}', the input must be complex, but got {x.dtype}.")


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Complex numbers from magnitudes and angles."""
    if abs.dtype not in _FLOATS or abs.dtype != angle.dtype:
        raise TypeError(
            f"For 'polar', 'abs' and 'angle' must both be Float32 or Float64, but got {abs.dtype} and {angle.dtype}."
        )
    return _join(abs * raw("Cos")(angle), abs * raw("Sin")(angle))


def view_as_real(input: Tensor) -> Tensor:
    """The real and the imaginary parts along a new last axis."""
    _require_complex("view_as_real", input)
    return _stack((_real(input), _imag(input)), axis=-1)


# ---- spectra over time --------------------------------------------------------------------------
_PadMode = Literal["REFLECT", "reflect", "CONSTANT", "constant"]


def _frames(x: Tensor, length: int, hop: int) -> Tensor:
    """Pieces of the last axis, each `hop` further on than the one before."""
    if not length <= x.shape[-1]:
        raise ValueError(
            f"For 'stft', 'n_fft' must be at most the length of the signal, {x.shape[-1]}, but got {length}."
        )
    starts = np.arange(0, x.shape[-1] - length + 1, hop)
    return raw("Gather")(x, Tensor(starts[:, None] + np.arange(length)), axis=-1)


def _fitting_window(window: Tensor | None, x: Tensor, length: int, n_fft: int) -> Tensor:
    """The window, or one of ones, in the middle of n_fft elements."""
    if not length <= n_fft:
        raise ValueError(f"For 'stft', 'win_length' must be at most {n_fft}, but got {length}.")
    if window is None:
        window = raw("Ones")(shape=(length,), dtype=_COMPLEX.get(x.dtype, x.dtype))
    if window.shape != (length,):
        raise ValueError(
            f"For 'stft', 'window' must have shape {(length,)}, but got {window.shape}."
        )
    before = (n_fft - length) // 2
    return pad(window, (before, n_fft - length - before)) if length < n_fft else window


def _spectra(frames: Tensor, onesided: bool, normalized: bool) -> Tensor:
    whole = frames if onesided else _complex(frames)
    return _fft(whole, axes=(-1,), scale="ortho" if normalized else "none")


def stft(
    x: Tensor,
    n_fft: PositiveInt,
    hop_length: PositiveInt | None = None,
    win_length: PositiveInt | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: _PadMode = "REFLECT",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """Spectra of windowed pieces of signals, [..., frequencies, pieces], with the parts of complex numbers along a last axis
    unless `return_complex`."""
    if x.ndim not in (1, 2) or (x.dtype not in _FLOATS and x.dtype not in _COMPLEX):
        raise (ValueError if x.ndim not in (1, 2) else TypeError)(
            f"For 'stft', 'x' must be of one or two dimensions and of floats or complex numbers, but got {x.dtype}{x.shape}."
        )
    of_complex = x.dtype in _COMPLEX or (window is not None and window.dtype in _COMPLEX)
    onesided = not of_complex if onesided is None else onesided
    if onesided and of_complex:
        raise ValueError("For 'stft', 'onesided' must be False for complex numbers, but got True.")
    if center:
        ends = (n_fft // 2, n_fft // 2)
        rows = _reshape(x, shape=(1, -1, x.shape[-1]))  # whatever the rank
        padded = pad(rows, ends, mode="reflect" if pad_mode.lower() == "reflect" else "constant")
        x = _reshape(padded, shape=(*x.shape[:-1], padded.shape[-1]))
    hop = n_fft // 4 if hop_length is None else hop_length
    frames = _frames(x, n_fft, max(hop, 1))
    window = _fitting_window(window, x, n_fft if win_length is None else win_length, n_fft)
    spectra = swapaxes(_spectra(frames * window, onesided, normalized), -1, -2)
    as_complex = of_complex if return_complex is None else return_complex
    return spectra if as_complex else view_as_real(spectra)


# ---- primitive classes --------------------------------------------------------------------------
def _stft(signal: Tensor, window: Tensor, **attrs: Any) -> Tensor:
    return stft(signal, window=window, center=False, **attrs)


def _magnitude(x: Tensor) -> Tensor:
    _require_complex("ComplexAbs", x)
    return raw("Abs")(x)


def _angle(input: Tensor) -> Tensor:
    _require_complex("Angle", input)
    return angle(input)


def _conjugate_transpose(x: Tensor, perm: Sequence[int]) -> Tensor:
    return _conj(raw("Transpose")(x, perm=tuple(perm)))


def _real_transform(x: Tensor, axes: tuple, inverse: bool, scale: str, sizes: tuple) -> Tensor:
    """Half a spectrum of real numbers, or the numbers of one."""
    if not inverse:
        return _fft(x, axes=axes, scale=scale)
    even = 2 * (x.shape[-1] - 1)
    length = sizes[-1] if sizes else even
    fits = (*x.shape[len(x.shape) - len(axes) : -1], even)
    if sizes and (sizes[:-1] != fits[:-1] or length not in (even, even + 1)):
        raise ValueError(
            f"For 'FFTWithSize', 'signal_sizes' must be {fits}, or end with {even + 1}, but got {sizes}."
        )
    return _fft(x, axes=axes, inverse=True, scale=scale, size=length)


def _with_size(
    x: Tensor,
    signal_ndim: Literal[1, 2, 3],
    inverse: bool,
    real: bool,
    norm: Norm,
    onesided: bool,
    signal_sizes: Any,
) -> Tensor:
    if x.ndim < signal_ndim:
        raise ValueError(
            f"For 'FFTWithSize', the input must have at least {signal_ndim} dimensions, but got shape {x.shape}."
        )
    if (real and not inverse) == (x.dtype in _COMPLEX) or x.dtype not in (*_FLOATS, *_COMPLEX):
        wanted = "Float32 or Float64" if real and not inverse else "complex"
        raise TypeError(f"For 'FFTWithSize', the input must be {wanted}, but got {x.dtype}.")
    axes, scale = tuple(range(-signal_ndim, 0)), _scale(norm, inverse)
    if real and onesided:
        return _real_transform(x, axes, inverse, scale, tuple(signal_sizes))
    y = _fft(_complex(x), axes=axes, inverse=inverse, scale=scale)
    return _real(y) if real and inverse else y


_TABLE: list[tuple] = [
    ("Angle", "The angles of complex numbers.", _angle, {}),
    ("ComplexAbs", "The magnitudes of complex numbers.", _magnitude, {}),
    ("ConjugateTranspose", "Conjugates, with the axes in another order.", _conjugate_transpose, {}),
    (
        "FFTWithSize",
        "Fourier transforms along the last axes.",
        _with_size,
        {
            "signal_ndim": _NEEDED,
            "inverse": _NEEDED,
            "real": _NEEDED,
            "norm": "backward",
            "onesided": True,
            "signal_sizes": (),
        },
    ),
    ("Polar", "Complex numbers from magnitudes and angles.", polar, {}),
    (
        "STFT",
        "Spectra of windowed pieces of signals.",
        _stft,
        dict.fromkeys(
            ("n_fft", "hop_length", "win_length", "normalized", "onesided", "return_complex"),
            _NEEDED,
        ),
    ),
]
CLASSES = {row[0]: _made(*row) for row in _TABLE}
__all__ = ["polar", "stft", "view_as_real"]

"""Discrete Fourier transforms: the family of NumPy's `fft` module, all of them op FFT with sizes, axes and scales."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._kinds import Ints, PositiveInt, Real
from mindspore.common._size import require_memory
from mindspore.ops._bind import raw
from mindspore.ops.function.array_func import _axis
from mindspore.ops.function.join_func import narrow, roll

_fft, _cast, _pad = raw("FFT"), raw("Cast"), raw("Pad")
_COMPLEX = {_core.complex64: _core.float32, _core.complex128: _core.float64}
_SINGLE = (_core.float16, _core.bfloat16, _core.int16, _core.int32, _core.int64, _core.float32)
Norm: TypeAlias = Literal["backward", "ortho", "forward"]
Half: TypeAlias = Literal["", "made", "read"]  # the spectrum of which one half tells the other one


def _floats(name: str, x: Tensor) -> Tensor:
    """The input in a dtype that is transformed."""
    if x.dtype in _COMPLEX or x.dtype in (_core.float32, _core.float64):
        return x
    if x.dtype not in _SINGLE:
        raise TypeError(
            f"For '{name}', the dtype of 'input' must be Int16, Int32, Int64, a float type or a complex one, but got {x.dtype}."
        )
    return _cast(x, dtype=_core.float32)


def _complex(x: Tensor) -> Tensor:
    if x.dtype in _COMPLEX:
        return x
    wide = x.dtype == _core.float64
    return _cast(x, dtype=_core.complex128 if wide else _core.complex64)


def _resized(x: Tensor, axis: int, size: int) -> Tensor:
    """Cut, or with zeros behind."""
    length = x.shape[axis]
    if size == length:
        return x
    if size < length:
        return narrow(x, axis, 0, size)
    paddings = [0] * (2 * x.ndim)
    paddings[2 * axis + 1] = size - length
    return _pad(x, paddings=tuple(paddings))


def _chosen_axes(
    name: str, x: Tensor, sizes: Sequence[int] | None, dims: Sequence[int] | None
) -> list[int]:
    if x.ndim == 0 or 0 in x.shape:
        raise ValueError(
            f"For '{name}', 'input' must have at least 1 dimension and 1 element, but got shape {x.shape}."
        )
    if dims is None:
        count = x.ndim if sizes is None else len(sizes)
        dims = range(-count, 0)
    axes = [_axis(name, d, x.ndim) for d in dims]
    if not axes or len(set(axes)) != len(axes):
        raise ValueError(f"For '{name}', the axes must be distinct and at least 1, but got {dims}.")
    if sizes is not None and len(sizes) != len(axes):
        raise ValueError(
            f"For '{name}', there must be as many sizes as axes, but got {len(sizes)} and {len(axes)}."
        )
    return axes


def _scale(norm: Norm | None, inverse: bool) -> str:
    if norm == "ortho":
        return norm
    return "whole" if (norm == "forward") != inverse else "none"


def _transform(
    name: str,
    x: Tensor,
    sizes: Sequence[int] | None,
    dims: Sequence[int] | None,
    norm: Norm | None,
    inverse: bool,
    half: Half,
) -> Tensor:
    axes = _chosen_axes(name, x, sizes, dims)
    x = _floats(name, x)
    last = axes[-1]
    lengths = [x.shape[a] for a in axes] if sizes is None else list(sizes)
    if half == "read" and sizes is None:
        lengths[-1] = 2 * (x.shape[last] - 1)
        if lengths[-1] == 0:
            raise ValueError(
                f"For '{name}', the size of the result must be given where there is 1 element, but got None."
            )
    whole = lengths[-1]
    if half == "read":
        lengths[-1] = whole // 2 + 1
    for axis, length in zip(axes, lengths):
        x = _resized(x, axis, length)
    cut = half == "made" and x.dtype in _COMPLEX  # as of real numbers, though it tells not all
    if half != "made":
        x = _complex(x)
    size = whole if half == "read" else 0
    y = _fft(x, axes=tuple(axes), inverse=inverse, scale=_scale(norm, inverse), size=size)
    return narrow(y, last, 0, whole // 2 + 1) if cut else y


def _named(function: Callable, name: str, doc: str) -> Callable:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _one(name: str, inverse: bool, half: Half, doc: str) -> Callable:
    def transform(
        input: Tensor, n: PositiveInt | None = None, dim: int = -1, norm: Norm | None = None
    ) -> Tensor:
        sizes = None if n is None else (n,)
        return _transform(name, input, sizes, (dim,), norm, inverse, half)

    return _named(transform, name, doc)


def _two(name: str, inverse: bool, half: Half, doc: str) -> Callable:
    def transform(
        input: Tensor,
        s: Sequence[PositiveInt] | None = None,
        dim: Sequence[int] = (-2, -1),
        norm: Norm | None = None,
    ) -> Tensor:
        return _transform(name, input, s, dim, norm, inverse, half)

    return _named(transform, name, doc)


def _many(name: str, inverse: bool, half: Half, doc: str) -> Callable:
    def transform(
        input: Tensor,
        s: Sequence[PositiveInt] | None = None,
        dim: Sequence[int] | None = None,
        norm: Norm | None = None,
    ) -> Tensor:
        return _transform(name, input, s, dim, norm, inverse, half)

    return _named(transform, name, doc)


_DOCS = {
    "": "The discrete Fourier transform",
    "i": "The inverse discrete Fourier transform",
    "r": "Half of the spectrum of real numbers",
    "ir": "Real numbers from half of their spectrum",
    "h": "The real spectrum of numbers that mirror their conjugates, of which one half is given",
    "ih": "Half of the numbers whose spectrum is real: what `hfft` goes back to",
}
_PLACES = {"": "along an axis.", "2": "along two axes.", "n": "along axes, all of them by default."}


def _doc(name: str) -> str:
    kind, place = name.split("fft")
    return f"{_DOCS[kind]} {_PLACES[place]}"


fft = _one("fft", False, "", _doc("fft"))
ifft = _one("ifft", True, "", _doc("ifft"))
rfft = _one("rfft", False, "made", _doc("rfft"))
irfft = _one("irfft", True, "read", _doc("irfft"))
hfft = _one("hfft", False, "read", _doc("hfft"))
ihfft = _one("ihfft", True, "made", _doc("ihfft"))
fft2 = _two("fft2", False, "", _doc("fft2"))
ifft2 = _two("ifft2", True, "", _doc("ifft2"))
rfft2 = _two("rfft2", False, "made", _doc("rfft2"))
irfft2 = _two("irfft2", True, "read", _doc("irfft2"))
hfft2 = _two("hfft2", False, "read", _doc("hfft2"))
ihfft2 = _two("ihfft2", True, "made", _doc("ihfft2"))
fftn = _many("fftn", False, "", _doc("fftn"))
ifftn = _many("ifftn", True, "", _doc("ifftn"))
rfftn = _many("rfftn", False, "made", _doc("rfftn"))
irfftn = _many("irfftn", True, "read", _doc("irfftn"))
hfftn = _many("hfftn", False, "read", _doc("hfftn"))
ihfftn = _many("ihfftn", True, "made", _doc("ihfftn"))


# ---- frequencies --------------------------------------------------------------------------------
def _frequencies(numbers: np.ndarray, n: int, d: float, dtype: DType | None) -> Tensor:
    with np.errstate(divide="ignore", invalid="ignore"):
        found = numbers / np.float64(n * d)
    return _cast(Tensor(found, _core.float64), dtype=dtype or _core.float32)


def fftfreq(n: PositiveInt, d: Real = 1.0, dtype: DType | None = None) -> Tensor:
    """The frequencies of a transform of n samples that are `d` apart, in its order."""
    require_memory("fftfreq", n, 16)
    return _frequencies(np.fft.ifftshift(np.arange(n) - n // 2), n, d, dtype)


def rfftfreq(n: PositiveInt, d: Real = 1.0, dtype: DType | None = None) -> Tensor:
    """The frequencies of half a spectrum of n samples that are `d` apart."""
    require_memory("rfftfreq", n // 2 + 1, 16)
    return _frequencies(np.arange(n // 2 + 1), n, d, dtype)


def _shifted(name: str, x: Tensor, dim: Ints | None, back: bool) -> Tensor:
    dims = range(x.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    axes = tuple(_axis(name, d, x.ndim) for d in dims)
    shifts = tuple((x.shape[a] + back) // 2 for a in axes)
    return roll(x, shifts, axes)


def fftshift(input: Tensor, dim: Ints | None = None) -> Tensor:
    """The input with frequency 0 moved to the middle of the axes."""
    return _shifted("fftshift", input, dim, False)


def ifftshift(input: Tensor, dim: Ints | None = None) -> Tensor:
    """What `fftshift` moved, at its place again."""
    return _shifted("ifftshift", input, dim, True)


__all__ = [name + "fft" + place for place in _PLACES for name in _DOCS]
__all__ += ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]

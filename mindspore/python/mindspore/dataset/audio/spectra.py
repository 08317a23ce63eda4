"""Spectrograms: sounds as the frequencies of short frames, and back."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from mindspore.dataset.audio.operation import (
    AudioTensorOperation,
    check_optional,
    check_real,
)
from mindspore.dataset.audio.utils import BorderType, WindowType
from mindspore.dataset.core.random import row_rng
from mindspore.dataset.core.validator_helpers import check_int, check_type

_KAISER_BETA = 12.0


def window_of(kind: WindowType, length: int) -> np.ndarray:
    """The window of a frame; it is periodic, so its first value would follow its last."""
    turn = np.arange(length) * (2 * math.pi / length)
    if kind == WindowType.HANN:
        return np.asarray(0.5 - 0.5 * np.cos(turn))
    if kind == WindowType.HAMMING:
        return np.asarray(0.54 - 0.46 * np.cos(turn))
    if kind == WindowType.BLACKMAN:
        return np.asarray(0.42 - 0.5 * np.cos(turn) + 0.08 * np.cos(2 * turn))
    if kind == WindowType.BARTLETT:
        return np.asarray(np.bartlett(length + 1)[:-1])
    return np.asarray(np.kaiser(length + 1, _KAISER_BETA)[:-1])


class Frames(NamedTuple):
    """How a sound is cut into frames."""

    n_fft: int
    win_length: int
    hop_length: int
    window: WindowType

    @classmethod
    def checked(cls, op: str, n_fft: Any, win_length: Any, hop_length: Any, window: Any,
                overlap: int = 2) -> Frames:  # fmt: skip
        """The arguments with what None stands for; frames begin `overlap` times in a window."""
        check_int(op, "n_fft", n_fft, 1)
        win_length = check_optional(op, "win_length", win_length, n_fft)
        hop_length = check_optional(op, "hop_length", hop_length, max(win_length // overlap, 1))
        check_type(op, "window", window, WindowType)
        if win_length > n_fft:
            raise ValueError(
                f"For '{op}', win_length must not be more than n_fft, but got {win_length} and {n_fft}."
            )
        return cls(n_fft, win_length, hop_length, window)

    def weights(self) -> np.ndarray:
        """The window in the middle of a frame."""
        before = (self.n_fft - self.win_length) // 2
        after = self.n_fft - self.win_length - before
        return np.pad(window_of(self.window, self.win_length), (before, after))


def padded(op: str, sound: np.ndarray, width: int, mode: BorderType) -> np.ndarray:
    """The sound with `width` samples at both ends."""
    if sound.shape[-1] == 0 and width and mode != BorderType.CONSTANT:
        raise ValueError(f"For '{op}', the input must have samples, but got shape {sound.shape}.")
    return np.pad(sound, [(0, 0)] * (sound.ndim - 1) + [(width, width)], mode=mode.value)


def stft(
    op: str,
    sound: np.ndarray,
    frames: Frames,
    center: BorderType | None = BorderType.REFLECT,
    onesided: bool = True,
) -> np.ndarray:
    """Complex numbers <..., freq, frame>; `center`: how the ends go on, so frames have them inside."""
    if center is not None:
        sound = padded(op, sound, frames.n_fft // 2, center)
    if sound.shape[-1] < frames.n_fft:
        raise ValueError(
            f"For '{op}', the input must have at least n_fft = {frames.n_fft} samples, but got "
            f"{sound.shape[-1]}."
        )
    view = np.lib.stride_tricks.sliding_window_view(sound, frames.n_fft, axis=-1)
    weights = frames.weights().astype(sound.dtype)
    cut = view[..., :: frames.hop_length, :] * weights
    spectrum = np.fft.rfft(cut) if onesided else np.fft.fft(cut)
    return np.asarray(spectrum.swapaxes(-1, -2))


def istft(
    op: str,
    spectrum: np.ndarray,
    frames: Frames,
    length: int | None = None,
    center: bool = True,
    onesided: bool = True,
) -> np.ndarray:
    """The sound of a spectrum: frames added where they lie, over the sum of their squared windows."""
    bins, count = spectrum.shape[-2:]
    wanted = frames.n_fft // 2 + 1 if onesided else frames.n_fft
    if bins != wanted or count == 0:
        raise ValueError(
            f"For '{op}', the input must have {wanted} frequencies and a frame at least, but got shape "
            f"{spectrum.shape}."
        )
    columns = spectrum.swapaxes(-1, -2)
    back = np.fft.irfft(columns, frames.n_fft) if onesided else np.fft.ifft(columns).real
    weights = frames.weights()
    total = frames.n_fft + frames.hop_length * (count - 1)
    sound = np.zeros((*spectrum.shape[:-2], total), back.dtype)
    squares = np.zeros(total)
    back = back * weights.astype(back.dtype)
    for number in range(count):
        at = slice(number * frames.hop_length, number * frames.hop_length + frames.n_fft)
        sound[..., at] += back[..., number, :]
        squares[at] += weights**2
    first = frames.n_fft // 2 if center else 0
    # Without a length it has as many samples as there are hops, wherever it begins.
    last = first + total - frames.n_fft if length is None else first + length
    sound, squares = sound[..., first:last], squares[first:last]
    if squares.size == 0 or squares.min() < 1e-11:
        raise ValueError(
            f"For '{op}', the windows of the frames must overlap and cover the sound, but n_fft, "
            f"win_length and hop_length are {frames.n_fft}, {frames.win_length} and {frames.hop_length}."
        )
    sound = sound / squares.astype(sound.dtype)
    if length is not None and sound.shape[-1] < length:
        missing = length - sound.shape[-1]
        sound = np.pad(sound, [(0, 0)] * (sound.ndim - 1) + [(0, missing)])
    return np.asarray(sound)


def _pairs(numbers: np.ndarray) -> np.ndarray:
    """Complex numbers as a last axis of two."""
    return np.stack([numbers.real, numbers.imag], axis=-1)


class Spectrogram(AudioTensorOperation):
    """Powers <..., freq, frame> of the frequencies of each frame; with power 0 complex numbers, the
    last axis of two.
    """

    _op = "Spectrogram"  # what errors call it

    def __init__(
        self,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ) -> None:
        op = self._op
        self.frames = Frames.checked(op, n_fft, win_length, hop_length, window)
        self.pad, self.power = check_int(op, "pad", pad, 0), check_real(op, "power", power, 0)
        for name, value in {
            "normalized": normalized,
            "center": center,
            "onesided": onesided,
        }.items():
            check_type(op, name, value, bool)
        check_type(op, "pad_mode", pad_mode, BorderType)
        self.normalized, self.onesided = normalized, onesided
        self.center = pad_mode if center else None

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        return self.spectrogram(self._op, sound)

    def spectrogram(self, op: str, sound: np.ndarray) -> np.ndarray:
        """What `op` makes of the sound."""
        if self.pad:
            sound = padded(op, sound, self.pad, BorderType.CONSTANT)
        spectrum = stft(op, sound, self.frames, self.center, self.onesided)
        if self.normalized:
            spectrum = spectrum / math.sqrt((self.frames.weights() ** 2).sum())
        if self.power == 0:
            return _pairs(spectrum)
        return power_of(np.abs(spectrum), self.power)


def power_of(magnitudes: np.ndarray, power: float) -> np.ndarray:
    """Magnitudes to a power."""
    if power == 1:
        return magnitudes
    return magnitudes * magnitudes if power == 2 else magnitudes**power


class InverseSpectrogram(AudioTensorOperation):
    """The sound of a spectrogram of complex numbers."""

    _layout = "freq, time, complex=2"

    def __init__(
        self,
        length: int | None = None,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
    ) -> None:
        op = "InverseSpectrogram"
        self.length = None if length is None else check_int(op, "length", length, 0)
        self.frames = Frames.checked(op, n_fft, win_length, hop_length, window)
        self.pad = check_int(op, "pad", pad, 0)
        for name, value in {
            "normalized": normalized,
            "center": center,
            "onesided": onesided,
        }.items():
            check_type(op, name, value, bool)
        check_type(op, "pad_mode", pad_mode, BorderType)
        self.normalized, self.center, self.onesided = normalized, center, onesided

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        spectrum = sound[..., 0] + 1j * sound[..., 1]
        if self.normalized:
            spectrum = spectrum * math.sqrt((self.frames.weights() ** 2).sum())
        length = None if not self.length else self.length + 2 * self.pad
        result = istft(
            "InverseSpectrogram", spectrum, self.frames, length, self.center, self.onesided
        )
        return result[..., self.pad : result.shape[-1] - self.pad]


class SpectralCentroid(AudioTensorOperation):
    """The mean frequency of each frame, <..., 1, frame>."""

    def __init__(
        self,
        sample_rate: int,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        pad: int = 0,
        window: WindowType = WindowType.HANN,
    ) -> None:
        op = "SpectralCentroid"
        self.sample_rate = check_int(op, "sample_rate", sample_rate, 0)
        self.frames = Frames.checked(op, n_fft, win_length, hop_length, window)
        self.pad = check_int(op, "pad", pad, 0)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        sound = padded("SpectralCentroid", sound, self.pad, BorderType.CONSTANT)
        magnitudes = np.abs(stft("SpectralCentroid", sound, self.frames))
        frequencies = np.linspace(0, self.sample_rate // 2, magnitudes.shape[-2])[:, None]
        with np.errstate(invalid="ignore"):  # silence has no mean
            return np.asarray(
                (magnitudes * frequencies).sum(-2, keepdims=True)
                / magnitudes.sum(-2, keepdims=True, dtype=np.float64)
            )


class GriffinLim(AudioTensorOperation):
    """A sound with the given magnitudes, whose phases are found by going there and back."""

    _layout = "freq, time"

    def __init__(
        self,
        n_fft: int = 400,
        n_iter: int = 32,
        win_length: int | None = None,
        hop_length: int | None = None,
        window_type: WindowType = WindowType.HANN,
        power: float = 2.0,
        momentum: float = 0.99,
        length: int | None = None,
        rand_init: bool = True,
    ) -> None:
        op = "GriffinLim"
        self.frames = Frames.checked(op, n_fft, win_length, hop_length, window_type)
        self.n_iter = check_int(op, "n_iter", n_iter, 1)
        self.power = check_real(op, "power", power, 0, above=True)
        self.momentum = check_real(op, "momentum", momentum, 0)
        self.length = None if length is None else check_int(op, "length", length, 0)
        check_type(op, "rand_init", rand_init, bool)
        self.rand_init = rand_init

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        op, length = "GriffinLim", self.length or None
        magnitudes = sound.astype(np.float64) ** (1 / self.power)
        if self.rand_init:
            draws = row_rng().random((2, *sound.shape))
            phases = draws[0] + 1j * draws[1]
        else:
            phases = np.ones(sound.shape, np.complex128)
        before = np.zeros(sound.shape, np.complex128)
        share = self.momentum / (1 + 2 * self.momentum)  # as MindSpore weighs what was before
        for _ in range(self.n_iter):
            wave = istft(op, magnitudes * phases, self.frames, length)
            again = stft(op, wave, self.frames)[..., : sound.shape[-1]]
            missing = sound.shape[-1] - again.shape[-1]
            if missing > 0:
                again = np.pad(again, [(0, 0)] * (again.ndim - 1) + [(0, missing)])
            phases = again - share * before
            phases = phases / (np.abs(phases) + 1e-16)
            before = again
        return istft(op, magnitudes * phases, self.frames, length)

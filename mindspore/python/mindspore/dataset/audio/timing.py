"""Time and pitch: complex numbers of spectrograms, other speeds and rates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore.dataset.audio.operation import (
    AudioTensorOperation,
    check_optional,
    check_rate,
    check_real,
)
from mindspore.dataset.audio.spectra import Frames, istft, power_of, stft
from mindspore.dataset.audio.utils import ResampleMethod, WindowType
from mindspore.dataset.core.validator_helpers import check_int, check_type

_KAISER_BETA = 14.769656459379492


class Angle(AudioTensorOperation):
    """Angles of complex numbers, the last axis of two."""

    _layout = "complex=2"

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        return np.asarray(np.arctan2(sound[..., 1], sound[..., 0]))


class ComplexNorm(AudioTensorOperation):
    """Magnitudes of complex numbers, the last axis of two, to a power."""

    _layout = "complex=2"

    def __init__(self, power: float = 1.0) -> None:
        self.power = check_real("ComplexNorm", "power", power, 0)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        return power_of(np.hypot(sound[..., 0], sound[..., 1]), self.power)


class Magphase(AudioTensorOperation):
    """Magnitudes to a power, and angles, of complex numbers, the last axis of two."""

    _layout = "complex=2"

    def __init__(self, power: float = 1.0) -> None:
        self.power = check_real("Magphase", "power", power, 0)

    def _sound(self, sound: np.ndarray) -> Any:
        magnitudes = power_of(np.hypot(sound[..., 0], sound[..., 1]), self.power)
        return magnitudes, np.arctan2(sound[..., 1], sound[..., 0])


def stretched(spectrum: np.ndarray, rate: float, advance: np.ndarray) -> np.ndarray:
    """A complex spectrum <..., freq, frame> played `rate` times as fast; `advance` is how far the phase
    of each frequency goes from frame to frame.
    """
    places = np.arange(0, spectrum.shape[-1], rate)
    wide = np.pad(spectrum, [(0, 0)] * (spectrum.ndim - 1) + [(0, 2)])
    index = places.astype(np.int64)
    this, after = wide[..., index], wide[..., index + 1]
    turn = np.angle(after) - np.angle(this) - advance
    turn += advance - 2 * math.pi * np.rint(turn / (2 * math.pi))
    phases = np.cumsum(
        np.concatenate([np.angle(spectrum[..., :1]), turn[..., :-1]], axis=-1), axis=-1
    )
    part = places % 1
    magnitudes = part * np.abs(after) + (1 - part) * np.abs(this)
    return np.asarray(magnitudes * np.exp(1j * phases))


class _Vocoder(AudioTensorOperation):
    """Base of what changes the speed of complex spectrograms."""

    _layout = "freq, num_frame, complex=2"
    _rate: float
    _advance: np.ndarray

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        if self._rate == 1:
            return sound
        if sound.shape[-3] != len(self._advance):
            raise ValueError(
                f"For '{type(self).__name__}', the input must have {len(self._advance)} frequencies, but got "
                f"shape {sound.shape}."
            )
        exact = sound.astype(np.float64)
        result = stretched(exact[..., 0] + 1j * exact[..., 1], self._rate, self._advance)
        return np.stack([result.real, result.imag], axis=-1)


class PhaseVocoder(_Vocoder):
    """A spectrogram `rate` times as fast, at the same pitch."""

    def __init__(self, rate: float, phase_advance: np.ndarray) -> None:
        op = "PhaseVocoder"
        self._rate = check_real(op, "rate", rate, 0, above=True)
        check_type(op, "phase_advance", phase_advance, np.ndarray)
        if (
            phase_advance.ndim != 2
            or phase_advance.shape[1] != 1
            or phase_advance.dtype.kind not in "iuf"
        ):
            raise ValueError(
                f"For '{op}', phase_advance must be numbers of shape (freq, 1), but got {phase_advance.dtype} "
                f"of shape {phase_advance.shape}."
            )
        self.phase_advance = phase_advance
        self._advance = phase_advance.astype(np.float64)


class TimeStretch(_Vocoder):
    """A spectrogram `fixed_rate` times as fast, at the same pitch; None: as it is."""

    def __init__(
        self, hop_length: int | None = None, n_freq: int = 201, fixed_rate: float | None = None
    ) -> None:
        op = "TimeStretch"
        check_int(op, "n_freq", n_freq, 1)
        hop = check_optional(op, "hop_length", hop_length, n_freq - 1)
        self._rate = 1.0
        if fixed_rate is not None:
            self._rate = check_real(op, "fixed_rate", fixed_rate, 0, above=True)
        self._advance = np.linspace(0, math.pi * hop, n_freq)[:, None]


class PitchShift(AudioTensorOperation):
    """A sound higher by `n_steps` of `bins_per_octave`, and as long as it was."""

    def __init__(
        self,
        sample_rate: int,
        n_steps: int,
        bins_per_octave: int = 12,
        n_fft: int = 512,
        win_length: int | None = None,
        hop_length: int | None = None,
        window: WindowType = WindowType.HANN,
    ) -> None:
        op = "PitchShift"
        self.sample_rate = check_rate(op, "sample_rate", sample_rate)
        check_int(op, "n_steps", n_steps, -(2**31))
        check_int(op, "bins_per_octave", bins_per_octave, -(2**31))
        if bins_per_octave == 0:
            raise ValueError(f"For '{op}', bins_per_octave must not be 0, but got 0.")
        self.frames = Frames.checked(op, n_fft, win_length, hop_length, window, overlap=4)
        steps = n_steps / bins_per_octave
        if abs(steps) > 16:
            raise ValueError(
                f"For '{op}', the shift must be at most 16 octaves, but got {steps:g}."
            )
        self._rate = math.pow(2, -steps)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        op, length = "PitchShift", sound.shape[-1]
        spectrum = stft(op, sound.astype(np.float64), self.frames)
        hop = self.frames.hop_length
        advance = np.linspace(0, math.pi * hop, spectrum.shape[-2])[:, None]
        if self._rate != 1:
            spectrum = stretched(spectrum, self._rate, advance)
        slow = istft(op, spectrum, self.frames, int(np.rint(length / self._rate)))
        rate = max(int(self.sample_rate / self._rate), 1)
        shifted = resampled(slow, rate, self.sample_rate, Kernel())
        missing = max(length - shifted.shape[-1], 0)
        return np.pad(shifted[..., :length], [(0, 0)] * (sound.ndim - 1) + [(0, missing)])


class Kernel:
    """The filter of a change of rates: a sinc under a window of `width` of its waves."""

    def __init__(self, width: int = 6, rolloff: float = 0.99, beta: float | None = None) -> None:
        self.width, self.rolloff = width, rolloff
        self.beta = beta  # of the window of Kaiser; None: a cosine

    def weights(self, distances: np.ndarray, share: float) -> np.ndarray:
        """Of samples at distances; `share` of the frequencies pass."""
        at = np.clip(distances * share, -self.width, self.width)
        if self.beta is None:
            window = np.cos(at * math.pi / self.width / 2) ** 2
        else:
            inner = np.sqrt(np.maximum(1 - (at / self.width) ** 2, 0))
            window = np.i0(self.beta * inner) / np.i0(self.beta)
        return np.asarray(np.sinc(at) * window * share)


def resampled(sound: np.ndarray, old: int, new: int, kernel: Kernel) -> np.ndarray:
    """The sound with `new` samples where it had `old`."""
    common = math.gcd(old, new)
    old, new = old // common, new // common
    length = sound.shape[-1]
    if old == new or length == 0:
        return sound
    share = min(old, new) * kernel.rolloff / old
    reach = math.ceil(kernel.width / share)
    taps = np.arange(-reach, reach + 2)
    wide = np.pad(sound, [(0, 0)] * (sound.ndim - 1) + [(reach, reach + old + 1)])
    view = np.lib.stride_tricks.sliding_window_view(wide, len(taps), axis=-1)
    result = np.empty((*sound.shape[:-1], math.ceil(new * length / old)), sound.dtype)
    # What lies equally far from the samples before and after it has the same weights.
    for phase in range(min(new, result.shape[-1])):
        place, part = divmod(phase * old, new)
        weights = kernel.weights(taps - part / new, share).astype(sound.dtype)
        target = result[..., phase::new]
        target[...] = np.matmul(view[..., place::old, :][..., : target.shape[-1], :], weights)
    return result


class Resample(AudioTensorOperation):
    """A sound at another rate."""

    def __init__(
        self,
        orig_freq: float = 16000,
        new_freq: float = 16000,
        resample_method: ResampleMethod = ResampleMethod.SINC_INTERPOLATION,
        lowpass_filter_width: int = 6,
        rolloff: float = 0.99,
        beta: float | None = None,
    ) -> None:
        op = "Resample"
        check_real(op, "orig_freq", orig_freq, 0, above=True)
        check_real(op, "new_freq", new_freq, 0, above=True)
        check_type(op, "resample_method", resample_method, ResampleMethod)
        check_int(op, "lowpass_filter_width", lowpass_filter_width, 1)
        check_real(op, "rolloff", rolloff, 0, 1, above=True)
        if beta is not None:
            beta = check_real(op, "beta", beta)
        self.orig_freq, self.new_freq = int(orig_freq), int(new_freq)
        if self.orig_freq < 1 or self.new_freq < 1:
            raise ValueError(
                f"For '{op}', orig_freq and new_freq must be at least 1, but got {orig_freq} and {new_freq}."
            )
        if resample_method == ResampleMethod.KAISER_WINDOW:
            beta = _KAISER_BETA if beta is None else beta
        else:
            beta = None
        self._kernel = Kernel(lowpass_filter_width, rolloff, beta)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        return resampled(sound, self.orig_freq, self.new_freq, self._kernel)

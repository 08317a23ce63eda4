"""Filters: difference equations whose coefficients follow from frequencies and gains.

Those with two poles are the ones of Robert Bristow-Johnson's "Cookbook formulae for audio equalizer
biquad filter coefficients", with the variants of SoX where it has others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.dataset.audio.operation import EngineOperation, check_real
from mindspore.dataset.core.validator_helpers import check_int, check_type

Coefficients = tuple[float, float, float]


class _Equation(EngineOperation):
    """Base of the filters: a0 y[n] + a1 y[n-1] + ... = b0 x[n] + b1 x[n-1] + ..."""

    _a: Sequence[float]
    _b: Sequence[float]
    _clamp = True
    _both_ways = False

    def _numbers(self) -> list[float]:
        numbers = [float(number) for number in (*self._a, *self._b)]
        return [float(self._clamp), float(self._both_ways), *numbers]


def _coefficients(op: str, name: str, values: Any) -> list[float]:
    check_type(op, name, values, (list, tuple))
    if not values:
        raise ValueError(f"For '{op}', {name} must not be empty.")
    return [check_real(op, f"{name}[{k}]", value) for k, value in enumerate(values)]


class LFilter(_Equation):
    """Sound through a filter with the given coefficients, lower delays first."""

    def __init__(
        self, a_coeffs: Sequence[float], b_coeffs: Sequence[float], clamp: bool = True
    ) -> None:
        op = type(self).__name__
        self._a = _coefficients(op, "a_coeffs", a_coeffs)
        self._b = _coefficients(op, "b_coeffs", b_coeffs)
        check_type(op, "clamp", clamp, bool)
        if len(self._a) != len(self._b):
            raise ValueError(
                f"For '{op}', a_coeffs and b_coeffs must be equally many, but got {len(self._a)} and "
                f"{len(self._b)}."
            )
        if np.float32(self._a[0]) == 0:
            raise ValueError(f"For '{op}', a_coeffs[0] must not be 0, but got {self._a[0]}.")
        self.a_coeffs, self.b_coeffs, self.clamp = a_coeffs, b_coeffs, clamp
        self._clamp = clamp


class Filtfilt(LFilter):
    """Sound through a filter forwards, then backwards: its phases stay."""

    _both_ways = True


class Biquad(_Equation):
    """Sound through a filter of two poles with the given coefficients."""

    def __init__(self, b0: float, b1: float, b2: float, a0: float, a1: float, a2: float) -> None:
        given = {"b0": b0, "b1": b1, "b2": b2, "a0": a0, "a1": a1, "a2": a2}
        for name, value in given.items():
            check_real("Biquad", name, value)
        if np.float32(a0) == 0:
            raise ValueError(f"For 'Biquad', a0 must not be 0, but got {a0}.")
        self._b, self._a = (b0, b1, b2), (a0, a1, a2)


class _Turn:
    """What the formulas are written in: a frequency as an angle, and the width about it."""

    def __init__(self, op: str, sample_rate: Any, name: str, frequency: Any, q: Any) -> None:
        check_int(op, "sample_rate", sample_rate, -(2**31))
        if sample_rate == 0:
            raise ValueError(f"For '{op}', sample_rate must not be 0, but got 0.")
        check_real(op, name, frequency)
        check_real(op, "Q", q, 0, 1, above=True)
        angle = 2 * math.pi * frequency / sample_rate
        self.cos, self.sin = math.cos(angle), math.sin(angle)
        self.alpha = self.sin / 2 / q
        self.poles: Coefficients = (1 + self.alpha, -2 * self.cos, 1 - self.alpha)


class AllpassBiquad(_Equation):
    """Phases changed about a frequency, and no amplitudes."""

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707) -> None:
        turn = _Turn("AllpassBiquad", sample_rate, "central_freq", central_freq, Q)
        self._a, self._b = turn.poles, turn.poles[::-1]


class BandBiquad(_Equation):
    """What is near a frequency; `noise`: for sounds without a pitch."""

    def __init__(
        self, sample_rate: int, central_freq: float, Q: float = 0.707, noise: bool = False
    ) -> None:
        turn = _Turn("BandBiquad", sample_rate, "central_freq", central_freq, Q)
        check_type("BandBiquad", "noise", noise, bool)
        a2 = math.exp(-2 * math.pi * central_freq / Q / sample_rate)
        a1 = -4 * a2 / (1 + a2) * turn.cos
        b0 = math.sqrt(max(1 - a1 * a1 / (4 * a2), 0)) * (1 - a2)
        if noise:
            b0 = math.sqrt(((1 + a2) ** 2 - a1 * a1) * (1 - a2) / (1 + a2))
        self._a, self._b = (1, a1, a2), (b0, 0, 0)


class BandpassBiquad(_Equation):
    """What is near a frequency; the peak is 0 dB, or Q with `const_skirt_gain`."""

    def __init__(
        self,
        sample_rate: int,
        central_freq: float,
        Q: float = 0.707,
        const_skirt_gain: bool = False,
    ) -> None:
        turn = _Turn("BandpassBiquad", sample_rate, "central_freq", central_freq, Q)
        check_type("BandpassBiquad", "const_skirt_gain", const_skirt_gain, bool)
        peak = turn.sin / 2 if const_skirt_gain else turn.alpha
        self._a, self._b = turn.poles, (peak, 0, -peak)


class BandrejectBiquad(_Equation):
    """All but what is near a frequency."""

    def __init__(self, sample_rate: int, central_freq: float, Q: float = 0.707) -> None:
        turn = _Turn("BandrejectBiquad", sample_rate, "central_freq", central_freq, Q)
        self._a, self._b = turn.poles, (1, -2 * turn.cos, 1)


def _shelf(
    amplitude: float, cos: float, alpha: float, high: bool
) -> tuple[Coefficients, Coefficients]:
    """a and b of what raises one side of a frequency: the high one, or the low one."""
    c = cos if high else -cos
    slope = 2 * math.sqrt(amplitude) * alpha
    less, more = amplitude - 1, amplitude + 1
    sign = 1 if high else -1
    b = (
        amplitude * (more + less * c + slope),
        -2 * sign * amplitude * (less + more * c),
        amplitude * (more + less * c - slope),
    )
    a = (more - less * c + slope, 2 * sign * (less - more * c), more - less * c - slope)
    return a, b


class BassBiquad(_Equation):
    """What is below a frequency louder by `gain` decibels."""

    def __init__(
        self, sample_rate: int, gain: float, central_freq: float = 100.0, Q: float = 0.707
    ) -> None:
        turn = _Turn("BassBiquad", sample_rate, "central_freq", central_freq, Q)
        amplitude = _amplitude("BassBiquad", gain)
        self._a, self._b = _shelf(amplitude, turn.cos, turn.alpha, False)


class TrebleBiquad(_Equation):
    """What is above a frequency louder by `gain` decibels."""

    def __init__(
        self, sample_rate: int, gain: float, central_freq: float = 3000, Q: float = 0.707
    ) -> None:
        turn = _Turn("TrebleBiquad", sample_rate, "central_freq", central_freq, Q)
        amplitude = _amplitude("TrebleBiquad", gain)
        self._a, self._b = _shelf(amplitude, turn.cos, turn.alpha, True)


def _amplitude(op: str, gain: Any) -> float:
    """The square root of a gain of decibels as a factor."""
    try:
        return math.pow(10, check_real(op, "gain", gain) / 40)
    except OverflowError:
        raise ValueError(
            f"For '{op}', gain must be a factor that floats hold, but got {gain}."
        ) from None


# Frequency, slope and gain of the standard's curve, for each rate.
_DEEMPHASES = {44100: (5283, 0.4845, -9.477), 48000: (5356, 0.479, -9.62)}


class DeemphBiquad(_Equation):
    """The high frequencies of compact discs (IEC 60908) as loud as they were before emphasis."""

    def __init__(self, sample_rate: int) -> None:
        check_type("DeemphBiquad", "sample_rate", sample_rate, int)
        if sample_rate not in _DEEMPHASES:
            raise ValueError(
                f"For 'DeemphBiquad', sample_rate must be 44100 or 48000, but got {sample_rate}."
            )
        frequency, slope, gain = _DEEMPHASES[sample_rate]
        turn = _Turn("DeemphBiquad", sample_rate, "frequency", frequency, 1)
        amplitude = _amplitude("DeemphBiquad", gain)
        width = math.sqrt((amplitude + 1 / amplitude) * (1 / slope - 1) + 2)
        self._a, self._b = _shelf(amplitude, turn.cos, turn.sin / 2 * width, True)


class EqualizerBiquad(_Equation):
    """What is near a frequency louder by `gain` decibels."""

    def __init__(self, sample_rate: int, center_freq: float, gain: float, Q: float = 0.707) -> None:
        turn = _Turn("EqualizerBiquad", sample_rate, "center_freq", center_freq, Q)
        amplitude = _amplitude("EqualizerBiquad", gain)
        wide, narrow, middle = turn.alpha * amplitude, turn.alpha / amplitude, -2 * turn.cos
        self._a, self._b = (1 + narrow, middle, 1 - narrow), (1 + wide, middle, 1 - wide)


class HighpassBiquad(_Equation):
    """What is above a frequency."""

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707) -> None:
        turn = _Turn("HighpassBiquad", sample_rate, "cutoff_freq", cutoff_freq, Q)
        half = (1 + turn.cos) / 2
        self._a, self._b = turn.poles, (half, -2 * half, half)


class LowpassBiquad(_Equation):
    """What is below a frequency."""

    def __init__(self, sample_rate: int, cutoff_freq: float, Q: float = 0.707) -> None:
        turn = _Turn("LowpassBiquad", sample_rate, "cutoff_freq", cutoff_freq, Q)
        half = (1 - turn.cos) / 2
        self._a, self._b = turn.poles, (half, 2 * half, half)


# Zeros and poles of the curve, for each rate.
_RIAA = {
    44100: ((-0.2014898, 0.9233820), (0.7083149, 0.9924091)),
    48000: ((-0.1766069, 0.9321590), (0.7396325, 0.9931330)),
    88200: ((-0.1168735, 0.9648312), (0.8590646, 0.9964002)),
    96000: ((-0.1141486, 0.9676817), (0.8699137, 0.9966946)),
}


class RiaaBiquad(_Equation):
    """The curve with which records are played; 1 kHz stays as loud as it is."""

    def __init__(self, sample_rate: int) -> None:
        check_type("RiaaBiquad", "sample_rate", sample_rate, int)
        if sample_rate not in _RIAA:
            raise ValueError(
                f"For 'RiaaBiquad', sample_rate must be one of {list(_RIAA)}, but got {sample_rate}."
            )
        b, a = (np.poly(roots) for roots in _RIAA[sample_rate])
        there = np.exp(-2j * math.pi * 1000 / sample_rate * np.arange(3))
        gain = abs((a * there).sum() / (b * there).sum())
        self._a, self._b = a.tolist(), (b * gain).tolist()

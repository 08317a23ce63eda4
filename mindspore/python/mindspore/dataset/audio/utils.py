"""Names for the choices that operations on sound offer, and the matrices that some of them are made of."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import INT32_MAX, check_int, check_type


class BorderType(str, Enum):
    """How a sound goes on beyond its ends."""

    CONSTANT = "constant"
    EDGE = "edge"
    REFLECT = "reflect"
    SYMMETRIC = "symmetric"


class DensityFunction(str, Enum):
    """How the noise of Dither is distributed: triangular, rectangular or Gaussian."""

    TPDF = "TPDF"
    RPDF = "RPDF"
    GPDF = "GPDF"


class FadeShape(str, Enum):
    """The curve along which a sound gets louder."""

    QUARTER_SINE = "quarter_sine"
    HALF_SINE = "half_sine"
    LINEAR = "linear"
    LOGARITHMIC = "logarithmic"
    EXPONENTIAL = "exponential"


class GainType(str, Enum):
    """What the gain of Vol is: a factor of amplitudes, one of power, or decibels."""

    AMPLITUDE = "amplitude"
    POWER = "power"
    DB = "db"


class Interpolation(str, Enum):
    """What Flanger takes between two samples."""

    LINEAR = "linear"
    QUADRATIC = "quadratic"


class MelType(str, Enum):
    """The formula of the mel scale."""

    HTK = "htk"
    SLANEY = "slaney"


class Modulation(str, Enum):
    """The curve along which Flanger changes its delay."""

    SINUSOIDAL = "sinusoidal"
    TRIANGULAR = "triangular"


class NormMode(str, Enum):
    """How the rows of a cosine transform are scaled."""

    ORTHO = "ortho"
    NONE = "none"


class NormType(str, Enum):
    """How the filters of a mel scale are scaled: each to the same area, or not at all."""

    SLANEY = "slaney"
    NONE = "none"


class ResampleMethod(str, Enum):
    """The window over the sinc of Resample."""

    SINC_INTERPOLATION = "sinc_interpolation"
    KAISER_WINDOW = "kaiser_window"


class ScaleType(str, Enum):
    """What a spectrogram holds."""

    POWER = "power"
    MAGNITUDE = "magnitude"


class WindowType(str, Enum):
    """The window over the samples of a frame."""

    BARTLETT = "bartlett"
    BLACKMAN = "blackman"
    HAMMING = "hamming"
    HANN = "hann"
    KAISER = "kaiser"


def create_dct(n_mfcc: int, n_mels: int, norm: NormMode = NormMode.NONE) -> np.ndarray:
    """The matrix [n_mels, n_mfcc] of the cosine transform of kind 2."""
    op = "create_dct"
    check_int(op, "n_mfcc", n_mfcc, 1)
    check_int(op, "n_mels", n_mels, 1)
    check_type(op, "norm", norm, NormMode)
    angles = math.pi / n_mels * np.outer(np.arange(n_mels) + 0.5, np.arange(n_mfcc))
    matrix = np.cos(angles)
    if norm == NormMode.NONE:
        matrix *= 2
    else:
        matrix[:, 0] *= math.sqrt(0.5)
        matrix *= math.sqrt(2 / n_mels)
    return matrix.astype(np.float32)


def melscale_fbanks(
    n_freqs: int,
    f_min: float,
    f_max: float,
    n_mels: int,
    sample_rate: int,
    norm: NormType = NormType.NONE,
    mel_type: MelType = MelType.HTK,
) -> np.ndarray:
    """The matrix [n_freqs, n_mels] of triangular filters that are evenly wide in mels."""
    op = "melscale_fbanks"
    check_type(op, "norm", norm, NormType)
    check_type(op, "mel_type", mel_type, MelType)
    check_int(op, "n_mels", n_mels, 1)
    _check_band(op, n_freqs, f_min, f_max, sample_rate)
    mels = np.linspace(_mels(f_min, mel_type), _mels(f_max, mel_type), n_mels + 2)
    corners = _hertz(mels, mel_type)
    filters = _triangles(n_freqs, corners, sample_rate)
    if norm == NormType.SLANEY:
        filters *= 2 / (corners[2:] - corners[:-2])
    return filters.astype(np.float32)


def linear_fbanks(
    n_freqs: int, f_min: float, f_max: float, n_filter: int, sample_rate: int
) -> np.ndarray:
    """The matrix [n_freqs, n_filter] of triangular filters that are evenly wide."""
    op = "linear_fbanks"
    check_int(op, "n_filter", n_filter, 1)
    _check_band(op, n_freqs, f_min, f_max, sample_rate)
    corners = np.linspace(f_min, f_max, n_filter + 2)
    return _triangles(n_freqs, corners, sample_rate).astype(np.float32)


def _check_band(op: str, n_freqs: Any, f_min: Any, f_max: Any, sample_rate: Any) -> None:
    check_int(op, "n_freqs", n_freqs, 2)
    check_int(op, "sample_rate", sample_rate, 1)
    check_type(op, "f_min", f_min, (int, float))
    check_type(op, "f_max", f_max, (int, float))
    if not 0 <= f_min < f_max < math.inf:
        raise ValueError(
            f"For '{op}', f_min and f_max must be 0 <= f_min < f_max, but got {f_min} and {f_max}."
        )


# The scale of Slaney is straight up to a frequency, then logarithmic.
_STEP, _BREAK, _GROWTH = 200 / 3, 1000.0, math.log(6.4) / 27


def _mels(frequency: float, mel_type: MelType) -> float:
    if mel_type == MelType.HTK:
        return 2595 * math.log10(1 + frequency / 700)
    if frequency < _BREAK:
        return frequency / _STEP
    return _BREAK / _STEP + math.log(frequency / _BREAK) / _GROWTH


def _hertz(mels: np.ndarray, mel_type: MelType) -> np.ndarray:
    if mel_type == MelType.HTK:
        return np.asarray(700 * (np.power(10, mels / 2595) - 1))
    above = np.maximum(mels - _BREAK / _STEP, 0)
    return np.where(above > 0, _BREAK * np.exp(_GROWTH * above), mels * _STEP)


def _triangles(n_freqs: int, corners: np.ndarray, sample_rate: int) -> np.ndarray:
    """[n_freqs, filters]: each rises from one corner to the next and falls to the one after."""
    distance = corners - np.linspace(0, sample_rate // 2, n_freqs)[:, None]
    width = np.diff(corners)
    rising, falling = -distance[:, :-2] / width[:-1], distance[:, 2:] / width[1:]
    return np.asarray(np.maximum(0, np.minimum(rising, falling)))


def type_check(arg: Any, types: tuple[type, ...], arg_name: str) -> None:
    """Raise TypeError unless the argument has one of the types; a bool is an int only by name."""
    if (isinstance(arg, bool) and bool not in types) or not isinstance(arg, types):
        names = " or ".join(kind.__name__ for kind in types)
        raise TypeError(f"{arg_name} must be {names}, but got {type(arg).__name__}.")


def _in_range(value: Any, low: float, high: float, above: bool, arg_name: str) -> None:
    if not low <= value <= high or (above and value == low):
        kind = "positive" if above else "not negative"
        raise ValueError(
            f"{arg_name or 'It'} must be {kind} and at most {high:g}, but got {value}."
        )


def check_non_negative_float32(value: float, arg_name: str = "") -> None:
    """Raise ValueError unless the value lies in [0, the largest float32]."""
    _in_range(value, 0, float(np.finfo(np.float32).max), False, arg_name)


def check_pos_float32(value: float, arg_name: str = "") -> None:
    """Raise ValueError unless the value lies in (0, the largest float32]."""
    _in_range(value, 0, float(np.finfo(np.float32).max), True, arg_name)


def check_non_negative_int32(value: int, arg_name: str = "") -> None:
    """Raise ValueError unless the value lies in [0, the largest int32]."""
    _in_range(value, 0, INT32_MAX, False, arg_name)


def check_pos_int32(value: int, arg_name: str = "") -> None:
    """Raise ValueError unless the value lies in (0, the largest int32]."""
    _in_range(value, 0, INT32_MAX, True, arg_name)


__all__ = [
    "BorderType",
    "DensityFunction",
    "FadeShape",
    "GainType",
    "Interpolation",
    "MelType",
    "Modulation",
    "NormMode",
    "NormType",
    "ResampleMethod",
    "ScaleType",
    "WindowType",
    "check_non_negative_float32",
    "check_non_negative_int32",
    "check_pos_float32",
    "check_pos_int32",
    "create_dct",
    "linear_fbanks",
    "melscale_fbanks",
    "type_check",
]

"""Spectrograms through banks of filters, and their cosine transforms: mel scales, MFCC, LFCC."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.dataset.audio.features import to_decibels
from mindspore.dataset.audio.operation import AudioTensorOperation, check_rate, check_real
from mindspore.dataset.audio.spectra import Spectrogram
from mindspore.dataset.audio.utils import (
    BorderType,
    MelType,
    NormMode,
    NormType,
    WindowType,
    create_dct,
    linear_fbanks,
    melscale_fbanks,
)
from mindspore.dataset.core.random import row_rng
from mindspore.dataset.core.validator_helpers import check_int, check_type


def _band(op: str, f_min: Any, f_max: Any, sample_rate: int) -> tuple[float, float]:
    """The limits of the filters; None is half the rate."""
    low = check_real(op, "f_min", f_min)
    high = float(sample_rate // 2)
    if f_max is not None:
        high = check_real(op, "f_max", f_max, 0)
    if not 0 <= low < high:
        raise ValueError(
            f"For '{op}', f_min and f_max must be 0 <= f_min < f_max, but got {low:g} and {high:g}."
        )
    return low, high


def _mel_filters(op: str, bins: Any, n_mels: Any, sample_rate: Any, f_min: Any, f_max: Any,
                 norm: Any, mel_type: Any) -> np.ndarray:  # fmt: skip
    check_int(op, "n_mels", n_mels, 1)
    check_int(op, "n_stft", bins, 2)
    low, high = _band(op, f_min, f_max, check_rate(op, "sample_rate", sample_rate))
    check_type(op, "norm", norm, NormType)
    check_type(op, "mel_type", mel_type, MelType)
    return melscale_fbanks(bins, low, high, n_mels, sample_rate, norm, mel_type)


def _check_onesided(op: str, spectrogram: Spectrogram) -> int:
    """How many frequencies the spectrogram has; filters know no negative ones."""
    if not spectrogram.onesided:
        raise ValueError(f"For '{op}', onesided must be True, but got False.")
    return spectrogram.frames.n_fft // 2 + 1


def _filtered(op: str, spectrum: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """<..., freq, time> with its frequencies through [freq, filters]."""
    if spectrum.shape[-2] != filters.shape[0]:
        raise ValueError(
            f"For '{op}', the input must have {filters.shape[0]} frequencies, but got shape "
            f"{spectrum.shape}."
        )
    return _times(spectrum, filters)


def _times(spectrum: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """<..., freq, time> with its frequencies through a matrix; a spectrum lies frame by frame."""
    frames = spectrum.swapaxes(-1, -2)
    return np.asarray(np.matmul(frames, matrix.astype(spectrum.dtype)).swapaxes(-1, -2))


class MelScale(AudioTensorOperation):
    """A spectrogram <..., n_stft, time> as <..., n_mels, time>."""

    _layout = "freq, time"

    def __init__(
        self,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        n_stft: int = 201,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ) -> None:
        self.filters = _mel_filters(
            "MelScale", n_stft, n_mels, sample_rate, f_min, f_max, norm, mel_type
        )

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        return _filtered("MelScale", sound, self.filters)


class MelSpectrogram(AudioTensorOperation):
    """The spectrogram of a sound on the mel scale."""

    def __init__(
        self,
        sample_rate: int = 16000,
        n_fft: int = 400,
        win_length: int | None = None,
        hop_length: int | None = None,
        f_min: float = 0.0,
        f_max: float | None = None,
        pad: int = 0,
        n_mels: int = 128,
        window: WindowType = WindowType.HANN,
        power: float = 2.0,
        normalized: bool = False,
        center: bool = True,
        pad_mode: BorderType = BorderType.REFLECT,
        onesided: bool = True,
        norm: NormType = NormType.NONE,
        mel_scale: MelType = MelType.HTK,
    ) -> None:
        op = "MelSpectrogram"
        self._spectrogram = _NamedSpectrogram(
            op,
            n_fft,
            win_length,
            hop_length,
            pad,
            window,
            power,
            normalized,
            center,
            pad_mode,
            onesided,
        )
        check_real(op, "power", power, 0, above=True)
        bins = _check_onesided(op, self._spectrogram)
        self.filters = _mel_filters(op, bins, n_mels, sample_rate, f_min, f_max, norm, mel_scale)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        return self.mels("MelSpectrogram", sound)

    def mels(self, op: str, sound: np.ndarray) -> np.ndarray:
        """What `op` makes of the sound."""
        return _filtered(op, self._spectrogram.spectrogram(op, sound), self.filters)


class InverseMelScale(AudioTensorOperation):
    """A spectrogram <..., n_stft, time> whose mel scale is the given one, found by gradients."""

    _layout = "freq, time"

    def __init__(
        self,
        n_stft: int,
        n_mels: int = 128,
        sample_rate: int = 16000,
        f_min: float = 0.0,
        f_max: float | None = None,
        max_iter: int = 100000,
        tolerance_loss: float = 1e-5,
        tolerance_change: float = 1e-8,
        sgdargs: dict[str, float] | None = None,
        norm: NormType = NormType.NONE,
        mel_type: MelType = MelType.HTK,
    ) -> None:
        op = "InverseMelScale"
        self.filters = _mel_filters(op, n_stft, n_mels, sample_rate, f_min, f_max, norm, mel_type)
        self.max_iter = check_int(op, "max_iter", max_iter, 0)
        self.tolerance_loss = check_real(op, "tolerance_loss", tolerance_loss, 0)
        self.tolerance_change = check_real(op, "tolerance_change", tolerance_change, 0)
        check_type(op, "sgdargs", sgdargs, (dict, type(None)))
        given = {"sgd_lr": 0.1, "sgd_momentum": 0.9, **(sgdargs or {})}
        if len(given) > 2:
            raise ValueError(
                f"For '{op}', sgdargs must name 'sgd_lr' and 'sgd_momentum' only, but got {list(given)}."
            )
        self.rate = check_real(op, "sgd_lr", given["sgd_lr"], 0)
        self.momentum = check_real(op, "sgd_momentum", given["sgd_momentum"], 0)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        bins, mels = self.filters.shape
        if sound.shape[-2] != mels:
            raise ValueError(
                f"For 'InverseMelScale', the input must have {mels} mels, but got shape {sound.shape}."
            )
        wanted = sound.reshape(-1, *sound.shape[-2:]).astype(np.float64)
        filters = self.filters.astype(np.float64)
        guess = row_rng().random((wanted.shape[0], bins, wanted.shape[-1]))
        speed, loss = np.zeros_like(guess), np.inf
        vectors = max(wanted.shape[0] * wanted.shape[-1], 1)  # the loss is a mean over them
        for _ in range(self.max_iter):
            missing = wanted - np.matmul(filters.T, guess)
            before, loss = loss, float((missing * missing).sum() / vectors)
            if loss < self.tolerance_loss or abs(before - loss) < self.tolerance_change:
                break
            speed = self.momentum * speed - 2 / vectors * np.matmul(filters, missing)
            guess = np.maximum(guess - self.rate * speed, 0)
        # Of one spectrogram a batch of one comes out, as from MindSpore.
        return guess.reshape(*(sound.shape[:-2] or (1,)), bins, sound.shape[-1])


class _Cepstrum(AudioTensorOperation):
    """Base of the cosine transforms of spectrograms."""

    def _start(self, count: str, coefficients: Any, filters: int, dct_type: Any, norm: Any) -> None:
        op = type(self).__name__
        check_int(op, count, coefficients, 1)
        check_int(op, "dct_type", dct_type, 2, 2)
        check_type(op, "norm", norm, NormMode)
        if coefficients > filters:
            raise ValueError(
                f"For '{op}', {count} must not be more than the {filters} filters, but got {coefficients}."
            )
        self.matrix = create_dct(coefficients, filters, norm)

    def _transformed(self, powers: np.ndarray, logarithm: bool) -> np.ndarray:
        levels = np.log(powers + 1e-6) if logarithm else to_decibels(powers, 10.0, 1e-10, 1.0, 80.0)
        return _times(levels, self.matrix).astype(np.float32)

    def _apply(self, value: Any) -> Any:
        return super()._apply(value).astype(np.float32)


def _keywords(op: str, name: str, given: Any, known: Any) -> dict[str, Any]:
    check_type(op, name, given, (dict, type(None)))
    made = dict(given or {})
    for key in made:
        if key not in known:
            raise ValueError(f"For '{op}', {name} must name arguments of {known}, but got {key!r}.")
    return made


_FRAME_ARGUMENTS = ("n_fft", "win_length", "hop_length", "pad", "window", "power", "normalized", "center",
                    "pad_mode", "onesided")  # fmt: skip
_MEL_ARGUMENTS = (*_FRAME_ARGUMENTS, "f_min", "f_max", "n_mels", "norm", "mel_scale")


class MFCC(_Cepstrum):
    """The cosine transform of the logarithms of a mel spectrogram, <..., n_mfcc, frame>."""

    def __init__(
        self,
        sample_rate: int = 16000,
        n_mfcc: int = 40,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_mels: bool = False,
        melkwargs: dict[str, Any] | None = None,
    ) -> None:
        check_rate("MFCC", "sample_rate", sample_rate)
        check_type("MFCC", "log_mels", log_mels, bool)
        given = _keywords("MFCC", "melkwargs", melkwargs, _MEL_ARGUMENTS)
        self._mels, self.log_mels = MelSpectrogram(sample_rate, **given), log_mels
        self._start("n_mfcc", n_mfcc, self._mels.filters.shape[1], dct_type, norm)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        return self._transformed(self._mels.mels("MFCC", sound), self.log_mels)


class LFCC(_Cepstrum):
    """The cosine transform of the logarithms of a spectrogram through even filters."""

    def __init__(
        self,
        sample_rate: int = 16000,
        n_filter: int = 128,
        n_lfcc: int = 40,
        f_min: float = 0.0,
        f_max: float | None = None,
        dct_type: int = 2,
        norm: NormMode = NormMode.ORTHO,
        log_lf: bool = False,
        speckwargs: dict[str, Any] | None = None,
    ) -> None:
        op = "LFCC"
        check_rate(op, "sample_rate", sample_rate)
        check_int(op, "n_filter", n_filter, 1)
        check_type(op, "log_lf", log_lf, bool)
        given = _keywords(op, "speckwargs", speckwargs, _FRAME_ARGUMENTS)
        self._spectrogram, self.log_lf = _NamedSpectrogram(op, **given), log_lf
        low, high = _band(op, f_min, f_max, sample_rate)
        bins = _check_onesided(op, self._spectrogram)
        self.filters = linear_fbanks(bins, low, high, n_filter, sample_rate)
        self._start("n_lfcc", n_lfcc, n_filter, dct_type, norm)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        powers = _filtered("LFCC", self._spectrogram.spectrogram("LFCC", sound), self.filters)
        return self._transformed(powers, self.log_lf)


class _NamedSpectrogram(Spectrogram):
    """A spectrogram whose arguments are those of another operation, which errors name."""

    def __init__(self, op: str, *args: Any, **kwargs: Any) -> None:
        self._op = op
        super().__init__(*args, **kwargs)

"""Effects: what makes a sound louder, rougher or wider."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore.dataset.audio.operation import (
    AudioTensorOperation,
    EngineOperation,
    as_sound,
    check_real,
    decibels,
)
from mindspore.dataset.audio.utils import (
    DensityFunction,
    FadeShape,
    GainType,
    Interpolation,
    Modulation,
)
from mindspore.dataset.core.random import row_rng
from mindspore.dataset.core.validator_helpers import check_int, check_type


class Contrast(AudioTensorOperation):
    """A sound that seems louder, since what is quiet in it is less so."""

    def __init__(self, enhancement_amount: float = 75.0) -> None:
        self.amount = check_real("Contrast", "enhancement_amount", enhancement_amount, 0, 100)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        angle = sound * (math.pi / 2)
        return np.asarray(np.sin(angle + self.amount / 750 * np.sin(angle * 4)))


class DCShift(AudioTensorOperation):
    """All samples moved by `shift`; with `limiter_gain` the peaks are bent and not cut."""

    def __init__(self, shift: float, limiter_gain: float | None = None) -> None:
        self.shift = check_real("DCShift", "shift", shift, -2, 2)
        if limiter_gain is not None:
            check_real("DCShift", "limiter_gain", limiter_gain)
        self.limiter_gain = limiter_gain

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        # Downwards it is the same, of the sound upside down.
        sign = 1 if self.shift >= 0 else -1
        up, shift, gain = sound * sign, abs(self.shift), self.limiter_gain
        moved = np.clip(up + shift, -1, 1)
        threshold = 1.0 if gain is None else 1 - (shift - gain)
        if gain is not None and shift and threshold != 1:
            bent = (up - threshold) * gain / (1 - threshold) + threshold + shift
            moved = np.where(up > threshold, np.minimum(bent, threshold), moved)
        return moved * sign


class Dither(AudioTensorOperation):
    """The sound in 16 bits, with noise that hides what they leave out."""

    def __init__(
        self,
        density_function: DensityFunction = DensityFunction.TPDF,
        noise_shaping: bool = False,
    ) -> None:
        check_type("Dither", "density_function", density_function, DensityFunction)
        check_type("Dither", "noise_shaping", noise_shaping, bool)
        self.density_function, self.noise_shaping = density_function, noise_shaping

    def _noise(self, rows: np.ndarray) -> Any:
        length = rows.shape[-1]
        if self.density_function == DensityFunction.TPDF:
            return np.bartlett(length + 2)[:length] if length else 0
        # Samples of the sound itself are the draws, as SoX has it.
        count = 1 if self.density_function == DensityFunction.RPDF else 7
        channel = row_rng().integers(len(rows)) if len(rows) else 0
        drawn = rows[channel, row_rng().integers(length, size=count)] if rows.size else [0.0]
        return sum(drawn) - (0.5 if count == 1 else 0)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        rows = (
            sound.reshape(-1, sound.shape[-1]) if sound.size else sound.reshape(0, sound.shape[-1])
        )
        scaled = rows.astype(np.float64) * (2**15 - 2) + self._noise(rows)
        dithered = np.rint(scaled) / 2**15
        if self.noise_shaping:
            error = dithered - rows
            dithered[..., 1:] += error[..., :-1]
        return dithered.reshape(sound.shape)


class Fade(AudioTensorOperation):
    """A sound that comes and goes."""

    def __init__(
        self,
        fade_in_len: int = 0,
        fade_out_len: int = 0,
        fade_shape: FadeShape = FadeShape.LINEAR,
    ) -> None:
        self.fade_in_len = check_int("Fade", "fade_in_len", fade_in_len, 0)
        self.fade_out_len = check_int("Fade", "fade_out_len", fade_out_len, 0)
        check_type("Fade", "fade_shape", fade_shape, FadeShape)
        self.fade_shape = fade_shape

    def _curve(self, x: np.ndarray) -> np.ndarray:
        """The volumes on the way from silence, 0, to the whole sound, 1."""
        shapes = {
            FadeShape.LINEAR: x,
            FadeShape.EXPONENTIAL: np.exp2(x - 1) * x,
            FadeShape.LOGARITHMIC: np.log10(0.1 + x) + 1,
            FadeShape.QUARTER_SINE: np.sin(x * math.pi / 2),
            FadeShape.HALF_SINE: np.sin(x * math.pi - math.pi / 2) / 2 + 0.5,
        }
        # The logarithmic one ends at 1.04, as in MindSpore.
        return np.maximum(shapes[self.fade_shape], 0)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        length = sound.shape[-1]
        for name in ("fade_in_len", "fade_out_len"):
            if getattr(self, name) > length:
                raise ValueError(
                    f"For 'Fade', {name} must not be more than the {length} samples of the input, but got "
                    f"{getattr(self, name)}."
                )
        volume = np.ones(length)
        volume[: self.fade_in_len] = self._curve(np.linspace(0, 1, self.fade_in_len))
        volume[length - self.fade_out_len :] *= self._curve(
            1 - np.linspace(0, 1, self.fade_out_len)
        )
        return np.asarray(sound * volume)


class Flanger(EngineOperation):
    """A sound with its echo <..., channel, time>, whose delay changes."""

    def __init__(
        self,
        sample_rate: int,
        delay: float = 0.0,
        depth: float = 2.0,
        regen: float = 0.0,
        width: float = 71.0,
        speed: float = 0.5,
        phase: float = 25.0,
        modulation: Modulation = Modulation.SINUSOIDAL,
        interpolation: Interpolation = Interpolation.LINEAR,
    ) -> None:
        op = "Flanger"
        check_int(op, "sample_rate", sample_rate, 1)
        given = {
            "delay": (delay, 0, 30, 1e-3),
            "depth": (depth, 0, 10, 1e-3),
            "regen": (regen, -95, 95, 1e-2),
            "width": (width, 0, 100, 1e-2),
            "speed": (speed, 0.1, 10, 1.0),
            "phase": (phase, 0, 100, 1e-2),
        }
        numbers = [
            check_real(op, k, v, low, high) * unit for k, (v, low, high, unit) in given.items()
        ]
        check_type(op, "modulation", modulation, Modulation)
        check_type(op, "interpolation", interpolation, Interpolation)
        sine = modulation == Modulation.SINUSOIDAL
        quadratic = interpolation == Interpolation.QUADRATIC
        self._given = [float(sample_rate), *numbers, float(sine), float(quadratic)]

    def _numbers(self) -> list[float]:
        return self._given


class Gain(AudioTensorOperation):
    """A sound louder by some decibels."""

    def __init__(self, gain_db: float = 1.0) -> None:
        self.gain_db = check_real("Gain", "gain_db", gain_db)
        self._factor = _factor("Gain", "gain_db", self.gain_db)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        return sound * sound.dtype.type(self._factor)


def _factor(op: str, name: str, gain: float) -> float:
    try:
        return decibels(gain)
    except OverflowError:
        raise ValueError(
            f"For '{op}', {name} must be a factor that floats hold, but got {gain}."
        ) from None


class MuLawDecoding(AudioTensorOperation):
    """The sound of codes from 0 to quantization_channels - 1."""

    def __init__(self, quantization_channels: int = 256) -> None:
        check_int("MuLawDecoding", "quantization_channels", quantization_channels, 1)
        self._largest = quantization_channels - 1

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            level = sound / sound.dtype.type(self._largest) * 2 - 1
            height = np.expm1(np.abs(level) * math.log1p(self._largest))
            return np.asarray(np.sign(level) * height / self._largest)


class MuLawEncoding(AudioTensorOperation):
    """Codes from 0 to quantization_channels - 1, which are finer for what is quiet; int32."""

    def __init__(self, quantization_channels: int = 256) -> None:
        check_int("MuLawEncoding", "quantization_channels", quantization_channels, 1)
        self._largest = quantization_channels - 1

    def _apply(self, value: Any) -> Any:
        sound = as_sound("MuLawEncoding", value, "time")
        with np.errstate(divide="ignore", invalid="ignore"):
            height = np.log1p(self._largest * np.abs(sound)) / np.log1p(self._largest)
            codes = (np.sign(sound) * height + 1) / 2 * self._largest + 0.5
            return codes.astype(np.int32)


class Overdrive(EngineOperation):
    """A sound through an amplifier that cannot stand it; `color`: how much of even harmonics."""

    def __init__(self, gain: float = 20.0, color: float = 20.0) -> None:
        self.gain = check_real("Overdrive", "gain", gain, 0, 100)
        self.color = check_real("Overdrive", "color", color, 0, 100)

    def _numbers(self) -> list[float]:
        return [decibels(self.gain), self.color / 200]


class Phaser(EngineOperation):
    """A sound with an echo of itself and its echoes, whose delay changes."""

    def __init__(
        self,
        sample_rate: int,
        gain_in: float = 0.4,
        gain_out: float = 0.74,
        delay_ms: float = 3.0,
        decay: float = 0.4,
        mod_speed: float = 0.5,
        sinusoidal: bool = True,
    ) -> None:
        op = "Phaser"
        check_int(op, "sample_rate", sample_rate, 1)
        self._given = [
            float(sample_rate),
            check_real(op, "gain_in", gain_in, 0, 1),
            check_real(op, "gain_out", gain_out, 0, 1e9),
            check_real(op, "delay_ms", delay_ms, 0, 5) / 1000,
            check_real(op, "decay", decay, 0, 0.99),
            check_real(op, "mod_speed", mod_speed, 0.1, 2),
        ]
        check_type(op, "sinusoidal", sinusoidal, bool)
        self._given.append(float(sinusoidal))

    def _numbers(self) -> list[float]:
        return self._given


class Vol(AudioTensorOperation):
    """A sound times a factor of amplitude or power, or louder by decibels; cut at -1 and 1."""

    def __init__(self, gain: float, gain_type: GainType = GainType.AMPLITUDE) -> None:
        check_type("Vol", "gain_type", gain_type, GainType)
        low, above = -math.inf, False
        if gain_type != GainType.DB:
            low, above = 0.0, gain_type == GainType.POWER
        gain = check_real("Vol", "gain", gain, max(low, -3.4028234663852886e38), above=above)
        if gain_type == GainType.DB:
            self._factor = _factor("Vol", "gain", gain)
        else:
            self._factor = gain if gain_type == GainType.AMPLITUDE else math.sqrt(gain)
        self.gain, self.gain_type = gain, gain_type

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        return np.clip(sound * sound.dtype.type(self._factor), -1, 1)

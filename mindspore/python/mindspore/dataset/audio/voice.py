"""Where speech begins: the detector of SoX, which listens for what has a pitch above the noise."""

from __future__ import annotations

import math

import numpy as np

from mindspore.dataset.audio.operation import AudioTensorOperation, check_rate, check_real
from mindspore.dataset.audio.spectra import window_of
from mindspore.dataset.audio.utils import WindowType


class Vad(AudioTensorOperation):
    """A sound from where somebody speaks on; nothing of it where nobody does."""

    def __init__(
        self,
        sample_rate: int,
        trigger_level: float = 7.0,
        trigger_time: float = 0.25,
        search_time: float = 1.0,
        allowed_gap: float = 0.25,
        pre_trigger_time: float = 0.0,
        boot_time: float = 0.35,
        noise_up_time: float = 0.1,
        noise_down_time: float = 0.01,
        noise_reduction_amount: float = 1.35,
        measure_freq: float = 20.0,
        measure_duration: float | None = None,
        measure_smooth_time: float = 0.4,
        hp_filter_freq: float = 50.0,
        lp_filter_freq: float = 6000.0,
        hp_lifter_freq: float = 150.0,
        lp_lifter_freq: float = 2000.0,
    ) -> None:
        op = "Vad"
        rate = check_rate(op, "sample_rate", sample_rate)
        self.level = check_real(op, "trigger_level", trigger_level)
        given = {
            "trigger_time": trigger_time,
            "search_time": search_time,
            "allowed_gap": allowed_gap,
            "pre_trigger_time": pre_trigger_time,
            "boot_time": boot_time,
            "noise_up_time": noise_up_time,
            "noise_down_time": noise_down_time,
            "noise_reduction_amount": noise_reduction_amount,
            "measure_smooth_time": measure_smooth_time,
        }
        for name, value in given.items():
            check_real(op, name, value, 0)
        frequencies = {
            "measure_freq": measure_freq,
            "hp_filter_freq": hp_filter_freq,
            "lp_filter_freq": lp_filter_freq,
            "hp_lifter_freq": hp_lifter_freq,
            "lp_lifter_freq": lp_lifter_freq,
        }
        for name, value in frequencies.items():
            check_real(op, name, value, 0, above=True)
        if noise_up_time < noise_down_time:
            raise ValueError(
                f"For '{op}', noise_up_time must not be less than noise_down_time, but got {noise_up_time} and "
                f"{noise_down_time}."
            )
        if measure_duration is None:
            measure_duration = 2 / measure_freq
        check_real(op, "measure_duration", measure_duration, 0)

        self._length = int(rate * measure_duration + 0.5)
        self._period = max(int(rate / measure_freq + 0.5), 1)
        self._measures = math.ceil(search_time * measure_freq)
        self._gap = int(allowed_gap * measure_freq + 0.5)
        self._before = int(pre_trigger_time * rate + 0.5)
        self._boot = int(boot_time * measure_freq - 0.5)
        self._reduction = noise_reduction_amount
        self._up, self._down, self._smooth, self._trigger = (
            math.exp(-1 / (time * measure_freq)) if time else 0.0
            for time in (noise_up_time, noise_down_time, measure_smooth_time, trigger_time)
        )
        self._bands(rate, hp_filter_freq, lp_filter_freq, hp_lifter_freq, lp_lifter_freq)

    def _bands(
        self, rate: int, low: float, high: float, low_lifter: float, high_lifter: float
    ) -> None:
        """The parts of the spectrum, and of the spectrum of that, that count, and their windows."""
        self._size = 16
        while self._size < self._length:
            self._size *= 2
        start = max(int(low / rate * self._size + 0.5), 1)
        end = min(int(high / rate * self._size + 0.5), self._size // 2)
        first = math.ceil(rate * 0.5 / high_lifter)
        last = min(math.floor(rate * 0.5 / low_lifter), self._size // 4)
        if end <= start or last <= first or self._length < 1:
            raise ValueError(
                "For 'Vad', the filter and lifter frequencies must leave something between them, but got "
                f"{low:g} to {high:g} and {low_lifter:g} to {high_lifter:g} Hz at {rate} Hz."
            )
        self._spectrum, self._cepstrum = slice(start, end), slice(first, last)
        hann = WindowType.HANN
        self._window = window_of(hann, self._length) * 2 / math.sqrt(self._length)
        self._lifter = window_of(hann, end - start) * 2 / math.sqrt(end - start)

    def _measure(
        self, samples: np.ndarray, spectrum: np.ndarray, noise: np.ndarray, boot: int
    ) -> np.ndarray:
        """How much of a pitch each channel has; `spectrum` and `noise` are what was heard so far."""
        heard = np.abs(np.fft.rfft(samples * self._window, self._size))[:, self._spectrum]
        keep = boot / (1 + boot) if boot >= 0 else self._smooth
        spectrum *= keep
        spectrum += heard * (1 - keep)
        power = spectrum**2
        slow = np.where(power > noise, self._up, self._down) if boot < 0 else 0.0
        noise *= slow
        noise += power * (1 - slow)
        clear = np.sqrt(np.maximum(power - self._reduction * noise, 0))
        buffer = np.zeros((len(samples), self._size // 2))
        buffer[:, self._spectrum] = clear * self._lifter
        pitch = np.abs(np.fft.rfft(buffer))[:, self._cepstrum] ** 2
        with np.errstate(divide="ignore"):
            return np.maximum(21 + np.log(pitch.sum(-1) / pitch.shape[-1]), 0)

    def _quiet(self, measures: np.ndarray) -> int:
        """How many measures back, newest first, the speech of a channel goes."""
        trigger = zero = len(measures)
        step = 0
        for step, measure in enumerate(measures):
            if measure >= self.level and step <= trigger + self._gap:
                trigger = zero = step
            elif measure == 0 and trigger >= zero:
                zero = step
        return min(step, zero)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        rows = sound.reshape(-1, sound.shape[-1]).astype(np.float64)
        bins = self._spectrum.stop - self._spectrum.start
        spectrum, noise = np.zeros((len(rows), bins)), np.zeros((len(rows), bins))
        measures = np.zeros((len(rows), max(self._measures, 1)))  # newest first
        mean, boot = np.zeros(len(rows)), 0
        for place in range(self._length, sound.shape[-1], self._period):
            now = self._measure(rows[:, place - self._length : place], spectrum, noise, boot)
            measures = np.roll(measures, 1, axis=1)
            measures[:, 0] = now
            mean = mean * self._trigger + now * (1 - self._trigger)
            speaking = mean >= self.level
            if speaking.any():
                kept = max(self._quiet(line) for line in measures[speaking])
                start = place - self._before - self._length - kept * self._period
                return sound[..., max(start, 0) :]
            if boot >= 0:
                boot = -1 if boot == self._boot else boot + 1
        return sound[..., :0]

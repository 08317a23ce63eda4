"""Levels and features of spectrograms, and masks over them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore.dataset.audio.operation import AudioTensorOperation, check_real
from mindspore.dataset.audio.utils import BorderType, ScaleType
from mindspore.dataset.core.random import row_rng
from mindspore.dataset.core.validator_helpers import check_int, check_type


def to_decibels(
    powers: np.ndarray, factor: float, least: float, reference: float, span: float
) -> np.ndarray:
    """Decibels over the reference, none more than `span` below the loudest of its spectrograms."""
    level = factor * np.log10(np.maximum(powers, least)) - factor * math.log10(
        max(least, reference)
    )
    axes = tuple(range(max(-3, -level.ndim), 0))
    if level.size == 0:
        return np.asarray(level)
    return np.asarray(np.maximum(level, level.max(axis=axes, keepdims=True) - span))


class AmplitudeToDB(AudioTensorOperation):
    """A spectrogram in decibels."""

    _layout = "freq, time"

    def __init__(
        self,
        stype: ScaleType = ScaleType.POWER,
        ref_value: float = 1.0,
        amin: float = 1e-10,
        top_db: float = 80.0,
    ) -> None:
        op = "AmplitudeToDB"
        check_type(op, "stype", stype, ScaleType)
        self.factor = 10.0 if stype == ScaleType.POWER else 20.0
        self.ref_value = check_real(op, "ref_value", ref_value, 0, above=True)
        self.amin = check_real(op, "amin", amin, 0, above=True)
        self.top_db = check_real(op, "top_db", top_db, 0, above=True)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        return to_decibels(sound, self.factor, self.amin, self.ref_value, self.top_db)


class DBToAmplitude(AudioTensorOperation):
    """Decibels as powers (`power` 1) or amplitudes (0.5), times `ref`."""

    def __init__(self, ref: float, power: float) -> None:
        self.ref = check_real("DBToAmplitude", "ref", ref)
        self.power = check_real("DBToAmplitude", "power", power)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.ref * np.power(10.0, 0.1 * sound) ** self.power)


class ComputeDeltas(AudioTensorOperation):
    """How fast a spectrogram changes: the slope of the best line through `win_length` frames."""

    _layout = "freq, time"

    def __init__(self, win_length: int = 5, pad_mode: BorderType = BorderType.EDGE) -> None:
        self.win_length = check_int("ComputeDeltas", "win_length", win_length, 3)
        check_type("ComputeDeltas", "pad_mode", pad_mode, BorderType)
        self.pad_mode = pad_mode

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        reach, count = (self.win_length - 1) // 2, sound.shape[-1]
        if count == 0:
            return sound
        wide = np.pad(
            sound, [(0, 0)] * (sound.ndim - 1) + [(reach, reach)], mode=self.pad_mode.value
        )
        slope = np.zeros(sound.shape)
        for step in range(1, reach + 1):
            later = wide[..., reach + step : reach + step + count]
            slope += step * (later - wide[..., reach - step : reach - step + count])
        return slope / (reach * (reach + 1) * (2 * reach + 1) / 3)


class SlidingWindowCmn(AudioTensorOperation):
    """Frames <..., time, feature> less the mean of a window of frames; `norm_vars`: over their
    deviation.
    """

    _layout = "time, feature"

    def __init__(
        self,
        cmn_window: int = 600,
        min_cmn_window: int = 100,
        center: bool = False,
        norm_vars: bool = False,
    ) -> None:
        op = "SlidingWindowCmn"
        self.cmn_window = check_int(op, "cmn_window", cmn_window, 1)
        self.min_cmn_window = check_int(op, "min_cmn_window", min_cmn_window, 0)
        check_type(op, "center", center, bool)
        check_type(op, "norm_vars", norm_vars, bool)
        self.center, self.norm_vars = center, norm_vars

    def _windows(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the window of each frame begins and ends."""
        now = np.arange(count)
        if self.center:
            start = now - self.cmn_window // 2
            end = start + self.cmn_window
        else:
            start, end = now - self.cmn_window, now + 1
        end = np.where(start < 0, end - start, end)
        start = np.maximum(start, 0)
        if not self.center:
            end = np.where(end > now, np.maximum(now + 1, self.min_cmn_window), end)
        start = np.maximum(start - np.maximum(end - count, 0), 0)
        return start, np.minimum(end, count)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        start, end = self._windows(sound.shape[-2])
        lengths = (end - start)[:, None]

        def mean(values: np.ndarray) -> np.ndarray:
            edge = [(0, 0)] * (values.ndim - 2) + [(1, 0), (0, 0)]
            sums = np.pad(np.cumsum(values, axis=-2), edge)
            return np.asarray((sums[..., end, :] - sums[..., start, :]) / lengths)

        exact = sound.astype(np.float64)
        center = exact.mean(-2, keepdims=True) if exact.shape[-2] else exact
        exact = exact - center  # sums of what is near 0 keep their digits
        average = mean(exact)
        result = exact - average
        if self.norm_vars:
            variance = mean(exact * exact) - average * average
            with np.errstate(divide="ignore", invalid="ignore"):
                result = np.where(lengths == 1, 0, result / np.sqrt(np.maximum(variance, 0)))
        return result


class DetectPitchFrequency(AudioTensorOperation):
    """The pitch of each frame of `frame_time` seconds in hertz, by the lag at which a frame is most
    like itself; the median of `win_length` frames.
    """

    def __init__(
        self,
        sample_rate: int,
        frame_time: float = 0.01,
        win_length: int = 30,
        freq_low: int = 85,
        freq_high: int = 3400,
    ) -> None:
        op = "DetectPitchFrequency"
        check_int(op, "sample_rate", sample_rate, -(2**31))
        if sample_rate == 0:
            raise ValueError(f"For '{op}', sample_rate must not be 0, but got 0.")
        check_real(op, "frame_time", frame_time, 0, above=True)
        self.win_length = check_int(op, "win_length", win_length, 1)
        check_real(op, "freq_low", freq_low, 0, above=True)
        check_real(op, "freq_high", freq_high, 0, above=True)
        self.sample_rate = sample_rate
        self.frame_size = math.ceil(sample_rate * frame_time)
        self.most, self.least = (
            math.ceil(sample_rate / freq_low),
            math.ceil(sample_rate / freq_high),
        )

    def _likeness(self, sound: np.ndarray) -> np.ndarray:
        """<..., frame, lag>: how each frame is like what is 1, 2, ... samples later."""
        size, length = self.frame_size, sound.shape[-1]
        count = math.ceil(length / size)
        wide = np.pad(sound, [(0, 0)] * (sound.ndim - 1) + [(0, self.most + count * size - length)])
        energy = np.pad(np.cumsum(wide * wide, axis=-1), [(0, 0)] * (sound.ndim - 1) + [(1, 0)])
        starts = np.arange(count) * size
        frames = wide[..., : count * size].reshape(*sound.shape[:-1], count, size)
        own = energy[..., starts + size] - energy[..., starts]
        likeness = np.empty((*sound.shape[:-1], count, self.most))
        for lag in range(1, self.most + 1):
            later = wide[..., lag : lag + count * size].reshape(frames.shape)
            other = energy[..., starts + lag + size] - energy[..., starts + lag]
            product = np.einsum("...i,...i->...", frames, later)
            likeness[..., lag - 1] = product / (1e-9 + own) / (1e-9 + other)
        return likeness

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        op = "DetectPitchFrequency"
        if self.frame_size < 1:
            raise ValueError(
                f"For '{op}', sample_rate must be positive, but got {self.sample_rate}."
            )
        lag = self._lags(sound.astype(np.float64))
        if lag.shape[-1] < self.win_length:
            raise ValueError(
                f"For '{op}', the input must have at least win_length = {self.win_length} frames, but got "
                f"{lag.shape[-1]}."
            )
        before = (self.win_length - 1) // 2
        lag = np.concatenate([np.repeat(lag[..., :1], before, axis=-1), lag], axis=-1)
        window = np.lib.stride_tricks.sliding_window_view(lag, self.win_length, axis=-1)
        middle = np.sort(window, axis=-1)[..., (self.win_length - 1) // 2]
        return np.asarray(self.sample_rate / (1e-9 + middle))

    def _lags(self, sound: np.ndarray) -> np.ndarray:
        """Of each frame: after how many samples it is most like itself, of those that were asked for."""
        if (
            self.most <= self.least
        ):  # none is left between the frequencies: as MindSpore, the next one
            count = math.ceil(sound.shape[-1] / self.frame_size)
            return np.full((*sound.shape[:-1], count), self.least + 1)
        likeness = self._likeness(sound)
        best = likeness[..., self.least :]
        found = best.argmax(-1)
        half = likeness[..., self.least : self.most // 2]
        if half.shape[-1]:
            # Half the lag is an octave above: it is as good where it is nearly as like.
            higher = half.max(-1) > 0.99 * best.max(-1)
            found = np.where(higher, half.argmax(-1), found)
        return np.asarray(found + self.least + 1)

    def _apply(self, value: Any) -> Any:
        return super()._apply(value).astype(np.float32)


def _masked(sound: np.ndarray, start: Any, width: Any, value: float, axis: int) -> np.ndarray:
    """The value where `axis` is in [start, start + width); these may differ between spectrograms."""
    places = np.arange(sound.shape[axis])
    places = places if axis == -1 else places[:, None]
    return np.where((places >= start) & (places < start + width), sound.dtype.type(value), sound)


class MaskAlongAxis(AudioTensorOperation):
    """A value over some frequencies (axis 1) or times (axis 2)."""

    _layout = "freq, time"

    def __init__(self, mask_start: int, mask_width: int, mask_value: float, axis: int) -> None:
        op = "MaskAlongAxis"
        self.mask_start = check_int(op, "mask_start", mask_start, 0)
        self.mask_width = check_int(op, "mask_width", mask_width, 1)
        self.mask_value = check_real(op, "mask_value", mask_value)
        self.axis = check_int(op, "axis", axis, 1, 2)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        _check_mask("MaskAlongAxis", sound.shape[self.axis - 3], self.mask_start, self.mask_width)
        return _masked(sound, self.mask_start, self.mask_width, self.mask_value, self.axis - 3)


def _check_mask(op: str, length: int, start: int, width: int) -> None:
    if start + width > length:
        raise ValueError(
            f"For '{op}', the mask must end within the axis of {length}, but got one of {width} from "
            f"{start} on."
        )


def _drawn_mask(op: str, sound: np.ndarray, most: int, value: float, axis: int) -> np.ndarray:
    """A mask for each spectrogram, of a width up to `most`."""
    length = sound.shape[axis]
    _check_mask(op, length, 0, most)
    shape = (*sound.shape[:-2], 1, 1)
    width = row_rng().integers(0, most + 1, shape)
    return _masked(sound, row_rng().integers(0, length - width + 1), width, value, axis)


class MaskAlongAxisIID(AudioTensorOperation):
    """A value over random frequencies (axis 1) or times (axis 2), other ones in each spectrogram."""

    _layout = "freq, time"

    def __init__(self, mask_param: int, mask_value: float, axis: int) -> None:
        op = "MaskAlongAxisIID"
        self.mask_param = check_int(op, "mask_param", mask_param, 0)
        self.mask_value = check_real(op, "mask_value", mask_value)
        self.axis = check_int(op, "axis", axis, 1, 2)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        return _drawn_mask(
            "MaskAlongAxisIID", sound, self.mask_param, self.mask_value, self.axis - 3
        )


class _Masking(AudioTensorOperation):
    """Base of FrequencyMasking and TimeMasking."""

    _layout = "freq, time"
    _axis: int

    def _start(self, iid_masks: Any, name: str, param: Any, start: Any, value: Any) -> None:
        op = type(self).__name__
        check_type(op, "iid_masks", iid_masks, bool)
        self.iid_masks, self.param = iid_masks, check_int(op, name, param, 0)
        self.mask_start = check_int(op, "mask_start", start, 0)
        self.mask_value = check_real(op, "mask_value", value, 0)

    def _sound(self, sound: np.ndarray) -> np.ndarray:
        op = type(self).__name__
        if self.iid_masks:
            return _drawn_mask(op, sound, self.param, self.mask_value, self._axis)
        _check_mask(op, sound.shape[self._axis], self.mask_start, self.param)
        return _masked(sound, self.mask_start, self.param, self.mask_value, self._axis)


class FrequencyMasking(_Masking):
    """A value over some frequencies: those from `mask_start` on, or random ones with `iid_masks`."""

    _axis = -2

    def __init__(
        self,
        iid_masks: bool = False,
        freq_mask_param: int = 0,
        mask_start: int = 0,
        mask_value: float = 0.0,
    ) -> None:
        self._start(iid_masks, "freq_mask_param", freq_mask_param, mask_start, mask_value)


class TimeMasking(_Masking):
    """A value over some times: those from `mask_start` on, or random ones with `iid_masks`."""

    _axis = -1

    def __init__(
        self,
        iid_masks: bool = False,
        time_mask_param: int = 0,
        mask_start: int = 0,
        mask_value: float = 0.0,
    ) -> None:
        self._start(iid_masks, "time_mask_param", time_mask_param, mask_start, mask_value)

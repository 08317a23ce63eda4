"""Calls of `mindspore.dataset.audio`, whose results are kept from MindSpore 2.10.

Run with the Python of an environment that has it, this file writes them anew to `audio_answers.jsonl`: of each
array the type, the shape and some of its numbers.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

ANSWERS = Path(__file__).with_name("audio_answers.jsonl")
KEPT = 24  # numbers of an array

_TIME = np.arange(4000) / 16000
_RNG = np.random.default_rng(7)
LONG = (0.5 * np.sin(2764.6 * _TIME) + 0.2 * np.sin(7753.4 * _TIME + 1)).astype(np.float32)
LONG += 0.1 * _RNG.standard_normal(4000).astype(np.float32)
W = LONG[:600]
W2 = np.stack([LONG[600:1200], LONG[1200:1800] * 0.7])
W3 = LONG[:1200].reshape(2, 2, 300)
D = W2.astype(np.float64)
I16 = (W2 * 3000).astype(np.int16)
S = np.abs(_RNG.standard_normal((2, 17, 20))).astype(np.float32)
S2 = S[0]
S4 = S.reshape(1, 2, 17, 20)
C = _RNG.standard_normal((2, 17, 20, 2)).astype(np.float32)
C3 = C[0]
EMPTY = np.zeros((2, 0), np.float32)
ADVANCE = np.linspace(0, np.pi * 16, 17)[:, None].astype(np.float32)
CHIRP = np.sin(
    2 * np.pi * (200 * np.arange(9000) / 16000 + 300 * (np.arange(9000) / 16000) ** 2)
).astype(np.float32)
MEL = {"n_fft": 64, "win_length": 64, "hop_length": 32, "f_min": 0.0, "f_max": 8000.0, "pad": 0, "n_mels": 16,
       "power": 2.0, "normalized": False, "center": True, "onesided": True}  # fmt: skip
FRAMES = {key: MEL[key] for key in MEL if key not in ("f_min", "f_max", "n_mels")}

_CALLS = r"""
LFilter([1.0, 0.2, 0.3], [0.4, 0.5, 0.6])(W) | LFilter([1.0, -0.5], [0.5, 0.1])(W2) | LFilter([1.0, -0.5], [0.5, 0.1], False)(W3 * 9) | LFilter([2.0, -0.5, 0.1, 0.2], [0.5, 0.1, 0.0, 0.3])(D) | LFilter([0.5], [0.25])(W)
LFilter([1.0, -0.5], [0.5, 0.1])(I16) | LFilter([1.0, -0.5], [0.5, 0.1])(W2.astype(np.float16)) | LFilter([1.0], [1.0, 2.0]) | LFilter(1.0, [1.0]) | LFilter([1.0, "a"], [1.0, 2.0]) | LFilter([1.0, 0.2], [1.0, 2.0], 1) | LFilter([1, 0], [1, 2])(W) | LFilter([1.0], [1.0])(np.array(1, np.float32)) | LFilter([1.0], [1.0])("a")
Filtfilt([1.0, -0.5], [0.5, 0.1])(W2) | Filtfilt([1.0, 0.2, 0.3], [0.4, 0.5, 0.6])(W[:50]) | Filtfilt([1.0, -0.5], [0.5, 0.1], False)(W * 9) | Filtfilt([1.0, -0.5], [0.5, 0.1])(D) | Filtfilt([1.0], [1.0, 2.0])
Biquad(0.01, 0.02, 0.13, 1.0, 0.12, 0.3)(W) | Biquad(0.01, 0.02, 0.13, 2.0, 0.12, 0.3)(D) | Biquad(0.01, 0.02, 0.13, 0.0, 0.12, 0.3) | Biquad("a", 0.02, 0.13, 1.0, 0.12, 0.3) | Biquad(1, 0.02, 0.13, 1, 0.12, 0.3)(W2)
AllpassBiquad(44100, 200.0)(W) | AllpassBiquad(16000, 2000.0, 0.3)(D) | AllpassBiquad(44100.5, 200.0) | AllpassBiquad(0, 200.0) | AllpassBiquad(44100, "a") | AllpassBiquad(44100, 200.0, 0.0) | AllpassBiquad(44100, 200.0, 1.1) | AllpassBiquad(44100, 200)(W2)
BandBiquad(44100, 200.0)(W) | BandBiquad(44100, 800.0, 0.5, True)(W3) | BandBiquad(44100, 200.0, noise=1) | BandBiquad(16000, 3000.0)(D) | BandBiquad(0, 200.0)
BandpassBiquad(44100, 200.0)(W) | BandpassBiquad(44100, 800.0, 0.5, True)(W3) | BandpassBiquad(44100, 200.0, const_skirt_gain=1) | BandrejectBiquad(44100, 200.0)(W) | BandrejectBiquad(16000, 1200.0, 1)(D)
BassBiquad(44100, 50.0)(W.astype(np.float64)) | BassBiquad(16000, -10.0, 300.0, 0.5)(W3) | BassBiquad(16000, 3, 300)(D) | BassBiquad(16000, "a") | TrebleBiquad(44100, 40.0)(W) | TrebleBiquad(16000, -10.0, 1000.0, 0.5)(W3) | TrebleBiquad(44100, 4.0)(D) | TrebleBiquad(0, 4.0)
DeemphBiquad(44100)(W) | DeemphBiquad(48000)(D) | DeemphBiquad(16000) | DeemphBiquad("a") | EqualizerBiquad(44100, 1500.0, 5.5)(W) | EqualizerBiquad(16000, 1500.0, -5.5, 0.3)(W3) | EqualizerBiquad(44100, 1500.0, 5.5)(D) | EqualizerBiquad(44100, 1500.0, 5.5, -1.0)
HighpassBiquad(44100, 1500.0)(W) | HighpassBiquad(16000, 1500.0, 0.3)(W3) | HighpassBiquad(44100, 150)(D) | LowpassBiquad(4000, 1000.0)(W) | LowpassBiquad(16000, 1500.0, 1.0)(W3) | LowpassBiquad(44100, 150)(D) | LowpassBiquad(16000, 1500.0)(W.reshape(600, 1))
RiaaBiquad(44100)(W) | RiaaBiquad(48000)(W2) | RiaaBiquad(88200)(D) | RiaaBiquad(96000)(W3) | RiaaBiquad(16000) | RiaaBiquad(44100.0)
Contrast()(W) | Contrast(0.0)(D) | Contrast(100)((W2 * 3).astype(np.int16)) | Contrast(101.0) | Contrast(-1.0) | Contrast("a") | Contrast()(np.array(1, np.float32)) | Contrast()("a")
DCShift(0.5, 0.02)(W2) | DCShift(0.3)(W2) | DCShift(-0.3)(D) | DCShift(0.0)(W) | DCShift(0.0, 0.1)(W2 * 2) | DCShift(2.5) | DCShift("a") | DCShift(0.5, "a") | DCShift(0.5, 0.02)(I16) | DCShift(2.0, 0.05)(W2)
Dither()(W) | Dither(noise_shaping=True)(W2) | Dither()(D) | Dither()(W3) | Dither("a") | Dither(noise_shaping=1)
Fade(20, 30)(W) | Fade(100, 600, FadeShape.QUARTER_SINE)(W2) | Fade(100, 60, FadeShape.HALF_SINE)(W3) | Fade(100, 60, FadeShape.LOGARITHMIC)(D) | Fade(100, 60, FadeShape.LOGARITHMIC)(W + 3) | Fade(300, 400, FadeShape.LOGARITHMIC)(np.ones(600)) | Fade(300, 400, FadeShape.EXPONENTIAL)(W) | Fade()(W2) | Fade(601)(W) | Fade(0, 601)(W) | Fade(-1) | Fade(1.5) | Fade(1, 1, "a") | Fade(1, 1)(I16)
Flanger(44100)(W2) | Flanger(16000, 3.0, 5.0, 50.0, 90.0, 9.0, 70.0)(W3) | Flanger(16000, 1.0, 1.0, -30.0, 90.0, 5.0, 70.0, Modulation.TRIANGULAR, Interpolation.QUADRATIC)(D) | Flanger(16000)(W) | Flanger(0) | Flanger(16000, 31.0) | Flanger(16000, 1.0, 11.0) | Flanger(16000, regen=96.0) | Flanger(16000, width=-1.0) | Flanger(16000, speed=0.05) | Flanger(16000, phase=101.0) | Flanger(16000, modulation="a") | Flanger(16000, interpolation="a") | Flanger(16000, 0, 2, 0, 71, 4, 25)(W2)
Gain()(W) | Gain(-6)(D) | Gain(20.0)(I16) | Gain("a") | Vol(0.5)(W) | Vol(3.0)(W2) | Vol(4.0, GainType.POWER)(D) | Vol(-6.0, GainType.DB)(W3) | Vol(-1.0) | Vol(0.0, GainType.POWER) | Vol("a") | Vol(1.0, "a") | Vol(0)(W)
MuLawEncoding()(W) | MuLawEncoding(16)(D) | MuLawEncoding()(I16) | MuLawEncoding(0) | MuLawEncoding(2.5) | MuLawDecoding()(np.arange(256)) | MuLawDecoding(16)(np.arange(16.0)) | MuLawDecoding()(W) | MuLawDecoding(-1)
Overdrive()(W) | Overdrive(50.0, 80.0)(W2) | Overdrive(0, 0)(D) | Overdrive(10.0, 5.0)(W3) | Overdrive(101.0) | Overdrive(1.0, -1.0) | Overdrive("a") | Overdrive()(I16)
Phaser(44100)(W) | Phaser(16000, 0.9, 0.5, 1.0, 0.9, 2.0, False)(W2) | Phaser(16000, 0.9, 0.5, 5.0, 0.9, 2.0)(D) | Phaser(16000, 1.1) | Phaser(16000, 0.4, -1.0) | Phaser(16000, delay_ms=6.0) | Phaser(16000, decay=1.0) | Phaser(16000, mod_speed=3.0) | Phaser(16000, sinusoidal=1) | Phaser(1.5)
Spectrogram(64)(W) | Spectrogram(64, 50, 13, 5, WindowType.HAMMING, 1.0)(W2) | Spectrogram(64, power=0.0)(W3) | Spectrogram(64, normalized=True)(D) | Spectrogram(64, center=False)(W) | Spectrogram(64, onesided=False)(W) | Spectrogram(63, window=WindowType.BLACKMAN)(W) | Spectrogram(64, window=WindowType.BARTLETT)(W) | Spectrogram(64, window=WindowType.KAISER)(W)
Spectrogram(64, pad_mode=BorderType.CONSTANT)(W) | Spectrogram(64, pad_mode=BorderType.EDGE)(W) | Spectrogram(64, pad_mode=BorderType.SYMMETRIC)(W) | Spectrogram()(W) | Spectrogram(64, power=3.0)(I16) | Spectrogram(64, 33, window=WindowType.HANN)(W) | Spectrogram(64, 31, window=WindowType.BLACKMAN, normalized=True)(W)
Spectrogram(0) | Spectrogram(64, 65) | Spectrogram(64, 0) | Spectrogram(64, hop_length=0) | Spectrogram(64, pad=-1) | Spectrogram(64, window="hann") | Spectrogram(64, power=-1.0) | Spectrogram(64, normalized=1) | Spectrogram(64, center=1) | Spectrogram(64, pad_mode="a") | Spectrogram(64, onesided=1) | Spectrogram(64)(W[:20]) | Spectrogram(64, center=False)(W[:20]) | Spectrogram(64)(np.array(1, np.float32)) | Spectrogram(64.0)
InverseSpectrogram(n_fft=32)(C) | InverseSpectrogram(100, 32, 32, 8)(C3) | InverseSpectrogram(n_fft=32, normalized=True)(C.astype(np.float64)) | InverseSpectrogram(n_fft=32, window=WindowType.HAMMING, center=False)(C) | InverseSpectrogram(1000, 32, 32, 8)(C3) | InverseSpectrogram(n_fft=64)(C) | InverseSpectrogram(-1) | InverseSpectrogram(n_fft=0) | InverseSpectrogram(n_fft=32)(W2) | InverseSpectrogram(0, 32)(C)
MelScale(8, 16000, n_stft=17)(S) | MelScale(8, 16000, 100.0, 5000.0, 17, NormType.SLANEY, MelType.SLANEY)(S2) | MelScale(8, 16000, 0.0, 0.0, 17)(S4) | MelScale(40, n_stft=17)(S) | MelScale(8, n_stft=18)(S) | MelScale(0) | MelScale(8, -1) | MelScale(8, 16000, 9000.0) | MelScale(8, f_max=-1.0) | MelScale(8, norm="a") | MelScale(8, mel_type="a") | MelScale(8, n_stft=17)(W)
MelSpectrogram(n_fft=64, n_mels=12)(W) | MelSpectrogram(16000, 64, 40, 20, 50.0, 7000.0, 4, 12, WindowType.HAMMING, 1.0, True, True, BorderType.EDGE, True, NormType.SLANEY, MelType.SLANEY)(W2) | MelSpectrogram(n_fft=64, n_mels=12, onesided=False)(W) | MelSpectrogram()(W) | MelSpectrogram(n_fft=64, n_mels=12, power=0.0) | MelSpectrogram(n_fft=64, win_length=65) | MelSpectrogram(f_min=9000.0)
MFCC(16000, 8, melkwargs={**MEL, "window": WindowType.HANN, "pad_mode": BorderType.REFLECT, "norm": NormType.NONE, "mel_scale": MelType.HTK})(W) | MFCC(16000, 8, 2, NormMode.NONE, True, {**MEL, "window": WindowType.HANN, "pad_mode": BorderType.REFLECT, "norm": NormType.NONE, "mel_scale": MelType.HTK})(W2) | MFCC(dct_type=1) | MFCC(norm="a") | MFCC(log_mels=1) | MFCC(melkwargs=1) | MFCC()(W) | MFCC(-1)
LFCC(16000, 16, 8, speckwargs={**FRAMES, "window": WindowType.HANN, "pad_mode": BorderType.REFLECT})(W) | LFCC(16000, 16, 8, 100.0, 7000.0, 2, NormMode.NONE, True)(W2) | LFCC(dct_type=3) | LFCC(f_min=9000.0) | LFCC(speckwargs=1) | LFCC(n_filter=0) | LFCC(0)
SpectralCentroid(16000, 64)(W) | SpectralCentroid(44100, 64, 50, 20, 3, WindowType.HAMMING)(W2) | SpectralCentroid(16000, 64)(D) | SpectralCentroid(-1) | SpectralCentroid(16000, 64, 65) | SpectralCentroid(16000, 64)(np.array(1, np.float32))
GriffinLim(32, 5, rand_init=False)(S) | GriffinLim(32, 3, 30, 8, WindowType.HAMMING, 1.0, 0.5, None, False)(S2) | GriffinLim(32, 2, momentum=0.0, rand_init=False)(S.astype(np.float64)) | GriffinLim(0) | GriffinLim(32, 0) | GriffinLim(32, 2, power=0.0) | GriffinLim(32, 2, momentum=-0.1) | GriffinLim(32, 2, 33)(S) | GriffinLim(64, 2)(S) | GriffinLim(32, 2, rand_init=1) | GriffinLim(32, 2)(W) | GriffinLim(32, 2, length=-1)
AmplitudeToDB()(S) | AmplitudeToDB(ScaleType.MAGNITUDE, 2.0, 1e-3, 20.0)(S2) | AmplitudeToDB(top_db=3.0)(S4) | AmplitudeToDB("a") | AmplitudeToDB(ref_value=0.0) | AmplitudeToDB(amin=0.0) | AmplitudeToDB(top_db=0.0) | AmplitudeToDB()(W) | AmplitudeToDB(top_db=10.0)(S.astype(np.float64)) | AmplitudeToDB()(S * 0) | AmplitudeToDB(top_db=-1.0)
DBToAmplitude(1.0, 1.0)(W) | DBToAmplitude(2.0, 0.5)(D) | DBToAmplitude(1, 1)(I16) | DBToAmplitude("a", 1.0) | DBToAmplitude(1.0, "a") | DBToAmplitude(-1.0, -1.0)(W)
ComputeDeltas()(S) | ComputeDeltas(7, BorderType.REFLECT)(S2) | ComputeDeltas(4, BorderType.CONSTANT)(S4) | ComputeDeltas(9, BorderType.SYMMETRIC)(S.astype(np.float64)) | ComputeDeltas(2) | ComputeDeltas(5, "a") | ComputeDeltas()(W) | ComputeDeltas(5.0)
SlidingWindowCmn()(S) | SlidingWindowCmn(5, 2)(S) | SlidingWindowCmn(5, 2, True)(S2) | SlidingWindowCmn(6, 3, False, True)(S4) | SlidingWindowCmn(5, 2, True, True)(S.astype(np.float64)) | SlidingWindowCmn(3, 1, False, True)(S2) | SlidingWindowCmn(-1) | SlidingWindowCmn(5, -1) | SlidingWindowCmn(5, 5, 1) | SlidingWindowCmn(5, 5, True, 1) | SlidingWindowCmn()(W) | SlidingWindowCmn(40, 30, False, True)(S2)
DetectPitchFrequency(16000, 0.01, 3)(LONG) | DetectPitchFrequency(16000, 0.01, 4)(CHIRP) | DetectPitchFrequency(16000, 0.01, 3, 85, 100)(CHIRP) | DetectPitchFrequency(16000, 0.01, 3, 85, 85)(CHIRP) | DetectPitchFrequency(16000, 0.01, 3, 3400, 85)(CHIRP) | DetectPitchFrequency(16000, 0.01, 3, 2000, 2100)(CHIRP) | DetectPitchFrequency(16000, 0.01, 3, 85, 8001)(CHIRP) | DetectPitchFrequency(16000, 0.02, 5, 100, 2000)(CHIRP.reshape(2, 4500)) | DetectPitchFrequency(16000)(CHIRP.astype(np.float64)) | DetectPitchFrequency(0) | DetectPitchFrequency(16000, 0.0) | DetectPitchFrequency(16000, 0.01, 0) | DetectPitchFrequency(16000, 0.01, 30, 0) | DetectPitchFrequency(16000, 0.01, 30, 85, 0) | DetectPitchFrequency(16000)(W)
MaskAlongAxis(1, 3, 0.5, 1)(S) | MaskAlongAxis(0, 20, -1.0, 2)(S2) | MaskAlongAxis(4, 3, 0.0, 2)(S4) | MaskAlongAxis(18, 3, 0.0, 2)(S) | MaskAlongAxis(-1, 3, 0.0, 2) | MaskAlongAxis(0, 0, 0.0, 2) | MaskAlongAxis(0, 1, 0.0, 0) | MaskAlongAxis(0, 1, 0.0, 3) | MaskAlongAxis(0, 1, "a", 1) | MaskAlongAxis(0, 1, 0.0, 1)(W) | MaskAlongAxis(1, 3, 0.5, 1)(S.astype(np.float64))
MaskAlongAxisIID(0, 0.5, 1)(S) | MaskAlongAxisIID(18, 0.5, 1)(S) | MaskAlongAxisIID(-1, 0.0, 1) | MaskAlongAxisIID(1, 0.0, 3) | MaskAlongAxisIID(1.5, 0.0, 1) | MaskAlongAxisIID(1, 0.0, 1)(W)
FrequencyMasking(False, 3, 2, 0.5)(S) | FrequencyMasking()(S) | FrequencyMasking(False, 18)(S) | FrequencyMasking(False, 3, 15)(S) | FrequencyMasking(1) | FrequencyMasking(False, -1) | FrequencyMasking(False, 1, -1) | FrequencyMasking(False, 1, 0, -1.0) | FrequencyMasking(False, 1)(W) | TimeMasking(False, 3, 2, 0.5)(S) | TimeMasking(False, 20)(S2) | TimeMasking(False, 21)(S) | TimeMasking(False, 3, 18)(S) | TimeMasking("a")
Angle()(C) | Angle()(C3.astype(np.float64)) | Angle()(W) | Angle()(np.array([1.0, 0.0])) | ComplexNorm()(C) | ComplexNorm(2.0)(C3) | ComplexNorm(0.0)(C) | ComplexNorm(-1.0) | ComplexNorm()(S) | Magphase()(C) | Magphase(2.0)(C3.astype(np.float64)) | Magphase(-1.0) | Magphase()(S)
PhaseVocoder(1.5, ADVANCE)(C) | PhaseVocoder(0.7, ADVANCE)(C3) | PhaseVocoder(0.0, ADVANCE) | PhaseVocoder("a", ADVANCE) | PhaseVocoder(1.5, 5) | PhaseVocoder(1.5, ADVANCE[:5])(C) | PhaseVocoder(1.5, ADVANCE)(S) | PhaseVocoder(1.0, ADVANCE)(C) | PhaseVocoder(1.5, ADVANCE[:, 0])(C)
TimeStretch(16, 17, 1.5)(C) | TimeStretch(None, 17, 0.7)(C3) | TimeStretch(16, 17)(C) | TimeStretch(0) | TimeStretch(16, 0) | TimeStretch(16, 17, 0.0) | TimeStretch(16, 17, 1.2)(C.astype(np.float64)) | TimeStretch(16, 17, 1.2)(S)
PitchShift(16000, 4, n_fft=64)(W) | PitchShift(16000, -3, 12, 64, 50, 10, WindowType.HAMMING)(W2) | PitchShift(16000, 2, 24, 64)(D) | PitchShift(-1, 4) | PitchShift(16000, 4.0) | PitchShift(16000, 4, 0) | PitchShift(16000, 4, 12, 0) | PitchShift(16000, 4, 12, 64, 0) | PitchShift(16000, 4, window="a")
Resample(16000, 8000)(W) | Resample(8000, 16000)(W2) | Resample(16000, 11025)(W3) | Resample(16000, 8000, ResampleMethod.KAISER_WINDOW)(W) | Resample(44100, 48000, ResampleMethod.KAISER_WINDOW, 16, 0.9, 10.0)(D) | Resample(16000, 16000)(W) | Resample(0.0, 1.0) | Resample(16000, -1) | Resample(16000, 8000, "a") | Resample(16000, 8000, lowpass_filter_width=0) | Resample(16000, 8000, rolloff=1.5) | Resample(16000.0, 12000.0)(I16) | Resample(16000.5, 8000.0)(W) | Resample(16000, 8000)(np.array(1, np.float32))
Vad(0) | Vad(16000, trigger_time=-1.0) | Vad(16000, noise_up_time=0.001) | Vad(16000, measure_freq=0.0) | Vad(16000, trigger_level="a") | Vad(16000, hp_filter_freq=0.0) | Vad(16000, measure_duration=-1.0) | Vad(16000, search_time=-1.0)
create_dct(8, 16) | create_dct(8, 16, NormMode.ORTHO) | create_dct(0, 16) | create_dct(8, -1) | create_dct(8, 16, "a") | create_dct(8.0, 16) | create_dct(20, 16)
linear_fbanks(17, 0.0, 8000.0, 6, 16000) | linear_fbanks(17, 300.0, 7000.0, 6, 16000) | linear_fbanks(17, 100.0, 50.0, 6, 16000) | linear_fbanks(17, 0.0, 8000.0, 0, 16000) | linear_fbanks(17, "a", 8000.0, 6, 16000) | linear_fbanks(17, 0.0, 8000.0, 6, 0) | linear_fbanks(17, 0, 8000, 6, 16000)
melscale_fbanks(17, 0.0, 8000.0, 6, 16000) | melscale_fbanks(33, 50.0, 7000.0, 10, 16000, NormType.SLANEY, MelType.SLANEY) | melscale_fbanks(33, 50.0, 7000.0, 10, 16000, NormType.SLANEY) | melscale_fbanks(17, -1.0, 8000.0, 6, 16000) | melscale_fbanks(17, 0.0, 8000.0, 6, 16000, "a") | melscale_fbanks(17, 0.0, 8000.0, 6, 16000, mel_type="a") | melscale_fbanks(17, 9000.0, 8000.0, 6, 16000)
InverseMelScale(0) | InverseMelScale(17, 0) | InverseMelScale(17, 8, -1) | InverseMelScale(17, 8, f_min=9000.0) | InverseMelScale(17, 8, max_iter=-1) | InverseMelScale(17, 8, tolerance_loss=-1.0) | InverseMelScale(17, 8, tolerance_change=-1.0) | InverseMelScale(17, 8, sgdargs=1) | InverseMelScale(17, 8, norm="a") | InverseMelScale(17, 8, max_iter=2)(S) | InverseMelScale(17, 8)(W)
"""


def cases() -> list[str]:
    """The expressions."""
    return [part.strip() for line in _CALLS.strip().splitlines() for part in line.split(" | ")]


def run(call: str, audio: Any) -> list[Any]:
    """The arrays that a call gives, or its error's type and text."""
    names = {name: getattr(audio, name) for name in dir(audio) if name[0] != "_"}
    try:
        result = eval(call, {**globals(), **names})
    except Exception as error:
        return [type(error).__name__, str(error)]
    if callable(result):
        return []
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


def picked(array: np.ndarray) -> np.ndarray:
    """Some numbers from everywhere in an array."""
    flat = array.ravel()
    return flat[np.unique(np.linspace(0, max(flat.size - 1, 0), KEPT).astype(int))[: flat.size]]


def summary(result: list[Any]) -> list[Any]:
    """What is kept of a result."""
    if result and isinstance(result[0], str):
        return result[:1]
    return [
        [str(part.dtype), list(part.shape), [float(f"{x:.7g}") for x in picked(part)]]
        for part in result
    ]


def apart(call: str, audio: Any) -> list[Any]:
    """`summary` of a call in a process of its own, for it may end that."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, json.dumps(summary(run(call, audio))).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else ["Crash"]


def record(path: Path, audio: Any) -> None:
    """Write the answers of the package that is given."""
    path.write_text("".join(json.dumps([call, apart(call, audio)]) + "\n" for call in cases()))


if __name__ == "__main__":
    import mindspore.dataset.audio

    record(Path(sys.argv[1]) if len(sys.argv) > 1 else ANSWERS, mindspore.dataset.audio)

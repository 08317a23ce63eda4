"""`mindspore.dataset.audio`: against kept results of MindSpore 2.10, in pipelines, and what it alone does."""

from __future__ import annotations

import json
import math
import os
import subprocess

import audio_cases
import numpy as np
import pytest
from audio_cases import LONG, S

import mindspore as ms
import mindspore.dataset as ds
from mindspore.dataset import audio
from mindspore.dataset.audio import DensityFunction, GainType, NormMode, WindowType

KEPT = dict(json.loads(line) for line in audio_cases.ANSWERS.read_text().splitlines())
RATE = 16000


def failed(result):
    return bool(result) and isinstance(result[0], str)


@pytest.mark.parametrize("call", audio_cases.cases())
def test_kept_answers(call):
    given, expected = audio_cases.run(call, audio), KEPT[call]
    assert failed(given) == failed(expected), given
    if failed(given):
        # MindSpore's errors of execution are RuntimeError; ours say what kind of mistake it was.
        assert given[0] == expected[0] or expected[0] in ("RuntimeError", "Crash")
        assert given[1].startswith("For '") and "must" in given[1]
        return
    assert len(given) == len(expected)
    for mine, (dtype, shape, numbers) in zip(given, expected, strict=True):
        assert (str(mine.dtype), list(mine.shape)) == (dtype, shape)
        rough = 2e-3 if dtype == "float16" else 1e-4
        np.testing.assert_allclose(audio_cases.picked(mine), numbers, rtol=rough, atol=rough)


def test_every_case_is_kept():
    assert list(KEPT) == audio_cases.cases()


def test_every_name_has_a_case():
    """Those that draw, and those that hear otherwise than MindSpore, are tested below."""
    text = " ".join(audio_cases.cases())
    names = [name for name in audio.__all__ if f"{name}(" not in text and f"{name}." not in text]
    assert names == [
        "AudioTensorOperation",
        "DensityFunction",
        "transforms",
        "utils",
    ]


@pytest.mark.skipif("MS_PEER_PYTHON" not in os.environ, reason="MS_PEER_PYTHON names no Python")
@pytest.mark.slow
def test_the_peer_still_says_so(tmp_path):
    """The kept answers are those of the package that is named."""
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    script, now = audio_cases.__file__, tmp_path / "now"
    subprocess.run([own["MS_PEER_PYTHON"], script, now], check=True, capture_output=True, env=own)
    fresh = dict(json.loads(line) for line in now.read_text().splitlines())
    assert [call for call in KEPT if KEPT[call] != fresh[call]] == []


def sounds(count=6):
    return [LONG[100 * n : 100 * n + 800] for n in range(count)]


def rows(data):
    return [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def test_a_pipeline_gives_what_calls_give():
    steps = [audio.LowpassBiquad(RATE, 2000.0), audio.Overdrive(), audio.Spectrogram(64)]
    steps += [audio.MelScale(8, RATE, n_stft=33), audio.AmplitudeToDB()]
    data = ds.NumpySlicesDataset(np.stack(sounds()), ["sound"], shuffle=False)
    found = rows(data.map(steps, "sound", num_parallel_workers=2))
    for sound, given in zip(sounds(), found, strict=True):
        for step in steps:
            sound = step(sound)
        np.testing.assert_array_equal(given, sound)


def test_filters_run_in_the_engine_and_name_themselves():
    data = ds.NumpySlicesDataset(np.ones((2, 8), np.int16), ["sound"])
    with pytest.raises(RuntimeError, match=r"row 0.*'BassBiquad'.*must hold float16"):
        rows(data.map(audio.BassBiquad(RATE, 3.0), "sound"))
    with pytest.raises(ValueError, match=r"'Flanger'.*channel, time"):
        audio.Flanger(RATE)(LONG)


@pytest.mark.parametrize(
    "draw",
    [
        audio.TimeMasking(True, 9, mask_value=7.0),
        audio.FrequencyMasking(True, 9),
        audio.MaskAlongAxisIID(9, 7.0, 2),
    ],
)
def test_draws_depend_on_the_seed_alone(draw):
    def run(workers, seed):
        ds.config.set_seed(seed)
        data = ds.NumpySlicesDataset(np.stack([S] * 8), ["s"], shuffle=False)
        return np.stack(rows(data.map(draw, "s", num_parallel_workers=workers)))

    first = run(1, 3)
    np.testing.assert_array_equal(first, run(2, 3))
    assert (first != run(1, 4)).any() and (first[0] != first[1]).any()


def test_masks_are_as_wide_and_as_far_as_they_may():
    mask, ones = audio.MaskAlongAxisIID(5, 0.0, 2), np.ones((4000, 3, 12), np.float32)
    hidden = mask(ones)[:, 0] == 0
    widths = np.bincount(hidden.sum(1), minlength=6)
    assert len(widths) == 6 and widths.min() > 550  # 0 to 5, evenly
    begins = hidden.argmax(1)[hidden.any(1)]
    assert begins.min() == 0 and hidden[:, -1].any()
    assert ((np.diff(np.pad(hidden, [(0, 0), (1, 1)]).astype(int)) == 1).sum(1) <= 1).all()


def test_dither_by_draws():
    for density in (DensityFunction.RPDF, DensityFunction.GPDF):
        step = audio.Dither(density)(LONG) * 2**15
        np.testing.assert_array_equal(step, np.rint(step))
        spread = np.unique(np.rint(step - LONG * 2**15))
        assert len(spread) <= 12 and abs(spread).max() <= 12


def test_griffin_lim_finds_a_sound_of_the_spectrogram():
    powers = audio.Spectrogram(64)(LONG)
    sound = audio.GriffinLim(64, 60)(powers)
    again = audio.Spectrogram(64)(sound)
    assert sound.shape == (4000 // 32 * 32,)
    gap = np.sqrt(again) - np.sqrt(powers)
    assert np.linalg.norm(gap) < 0.2 * np.linalg.norm(np.sqrt(powers))


def test_inverse_mel_scale():
    mels = audio.MelScale(10, RATE, n_stft=17)(S)
    spectrum = audio.InverseMelScale(17, 10, RATE, max_iter=3000)(mels)
    # Of one spectrogram MindSpore makes a batch of one.
    wide = S if S.ndim > 2 else S[None]
    assert spectrum.shape == wide.shape and spectrum.min() >= 0
    again = audio.MelScale(10, RATE, n_stft=17)(spectrum)
    assert np.abs(again - mels).max() < 0.1 * mels.max()


@pytest.mark.parametrize("window", list(WindowType))
@pytest.mark.parametrize("onesided", [True, False])
def test_there_and_back(window, onesided):
    given = {
        "n_fft": 60,
        "win_length": 50,
        "hop_length": 10,
        "window": window,
        "onesided": onesided,
    }
    there = audio.Spectrogram(power=0.0, normalized=True, pad=20, **given)(LONG[:500])
    back = audio.InverseSpectrogram(length=500, normalized=True, pad=20, **given)(there)
    np.testing.assert_allclose(back, LONG[:500], atol=1e-5)


def test_dc_shift_bends_both_ways_alike():
    ramp = np.linspace(-1, 1, 41, dtype=np.float32)
    up = audio.DCShift(0.5, 0.1)(ramp)
    np.testing.assert_allclose(audio.DCShift(-0.5, 0.1)(-ramp), -up)
    assert up[-1] == np.float32(0.6)  # MindSpore leaves the negative peaks near 0


def test_speech_begins_where_it_does():
    rng = np.random.default_rng(3)
    noise = 1e-3 * rng.standard_normal(16000)
    voice = ((150 * np.arange(24000) / RATE) % 1 - 0.5) * 0.8  # a tone with all its harmonics
    sound = np.concatenate([noise, voice + 1e-3 * rng.standard_normal(24000)]).astype(np.float32)
    found = audio.Vad(RATE)(sound)
    assert 22000 < len(found) < 27000
    np.testing.assert_array_equal(found, sound[-len(found) :])
    assert len(audio.Vad(RATE)(noise)) == 0
    assert len(audio.Vad(RATE, pre_trigger_time=0.1)(sound)) == len(found) + 1600
    both = np.stack([sound, 0 * sound])
    assert audio.Vad(RATE)(both).shape == (2, len(found))


def test_pitch_shift_moves_the_pitch():
    tone = np.sin(2 * math.pi * 440 * np.arange(16000) / RATE).astype(np.float32)
    for steps in (12, -12, 0):
        found = audio.PitchShift(RATE, steps)(tone)
        peak = np.abs(np.fft.rfft(found)).argmax()
        assert found.shape == tone.shape and abs(peak - 440 * 2 ** (steps / 12)) <= 2


def test_a_long_filter_keeps_up():
    """A second of sound takes a small part of a second, and unstable filters end."""
    sound = np.tile(LONG, 40)
    exact = audio.LFilter([1.0, -1.9, 0.95], [0.1, 0.0, 0.0], False)(sound.astype(np.float64))
    rough = audio.LFilter([1.0, -1.9, 0.95], [0.1, 0.0, 0.0], False)(sound)
    np.testing.assert_allclose(rough, exact, atol=1e-4)
    assert audio.LFilter([1.0, -3.0], [1.0, 0.0])(sound).max() == 1


def test_cosine_transforms_keep_lengths():
    matrix = audio.create_dct(16, 16, NormMode.ORTHO)
    np.testing.assert_allclose(matrix.T @ matrix, np.eye(16), atol=1e-6)


def test_some_arguments_of_others_may_be_left_out():
    found = audio.MFCC(RATE, 8, melkwargs={"n_fft": 64, "n_mels": 12})(LONG)
    assert found.shape == (8, 126) and found.dtype == np.float32
    assert audio.LFCC(RATE, 12, 8, speckwargs={"n_fft": 64})(LONG).shape == (8, 126)
    with pytest.raises(ValueError, match=r"'MFCC', melkwargs must name.*'bins'"):
        audio.MFCC(melkwargs={"bins": 4})
    with pytest.raises(ValueError, match="'MFCC', n_mfcc must not be more"):
        audio.MFCC(n_mfcc=129)
    with pytest.raises(ValueError, match="'MelSpectrogram', n_fft"):
        audio.MFCC(melkwargs={"n_fft": 0})


def test_what_no_float_holds():
    for call in (lambda: audio.Gain(1e30), lambda: audio.Vol(1e30, GainType.DB),
                 lambda: audio.BassBiquad(RATE, 1e30), lambda: audio.Gain(float("nan")),
                 lambda: audio.Contrast(float("inf"))):  # fmt: skip
        with pytest.raises(ValueError, match="must be"):
            call()


def test_pipelines_with_sound_are_written_down():
    data = ds.NumpySlicesDataset(np.stack(sounds(2)), ["sound"], shuffle=False)
    steps = [audio.Spectrogram(64, window=WindowType.HAMMING), audio.AmplitudeToDB()]
    schema = ds.Schema()
    schema.add_column("sound", "float32", [500])
    described = ds.serialize(ds.RandomDataset(1, schema).map(steps, "sound"))
    again = ds.deserialize(json.loads(json.dumps(described)))
    assert ds.serialize(again) == described
    made = rows(data.map(steps, "sound"))
    assert made[0].shape == (33, 26) and ms.Tensor(made[0]).dtype == ms.float32


@pytest.mark.parametrize("dtype", [np.int16, np.float16, np.float32, np.float64])
def test_types_of_effects(dtype):
    sound = np.array([[0, 1, 0, -1] * 8], dtype)
    wide = np.float64 if dtype == np.float64 else np.float32
    assert audio.Flanger(8000)(sound).dtype == (np.float16 if dtype == np.float16 else wide)
    assert audio.Overdrive()(sound).dtype == audio.Phaser(8000)(sound).dtype == wide
    if dtype == np.int16:
        same = audio.Flanger(8000)(sound.astype(np.float32))
        np.testing.assert_array_equal(audio.Flanger(8000)(sound), same)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_filters_that_are_not_stable_end_at_the_limits(dtype):
    sound = np.ones((1, 5000), dtype)
    for effect in (
        audio.Biquad(1.0, 0.0, 0.0, 1.0, -3.0, 2.5),
        audio.LFilter([1.0, -3.0, 2.5, 0.5], [1.0, 0.0, 0.0, 0.0]),
        audio.LFilter([1.0, -3.0], [1.0, 0.0]),
        audio.Filtfilt([1.0, -3.0, 2.5], [1.0, 0.0, 0.0]),
    ):
        result = effect(sound)
        assert not np.isnan(result).any() and np.all(np.abs(result[0, -1000:]) == 1)


def test_turns_longer_than_memory():
    sound = np.ones((1, 64), np.float32)
    assert audio.Phaser(2**31 - 1, mod_speed=0.1)(sound).shape == (1, 64)

"""Operations of `mindspore.dataset.vision`, `text` and `audio` on what is no image, text or sound: a result or an
error with a name, never a crash.
"""

from __future__ import annotations

import numpy as np
import pytest

from mindspore.dataset import audio, text, vision
from mindspore.dataset.vision import ConvertMode, ImageBatchFormat, Inter

RNG = np.random.default_rng(0)
BYTES = RNG.integers(0, 256, (6, 7, 3)).astype(np.uint8)
SHAPES = [(), (0,), (5,), (0, 0), (0, 4), (1, 1), (1, 9), (9, 1), (0, 3, 3), (3, 3, 0), (1, 1, 3), (1, 5, 3),
          (2, 2, 1), (3, 4, 2), (3, 4, 5), (2, 3, 4, 3), (0, 3, 4, 3), (1, 2, 2, 2, 3)]  # fmt: skip
DTYPES = [np.uint8, np.int8, np.uint16, np.int16, np.int32, np.uint32, np.int64, np.uint64, np.float16, np.float32,
          np.float64, np.bool_, np.complex64]  # fmt: skip
VALUES = {
    **{f"shape {shape}": np.ones(shape, np.uint8) for shape in SHAPES},
    **{f"floats {shape}": np.ones(shape, np.float32) for shape in SHAPES},
    **{f"type {np.dtype(dtype)}": BYTES.astype(dtype) for dtype in DTYPES},
    "nan": np.full((4, 5, 3), np.nan, np.float32),
    "infinite": np.full((4, 5, 3), -np.inf),
    "large": np.full((4, 5, 3), 2**63 - 1, np.int64),
    "strides": BYTES[::-2, ::2, ::-1],
    "swapped": BYTES.astype(">u2"),
    "text": "text",
    "bytes": b"\xff\xd8\x00",
    "texts": np.array(["a", "b"]),
    "none": None,
    "object": np.array([None, 1], object),
    "list": [[1, 2], [3, 4]],
    "ragged": [[1], [2, 3]],
    "date": np.array("2020-01-01", np.datetime64),
}
POINTS = [[0, 0], [5, 0], [5, 5], [0, 5]]
IMAGE_OPERATIONS = [
    vision.Rotate(30), vision.Rotate(30, Inter.BILINEAR, True), vision.Rotate(1e7, Inter.BICUBIC, True, (1e7, -1e7)),
    vision.RandomRotation(90, Inter.AREA), vision.Affine(20, (1, -1), 1e-6, (89.9, 90), Inter.BILINEAR),
    vision.Affine(20, (1, -1), 1e7, 0), vision.RandomAffine(20, (0.1, 0.2), (0.5, 2), (1, 2)),
    vision.Perspective(POINTS, [[0, 0], [5, 0], [5, 5], [1, 4]]), vision.Perspective(POINTS, [[0, 0]] * 4),
    vision.RandomPerspective(1.0, 1.0), vision.ResizedCrop(0, 0, 2, 2, 3), vision.RandomResize(4),
    vision.Posterize(2), vision.Solarize((5, 50)), vision.RandomSolarize(), vision.Equalize(), vision.AutoContrast(49.9),
    vision.AdjustSharpness(2), vision.AdjustGamma(0.0, -1e7), vision.AdjustBrightness(1e7), vision.AdjustContrast(1e7),
    vision.AdjustSaturation(1e7), vision.AdjustHue(0.5), vision.GaussianBlur(31), vision.RandomLighting(1e7),
    vision.Invert(), vision.Erase(3, 3, 2, 2), vision.FiveCrop(2), vision.TenCrop(2), vision.PadToSize(9),
    vision.SlicePatches(2, 2), vision.SlicePatches(2**31 - 1), vision.ConvertColor(ConvertMode.COLOR_RGB2GRAY), vision.RgbToHsv(True),
    vision.ConvertColor(ConvertMode.COLOR_GRAY2RGBA), vision.HsvToRgb(), vision.NormalizePad([1, 2, 3], [1, 2, 3]),
    vision.LinearTransformation(np.eye(2), np.zeros(2)), vision.RandAugment(5, 30), vision.AutoAugment(),
    vision.TrivialAugmentWide(), vision.UniformAugment([vision.Invert()], 1), vision.RandomColorAdjust(1, 1, 1, 0.5),
    vision.RandomSelectSubpolicy([[(vision.Equalize(), 1)]]), vision.Grayscale(3), vision.CutOut(3),
    vision.RandomErasing(1.0), vision.get_image_size, vision.get_image_num_channels, vision.encode_png,
]  # fmt: skip
VOCAB = text.Vocab.from_list(["a", "b"])
TEXT_OPERATIONS = [
    text.CaseFold(), text.NormalizeUTF8(), text.RegexReplace("a", "b"), text.FilterWikipediaXML(), text.Lookup(VOCAB),
    text.WhitespaceTokenizer(), text.UnicodeCharTokenizer(True), text.UnicodeScriptTokenizer(), text.BasicTokenizer(),
    text.RegexTokenizer("a"), text.WordpieceTokenizer(VOCAB), text.BertTokenizer(VOCAB), text.Ngram(2), text.Truncate(2),
    text.SlidingWindow(2), text.ToNumber(np.int8), text.ToNumber(np.float16), text.AddToken("x"), text.PythonTokenizer(list),
]  # fmt: skip
SOUND_OPERATIONS = [
    audio.LFilter([1.0, -3.0], [1.0, 2.0], False), audio.Filtfilt([1.0, 0.1], [0.5, 0.2]), audio.BassBiquad(16000, 3.0),
    audio.Contrast(), audio.DCShift(0.5, 0.02), audio.Dither(), audio.Dither(audio.DensityFunction.GPDF, True),
    audio.Fade(1, 1), audio.Flanger(16000), audio.Gain(), audio.MuLawEncoding(), audio.MuLawDecoding(1),
    audio.Overdrive(), audio.Phaser(16000), audio.Vol(0.5), audio.Spectrogram(4), audio.Spectrogram(4, power=0.0, center=False),
    audio.InverseSpectrogram(n_fft=4), audio.MelScale(2, n_stft=3), audio.MelSpectrogram(n_fft=4, n_mels=2),
    audio.MFCC(n_mfcc=2, melkwargs={"n_fft": 4, "n_mels": 2}), audio.LFCC(16000, 2, 2, speckwargs={"n_fft": 4}),
    audio.SpectralCentroid(16000, 4), audio.GriffinLim(4, 2), audio.InverseMelScale(3, 2, max_iter=2), audio.AmplitudeToDB(),
    audio.DBToAmplitude(1.0, 1.0), audio.ComputeDeltas(3), audio.SlidingWindowCmn(3, 2, norm_vars=True),
    audio.DetectPitchFrequency(1600, 0.01, 1), audio.MaskAlongAxis(0, 1, 0.0, 1), audio.MaskAlongAxisIID(1, 0.0, 2),
    audio.FrequencyMasking(True, 1), audio.TimeMasking(False, 1), audio.Angle(), audio.ComplexNorm(2.0), audio.Magphase(),
    audio.PhaseVocoder(1.5, np.ones((3, 1))), audio.TimeStretch(2, 3, 0.5), audio.PitchShift(16000, 2, n_fft=4),
    audio.Resample(3, 2), audio.Vad(16000),
]  # fmt: skip
PAIRS = [
    vision.MixUpBatch(), vision.CutMixBatch(ImageBatchFormat.NCHW), vision.MixUp(2, 1.0), text.TruncateSequencePair(3),
    vision.RandomHorizontalFlipWithBBox(1.0), vision.RandomCropWithBBox(2, 1), vision.ResizeWithBBox(3),
    vision.RandomResizedCropWithBBox(3), vision.BoundingBoxAugment(vision.Invert(), 1.0),
]  # fmt: skip
# ImportError: pictures are written by Pillow, which may not be there.
NAMED = (TypeError, ValueError, RuntimeError, ImportError)


def tried(operation, *values):
    try:
        operation(*values)
    except NAMED as error:
        assert str(error)


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_wild_values(name):
    value = VALUES[name]
    for operation in IMAGE_OPERATIONS + TEXT_OPERATIONS + SOUND_OPERATIONS:
        tried(operation, value)
    for operation in PAIRS:
        for other in (np.eye(2), np.array([[0, 0, 1, 1]]), np.array([[0, 0, np.nan, 1]]), None):
            tried(operation, value, other)
            tried(operation, other, value)
        tried(operation, value)


def test_pil_images_of_any_mode():
    image_module = pytest.importorskip("PIL.Image")
    picture = image_module.fromarray(BYTES)
    for mode in ("1", "L", "P", "RGB", "RGBA", "CMYK", "YCbCr", "LAB", "HSV", "I", "F"):
        given = picture.convert("RGB" if mode == "LAB" else mode)
        for operation in IMAGE_OPERATIONS:
            try:
                operation(given)
            except (*NAMED, OSError, NotImplementedError) as error:
                assert str(error)


@pytest.mark.parametrize("size", [(1, 1), (1, 300), (300, 1), (2, 2), (1, 4000)])
def test_any_size(size):
    image = RNG.integers(0, 256, (*size, 3)).astype(np.uint8)
    affine = vision.RandomAffine(20, (0.1, 0.2), (0.5, 2), (1, 2), Inter.BICUBIC)
    more = [affine, vision.GaussianBlur(31), vision.AdjustSharpness(2.0)]
    for operation in IMAGE_OPERATIONS[:4] + more:
        assert operation(image).dtype == np.uint8
    flat = np.full((*size, 3), 77, np.uint8)
    assert (vision.GaussianBlur(31)(flat) == 77).all()

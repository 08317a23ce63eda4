"""What images have beyond their borders, of any number of channels: as MindSpore 2.10 has it, or an error."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest

from mindspore.dataset import vision
from mindspore.dataset.vision import Inter

COLOR = (1, 2, 3)


def corner(image):
    return np.atleast_1d(np.asarray(image)[0, 0]).tolist()


@pytest.mark.parametrize(
    ("channels", "of_three", "of_one"),
    [(1, [1], [9]), (2, [1, 2], [9, 9]), (3, [1, 2, 3], [9, 9, 9]), (4, [1, 2, 3, 0], [9, 9, 9, 0]),
     (5, [1, 2, 3, 0, 1], [9, 9, 9, 0, 9])],
)  # fmt: skip
@pytest.mark.parametrize("inter", [Inter.NEAREST, Inter.BILINEAR])
def test_turned(channels, of_three, of_one, inter):
    image = np.full((8, 8, channels), 77, np.uint8)
    affine = vision.Affine(45.0, [0, 0], 1.0, [0.0, 0.0], inter, COLOR)
    assert corner(affine(image)) == of_three
    turned = vision.Rotate(45, inter, False, None, COLOR[::-1])
    assert corner(turned(image)) == of_three
    assert corner(vision.Rotate(45, inter, fill_value=9)(image)) == of_one


@pytest.mark.parametrize("channels", [2, 4, 5])
def test_three_numbers_are_of_no_other_channels(channels):
    image = np.full((6, 6, channels), 77, np.uint8)
    for operation in (
        vision.Pad(2, COLOR),
        vision.RandomCrop(2, 60, fill_value=COLOR),
        vision.PadToSize(9, fill_value=COLOR),
    ):
        with pytest.raises(
            ValueError, match=rf"fill_value must be one number for an image of {channels} channels"
        ):
            operation(image)
    with pytest.raises(ValueError, match="'Erase', value must be one number"):
        vision.Erase(0, 0, 2, 2, COLOR)(image)
    assert corner(vision.Pad(2, 9)(image)) == [9] * channels


@pytest.mark.parametrize("mode", ["RGBA", "CMYK"])
def test_alpha_of_pictures_is_full(mode):
    image_module = pytest.importorskip("PIL.Image")
    picture = image_module.new(mode, (6, 6), (77,) * 4)
    for fill, expected in ((COLOR, [1, 2, 3, 255]), (9, [9, 9, 9, 255])):
        for operation in (
            vision.Pad(2, fill),
            vision.RandomCrop(2, padding=60, fill_value=fill),
            vision.RandomRotation((45, 45), fill_value=fill),
        ):
            made = operation(picture)
            assert made.mode == mode and corner(made) == expected
    assert corner(vision.CenterCrop(9)(picture)) == [0] * 4


def test_two_bands():
    image_module = pytest.importorskip("PIL.Image")
    picture = image_module.new("LA", (6, 6), (77, 77))
    assert corner(vision.RandomRotation((45, 45), fill_value=9)(picture)) == [9, 9]
    for operation in (vision.RandomRotation((45, 45), fill_value=COLOR), vision.Pad(2, COLOR)):
        with pytest.raises(
            ValueError, match="fill_value must be one number for an image of 2 channels"
        ):
            operation(picture)


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.float16, np.float32, np.float64])
def test_hues_of_any_type(kind):
    rng = np.random.default_rng(0)
    whole = np.issubdtype(kind, np.integer)
    image = rng.integers(0, 2, (5, 7, 3)) if whole else rng.random((5, 7, 3))
    image[0, 0, 1] = 1
    image = image.astype(kind)
    made = vision.HsvToRgb(True)(image)
    expected = [colorsys.hsv_to_rgb(*pixel) for pixel in image.reshape(-1, 3).astype(float)]
    assert made.dtype == np.float64
    np.testing.assert_allclose(made.reshape(-1, 3), expected, atol=1e-12)
    channels_first = vision.HsvToRgb(False)(image.transpose(2, 0, 1))
    np.testing.assert_array_equal(channels_first, made.transpose(2, 0, 1))
    # Numbers of any size; and a first pixel that is gray makes all as they were given.
    wide = np.array([[[0, 2, 44], [0, 0, 3]]], kind)
    assert vision.HsvToRgb(True)(wide).tolist() == [[[44, -44, -44], [3, 3, 3]]]
    gray = vision.HsvToRgb(True)(wide[:, ::-1])
    assert gray.dtype == kind and gray[0, 0].tolist() == [3, 3, 3]


MODES = ("RGB", "L", "1", "P", "LA", "RGBA", "CMYK", "HSV", "YCbCr", "F", "I")


@pytest.mark.parametrize("mode", MODES)
def test_gray_is_of_what_a_picture_shows(mode):
    image_module = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(0)
    bands = rng.integers(0, 256, (4, 5, 3)).astype(np.uint8)
    given = image_module.fromarray(bands).convert(mode)
    shown = np.asarray(given.convert("L"))
    for operation in (vision.Grayscale(3), vision.RandomGrayscale(1.0)):
        made = operation(given)
        if mode == "L" and isinstance(operation, vision.RandomGrayscale):
            assert made is given  # pictures are to be alike, whatever chance says
        else:
            assert made.mode == "RGB" and np.array_equal(made, np.stack([shown] * 3, -1))
    assert np.array_equal(vision.Grayscale(1)(given), shown)
    lit = vision.RandomLighting(0.0)(given)
    assert lit.mode == "RGB" and np.array_equal(lit, given.convert("RGB"))


def test_pictures_whose_mode_pillow_refuses():
    image_module = pytest.importorskip("PIL.Image")
    for operation in (vision.Invert(), vision.Equalize(), vision.AutoContrast()):
        with pytest.raises(ValueError, match=f"For '{type(operation).__name__}'.*mode 'CMYK'"):
            operation(image_module.new("CMYK", (3, 4)))


def test_gamma_leaves_alpha():
    image_module = pytest.importorskip("PIL.Image")
    bands = np.random.default_rng(0).integers(0, 256, (4, 5, 4)).astype(np.uint8)
    made = np.asarray(vision.AdjustGamma(2.0)(image_module.fromarray(bands)))
    assert np.array_equal(made[..., 3], bands[..., 3]) and not np.array_equal(made, bands)


@pytest.mark.parametrize("size", [(1, 1), (1, 5), (5, 1)])
def test_the_perspective_of_a_line_is_itself(size):
    image_module = pytest.importorskip("PIL.Image")
    given = image_module.new("RGB", size, (1, 2, 3))
    assert np.array_equal(vision.RandomPerspective(0.5, 1.0)(given), given)

"""JPEG pictures of all kinds of codes: the bytes that Pillow has of them, and of damaged ones no others."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest

from mindspore.dataset import vision
from mindspore.dataset.transforms import native

image_module = pytest.importorskip("PIL.Image")
image_file = pytest.importorskip("PIL.ImageFile")
RNG = np.random.default_rng(0)
KINDS = {
    "4:4:4": {"subsampling": 0},
    "4:2:2": {"subsampling": 1},
    "4:2:0": {"subsampling": 2},
    "best": {"quality": 100, "subsampling": 0},
    "worst": {"quality": 1},
    "codes of its own": {"optimize": True, "quality": 97},
    "progressive": {"progressive": True},
    "restarts": {"restart_marker_blocks": 3},
    "restarts of rows": {"restart_marker_rows": 1, "quality": 95},
}


def picture(height, width, noise=40):
    y, x = np.mgrid[0:height, 0:width]
    waves = np.stack([127 + 90 * np.sin(x / (7 + c)) * np.cos(y / (9 - c)) for c in range(3)], -1)
    return np.clip(waves + RNG.normal(0, noise, waves.shape), 0, 255).astype(np.uint8)


def encoded(array, **options):
    stream = io.BytesIO()
    image_module.fromarray(array).save(stream, "JPEG", **options)
    return stream.getvalue()


def by_pillow(content):
    return np.array(image_module.open(io.BytesIO(content)).convert("RGB"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", [0, 3, 90])
def test_decoded_as_by_pillow(kind, noise):
    for height, width in ((1, 1), (7, 9), (16, 16), (17, 33), (64, 250)):
        array = picture(height, width, noise)
        for given in (array, array[..., 0]):
            content = encoded(given, **KINDS[kind])
            assert np.array_equal(vision.Decode()(content), by_pillow(content))


@pytest.mark.parametrize("kind", KINDS)
def test_parts_are_those_of_the_whole(kind):
    content = encoded(picture(120, 150), **KINDS[kind])
    whole = by_pillow(content)
    for top, left, height, width in (
        (0, 0, 1, 1),
        (119, 149, 1, 1),
        (33, 40, 50, 20),
        (60, 0, 60, 150),
    ):
        part = native.chain_of([vision.Decode(), vision.Crop((top, left), (height, width))])
        made = part.run(np.frombuffer(content, np.uint8), 0)
        assert np.array_equal(made, whole[top : top + height, left : left + width])


def same_or_both_fail(content, smoothed=False):
    """`smoothed`: a progressive picture that lacks scans is, in ways of which each release of the library has its own."""
    try:
        made = vision.Decode()(content)
    except ValueError as error:
        assert "For 'Decode'" in str(error)
        with pytest.raises((OSError, ValueError, SyntaxError)):
            by_pillow(content)
        return
    # Pillow also misses what comes after all pixels.
    image_file.LOAD_TRUNCATED_IMAGES = True
    try:
        expected = by_pillow(content)
        if smoothed:
            assert np.abs(made.astype(int) - expected).mean() < 2
        else:
            assert np.array_equal(made, expected)
    finally:
        image_file.LOAD_TRUNCATED_IMAGES = False


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_damaged_pictures(kind):
    content = encoded(picture(40, 50), **KINDS[kind])
    smoothed = kind == "progressive"
    begin = content.index(b"\xff\xda")
    for _ in range(60):
        changed = bytearray(content)
        for place in RNG.integers(begin + 14, len(content), RNG.integers(1, 4)):
            changed[place] = RNG.choice([0x00, 0xFF, 0xD0, 0xD3, 0xD9, RNG.integers(256)])
        same_or_both_fail(bytes(changed), smoothed)
    for end in RNG.integers(begin, len(content), 20):
        same_or_both_fail(content[:end], smoothed)
        same_or_both_fail(content[:end] + b"\xff\xd9", smoothed)
        same_or_both_fail(content[:end] + content[end + 1 :], smoothed)


def test_markers_of_restarts_in_disorder():
    content = encoded(picture(32, 96), restart_marker_blocks=1)
    for marker in range(0xD0, 0xD8):
        sign = bytes([0xFF, marker])
        same_or_both_fail(content.replace(sign, b"", 1))
        same_or_both_fail(content.replace(sign, b"\xff" + sign, 1))
        same_or_both_fail(content.replace(sign, b"x" + sign, 1))
        same_or_both_fail(content.replace(sign, bytes([0xFF, 0xD0 + (marker + 1) % 8]), 1))


def scans(picture, count):
    """A progressive picture with so many scans more, of a few bytes each."""
    content = encoded(picture, progressive=True)
    begin = content.index(b"\xff\xda")
    first = content[begin : begin + 2 + int.from_bytes(content[begin + 2 : begin + 4], "big")]
    finer = first[:-1] + b"\x10" + b"\0"
    return content[:begin] + first + b"\0" * 4 + finer * count + b"\xff\xd9"


def test_scans_without_end():
    small = picture(16, 16)[..., 0]
    assert vision.Decode()(scans(small, 100)).shape == (16, 16, 3)
    for part in ([], [vision.Crop((0, 0), (8, 8))]):
        with pytest.raises(ValueError, match="must be a picture of at most 500 scans"):
            native.chain_of([vision.Decode(), *part]).run(
                np.frombuffer(scans(small, 501), np.uint8), 0
            )


def test_a_picture_that_bursts_memory():
    encoded_png = io.BytesIO()
    image_module.fromarray(np.zeros((1, 1), np.uint8)).save(encoded_png, "PNG")
    content = bytearray(encoded_png.getvalue())
    content[16:24] = struct.pack(">II", 14000, 14000)
    content[29:33] = struct.pack(">I", zlib.crc32(content[12:29]))
    with pytest.raises(
        ValueError, match=r"For 'Decode', the input must be a valid image, but .+ exceeds limit"
    ):
        vision.Decode()(bytes(content))

"""Images of bytes in other sizes: against plain models in NumPy, and against Pillow."""

from __future__ import annotations

import ctypes
import mmap
import sys

import numpy as np
import pytest
from test_vision_bytes import SIZES, picture

from mindspore.dataset import vision
from mindspore.dataset.transforms import native
from mindspore.dataset.vision import Inter


def weights(source, target, inter):
    """How much of each source place is in each target place: [target, source]."""
    table = np.zeros((target, source))
    scale = source / target
    for i in range(target):
        if inter == Inter.AREA:
            edges = np.arange(source + 1)
            table[i] = np.clip(
                np.minimum(edges[1:], (i + 1) * scale) - np.maximum(edges[:-1], i * scale), 0, None
            )
            continue
        centre = (i + 0.5) * scale - 0.5
        low = int(np.floor(centre)) - (1 if inter == Inter.CUBIC else 0)
        for x in range(low, low + (4 if inter == Inter.CUBIC else 2)):
            d = abs(x - centre)
            if inter == Inter.LINEAR:
                share = max(1 - d, 0)
            elif d < 1:
                share = (1.25 * d - 2.25) * d * d + 1
            else:
                share = ((-0.75 * d + 3.75) * d - 6) * d + 3 if d < 2 else 0
            table[i, min(max(x, 0), source - 1)] += share
    return table / table.sum(1, keepdims=True)


def resized(image, height, width, inter):
    rows, columns = weights(image.shape[0], height, inter), weights(image.shape[1], width, inter)
    return np.einsum("yi,ij...,xj->yx...", rows, image.astype(float), columns, optimize=True)


@pytest.mark.parametrize("inter", [Inter.LINEAR, Inter.CUBIC, Inter.AREA])
@pytest.mark.parametrize("channels", [0, 1, 2, 3, 4, 5])
def test_resize_is_its_definition(inter, channels):
    for height, width in ((1, 1), (3, 2), (16, 40), (33, 37), (50, 201)):
        image = picture(height, width, channels)
        for size in ((1, 1), (2, 9), (17, 16), (33, 37), (70, 300)):
            if inter == Inter.AREA and (size[0] > height or size[1] > width):
                continue  # the next test
            given = vision.Resize(size, inter)(image)
            exact = np.clip(resized(image, *size, inter), 0, 255)
            assert given.dtype == np.uint8 and given.shape == (*size, *image.shape[2:])
            assert np.abs(given - exact).max() <= 0.55


def two_weights(source, target):
    """As OpenCV averages areas where a side grows: of two pixels."""
    table = np.zeros((target, source))
    for i in range(target):
        low = i * source // target
        beyond = (i + 1) * source - (low + 1) * target
        share = 0 if beyond <= 0 or low >= source - 1 else beyond % source / source
        table[i, low] += 1 - share
        table[i, min(low + 1, source - 1)] += share
    return table


@pytest.mark.parametrize("channels", [0, 1, 3, 4])
@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.int16])
def test_areas_where_a_side_grows(channels, kind):
    for height, width in ((1, 1), (3, 2), (16, 40), (50, 201)):
        image = picture(height, width, channels).astype(kind)
        for size in ((2, 300), (70, 5), (70, 300), (51, 200)):
            given = vision.Resize(size, Inter.AREA)(image)
            rows, columns = two_weights(height, size[0]), two_weights(width, size[1])
            exact = np.einsum("yi,ij...,xj->yx...", rows, image.astype(float), columns)
            assert np.abs(given - exact).max() <= (1e-3 if kind == np.float32 else 0.55)


@pytest.mark.parametrize("inter", list(Inter)[:4])
def test_any_size_to_any_size(inter):
    for height, width in SIZES:
        image = picture(height, width)
        for size in ((1, 1), (1, 300), (299, 2), (64, 64)):
            given = vision.Resize(size, inter)(image)
            assert given.shape == (*size, 3)
        flat = np.full((height, width, 3), 77, np.uint8)
        assert (vision.Resize((50, 60), inter)(flat) == 77).all()


def test_nearest_pixels_are_copied():
    for height, width in SIZES:
        for channels in (0, 1, 2, 3, 4):
            image = picture(height, width, channels)
            for rows, columns in ((1, 1), (50, 64), (31, 130), (4, 999)):
                y, x = np.arange(rows) * height // rows, np.arange(columns) * width // columns
                given = vision.Resize((rows, columns), Inter.NEAREST)(image)
                assert np.array_equal(given, image[y][:, x])


@pytest.mark.parametrize("inter", [Inter.LINEAR, Inter.CUBIC, Inter.AREA])
@pytest.mark.parametrize("channels", [0, 1, 3, 4])
def test_much_smaller_images_are_their_definition(inter, channels):
    for height, width in ((9, 129), (100, 43), (90, 500), (7, 2000)):
        image = picture(height, width, channels)
        for size in ((2, width // 3), (9, width // 5), (3, width // 8), (5, width // 17), (1, 7)):
            if inter == Inter.AREA and (size[0] > height or height // size[0] > 13):
                continue
            given = vision.Resize(size, inter)(image)
            exact = np.clip(resized(image, *size, inter), 0, 255)
            assert np.abs(given - exact).max() <= 0.55, (height, width, size)


@pytest.mark.parametrize(
    "inter", [Inter.LINEAR, Inter.CUBIC, Inter.AREA, Inter.ANTIALIAS, Inter.NEAREST]
)
def test_pictures_become_what_pillow_makes_of_them(inter):
    image_module = pytest.importorskip("PIL.Image")
    names = {
        Inter.LINEAR: "BILINEAR",
        Inter.CUBIC: "BICUBIC",
        Inter.AREA: "BOX",
        Inter.ANTIALIAS: "LANCZOS",
        Inter.NEAREST: "NEAREST",
    }
    way = image_module.Resampling[names[inter]]

    def as_pillow(image, size):
        chain = native.chain_of([vision.ToPIL(), vision.Resize(size, inter)])
        return chain.run(np.ascontiguousarray(image), 0)

    for height, width in ((1, 1), (3, 5), (40, 60), (33, 131), (100, 700), (500, 31)):
        for channels in (0, 3):
            image = picture(height, width, channels)
            for size in ((1, 1), (6, 5), (20, 43), (44, 44), (70, 150), (height, 9), (9, width)):
                made = image_module.fromarray(image).resize(size[::-1], way)
                given = as_pillow(image, size)
                if height > size[0] and not np.array_equal(given, made):
                    # Some versions of Pillow go down first, where the image gets much lower.
                    given = as_pillow(image.swapaxes(0, 1), size[::-1]).swapaxes(0, 1)
                assert np.array_equal(given, made), (height, width, channels, size)


def at_the_end_of_memory(image):
    """The image where nothing behind its last byte may be read."""
    page = mmap.PAGESIZE
    size = -(-image.nbytes // page) * page
    memory = mmap.mmap(-1, size + page)
    end = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + size
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(end), ctypes.c_size_t(page), 0) == 0
    moved = np.ndarray(image.shape, np.uint8, buffer=memory, offset=size - image.nbytes)
    moved[...] = image
    return moved


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="protects a page as Linux does")
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_nothing_behind_an_image_is_read(channels):
    for height, width in ((3, 24), (9, 40), (60, 70), (7, 1000)):
        image = picture(height, width, channels)
        moved = at_the_end_of_memory(image)
        sizes = [(3, 8), (2, 9), (height, width // 3), (height // 2, width // 2)]
        sizes += [(height // 3, width // 4), (2 * height, 2 * width)]
        steps = [vision.Resize(size, inter) for size in sizes for inter in Inter]
        steps += [vision.HorizontalFlip(), vision.VerticalFlip(), vision.Pad(3), vision.HWC2CHW()]
        steps += [vision.AdjustBrightness(1.3), vision.Crop((1, 1), (height - 1, width - 1))]
        for step in steps:
            assert np.array_equal(step(moved), step(image)), (height, width, step)

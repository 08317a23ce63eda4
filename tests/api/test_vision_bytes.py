"""Images of bytes of all sizes, channels, strides and types: against plain models in NumPy, and the same bits whatever vectors the
processor has. Sizes changed are in test_vision_resize.py.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import transforms, vision
from mindspore.dataset.vision import Inter

RNG = np.random.default_rng(0)
SIZES = [
    (1, 1),
    (1, 4000),
    (4000, 1),
    (2, 3),
    (3, 2),
    (7, 5),
    (16, 16),
    (17, 33),
    (64, 22),
    (100, 129),
    (43, 4000),
]


def picture(height, width, channels=3):
    shape = (height, width, channels) if channels else (height, width)
    return RNG.integers(0, 256, shape).astype(np.uint8)


@pytest.mark.parametrize(
    "dtype", [np.uint8, np.int16, np.uint16, np.int32, np.float32, np.float64, np.complex64]
)
def test_moves_of_any_type(dtype):
    for height, width in SIZES:
        for channels in (0, 1, 2, 3, 4):
            image = picture(height, width, channels).astype(dtype)
            if dtype != np.complex64:
                assert np.array_equal(vision.HorizontalFlip()(image), image[:, ::-1])
                assert np.array_equal(vision.VerticalFlip()(image), image[::-1])
            if channels and dtype != np.complex64:
                assert np.array_equal(vision.HWC2CHW()(image), image.transpose(2, 0, 1))
            if dtype != np.complex64:
                padded = vision.Pad((1, 2, 3, 4), 7)(image)
                border = [(2, 4), (1, 3), (0, 0)][: image.ndim]
                assert np.array_equal(padded, np.pad(image, border, constant_values=7))


def test_center_crops_and_borders():
    for height, width in SIZES:
        image = picture(height, width)
        for rows, columns in ((1, 1), (5, 200), (200, 5), (90, 90)):
            top, left = (height - rows) // 2, (width - columns) // 2
            given = vision.CenterCrop((rows, columns))(image)
            assert given.shape == (rows, columns, 3)
            if top >= 0 and left >= 0:
                assert np.array_equal(given, image[top : top + rows, left : left + columns])
            else:
                # All that fits of the image is there, and only zeros beside it.
                kept = image[
                    max(top, 0) : max(top, 0) + rows, max(left, 0) : max(left, 0) + columns
                ]
                assert int(given.astype(int).sum()) == int(kept.astype(int).sum())


STRIDED = {
    "backwards": lambda a: a[::-1, ::-1],
    "steps": lambda a: a[::2, 1::3],
    "planes": lambda a: np.ascontiguousarray(a.transpose(2, 0, 1)).transpose(1, 2, 0),
    "fortran": np.asfortranarray,
    "part": lambda a: a[3:30, 5:41],
    "colors": lambda a: a[..., ::-1],
    "read only": lambda a: np.frombuffer(a.tobytes(), np.uint8).reshape(a.shape),
    "unaligned": lambda a: np.frombuffer(b"x" + a.tobytes(), np.uint8, offset=1).reshape(a.shape),
}
OPERATIONS = {
    "resize": lambda: vision.Resize((20, 31)),
    "enlarge": lambda: vision.Resize((90, 131)),
    "cubic": lambda: vision.Resize((20, 31), Inter.CUBIC),
    "far": lambda: vision.Resize((40, 61)),
    "far cubic": lambda: vision.Resize((30, 41), Inter.CUBIC),
    "area": lambda: vision.Resize((20, 31), Inter.AREA),
    "nearest": lambda: vision.Resize((20, 31), Inter.NEAREST),
    "antialias": lambda: vision.Resize((20, 31), Inter.ANTIALIAS),
    "flip": lambda: vision.HorizontalFlip(),
    "crop": lambda: vision.CenterCrop((11, 13)),
    "pad": lambda: vision.Pad(3, (1, 2, 3)),
    "normalize": lambda: vision.Normalize([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
    "rescale": lambda: vision.Rescale(1 / 255, -1.0),
    "tensor": lambda: vision.ToTensor(),
    "channels": lambda: vision.HWC2CHW(),
    "turned": lambda: vision.Rotate(17, Inter.BILINEAR),
    "turned nearest": lambda: vision.Rotate(17, fill_value=(1, 2, 3)),
    "wide": lambda: vision.Rotate(130, Inter.BILINEAR, True, None, (9, 8, 7)),
    "affine": lambda: vision.Affine(20, (0.1, -0.2), 1.3, (5, 10), Inter.BILINEAR, 7),
    "perspective": lambda: vision.Perspective([[0, 0], [9, 0], [9, 9], [0, 9]], [[1, 0], [9, 1], [8, 9], [0, 8]], Inter.BILINEAR),
    "brightness": lambda: vision.AdjustBrightness(1.3),
    "brightest": lambda: vision.AdjustBrightness(1 << 24),
    "contrast": lambda: vision.AdjustContrast(0.7),
    "hardest": lambda: vision.AdjustContrast(1 << 24),
    "saturation": lambda: vision.AdjustSaturation(1.8),
    "hue": lambda: vision.AdjustHue(0.2),
    "equal": lambda: vision.Equalize(),
    "auto": lambda: vision.AutoContrast(2.0),
    "gamma": lambda: vision.AdjustGamma(0.6),
    "invert": lambda: vision.Invert(),
    "chain": lambda: transforms.Compose(
        [vision.Resize((37, 53)), vision.HorizontalFlip(), vision.Normalize([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]), vision.HWC2CHW()]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STRIDED)
def test_strides_do_not_matter(name):
    image = STRIDED[name](picture(40, 57))
    for make in OPERATIONS.values():
        operation = make()
        assert operation(image).tobytes() == operation(np.array(image, order="C")).tobytes()


def test_rows_moved_of_any_width():
    for width in [*range(1, 200), 223, 224, 255, 256, 257, 1000]:
        image = picture(3, width)
        assert np.array_equal(vision.HorizontalFlip()(image), image[:, ::-1]), width
        assert np.array_equal(vision.VerticalFlip()(image), image[::-1]), width
        if width > 2:
            assert np.array_equal(vision.Crop((1, 1), (2, width - 2))(image), image[1:, 1:-1]), (
                width
            )


def test_turned_images_are_their_definition():
    for height, width in ((1, 1), (1, 300), (300, 1), (30, 41), (64, 64), (130, 257)):
        image = picture(height, width)
        for degrees in (0, 0.01, 0.4, 15, 45, 89.9, 90, 179, 180, 200, 271):
            turned = vision.Rotate(degrees, fill_value=(1, 2, 3))(image)
            # One channel goes another way.
            for c, fill in enumerate((3, 2, 1)):
                plane = np.ascontiguousarray(image[..., c])
                alone = vision.Rotate(degrees, fill_value=fill)(plane)
                assert np.array_equal(turned[..., c], alone), (height, width, degrees)


class Larger(vision.Resize):
    """Of the user's, and the same as its base."""


class Negative(vision.HorizontalFlip):
    """Of the user's, and something else than its base."""

    def _image(self, image):
        return 255 - super()._image(image)


def test_classes_made_of_ours():
    image = picture(30, 40)
    given = (Larger((50, 60)), Negative(), vision.Resize((50, 60)), vision.HorizontalFlip())
    for _ in range(2):  # the second call may go another way
        larger, negative, as_larger, flipped = (operation(image) for operation in given)
        assert np.array_equal(larger, as_larger)
        assert np.array_equal(negative, 255 - flipped)
    data = ds.NumpySlicesDataset(image[None], ["x"]).map([Larger((50, 60)), Negative()], "x")
    ((piped,),) = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert np.array_equal(piped, 255 - as_larger[:, ::-1])


@pytest.mark.parametrize("name", OPERATIONS)
def test_later_calls_are_like_the_first(name):
    operation = OPERATIONS[name]()
    wrong = [np.zeros((2, 2, 3), complex), np.zeros(3), np.array("a"), np.zeros((2, 2), "M8[s]")]
    image = picture(40, 57)
    kinds = [image, image.astype(np.float32), image.astype(">u2"), image[::2], np.asfortranarray(image), *wrong]  # fmt: skip

    def told(call, value):
        try:
            result = call(value)
            return result.dtype, result.shape, result.tobytes()
        except (TypeError, ValueError) as error:
            return type(error), str(error)

    first = [told(OPERATIONS[name](), value) for value in kinds]
    assert [told(operation, value) for value in kinds] == first
    assert [told(operation, value) for value in kinds] == first
    assert told(pickle.loads(pickle.dumps(operation)), image) == first[0]


def test_draws_of_a_seed_are_the_same_again():
    image = picture(40, 50)

    def drawn():
        ds.config.set_seed(7)
        operation = vision.RandomCrop(9)
        found = []
        thread = threading.Thread(target=lambda: found.extend(operation(image) for _ in range(20)))
        thread.start()
        thread.join()
        return np.stack(found)

    kept = ds.config.get_seed()
    try:
        first = drawn()
        assert np.array_equal(first, drawn())
        assert len({part.tobytes() for part in first}) > 15
    finally:
        ds.config.set_seed(kept)


def test_results_are_not_the_input():
    image = picture(30, 40)
    kept = image.copy()
    same = [vision.Resize((30, 40)), vision.CenterCrop((30, 40)), vision.Pad(0), vision.HWC2CHW(), vision.RandomHorizontalFlip(0.0),
            vision.Rotate(0), vision.AdjustBrightness(1.0), transforms.TypeCast(np.uint8)]  # fmt: skip
    for operation in same:
        result = operation(image)
        result[...] = 0
        assert np.array_equal(image, kept), operation
    gray = picture(30, 40, 0)
    result = vision.HWC2CHW()(gray)
    result[...] = 0
    assert gray.any()


def test_the_fused_chain_is_its_steps():
    mean, std = [10.0, 20.0, 30.0], [40.0, 50.0, 60.0]
    chains = [
        [vision.Normalize(mean, std)], [vision.HorizontalFlip(), vision.Normalize(mean, std), vision.HWC2CHW()],
        [vision.Rescale(1 / 255, 0.5)], [vision.HorizontalFlip(), vision.Rescale(2.0, 0.5)],
        [vision.HWC2CHW(), vision.Rescale(1 / 255, 0.5)], [vision.ToTensor()], [vision.Rescale(1 / 3, 0.0), vision.Normalize(mean, std)],
    ]  # fmt: skip
    for height, width in SIZES + [(1000, 1100)]:
        for channels in (1, 3, 4):
            image = picture(height, width, channels)
            for steps in chains:
                if channels == 4 and any(isinstance(step, vision.Normalize) for step in steps):
                    continue
                if channels == 1:
                    steps = [
                        vision.Normalize([9.0], [7.0]) if isinstance(s, vision.Normalize) else s
                        for s in steps
                    ]
                data = ds.NumpySlicesDataset(image[None], ["x"], shuffle=False).map(steps, "x")
                ((given,),) = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
                expected = image
                for step in steps:
                    # Without a table: each by itself, of floats.
                    expected = step(
                        expected
                        if isinstance(step, (vision.HorizontalFlip, vision.HWC2CHW))
                        else expected.astype(np.float32)
                    )
                assert given.tobytes() == np.ascontiguousarray(expected).tobytes(), (
                    height,
                    width,
                    steps,
                )


def digest():
    """What all operations make of some images."""
    rng = np.random.default_rng(1)
    found = hashlib.sha256()
    for height, width in ((1, 1), (5, 300), (300, 5), (64, 64), (129, 257)):
        image = rng.integers(0, 256, (height, width, 3)).astype(np.uint8)
        for make in OPERATIONS.values():
            try:
                found.update(make()(image).tobytes())
            except ValueError:
                found.update(b"refused")
    for width in range(1, 41):
        image = rng.integers(0, 256, (6, 30, 4 - width % 2)).astype(np.uint8)
        for inter in Inter:
            found.update(vision.Resize((5, width), inter)(image).tobytes())
        few = image[: width % 4 + 1]  # less than the rows that are joined at once
        found.update(vision.Resize((width, 17), Inter.ANTIALIAS)(few).tobytes())
    for channels in (0, 1, 2, 4):
        shape = (50, 61, channels) if channels else (50, 61)
        image = rng.integers(0, 256, shape).astype(np.uint8)
        for name in (
            "resize",
            "enlarge",
            "cubic",
            "area",
            "nearest",
            "flip",
            "turned",
            "turned nearest",
        ):
            found.update(OPERATIONS[name]()(image).tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("isa", ["base", "avx2"])
def test_the_same_bits_with_narrower_vectors(isa):
    code = "import test_vision_bytes as t; print(t.digest())"
    own = {
        **os.environ,
        "MS_MAX_ISA": isa,
        "PYTHONPATH": os.path.dirname(__file__) + os.pathsep + os.environ.get("PYTHONPATH", ""),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=own, capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[-1] == digest()


def test_batches_of_images():
    images = np.stack([picture(20, 30), picture(20, 30)])
    for operation in (
        vision.Resize((7, 9)),
        vision.Resize(9),
        vision.CenterCrop(11),
        vision.CenterCrop(40),
        vision.HorizontalFlip(),
    ):
        given = operation(images)
        assert np.array_equal(given, np.stack([operation(image) for image in images]))
        deeper = operation(images[None])
        assert np.array_equal(deeper[0], given)


def test_pictures_of_sixteen_bits():
    image_module = pytest.importorskip("PIL.Image")
    import io

    stream = io.BytesIO()
    values = (np.arange(600).reshape(20, 30) * 100).astype(np.uint16)
    image_module.fromarray(values).save(stream, "PNG")
    given = vision.Decode()(np.frombuffer(stream.getvalue(), np.uint8))
    assert np.array_equal(given[..., 0], values >> 8) and given.shape == (20, 30, 3)


def test_which_operations_keep_pil_images():
    image_module = pytest.importorskip("PIL.Image")
    image = picture(20, 30)
    given = image_module.fromarray(image)
    for operation in (vision.HorizontalFlip(), vision.Crop((1, 2), 9), vision.Rotate(20), vision.Posterize(3), vision.GaussianBlur(3),
                      vision.Solarize(100), vision.Erase(1, 2, 3, 4), vision.ConvertColor(vision.ConvertMode.COLOR_RGB2BGR)):  # fmt: skip
        result = operation(given)
        assert isinstance(result, np.ndarray) and np.array_equal(result, operation(image))
    for operation in (
        vision.CenterCrop(9),
        vision.Resize(9),
        vision.RandomHorizontalFlip(1.0),
        vision.Invert(),
        vision.Pad(2),
    ):
        assert isinstance(operation(given), image_module.Image)
    # Where a PIL image came by, Compose gives a tuple, as MindSpore does.
    both = transforms.Compose([vision.ToPIL(), vision.ToTensor()])(image)
    assert isinstance(both, tuple) and both[0].shape == (3, 20, 30)
    assert transforms.Compose([vision.Resize(9), vision.ToTensor()])(image).shape == (3, 9, 13)
    steps = [vision.ToPIL(), vision.HorizontalFlip(), vision.Resize((5, 7)), vision.ToTensor()]
    data = ds.NumpySlicesDataset(image[None], ["x"]).map(steps, "x")
    ((piped,),) = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert np.array_equal(piped, transforms.Compose(steps)(image)[0])


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: vision.Normalize([256.0], [1.0]), ValueError, r"mean must be in \[0, 255\]"),
        (
            lambda: vision.Normalize([1.0], [256.0]),
            ValueError,
            "std must be positive and at most 255",
        ),
        (lambda: vision.Pad(1, 256), ValueError, r"fill_value must be in \[0, 255\]"),
        (lambda: vision.Pad(1, (1, 2)), TypeError, "fill_value must be one number or three"),
        (lambda: vision.RandomCrop(1, fill_value=-1), ValueError, "fill_value"),
        (lambda: vision.Crop((1, 2, 3), 4), TypeError, "coordinates must be"),
    ],
)
def test_arguments_beyond_what_bytes_hold(make, kind, words):
    with pytest.raises(kind, match=words):
        make()

"""Transforms that the engine does by itself: against kept results of Pillow and MindSpore 2.10, one by
one against fused, and with any number of workers.
"""

from __future__ import annotations

import base64
import pickle
import zlib

import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore import _core
from mindspore.dataset import transforms, vision
from mindspore.dataset.transforms import native
from mindspore.dataset.vision import Inter

_Y, _X = np.mgrid[0:44, 0:70]
IMAGE = np.stack([(_X * 3 + _Y) % 256, (_X * _Y // 4) % 256, 255 - (_Y * 5) % 256], -1)
IMAGE = IMAGE.astype(np.uint8)

# IMAGE, and one of its channels, as JPEG pictures.
COLOR = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmB"
    "anGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSk"
    "pKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAsAEYDASIAAhEBAxEB/8QAGgAAAgMBAQAA"
    "AAAAAAAAAAAAAwQAAgUBBv/EACoQAAICAQMDAgUFAAAAAAAAAAIDAAEEESFhEjFRE0EFFCMykUJScdHx/8QA"
    "GQEAAwEBAQAAAAAAAAAAAAAAAgMEAAUB/8QAIBEAAgICAgIDAAAAAAAAAAAAAAECAxEhBDESQRMUMv/aAAwD"
    "AQACEQMRAD8Aw6l6qUCHCp3HYCtEoZeglwGGAIp3BqWANLhKTxGAXDAmKd4asFKRxL1j8R4EcQwY/EU+SGrj"
    "OrG4kmragWPUwhCu2pXpJA+y2MVzfR5FcZXUXVG1VDnYRPQZYxlYSihjigkk7hblgi1w10tIdbCoR83FsvMH"
    "F0WuqJvvV9hrmZ+jHH1sKyLzcBZlt6Q2upzWXpGgz4kFVpjrsr/cW1fj/IK8nKb3bY1rroO2kqpHEcVj8TOc"
    "I9FcVXDpCYY23aSaJ2jHqvVOhu/bvf4kg/PJ9IarJvaR5VMfTURR7TQRUKybOfMcSM7mZfyo0tdatKtavTYa"
    "8wiKqYwnbmkw/uK9bksH5S36Apgpy36CpVHkp4gkDU0UDW01tzKpzZz6aA62lQj21irM9rdRSPpj5/Vf9RO3"
    "Hks62ld+K9q/iOIAdtp5+dy2yiNSisy2yisbbtJNNIDp2kinyHkJ3M//2Q=="
)
GRAY = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDACgcHiMeGSgjISMtKygwPGRBPDc3PHtYXUlkkYCZlo+AjIqgtObD"
    "oKrarYqMyP/L2u71////m8H////6/+b9//j/wAALCAAsAEYBAREA/8QAGQAAAwEBAQAAAAAAAAAAAAAAAwQF"
    "AgEG/8QAKxAAAgIBAwMCBAcAAAAAAAAAAgMAAQQRIWESMVETQQUUIpEyQnGB0fDx/9oACAEBAAA/AI1VO0M1"
    "QTtLmqVO0jidrH4mqxuJ35XiKjUKIwohCCuFFUIKOIUcfiFHG4miStQ9TCEK7alek88FRgBhwCMAuMAqFKlp"
    "DraVAPm4k34qFVpjLsr1/Ee1fb/IsWVmO7tsa110D6dP3reYHF27RVdRtYxtYRta4LNzRxNFrqjd71fYa5kq"
    "6Y8+tpWZebjC8fiNrxuIRloxqr1mUN37d7+1SGmo8kY8kJnOzPlBpa61cVa1d1sNeZKSqPJRxG7pWOv1HFQj"
    "rprEW/EHN1FA+kHn81/x/d4FWLt2iyJRRUooqp5+jJ7iae5Fetx5A1KKAqQiczKZ1tK732r2r9KjiFj4lBSx"
    "07T/2Q=="
)


def encoded(content):
    return np.frombuffer(content, np.uint8)


def crc(array):
    return zlib.crc32(np.ascontiguousarray(array).tobytes())


def chain(*specs):
    whole = [native.whole((name, [float(n) for n in numbers])) for name, *numbers in specs]
    return _core.dataset.Chain(whole)


@pytest.fixture
def pictures(tmp_path):
    """A folder of pictures in two classes."""
    for number in range(24):
        folder = tmp_path / "ab"[number % 2]
        folder.mkdir(exist_ok=True)
        (folder / f"{number:02}.jpg").write_bytes(GRAY if number % 5 == 0 else COLOR)
    return str(tmp_path)


# Against others


@pytest.mark.parametrize(("content", "expected"), [(COLOR, 2245045036), (GRAY, 73180439)])
def test_decode_gives_the_bytes_of_pillow(content, expected):
    image = vision.Decode()(encoded(content))
    assert image.shape == (44, 70, 3) and crc(image) == expected
    assert crc(vision.Decode()(content)) == expected


def test_a_part_is_what_it_is_in_the_whole():
    windows = ((0, 0, 44, 70), (5, 3, 7, 9), (40, 60, 4, 10), (17, 0, 1, 1))
    for content in (COLOR, GRAY):
        whole = vision.Decode()(content)
        for top, left, height, width in windows:
            part = chain(("Decode", 0), ("Crop", top, left, height, width)).run(encoded(content), 0)
            assert (part == whole[top : top + height, left : left + width]).all()
        padded = chain(("Decode", 0), ("Pad", 1, 2, 3, 4, 9)).run(encoded(content), 0)
        assert (padded == vision.Pad([1, 2, 3, 4], 9)(whole)).all()
        assert padded.shape == (50, 74, 3) and padded[0, 0].tolist() == [9, 9, 9]


@pytest.mark.parametrize(
    ("inter", "small", "large"),
    [
        (Inter.NEAREST, 1098429048, 1475285232),
        (Inter.BILINEAR, 1168102355, 3126603510),
        (Inter.BICUBIC, 1460832882, 985913803),
        (Inter.ANTIALIAS, 1431110814, 1914442379),
        (Inter.AREA, 1234549657, 1475285232),
    ],
)
def test_pil_images_are_resized_as_by_pillow(inter, small, large):
    for height, width, expected in ((13, 20, small), (100, 90, large)):
        given = chain(("ToPIL",), ("Resize", height, width, inter)).run(IMAGE, 0)
        assert crc(given) == expected


@pytest.mark.parametrize(
    ("inter", "expected"),
    [
        (Inter.BILINEAR, [[8, 26, 43, 61, 78], [26, 82, 138, 194, 250],
                          [44, 138, 233, 71, 166], [62, 195, 72, 205, 82]]),
        (Inter.BICUBIC, [[7, 26, 42, 61, 77], [26, 82, 138, 194, 255],
                         [44, 138, 232, 71, 166], [62, 194, 72, 205, 82]]),
        (Inter.AREA, [[8, 25, 43, 60, 78], [26, 82, 138, 172, 132],
                      [44, 138, 161, 86, 149], [61, 171, 88, 155, 108]]),
    ],
)  # fmt: skip
def test_arrays_are_resized_as_by_mindspore(inter, expected):
    given = vision.Resize((4, 5), inter)(IMAGE)[..., 1].astype(int)
    assert np.abs(given - expected).max() <= 1


@pytest.mark.parametrize("dtype", ["float16", "float32", "uint16", "int8", "int64", "uint32"])
def test_other_types_are_resized(dtype):
    image = (IMAGE[..., 0] // 3).astype(dtype)
    given = vision.Resize((20, 30))(image)
    exact = vision.Resize((20, 30))(image.astype(np.float64))
    assert given.dtype == dtype and given.shape == (20, 30)
    assert np.abs(given - exact).max() <= (0.03 if "float" in dtype else 0.5001)


# Chains

STEPS = [
    [vision.Rescale(1 / 255, -0.5), vision.HWC2CHW()],
    [vision.HWC2CHW(), vision.Rescale(2, 1)],
    [vision.HorizontalFlip(), vision.Normalize([1, 2, 3], [4, 5, 6]), vision.HWC2CHW()],
    [vision.HWC2CHW(), vision.Normalize([1, 2, 3], [4, 5, 6], is_hwc=False)],
    [vision.ToTensor(), vision.Normalize([0.4], [0.2], is_hwc=False)],
    [vision.HorizontalFlip(), vision.HWC2CHW()],
    [vision.HWC2CHW(), vision.HorizontalFlip(), vision.Rescale(1, 0)],
    [vision.CenterCrop(60), vision.VerticalFlip(), vision.Resize(20), vision.Rescale(1, 0)],
    [vision.Crop((3, 4), (10, 20)), vision.Pad([2, 3], 7), transforms.TypeCast(ms.float16)],
    [transforms.Compose([vision.HorizontalFlip(), vision.HorizontalFlip()]), vision.ToTensor()],
]
IMAGES = {"bytes": IMAGE, "floats": IMAGE.astype(np.float32), "gray": IMAGE[..., :1]}


@pytest.mark.parametrize("steps", STEPS, ids=[str(i) for i in range(len(STEPS))])
@pytest.mark.parametrize("kind", IMAGES)
def test_a_chain_gives_the_bits_of_its_parts(steps, kind):
    expected = image = np.ascontiguousarray(IMAGES[kind])
    if any(np.size(getattr(step, "mean", 0)) == 3 for step in steps) and kind == "gray":
        steps = [vision.Normalize([1], [2])]
    for step in steps:
        expected = step(expected)
    data = ds.NumpySlicesDataset(image[None], ["x"]).map(steps, "x")
    (given,) = next(data.create_tuple_iterator(output_numpy=True))
    assert given.dtype == expected.dtype and given.shape == expected.shape
    assert given.tobytes() == expected.tobytes()


def test_normalisation_of_the_wrong_axis():
    steps = [vision.HWC2CHW(), vision.Normalize([1, 2, 3], [1, 1, 1])]
    data = ds.NumpySlicesDataset(IMAGE[None], ["x"]).map(steps, "x")
    with pytest.raises(RuntimeError, match="row 0: For 'Normalize', mean must have one entry"):
        next(data.create_tuple_iterator())


def test_one_hot_and_casts():
    labels = np.array([2, 0, 1], np.uint32)
    steps = [transforms.OneHot(3), transforms.TypeCast(ms.float32)]
    data = ds.NumpySlicesDataset(labels, ["y"], shuffle=False).map(steps, "y")
    rows = [row[0] for row in data.create_tuple_iterator(output_numpy=True, num_epochs=1)]
    assert np.array_equal(rows, np.eye(3)[labels]) and rows[0].dtype == np.float32
    with pytest.raises(RuntimeError, match=r"row \d: For 'OneHot', the input must be in \[0, 2\)"):
        list(ds.NumpySlicesDataset(labels, ["y"]).map(transforms.OneHot(2), "y"))
    with pytest.raises(TypeError, match="must be of an integer type, but got float32"):
        transforms.OneHot(2)(np.float32(1))
    data = ds.NumpySlicesDataset([[-1.5, 300.0]], ["x"]).map(transforms.TypeCast(np.uint8), "x")
    assert next(data.create_tuple_iterator(output_numpy=True))[0].tolist() == [255, 44]


def test_functions_of_the_user_get_what_they_did():
    seen = []

    def note(x):
        seen.append(type(x).__name__)
        return np.asarray(x)

    data = ds.NumpySlicesDataset(IMAGE[None], ["x"])
    next(data.map([vision.HorizontalFlip(), note, vision.HWC2CHW()], "x").create_tuple_iterator())
    assert seen[0] == "ndarray"

    class Mine(vision.HorizontalFlip):
        def _image(self, image):
            return image

    (row,) = next(data.map(Mine(), "x").create_tuple_iterator(output_numpy=True))
    assert (row == IMAGE).all()


def test_a_function_after_to_pil_gets_a_pil_image():
    pytest.importorskip("PIL")
    data = ds.NumpySlicesDataset(IMAGE[None], ["x"])
    steps = [vision.HorizontalFlip(), vision.ToPIL(), lambda image: np.array(image.size)]
    (row,) = next(data.map(steps, "x").create_tuple_iterator(output_numpy=True))
    assert row.tolist() == [70, 44]


def test_transforms_travel():
    resize = vision.Resize((4, 5))
    expected = resize(IMAGE)
    assert (pickle.loads(pickle.dumps(resize))(IMAGE) == expected).all()


# Pipelines


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_random_transforms_for_any_number_of_workers(pictures, workers):
    def stream(workers):
        ds.config.set_seed(7)
        crop = [vision.RandomCropDecodeResize(16), vision.RandomHorizontalFlip()]
        more = [vision.RandomCrop(16, 2), vision.RandomVerticalFlip(0.3), vision.ToTensor()]
        data = ds.ImageFolderDataset(pictures, num_parallel_workers=workers)
        data = data.map(crop + more, "image", num_parallel_workers=workers).batch(5).repeat(2)
        rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        return [(row[0].tobytes(), row[1].tobytes()) for row in rows]

    ds.config.set_debug_mode(True)
    expected = stream(1)
    ds.config.set_debug_mode(False)
    assert stream(workers) == expected
    assert len({image for image, _ in expected}) == len(expected)


def test_random_windows_stay_within_their_bounds():
    for seed in range(200):
        size = [8, 8, 0.2, 0.5, 0.75, 1.25, float(Inter.NEAREST), 10]
        given = chain(("RandomResizedCrop", *size)).run(IMAGE, seed)
        assert given.shape == (8, 8, 3)
    crop = chain(("RandomCrop", 44, 70, 1, 1, 1, 1, 0, 0))
    assert len({crop.run(IMAGE, seed).tobytes() for seed in range(99)}) == 9


def test_damaged_pictures(pictures, tmp_path):
    pytest.importorskip("PIL")
    for content in (COLOR[:300], COLOR[:2], b"", b"no picture"):
        with pytest.raises(ValueError, match="For 'Decode', the input must be a valid image"):
            vision.Decode()(encoded(content))
        (tmp_path / "a" / "00.jpg").write_bytes(content)
        data = ds.ImageFolderDataset(pictures, shuffle=False)
        with pytest.raises(RuntimeError, match="row 0: For 'Decode', the input must be a valid"):
            next(data.map(vision.Decode(), "image").create_tuple_iterator())
        data = ds.ImageFolderDataset(pictures, shuffle=False, decode=True)
        with pytest.raises(RuntimeError, match=r"a/00\.jpg' cannot be decoded"):
            next(data.create_tuple_iterator())


def test_mutated_pictures_do_no_harm():
    pytest.importorskip("PIL")
    rng = np.random.default_rng(0)
    crop = ("RandomCrop", 9, 9, 0, 0, 0, 0, 1, 0)
    for _ in range(1500):
        content = encoded(COLOR).copy()
        content[rng.integers(2, len(content), 3)] = rng.integers(0, 256, 3)
        for specs in ([("Decode", 0)], [("Decode", 0), crop]):
            try:
                given = chain(*specs).run(content, 1)
            except (ValueError, TypeError):
                continue
            assert given.dtype == np.uint8 and given.ndim == 3


def test_no_array_is_a_picture():
    with pytest.raises(TypeError, match="'Decode', the input must be encoded bytes"):
        vision.Decode()(np.zeros((3, 3), np.uint8))
    with pytest.raises(TypeError, match="'Decode', the input must be encoded bytes"):
        vision.Decode()(np.zeros(3, np.float32))

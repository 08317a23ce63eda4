"""Random operations of `mindspore.dataset.vision`: what they draw, and that it is the seed's alone."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import vision
from mindspore.dataset.vision import AutoAugmentPolicy, ImageBatchFormat, Inter

_Y, _X = np.mgrid[0:24, 0:32]
IMAGE = np.stack([(_X * 7 + _Y) % 256, (_X * _Y) % 256, 255 - _Y * 9], -1).astype(np.uint8)
FLAT = np.full((8, 8, 3), 100, np.uint8)
BOXES = np.array([[2, 3, 10, 8, 1], [20, 10, 12, 14, 2]], np.float32)

MAKERS = {
    "crop": lambda: vision.RandomCrop((9, 11), (1, 2, 3, 4)),
    "resized crop": lambda: vision.RandomResizedCrop((9, 11)),
    "flip": lambda: vision.RandomHorizontalFlip(0.5),
    "upside down": lambda: vision.RandomVerticalFlip(0.5),
    "cut out": lambda: vision.CutOut(5, 2),
    "gray": lambda: vision.RandomGrayscale(0.5),
    "rotation": lambda: vision.RandomRotation(40, Inter.BILINEAR),
    "affine": lambda: vision.RandomAffine(20, (-0.2, 0.2), (0.7, 1.3), (-9, 9, -5, 5)),
    "perspective": lambda: vision.RandomPerspective(0.6, 0.8),
    "color": lambda: vision.RandomColor((0.2, 1.8)),
    "sharpness": lambda: vision.RandomSharpness((0.2, 1.8)),
    "adjust sharpness": lambda: vision.RandomAdjustSharpness(3.0, 0.5),
    "posterize": lambda: vision.RandomPosterize((1, 6)),
    "solarize": lambda: vision.RandomSolarize((0, 200)),
    "contrast": lambda: vision.RandomAutoContrast(5.0, None, 0.5),
    "equalize": lambda: vision.RandomEqualize(0.5),
    "invert": lambda: vision.RandomInvert(0.5),
    "lighting": lambda: vision.RandomLighting(0.3),
    "adjust": lambda: vision.RandomColorAdjust(0.4, 0.4, 0.4, 0.2),
    "resize": lambda: vision.RandomResize((11, 13)),
    "auto": lambda: vision.AutoAugment(AutoAugmentPolicy.CIFAR10),
    "rand": lambda: vision.RandAugment(3, 12),
    "trivial": lambda: vision.TrivialAugmentWide(),
    "uniform": lambda: vision.UniformAugment([vision.Invert(), vision.Equalize()], 2),
    "subpolicy": lambda: vision.RandomSelectSubpolicy(
        [[(vision.Invert(), 0.5)], [(vision.RandomRotation(30), 1), (vision.Equalize(), 0.3)]]
    ),
}


@pytest.fixture(autouse=True)
def _seeded():
    ds.config.set_seed(3)


def drawn(maker, count=32, workers=1, image=IMAGE):
    ds.config.set_seed(11)
    data = ds.NumpySlicesDataset([image] * count, ["x"], shuffle=False)
    data = data.map(maker(), "x", num_parallel_workers=workers)
    return [row[0] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


@pytest.mark.parametrize("name", MAKERS)
def test_the_draws_are_those_of_the_seed(name):
    first, again = drawn(MAKERS[name]), drawn(MAKERS[name], workers=3)
    assert [x.tobytes() for x in first] == [x.tobytes() for x in again]
    assert len({x.tobytes() for x in first}) > 1
    assert {(x.dtype, x.shape[2]) for x in first} == {(np.dtype(np.uint8), 3)}


@pytest.mark.parametrize("name", MAKERS)
def test_operations_travel_and_take_pil_images(name):
    operation = pickle.loads(pickle.dumps(MAKERS[name]()))
    assert operation(IMAGE).dtype == np.uint8
    image_module = pytest.importorskip("PIL.Image")
    if name not in ("lighting", "adjust"):
        result = operation(image_module.fromarray(IMAGE))
        # As MindSpore: what it leaves to Pillow gives PIL images.
        kept = not getattr(operation, "gives_arrays", False)
        assert isinstance(result, image_module.Image if kept else np.ndarray)


@pytest.mark.parametrize(
    ("maker", "share"),
    [
        (lambda: vision.RandomInvert(0.3), 0.3),
        (lambda: vision.RandomAdjustSharpness(3.0, 0.7), 0.7),
        (lambda: vision.RandomEqualize(0.0), 0.0),
        (lambda: vision.RandomAutoContrast(prob=1.0), 1.0),
        (lambda: vision.RandomPerspective(0.5, 0.4), 0.4),
    ],
)
def test_probabilities(maker, share):
    changed = np.mean([not np.array_equal(x, IMAGE) for x in drawn(maker, 600)])
    assert abs(changed - share) < 0.08


def test_what_is_drawn_is_spread_evenly():
    bits = [
        int(x.min()) for x in drawn(lambda: vision.RandomPosterize((1, 4)), 800, image=FLAT + 155)
    ]
    shares = [bits.count(value) / 800 for value in (128, 192, 224, 240)]
    assert max(abs(share - 0.25) for share in shares) < 0.06
    factors = [
        x[0, 0, 0] / 100
        for x in drawn(lambda: vision.RandomColorAdjust((0.5, 1.5)), 800, image=FLAT)
    ]
    assert abs(np.mean(factors) - 1) < 0.05 and abs(np.std(factors) - 1 / np.sqrt(12)) < 0.03
    spot = np.zeros((41, 41, 3), np.uint8)
    spot[19:22, 34:37] = 255
    turned = drawn(lambda: vision.RandomRotation((0, 90)), 400, image=spot)
    places = [np.argwhere(image[..., 0]).mean(0) for image in turned]
    angles = [np.degrees(np.arctan2(20 - y, x - 20)) for y, x in places]
    assert min(angles) < 8 and max(angles) > 82 and abs(np.mean(angles) - 45) < 5
    noise = np.array([x[0, 0] for x in drawn(lambda: vision.RandomLighting(0.5), 400, image=FLAT)])
    assert (np.abs(noise.mean(0) - 100) < 4).all() and (noise.std(0) > 10).all()


def test_solarize_draws_two_thresholds():
    ramp = np.repeat(np.arange(256, dtype=np.uint8).reshape(16, 16, 1), 3, 2)
    for result in drawn(lambda: vision.RandomSolarize((50, 200)), 60, image=ramp):
        inverted = np.flatnonzero(result[..., 0].ravel() != np.arange(256))
        assert inverted.size == 0 or inverted.min() >= 50
        assert inverted.size == 0 or (np.diff(inverted) <= 1).all() or 127 in inverted - 1


def test_mixed_batches():
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (6, 8, 9, 3)).astype(np.uint8)
    labels = np.eye(6, dtype=np.float32)
    mixed, parts = vision.MixUpBatch(0.7)(images, labels)
    assert mixed.dtype == np.uint8 and parts.dtype == np.float32
    for row, image in zip(parts, mixed, strict=True):
        assert abs(row.sum() - 1) < 1e-6
        exact = np.tensordot(row, images.astype(float), 1)
        assert np.abs(image - exact).max() <= 0.51
    for layout in ImageBatchFormat:
        given = images if layout == ImageBatchFormat.NHWC else images.transpose(0, 3, 1, 2)
        cut, parts = vision.CutMixBatch(layout)(np.ascontiguousarray(given), labels)
        assert cut.shape == given.shape
        for number, row in enumerate(parts):
            assert abs(row.sum() - 1) < 1e-6
            kept = (cut[number] == given[number]).mean()
            assert kept >= row[number] - 1e-6
    same, _ = vision.CutMixBatch(ImageBatchFormat.NHWC, prob=0.0)(images, labels)
    assert np.array_equal(same, images)
    blended, parts = vision.MixUp(6, 0.5, False)(images, labels)
    assert np.allclose(blended, images, atol=1e-3) and blended.dtype == np.float32
    with pytest.raises(ValueError, match="'MixUp', there must be 5 images"):
        vision.MixUp(5, 0.5)(images, labels)
    with pytest.raises(ValueError, match="'MixUpBatch', the labels must be one-hot"):
        vision.MixUpBatch()(images, np.zeros(6))


def marks(image, boxes):
    """The image with each box filled by its number."""
    image = np.zeros_like(image)
    for x, y, width, height, number in boxes.astype(int):
        image[y : y + height, x : x + width] = number
    return image


@pytest.mark.parametrize(
    "operation",
    [
        vision.RandomHorizontalFlipWithBBox(),
        vision.RandomVerticalFlipWithBBox(),
        vision.RandomCropWithBBox((12, 14), (1, 2, 3, 4)),
        vision.RandomCropWithBBox((40, 50), None, True),
        vision.RandomCropWithBBox(3),
        vision.ResizeWithBBox((48, 64), Inter.NEAREST),
        vision.RandomResizedCropWithBBox((24, 32), (0.1, 0.6), interpolation=Inter.NEAREST),
    ],
    ids=lambda operation: type(operation).__name__,
)
def test_boxes_go_where_their_pixels_go(operation):
    exact = not isinstance(operation, vision.RandomResizedCropWithBBox)
    for _ in range(40):
        image, boxes = operation(marks(IMAGE, BOXES), BOXES)
        assert boxes.dtype == np.float32 and boxes.shape[1] == 5
        again = marks(image, np.rint(boxes) if not exact else boxes)
        wrong = (again != image).any(-1).mean()
        assert wrong == 0 if exact else wrong < 0.25
    assert BOXES[0, 0] == 2


def test_augmented_boxes():
    image, boxes = vision.BoundingBoxAugment(vision.Invert(), 1.0)(IMAGE, BOXES)
    inside = marks(IMAGE, BOXES)[..., 0] > 0
    assert (image[inside] == 255 - IMAGE[inside]).all() and (image[~inside] == IMAGE[~inside]).all()
    assert (boxes == BOXES).all()
    with pytest.raises(ValueError, match="the boxes must lie in the image of 24×32"):
        vision.ResizeWithBBox(5)(IMAGE, BOXES + 9)
    with pytest.raises(ValueError, match="the boxes must be <N, 4 or more>"):
        vision.ResizeWithBBox(5)(IMAGE, BOXES[0])


@pytest.mark.parametrize("policy", list(AutoAugmentPolicy))
def test_policies_have_25_pairs_of_known_steps(policy):
    operation = vision.AutoAugment(policy, Inter.BILINEAR, (1, 2, 3))
    assert len(operation._pairs) == 25
    for pair in operation._pairs:
        for name, probability, magnitude in pair:
            assert 0 <= probability <= 1 and 0 <= magnitude <= 9
            assert operation._step(IMAGE, name, magnitude / 9).shape == IMAGE.shape


def test_a_shear_is_as_strong_as_it_says():
    operation = vision.TrivialAugmentWide()
    spot = np.zeros((41, 41, 3), np.uint8)
    spot[10, 20] = 255
    moved = {int(np.argwhere(operation._step(spot, "ShearX", 0.5))[0][1]) for _ in range(30)}
    assert moved == {20 - 5, 20 + 5}  # ten rows off the middle, times 0.495


def test_pictures_in_files(tmp_path):
    pytest.importorskip("PIL")
    path = str(tmp_path / "a.png")
    vision.write_png(path, IMAGE)
    assert np.array_equal(vision.read_image(path), IMAGE)
    gray = vision.read_image(path, vision.ImageReadMode.GRAYSCALE)
    assert gray.shape == (24, 32, 1)
    assert np.array_equal(vision.read_file(path), vision.encode_png(IMAGE))
    vision.write_file(path, vision.encode_jpeg(IMAGE, 95))
    near = vision.read_image(path, vision.ImageReadMode.COLOR).astype(int)
    assert near.shape == IMAGE.shape and np.abs(near - IMAGE).mean() < 30
    (tmp_path / "b").write_bytes(b"nothing")
    with pytest.raises(RuntimeError, match="must be a picture"):
        vision.read_image(str(tmp_path / "b"))
    with pytest.raises(RuntimeError, match="must be a file"):
        vision.read_image(str(tmp_path / "c"))


def test_padded_normalisation_has_a_channel_of_zeros():
    for is_hwc, image in ((True, IMAGE), (False, np.ascontiguousarray(IMAGE.transpose(2, 0, 1)))):
        plain = vision.Normalize([1, 2, 3], [4, 5, 6], is_hwc)(image)
        padded = vision.NormalizePad([1, 2, 3], [4, 5, 6], "float16", is_hwc)(image)
        axis = 2 if is_hwc else 0
        assert padded.dtype == np.float16 and padded.shape[axis] == 4
        assert np.array_equal(padded.take(range(3), axis), plain.astype(np.float16))
        assert not padded.take(3, axis).any()


def test_pictures_that_are_pil_images_in_a_pipeline():
    pytest.importorskip("PIL")
    steps = [
        vision.ToPIL(),
        vision.RandomRotation((30, 30)),
        vision.AdjustHue(0.2),
        vision.ToNumpy(),
    ]
    expected = IMAGE
    for step in steps:
        expected = step(expected)
    data = ds.NumpySlicesDataset(IMAGE[None], ["x"]).map(steps, "x")
    (row,) = next(data.create_tuple_iterator(output_numpy=True))
    assert np.array_equal(row, expected)


def test_video_says_what_is_missing():
    for call in (
        vision.DecodeVideo,
        lambda: vision.read_video("a"),
        lambda: vision.VideoDecoder("a"),
    ):
        with pytest.raises(RuntimeError, match="this package has none"):
            call()

"""Operations on columns and images, under their new and old paths."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore.dataset import NumpySlicesDataset, transforms, vision
from mindspore.dataset.vision import Inter

IMAGE = (np.arange(5 * 4 * 3) % 256).astype(np.uint8).reshape(5, 4, 3)


def same(result, expected, dtype=None):
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    if dtype is not None:
        assert result.dtype == dtype


def test_casts():
    same(transforms.TypeCast(ms.float16)(np.array([2])), [2], np.float16)
    same(transforms.TypeCast(np.int32)(np.array([2.7, -2.7])), [2, -2], np.int32)
    same(transforms.TypeCast("float32")(5), 5, np.float32)
    first, second = transforms.TypeCast(ms.int8)(np.array(1.5), np.array(2.5))
    assert (first.dtype, int(second)) == (np.int8, 2)


def test_one_hot():
    same(transforms.OneHot(4)(np.array(2, np.uint32)), [0, 0, 1, 0], np.uint32)
    same(transforms.OneHot(3)(np.array([2, 0])), [[0, 0, 1], [1, 0, 0]])
    same(transforms.OneHot(4, 0.1)(np.array(1)), [0.025, 0.925, 0.025, 0.025])


def test_what_is_joined_stays_as_it_is():
    join = transforms.Concatenate(0, np.array(["[CLS]"]), np.array(["[SEP]"]))
    assert join(np.array(["a", "b"])).tolist() == ["[CLS]", "a", "b", "[SEP]"]
    assert transforms.Concatenate()(np.array(["a"]), np.array(["long"])).tolist() == ["a", "long"]
    same(transforms.Concatenate(0, np.array([9]))(np.array([1], np.uint8)), [9, 1], np.uint8)
    same(transforms.Concatenate(0, np.array([9]))(np.array([0.5], "f4")), [9, 0.5], np.float32)
    for other in (np.array([1.5]), np.array([300]), np.array([np.nan]), np.array(["x"])):
        with pytest.raises(
            TypeError, match="For 'Concatenate', what is joined must be of one type"
        ):
            transforms.Concatenate(0, other)(np.array([1, 2], np.uint8))
    half = np.array([1], np.float16)
    assert transforms.Concatenate(0, np.array([0.1, np.inf]))(half).dtype == np.float16
    with pytest.raises(TypeError, match="For 'Concatenate', what is joined must be of one type"):
        transforms.Concatenate(0, np.array([70000]))(half)
    with pytest.raises(ValueError, match="For 'Concatenate', there must be arrays"):
        transforms.Concatenate()()
    with pytest.raises(ValueError, match="For 'Concatenate', there must be arrays"):
        transforms.Concatenate()(None)


def test_array_operations():
    same(transforms.Fill(3)(np.array([1, 2])), [3, 3])
    same(transforms.Concatenate(0, np.array([9]), np.array([8]))(np.array([1, 2])), [9, 1, 2, 8])
    assert len(transforms.Duplicate()(np.array([1]))) == 2
    for result, expected in zip(
        transforms.Unique()(np.array([3, 1, 3, 2])), ([3, 1, 2], [0, 1, 0, 2], [2, 1, 1])
    ):
        same(result, expected)
    same(transforms.PadEnd([4], -1)(np.array([1, 2])), [1, 2, -1, -1])
    same(transforms.PadEnd([None, 1])(np.ones((2, 3))), np.ones((2, 1)))
    same(transforms.Slice([0, 2])(np.array([1, 2, 3])), [1, 3])
    same(transforms.Slice(slice(0, 1), [0, 2])(np.arange(9).reshape(3, 3)), [[0, 2]])
    same(transforms.Slice(..., 1)(np.arange(9).reshape(3, 3)), [[1], [4], [7]])
    same(transforms.Mask(transforms.Relational.GE, 2)(np.array([1, 2, 3])), [False, True, True])


def test_compositions():
    plus, times = (lambda x: x + 1), (lambda x: x * 10)
    assert transforms.Compose([plus, times])(1) == 20
    assert transforms.RandomApply([plus, times], 1.0)(1) == 20
    assert transforms.RandomApply([plus], 0.0)(1) == 1
    assert transforms.RandomChoice([plus, times])(1) in (2, 10)
    assert transforms.RandomOrder([plus, times])(1) in (20, 11)
    assert transforms.Compose([lambda a, b: (b, a)])(1, 2) == (2, 1)


def test_arithmetic_on_images():
    same(vision.Rescale(1 / 255, 0.5)(IMAGE)[0, 0], [0.5, 0.50392157, 0.50784314], np.float32)
    same(vision.Normalize([1, 2, 3], [2, 2, 2])(IMAGE)[0, 1], [1, 1, 1], np.float32)
    chw = IMAGE.transpose(2, 0, 1)
    same(vision.Normalize([1, 2, 3], [2, 2, 2], is_hwc=False)(chw)[:, 0, 1], [1, 1, 1])
    assert vision.HWC2CHW()(IMAGE).shape == (3, 5, 4)
    same(vision.ToTensor()(IMAGE), chw / 255, np.float32)
    assert vision.ToTensor()(IMAGE[..., 0]).shape == (1, 5, 4)
    same(vision.Invert()(IMAGE)[0, 0], [255, 254, 253], np.uint8)
    same(vision.HorizontalFlip()(IMAGE), IMAGE[:, ::-1])
    same(vision.VerticalFlip()(IMAGE), IMAGE[::-1])


def test_crops_and_borders():
    same(vision.CenterCrop(3)(IMAGE)[..., 0], [[12, 15, 18], [24, 27, 30], [36, 39, 42]])
    small = vision.CenterCrop(8)(IMAGE)[..., 0]
    same(small[2:7, 2:6], IMAGE[..., 0])
    assert small.sum() == IMAGE[..., 0].sum()
    assert vision.Pad([1, 2])(IMAGE).shape == (9, 6, 3)
    assert vision.Pad([1, 2, 3, 4])(IMAGE).shape == (11, 8, 3)
    same(vision.Pad(1, (7, 8, 9))(IMAGE)[0, 0], [7, 8, 9])
    same(vision.Pad(1, padding_mode=vision.Border.REFLECT)(IMAGE)[0, 1], IMAGE[1, 0])
    assert vision.RandomCrop(3)(IMAGE).shape == (3, 3, 3)
    assert vision.RandomCrop(9, pad_if_needed=True)(IMAGE).shape == (9, 9, 3)
    assert vision.RandomCrop((5, 4), padding=2)(IMAGE).shape == (5, 4, 3)
    assert vision.RandomResizedCrop((6, 7))(IMAGE).shape == (6, 7, 3)
    same(vision.Crop((1, 2), (2, 2))(IMAGE), IMAGE[1:3, 2:4])


@pytest.mark.parametrize("inter", list(Inter))
def test_resize(inter):
    assert vision.Resize((7, 9), inter)(IMAGE).shape == (7, 9, 3)
    assert vision.Resize(8, inter)(IMAGE).shape == (10, 8, 3)
    assert vision.Resize((3, 2), inter)(IMAGE[..., 0]).shape == (3, 2)
    flat = np.full((5, 4, 3), 9, np.uint8)
    same(vision.Resize((11, 3), inter)(flat), np.full((11, 3, 3), 9), np.uint8)
    same(vision.Resize((5, 4), inter)(IMAGE), IMAGE)


def test_resize_values():
    ramp = np.array([[0.0, 1.0], [2.0, 3.0]], np.float32)
    same(
        vision.Resize((2, 4), Inter.BILINEAR)(ramp),
        [[0, 0.25, 0.75, 1], [2, 2.25, 2.75, 3]],
        np.float32,
    )
    same(vision.Resize((4, 2), Inter.NEAREST)(ramp), [[0, 1], [0, 1], [2, 3], [2, 3]])
    same(vision.Resize((1, 1), Inter.AREA)(ramp), [[1.5]])


def test_colors():
    assert vision.RandomColorAdjust(0.5, 0.5, 0.5, 0.2)(IMAGE).dtype == np.uint8
    same(vision.RandomColorAdjust()(IMAGE), IMAGE)
    same(vision.AdjustBrightness(0.0)(IMAGE), np.zeros_like(IMAGE))
    same(vision.AdjustHue(0.0)(IMAGE), IMAGE)
    gray = vision.Grayscale(3)(IMAGE)
    assert (gray[..., 0] == gray[..., 2]).all()
    red = np.zeros((1, 1, 3), np.uint8)
    red[..., 0] = 200
    same(vision.AdjustHue(1 / 3)(red)[0, 0], [0, 200, 0])
    assert (vision.CutOut(2)(IMAGE + 1) == 0).any()
    assert vision.RandomErasing(1.0)(IMAGE.transpose(2, 0, 1)).shape == (3, 5, 4)


def test_probabilities():
    same(vision.RandomHorizontalFlip(1.0)(IMAGE), IMAGE[:, ::-1])
    same(vision.RandomHorizontalFlip(0.0)(IMAGE), IMAGE)


def test_old_paths():
    import mindspore.dataset.transforms.c_transforms as c
    import mindspore.dataset.transforms.py_transforms as py
    import mindspore.dataset.transforms.vision.c_transforms as old_vision
    import mindspore.dataset.vision.c_transforms as vision_c
    import mindspore.dataset.vision.py_transforms as vision_py
    from mindspore.dataset.transforms.vision import Inter as OldInter
    from mindspore.dataset.vision.utils import Border, Inter

    assert c.TypeCast is transforms.TypeCast and py.Compose is transforms.Compose
    assert vision_c.Resize is vision.Resize and old_vision.Resize is vision.Resize
    assert OldInter.LINEAR is Inter.BILINEAR and Inter.BICUBIC == 3 and Border.EDGE.value == "edge"
    chain = py.Compose([vision_py.ToTensor(), vision_py.Normalize([0.5] * 3, [0.5] * 3)])
    same(chain(IMAGE)[:, 0, 0], [-1, -0.99215686, -0.98431373], np.float32)
    padded = vision_py.NormalizePad([0.5] * 3, [0.5] * 3)(vision_py.ToTensor()(IMAGE))
    same(padded[:, 0, 0], [-1, -0.99215686, -0.98431373, 0], np.float32)


def test_the_earlier_decode_gives_arrays(tmp_path):
    """What its first argument is today, it was not then."""
    from mindspore.dataset.vision import c_transforms

    image_module = pytest.importorskip("PIL.Image")
    image_module.fromarray(IMAGE).save(tmp_path / "a.png")
    content = np.fromfile(tmp_path / "a.png", np.uint8)
    same(c_transforms.Decode(True)(content), IMAGE)
    same(c_transforms.Decode(rgb=True)(content), IMAGE)
    with pytest.raises(ValueError, match="'rgb' must be True, but got False"):
        c_transforms.Decode(rgb=False)


def test_the_order_of_columns_under_its_earlier_name():
    data = NumpySlicesDataset({"x": [1, 2]}, shuffle=False)
    both = data.map(lambda x: (x, -x), "x", ["a", "b"], columns_order=["b", "a"])
    assert [list(map(int, row)) for row in both.create_tuple_iterator(output_numpy=True)] == [
        [-1, 1],
        [-2, 2],
    ]
    with pytest.raises(TypeError, match="'columns' is not one of its arguments"):
        data.map(lambda x: x, "x", columns=["x"])


def test_pil_images():
    image_module = pytest.importorskip("PIL.Image")
    picture = vision.ToPIL()(IMAGE)
    assert isinstance(picture, image_module.Image)
    assert isinstance(vision.Resize((3, 2))(picture), image_module.Image)
    assert isinstance(vision.RandomHorizontalFlip(1.0)(picture), image_module.Image)
    same(vision.ToNumpy()(picture), IMAGE)
    same(vision.ToTensor()(picture), IMAGE.transpose(2, 0, 1) / 255)


@pytest.mark.parametrize("made", [transforms.Fill(1), transforms.Unique(), transforms.Concatenate(),
                                  vision.Resize(2), vision.MixUp(1, 0.5, True)])  # fmt: skip
def test_lists_of_which_there_is_no_array(made):
    given = [[[1, [2]], [3]]] * (2 if isinstance(made, vision.MixUp) else 1)
    with pytest.raises(
        ValueError, match=f"For '{type(made).__name__}', the input must be an array"
    ):
        made(*given)


def test_unique_of_what_has_no_order():
    with pytest.raises(TypeError, match="For 'Unique', the input must hold what can be sorted"):
        transforms.Unique()(np.array([None, 1]))


def test_texts_of_bytes_are_arrays_but_what_is_encoded_is_not():
    unique, *_ = transforms.Unique()(b"ab")
    assert unique.tolist() == [b"ab"]
    assert transforms.Duplicate()(b"a\x00") == (b"a\x00", b"a\x00")

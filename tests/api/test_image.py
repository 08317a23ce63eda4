"""Images in other sizes, samples, boxes and similarity: gradients, what a list of calls cannot say, and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Tensor, nn, ops

F = torch.nn.functional
random = np.random.default_rng(0)


def floats(*shape, low=-1.0, high=1.0):
    return random.uniform(low, high, shape).astype(np.float32)


def second_order(function, peer, *arrays):
    """The gradients of the length of the gradient are those of PyTorch."""

    def length(*inputs):
        gradients = ms.grad(lambda *xs: (function(*xs) ** 3).sum(), tuple(range(len(arrays))))(
            *inputs
        )
        parts = gradients if isinstance(gradients, tuple) else (gradients,)
        return sum((g * g).sum() for g in parts)

    got = ms.grad(length, tuple(range(len(arrays))))(*map(Tensor, arrays))
    xs = [torch.tensor(a, requires_grad=True) for a in arrays]
    first = torch.autograd.grad((peer(*xs) ** 3).sum(), xs, create_graph=True)
    expected = torch.autograd.grad(sum((g * g).sum() for g in first), xs)
    for g, e in zip(got if isinstance(got, tuple) else (got,), expected):
        np.testing.assert_allclose(g.asnumpy(), e.numpy(), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("how", ["nearest", "bilinear", "area"])
def test_second_gradient_of_interpolation(how, mode):
    x = floats(2, 2, 4, 5)
    second_order(
        lambda x: ops.interpolate(x, (7, 3), mode=how),
        lambda x: F.interpolate(x, (7, 3), mode=how),
        x,
    )


@pytest.mark.parametrize("padding", ["zeros", "border"])
def test_second_gradient_of_samples(padding, mode):
    second_order(
        lambda x, g: ops.grid_sample(x, g, padding_mode=padding),
        lambda x, g: F.grid_sample(x, g, padding_mode=padding, align_corners=False),
        floats(2, 2, 4, 5),
        floats(2, 3, 3, 2, low=-1.3, high=1.3),
    )


def test_gradient_of_an_affine_map_of_an_image(mode):
    """A spatial transformer: through the grid to the six numbers."""
    image, theta = floats(2, 2, 5, 6), floats(2, 2, 3, low=-0.6, high=0.6)

    def ours(theta):
        return ops.grid_sample(Tensor(image), ops.affine_grid(theta, (2, 2, 4, 4))).sum()

    t = torch.tensor(theta, requires_grad=True)
    grid = F.affine_grid(t, (2, 2, 4, 4), align_corners=False)
    F.grid_sample(torch.tensor(image), grid, align_corners=False).sum().backward()
    got = ms.grad(ours)(Tensor(theta)).asnumpy()
    np.testing.assert_allclose(got, t.grad.numpy(), rtol=1e-3, atol=1e-3)


def test_gradients_of_crops(mode):
    """A crop is a grid of samples, between the middles of the outermost pixels."""
    images, boxes = floats(2, 5, 6, 3), floats(3, 4, low=0.1, high=0.9)
    which = np.array([0, 1, 0], np.int32)

    def ours(x, b):
        return (ops.crop_and_resize(x, b, Tensor(which), (3, 4)) ** 2).sum()

    def peer(x, b):
        ys, xs = torch.linspace(0, 1, 3), torch.linspace(0, 1, 4)
        y = b[:, :1] + ys * (b[:, 2:3] - b[:, :1])
        x_ = b[:, 1:2] + xs * (b[:, 3:] - b[:, 1:2])
        grid = torch.stack([x_[:, None].expand(3, 3, 4), y[..., None].expand(3, 3, 4)], -1)
        planes = x.permute(0, 3, 1, 2)[torch.tensor(which).long()]
        return (F.grid_sample(planes, grid * 2 - 1, align_corners=True) ** 2).sum()

    xs = [torch.tensor(a, requires_grad=True) for a in (images, boxes)]
    peer(*xs).backward()
    for g, x in zip(ms.grad(ours, (0, 1))(Tensor(images), Tensor(boxes)), xs):
        np.testing.assert_allclose(g.asnumpy(), x.grad.numpy(), rtol=1e-3, atol=1e-3)


def test_positions_follow_the_scale_unless_it_is_recomputed(mode):
    x = floats(1, 2, 5)
    for recompute in (None, True):
        got = ops.interpolate(
            Tensor(x), scale_factor=2.3, mode="linear", recompute_scale_factor=recompute
        )
        peer = F.interpolate(
            torch.tensor(x), scale_factor=2.3, mode="linear", recompute_scale_factor=recompute
        )
        np.testing.assert_allclose(got.asnumpy(), peer.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64, np.bool_, np.float16])
def test_nearest_copies_elements_of_any_type(dtype, mode):
    x = (floats(1, 2, 3, 4) * 5).astype(dtype)
    got = ops.interpolate(Tensor(x), (6, 8)).asnumpy()
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, x.repeat(2, 2).repeat(2, 3))


def test_what_weighs_nothing_does_not_spread_infinity(mode):
    x = np.zeros((1, 1, 4, 4), np.float32)
    x[0, 0, 0, 0] = np.inf
    got = ops.interpolate(Tensor(x), (8, 8)).asnumpy()
    assert np.isinf(got[0, 0, :2, :2]).all() and np.isfinite(got[0, 0, 2:]).all()


def test_each_item_of_a_batch_by_itself(mode):
    x = floats(3, 1, 2, 4, 5)
    got = ops.vmap(lambda x: ops.interpolate(x, (7, 3), mode="bilinear"))(Tensor(x)).asnumpy()
    whole = F.interpolate(torch.tensor(x[:, 0]), (7, 3), mode="bilinear").numpy()
    np.testing.assert_allclose(got[:, 0], whole, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [1, 700])
def test_many_boxes(count, mode):
    boxes = floats(count, 5, low=0, high=10)
    boxes[:, 2:4] += boxes[:, :2]
    ordered, places, stays = ops.NMSWithMask(0.3)(Tensor(boxes))
    expected = boxes[np.argsort(-boxes[:, 4], kind="stable")]
    np.testing.assert_array_equal(ordered.asnumpy(), expected)
    np.testing.assert_array_equal(places.asnumpy(), np.arange(count))
    b, keep = expected[:, :4], np.ones(count, bool)
    area = (b[:, 2:] - b[:, :2]).prod(1)
    for i in range(count):
        if keep[i]:
            sides = np.minimum(b[i, 2:], b[:, 2:]) - np.maximum(b[i, :2], b[:, :2])
            common = np.maximum(sides, 0).prod(1)
            keep &= ~(common / (area[i] + area - common) > 0.3) | (np.arange(count) <= i)
    np.testing.assert_array_equal(stays.asnumpy(), keep)


def covered(box, x, y):
    cx, cy, w, h, angle = box
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    along, across = (x - cx) * cos + (y - cy) * sin, (y - cy) * cos - (x - cx) * sin
    return (abs(along) <= w / 2) & (abs(across) <= h / 2)


def turned_boxes(count):
    middles, sizes = floats(count, 2, low=0, high=3), floats(count, 2, low=1, high=4)
    return np.concatenate([middles, sizes, floats(count, 1, low=-180, high=180)], 1)


def test_turned_boxes_against_a_count_of_points(mode):
    a, b = turned_boxes(4), turned_boxes(3)
    b[0] = a[0]
    x, y = np.meshgrid(*[np.linspace(-4, 8, 1501)] * 2)
    masks = [[covered(box, x, y) for box in boxes] for boxes in (a, b)]
    common = np.array([[(p & q).sum() for q in masks[1]] for p in masks[0]])
    sizes = [np.array([m.sum() for m in ms_]) for ms_ in masks]
    union = sizes[0][:, None] + sizes[1] - common
    got = ops.rotated_iou(Tensor(a[None]), Tensor(b[None]))
    np.testing.assert_allclose(got.asnumpy()[0], common / union, atol=3e-3)
    got = ops.rotated_iou(Tensor(a[None]), Tensor(b[None]), mode=1)
    np.testing.assert_allclose(got.asnumpy()[0], common / sizes[0][:, None], atol=3e-3)
    pairs = ops.rotated_iou(Tensor(a[None, :3]), Tensor(b[None]), is_cross=False)
    np.testing.assert_allclose(pairs.asnumpy()[0], np.diag(common / union), atol=3e-3)
    corners = [
        np.concatenate([m[:, :2] - m[:, 2:4] / 2, m[:, :2] + m[:, 2:4] / 2, m[:, 4:]], 1)
        for m in (a, b)
    ]
    same = ops.rotated_iou(*(Tensor(c[None]) for c in corners), trans=True)
    np.testing.assert_allclose(same.asnumpy()[0], common / union, atol=3e-3)


def test_parts_drawn_at_random_cover_a_box():
    size, boxes = Tensor([64, 48, 3], ms.int32), Tensor([[[0.2, 0.3, 0.5, 0.6]]], ms.float32)
    draw = ops.SampleDistortedBoundingBoxV2(3, 4, (0.8, 1.2), (0.1, 0.6))
    seen = set()
    for _ in range(20):
        begin, extent, corners = draw(size, boxes, Tensor([0.7], ms.float32))
        (top, left, _), (height, width, channels) = begin.asnumpy(), extent.asnumpy()
        assert channels == -1 and 0.7 < width / height < 1.3
        assert 0.1 <= height * width / (64 * 48) <= 0.6
        box = np.array([0.2 * 64, 0.3 * 48, 0.5 * 64, 0.6 * 48])
        sides = np.minimum(box[2:], (top + height, left + width)) - np.maximum(box[:2], (top, left))
        assert np.maximum(sides, 0).prod() >= 0.7 * (box[2:] - box[:2]).prod() - 1e-3
        ends = [top / 64, left / 48, (top + height) / 64, (left + width) / 48]
        np.testing.assert_allclose(corners.asnumpy().ravel(), ends, rtol=1e-5)
        seen.add((top, left, height, width))
    assert len(seen) > 10


def test_noise_of_glimpses(mode):
    x, size, offsets = (
        Tensor(floats(2, 4, 4, 1)),
        Tensor([40, 40], ms.int32),
        Tensor(np.zeros((2, 2), np.float32)),
    )
    for kind, uniform in (("uniform", True), ("uniform", False), ("gaussian", False)):
        got = ops.ExtractGlimpse(True, True, uniform, kind)(x, size, offsets).asnumpy()
        np.testing.assert_array_equal(got[:, 18:22, 18:22], x.asnumpy())
        outside = np.concatenate([got[:, :18].ravel(), got[:, 22:].ravel()])
        assert abs(outside.mean()) < 0.1
        assert abs(outside.std() - (1 if kind == "gaussian" else 3**-0.5)) < 0.1


def test_similarity_at_several_scales(mode):
    a = floats(2, 3, 40, 40, low=0, high=1)
    net = nn.MSSSIM(power_factors=(0.4, 0.6), filter_size=5)
    assert net(Tensor(a), Tensor(a)).asnumpy() == pytest.approx(1.0, abs=1e-5)
    halves = a.reshape(2, 3, 20, 2, 20, 2).mean((3, 5))
    b = np.clip(a + floats(2, 3, 40, 40) * 0.1, 0, 1)
    less = b.reshape(2, 3, 20, 2, 20, 2).mean((3, 5))
    one = nn.MSSSIM(power_factors=(1.0,), filter_size=5)
    last = one(Tensor(halves), Tensor(less)).asnumpy()
    both = net(Tensor(a), Tensor(b)).asnumpy()
    assert (both < 1).all() and (both > last * 0.5).all()
    np.testing.assert_allclose(
        one(Tensor(a), Tensor(b)).asnumpy(),
        nn.SSIM(filter_size=5)(Tensor(a), Tensor(b)).asnumpy(),
        rtol=1e-4,
    )


def test_similarity_of_half_precision_images(mode):
    a, b = (floats(1, 2, 12, 12, low=0, high=1).astype(np.float16) for _ in range(2))
    got = nn.SSIM(filter_size=5)(Tensor(a), Tensor(b))
    wide = nn.SSIM(filter_size=5)(Tensor(a.astype(np.float32)), Tensor(b.astype(np.float32)))
    assert got.dtype == ms.float32
    np.testing.assert_allclose(got.asnumpy(), wide.asnumpy(), rtol=1e-4, atol=1e-5)


IMAGE = Tensor(np.ones((1, 2, 4, 4), np.float32))


@pytest.mark.parametrize(
    ("refused", "error", "says"),
    [
        (lambda: ops.interpolate(IMAGE, 3, mode="linear"), ValueError, "must have .3,. dimensions"),
        (lambda: ops.interpolate(IMAGE, (0, 2)), ValueError, r"'size' must be in \[1, "),
        (lambda: ops.interpolate(IMAGE, scale_factor=1e9), ValueError, r"'size' must be in \[1, "),
        (lambda: ops.interpolate(IMAGE, 3, align_corners=True), ValueError, "'align_corners' must"),
        (lambda: ops.upsample(IMAGE), ValueError, "For 'upsample', one of 'size'"),
        (lambda: ops.interpolate(IMAGE.astype(ms.int32), 3, mode="area"), TypeError, "floating"),
        (lambda: ops.ResizeBilinear((2, 3), True, True), ValueError, "half_pixel_centers"),
        (lambda: ops.ResizeNearestNeighbor(3), TypeError, "ResizeNearestNeighbor.*'size'"),
        (lambda: ops.IOU("iuo"), ValueError, "For 'IOU', 'mode' must be one of"),
        (lambda: ops.grid_sample(IMAGE, IMAGE), ValueError, "the grid must have 4 dimensions"),
        (lambda: ops.NMSWithMask()(IMAGE), ValueError, "'bboxes' must have shape"),
        (
            lambda: ops.crop_and_resize(
                IMAGE, Tensor([[0.0, 0, 1, 1]]), Tensor([-1], ms.int32), (2, 2)
            ),
            (ValueError, IndexError),
            "For '",
        ),
        (
            lambda: ops.ROIAlign(2, 2, 1.0)(IMAGE, Tensor([[1.0, 0, 0, 2, 2]])),
            ValueError,
            r"must be in \[0, 1\), but got 1",
        ),
    ],
)
def test_refusals(refused, error, says, mode):
    with pytest.raises(error, match=says):
        refused()

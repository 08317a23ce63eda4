"""Padding, image and mathematical layers and the rarer activations, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch

from mindspore import Tensor, nn

F = torch.nn.functional


def data(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def same(output, expected, tol=2e-5):
    np.testing.assert_allclose(output.asnumpy(), expected.numpy(), rtol=tol, atol=tol)


@pytest.mark.parametrize(
    ("layer", "reference"),
    [
        (nn.ConstantPad2d((1, 2, 0, -1), 5.0), lambda x: F.pad(x, (1, 2, 0, -1), value=5.0)),
        (nn.ConstantPad1d(2, 1), lambda x: F.pad(x, (2, 2), value=1)),
        (nn.ConstantPad3d(1, -1), lambda x: F.pad(x, (1,) * 6, value=-1)),
        (nn.ZeroPad2d(1), lambda x: F.pad(x, (1, 1, 1, 1))),
        (nn.ReflectionPad1d((1, 2)), lambda x: F.pad(x[0], (1, 2), "reflect")[None]),
        (nn.ReflectionPad2d((1, 1, 0, 2)), lambda x: F.pad(x, (1, 1, 0, 2), "reflect")),
        (nn.ReplicationPad2d((1, 1, 0, 3)), lambda x: F.pad(x, (1, 1, 0, 3), "replicate")),
        (nn.Upsample((6, 9), mode="bilinear"), lambda x: F.interpolate(x, (6, 9), mode="bilinear")),
        (
            nn.Upsample((7, 2), mode="bilinear", align_corners=True),
            lambda x: F.interpolate(x, (7, 2), mode="bilinear", align_corners=True),
        ),
        (nn.Upsample(scale_factor=2), lambda x: F.interpolate(x, scale_factor=2)),
        (nn.PixelShuffle(2), lambda x: F.pixel_shuffle(x, 2)),
        (nn.ReduceLogSumExp(1, True), lambda x: x.logsumexp(1, True)),
        (nn.Tril(), torch.tril),
        (nn.Triu(), torch.triu),
        (nn.CELU(2.0), lambda x: F.celu(x, 2.0)),
        (nn.HShrink(), F.hardshrink),
        (nn.SoftShrink(0.3), lambda x: F.softshrink(x, 0.3)),
        (nn.Tanhshrink(), F.tanhshrink),
        (nn.Threshold(0.1, 3.0), lambda x: F.threshold(x, 0.1, 3.0)),
        (nn.Softmin(1), lambda x: F.softmin(x, 1)),
        (nn.Softmax2d(), lambda x: F.softmax(x, 1)),
        (nn.GLU(), F.glu),
        (nn.LRN(2, 1.0, 0.2, 0.75), lambda x: F.local_response_norm(x, 5, 1.0, 0.75, 1.0)),
    ],
    ids=lambda item: getattr(item, "cls_name", ""),
)
def test_layers(layer, reference, mode):
    x = data(2, 4, 4, 6)
    if isinstance(layer, nn.ReflectionPad1d):
        x = x[:1]
    same(layer(Tensor(x)), reference(torch.tensor(x)))


def test_resize_bilinear_of_the_first_releases(mode):
    x = data(2, 3, 4, 6)
    t = torch.tensor(x)
    same(
        nn.ResizeBilinear()(Tensor(x), (7, 9), align_corners=True),
        F.interpolate(t, (7, 9), mode="bilinear", align_corners=True),
    )
    same(
        nn.ResizeBilinear(True)(Tensor(x), scale_factor=2),
        F.interpolate(t, scale_factor=2, mode="bilinear"),
    )
    ramp = Tensor(np.arange(4.0, dtype=np.float32).reshape(1, 1, 1, 4))
    assert nn.ResizeBilinear()(ramp, (1, 8)).asnumpy().ravel().tolist() == [
        0,
        0.5,
        1,
        1.5,
        2,
        2.5,
        3,
        3,
    ]


def test_image_layers(mode):
    x = data(2, 4, 4, 6)
    same(nn.PixelUnshuffle(2)(Tensor(x)), F.pixel_unshuffle(torch.tensor(x), 2))
    middle = nn.CentralCrop(0.5)(Tensor(np.arange(16.0).reshape(1, 1, 4, 4)))
    assert middle.asnumpy().tolist() == [[[[5, 6], [9, 10]]]]
    a, b = np.full((2, 1, 4, 4), 0.5, np.float32), np.full((2, 1, 4, 4), 0.6, np.float32)
    np.testing.assert_allclose(nn.PSNR()(Tensor(a), Tensor(b)).asnumpy(), [20, 20], rtol=1e-4)
    image = np.random.default_rng(1).random((2, 3, 16, 16)).astype(np.float32)
    assert nn.SSIM()(Tensor(image), Tensor(image)).asnumpy() == pytest.approx(1.0, abs=1e-5)
    assert nn.SSIM()(Tensor(image), Tensor(1 - image)).asnumpy().max() < 0.5
    mean, variance = nn.Moments((2, 3))(Tensor(x))
    np.testing.assert_allclose(mean.asnumpy(), x.mean((2, 3)), atol=1e-6)
    np.testing.assert_allclose(variance.asnumpy(), x.var((2, 3)), rtol=1e-5)


def test_dropped_channels(mode):
    x = Tensor(np.ones((50, 40, 3, 3), np.float32))
    layer = nn.Dropout2d(0.3)
    assert (layer(x).asnumpy() == 1).all()
    layer.set_train()
    y = layer(x).asnumpy().reshape(2000, 9)
    assert (y == y[:, :1]).all() and abs((y[:, 0] != 0).mean() - 0.7) < 0.05
    assert y.max() == pytest.approx(1 / 0.7)
    assert nn.Dropout1d(1.0).set_train()(x[..., 0]).asnumpy().sum() == 0


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.ConstantPad2d((1, 2, 3), 0.0), ValueError, "pairs for at most 2"),
        (lambda: nn.ConstantPad2d("a", 0.0), TypeError, "'padding'"),
        (lambda: nn.ReflectionPad2d(-1), ValueError, "must not be negative"),
        (lambda: nn.Upsample()(Tensor(data(1, 1, 2, 2))), ValueError, "one of 'size'"),
        (lambda: nn.Upsample(2, mode="cubic"), ValueError, "'mode' must be one of"),
        (lambda: nn.PixelShuffle(2)(Tensor(data(1, 3, 2, 2))), ValueError, "divisible by 4"),
        (
            lambda: nn.SSIM()(Tensor(data(1, 1, 4, 4)), Tensor(data(1, 1, 4, 4))),
            ValueError,
            "at least 11",
        ),
        (lambda: nn.CentralCrop(0.0), ValueError, "'central_fraction'"),
        (lambda: nn.Dropout2d(0.5).set_train()(Tensor(data(2, 3))), ValueError, "4 dimensions"),
        (lambda: nn.Softmax2d()(Tensor(data(2, 3))), ValueError, "3 or 4 dimensions"),
    ],
)
def test_refusals(call, error, text, pynative):
    with pytest.raises(error, match=text):
        call()


def test_layers_of_mint_refuse():
    for call, text in (
        (lambda: nn.LayerNormExt(()), "must not be empty"),
        (lambda: nn.EmbeddingExt(4, 3, 4), r"'padding_idx' must be in \[-4, 4\)"),
        (lambda: nn.EmbeddingExt(4, 3, _weight=Tensor(np.ones((3, 3)))), "shape of '_weight'"),
        (
            lambda: nn.BiDense(3, 4, 2)(Tensor(np.ones((2, 3))), Tensor(np.ones((1, 4)))),
            "same dimensions but for the last",
        ),
    ):
        with pytest.raises(ValueError, match=text):
            call()


def test_dropout_of_mint(mode):
    x = Tensor(np.ones((4, 8, 4, 4), np.float32))
    for layer in (nn.DropoutExt(0.5), nn.Dropout2dExt(0.5)):
        got = layer.set_train()(x).asnumpy()
        assert set(np.unique(got)) == {0, 2}
        np.testing.assert_array_equal(layer.set_train(False)(x).asnumpy(), x.asnumpy())
    assert not nn.DropoutExt(1.0).set_train()(x).asnumpy().any()
    changed = Tensor(np.ones((8, 8), np.float32))
    same = nn.DropoutExt(0.5, inplace=True).set_train()(changed)
    np.testing.assert_array_equal(changed.asnumpy(), same.asnumpy())
    assert (changed.asnumpy() == 0).any()


@pytest.mark.parametrize("layer", [nn.Dropout1d, nn.Dropout2d, nn.Dropout3d])
def test_channels_of_any_shape_stay_outside_training(layer):
    x = Tensor(np.ones((2,), np.float32))
    np.testing.assert_array_equal(layer(0.5)(x).asnumpy(), x.asnumpy())
    with pytest.raises(ValueError, match=r"the input must have \d dimensions, but got the shape"):
        layer(0.5).set_train()(x)

"""Layers that train for quantised inference: what they round to, what gradients pass, and checkpoints of plain networks."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import QuantDtype, Tensor, nn
from mindspore.compression.quant import QuantizationAwareTraining, create_quant_config
from mindspore.compression.quant.quant_utils import load_nonquant_param_into_quant_net

RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.uniform(-2, 2, shape).astype(np.float32)


def rounded(x, low, high, least=0, most=255):
    """The nearest values of integers whose range is that of the bounds, 0 among them."""
    scale = (high - low) / (most - least)
    zero = np.clip(np.round(least - low / scale), least, most)
    return (np.clip(np.round(x / scale) + zero, least, most) - zero) * scale


def test_values_between_bounds(mode):
    x = floats(3, 5)
    layer = nn.FakeQuantWithMinMaxObserver(-1.0, 1.5)
    got = layer(Tensor(x)).asnumpy()
    np.testing.assert_allclose(got, rounded(x, -1.0, 1.5), atol=1e-6)
    assert len(np.unique(got)) <= 256
    gradient = ms.grad(lambda t: layer(t).sum())(Tensor(x)).asnumpy()
    np.testing.assert_array_equal(gradient, (x > got.min()) & (x < got.max()))


def test_symmetric_and_narrow(mode):
    x = floats(40)
    layer = nn.FakeQuantWithMinMaxObserver(-1.0, 0.5, symmetric=True, narrow_range=True)
    np.testing.assert_allclose(
        layer(Tensor(x)).asnumpy(), rounded(x, -1.0, 1.0, -127, 127), atol=1e-6
    )
    few = nn.FakeQuantWithMinMaxObserver(-2.0, 2.0, quant_dtype=QuantDtype.INT2)
    assert len(np.unique(few(Tensor(x)).asnumpy())) <= 4


def test_bounds_follow_in_training(mode):
    layer = nn.FakeQuantWithMinMaxObserver(per_channel=True, num_channels=3).set_train()
    x = floats(4, 3, 2)
    layer(Tensor(x))
    np.testing.assert_allclose(layer.minq.asnumpy(), np.minimum(x.min((0, 2)), 0), rtol=1e-6)
    np.testing.assert_allclose(layer.maxq.asnumpy(), np.maximum(x.max((0, 2)), 0), rtol=1e-6)
    slow = nn.FakeQuantWithMinMaxObserver(ema=True, ema_decay=0.5).set_train()
    slow(Tensor([-1.0, 1.0]))
    slow(Tensor([-3.0, 5.0]))
    assert (slow.minq.asnumpy(), slow.maxq.asnumpy()) == (-2.0, 3.0)
    late = nn.FakeQuantWithMinMaxObserver(quant_delay=1, quant_dtype=QuantDtype.INT2).set_train()
    np.testing.assert_array_equal(late(Tensor(x)).asnumpy(), x)
    assert not np.array_equal(late(Tensor(x)).asnumpy(), x)


@pytest.mark.parametrize("kind", ["Conv2dBnFoldQuant", "Conv2dBnFoldQuantOneConv"])
@pytest.mark.parametrize("has_bias", [False, True])
def test_folded_norm_is_convolution_and_norm(kind, has_bias, mode):
    x = Tensor(floats(4, 3, 6, 6))
    settings = {"pad_mode": "same", "has_bias": has_bias}
    folded = getattr(nn, kind)(3, 5, 3, fake=False, momentum=0.9, **settings)
    plain = nn.SequentialCell(nn.Conv2d(3, 5, 3, **settings), nn.BatchNorm2d(5, momentum=0.9))
    values = {"weight": floats(5, 3, 3, 3), "gamma": floats(5) + 3, "beta": floats(5)}
    values |= {"bias": floats(5)} if has_bias else {}
    for name, value in values.items():
        getattr(folded, name).set_data(Tensor(value))
        getattr(plain[int(name in ("gamma", "beta"))], name).set_data(Tensor(value))
    for train in (True, False):
        folded.set_train(train)
        plain.set_train(train)
        np.testing.assert_allclose(folded(x).asnumpy(), plain(x).asnumpy(), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(
        folded.moving_mean.asnumpy(), plain[1].moving_mean.asnumpy(), rtol=1e-4, atol=1e-5
    )
    exact = getattr(nn, kind)(3, 5, 3, **settings).set_train()
    near = exact(x).asnumpy()
    assert near.shape == (4, 5, 6, 6)
    assert np.isfinite(near).all()


def test_a_network_trains(mode):
    ms.set_seed(0)
    config = create_quant_config(per_channel=(True, False), symmetric=(True, False))
    net = nn.SequentialCell(
        nn.Conv2dBnFoldQuantOneConv(1, 4, 3, quant_config=config),
        nn.ActQuant("relu"),
        nn.Conv2dQuant(4, 2, 3, quant_config=config),
        nn.ActQuant(nn.ReLU(), ema=True, fake_before=True),
        nn.Flatten(),
        nn.DenseQuant(2 * 16, 1),
    )
    x = Tensor(floats(8, 1, 4, 4))
    y = x.mean(axis=(1, 2, 3)).reshape((-1, 1))
    step = nn.TrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.01)
    ).set_train()
    losses = [float(step(x, y)) for _ in range(40)]
    assert losses[-1] < 0.3 * losses[0]


def test_sums_and_products(mode):
    a, b = floats(3, 4), floats(3, 4)
    for kind, result in ((nn.TensorAddQuant, a + b), (nn.MulQuant, a * b)):
        got = kind()(Tensor(a), Tensor(b)).asnumpy()
        np.testing.assert_allclose(got, rounded(result, -6, 6), atol=1e-5)


def test_checkpoints_of_plain_networks():
    plain = nn.SequentialCell(nn.Conv2d(1, 2, 3, has_bias=True), nn.Dense(3, 4))
    rounding = nn.SequentialCell(nn.Conv2dQuant(1, 2, 3, has_bias=True), nn.DenseQuant(3, 4))
    load_nonquant_param_into_quant_net(rounding, plain.parameters_dict())
    for i in range(2):
        np.testing.assert_array_equal(rounding[i].weight.asnumpy(), plain[i].weight.asnumpy())
        np.testing.assert_array_equal(rounding[i].bias.asnumpy(), plain[i].bias.asnumpy())
    with pytest.raises(ValueError, match="none that is left"):
        load_nonquant_param_into_quant_net(rounding, {})
    with pytest.raises(NotImplementedError, match="written with the layers"):
        QuantizationAwareTraining()


def test_refusals():
    with pytest.raises(ValueError, match="a number or 3 of them"):
        nn.FakeQuantWithMinMaxObserver([1.0], 2.0, per_channel=True, num_channels=3)
    with pytest.raises(TypeError, match="'quant_dtype' must be a QuantDtype"):
        nn.DenseQuant(3, 4, quant_dtype=8)

"""Activations that a product or a convolution takes in give what they give alone, for NaN, too."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops

ACTIVATIONS = [ops.relu, ops.relu6, ops.sigmoid, ops.tanh, ops.gelu, ops.silu, ops.hardswish]


def product():
    x = np.random.default_rng(0).standard_normal((32, 256)).astype(np.float32)
    x[3, 5] = np.nan
    return nn.Dense(256, 256), x


def convolution():
    x = np.random.default_rng(0).standard_normal((2, 3, 32, 32)).astype(np.float32)
    x[0, 0, 4, 4] = np.nan
    return nn.Conv2d(3, 16, 3, has_bias=True), x


def normalised():
    convolved, x = convolution()
    return nn.SequentialCell(convolved, nn.BatchNorm2d(16)).set_train(False), x


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("made", [product, convolution, normalised])
def test_nan_passes(made, activation):
    net, x = made()
    function = lambda t: activation(net(t))
    eager, compiled = function(Tensor(x)).asnumpy(), ms.jit(function)(Tensor(x)).asnumpy()
    assert np.isnan(eager).any()
    np.testing.assert_allclose(compiled, eager, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("activation", [ops.relu, ops.relu6], ids=lambda f: f.__name__)
def test_infinities_are_clipped(activation):
    net, x = product()
    x[7, 0], x[9, 1] = np.inf, -np.inf
    function = lambda t: activation(net(t))
    eager, compiled = function(Tensor(x)).asnumpy(), ms.jit(function)(Tensor(x)).asnumpy()
    np.testing.assert_allclose(compiled, eager, rtol=1e-5, atol=2e-5)

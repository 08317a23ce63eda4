"""Initial values: distributions, fans, names, seeds and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Tensor
from mindspore.common import initializer as init
from mindspore.common.initializer import initializer


def draw(what, shape=(200, 300)):
    ms.set_seed(7)
    return initializer(what, shape).asnumpy()


@pytest.mark.parametrize(
    ("what", "mean", "std"),
    [
        ("normal", 0.0, 0.01),
        (init.Normal(0.5, 2.0), 2.0, 0.5),
        ("uniform", 0.0, 0.07 / math.sqrt(3)),
        (init.Uniform(3.0), 0.0, math.sqrt(3)),
        (init.XavierUniform(2.0), 0.0, 2 * math.sqrt(2 / 500)),
        ("xavier_normal", 0.0, math.sqrt(2 / 500)),
        (init.HeUniform(math.sqrt(5)), 0.0, math.sqrt(2 / 6 / 300)),
        (init.HeNormal(mode="fan_out", nonlinearity="relu"), 0.0, math.sqrt(2 / 200)),
        ("he_normal", 0.0, math.sqrt(2 / 300)),
        (init.TruncatedNormal(0.1), 0.0, 0.1),
        (init.TruncatedNormal(1.0), 0.0, 0.87962566),
        (init.VarianceScaling(2.0, "fan_avg", "uniform"), 0.0, math.sqrt(2 / 250)),
        (init.VarianceScaling(), 0.0, math.sqrt(1 / 300)),
        (init.VarianceScaling(1.0, "fan_out", "untruncated_normal"), 0.0, math.sqrt(1 / 200)),
    ],
)
def test_moments(what, mean, std):
    values = draw(what)
    assert values.dtype == np.float32
    assert abs(values.mean() - mean) < 4 * std / math.sqrt(values.size)
    assert abs(values.std() / std - 1) < 0.02


def test_bounds():
    assert np.abs(draw("uniform")).max() <= 0.07
    cut = draw(init.TruncatedNormal(1.0, 1.0, -1.0, 2.0))
    assert -1.0 <= cut.min() < -0.99 and 1.99 < cut.max() <= 2.0
    far = draw(init.TruncatedNormal(1.0, 5.0, -1.0, 2.0), (40, 50))
    assert far.min() > -1.0 and far.max() <= 2.0 and 1.6 < far.mean() < 1.8


def test_fixed_values():
    assert draw("zeros", (2, 3)).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert draw("ones", 2).tolist() == [1, 1]
    assert draw(2.5, [2]).tolist() == [2.5, 2.5]
    assert draw(init.Constant(3), (2,)).tolist() == [3, 3]
    assert draw("identity", (2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert draw("one", ()).shape == ()
    sparse = draw(init.Sparse(0.4), (10, 7))
    assert ((sparse == 0).sum(axis=0) == 4).all()


def test_dirac_is_the_identity_of_convolution():
    weight = draw(init.Dirac(groups=2), (4, 2, 3, 3))
    x = torch.randn(1, 4, 5, 5)
    y = torch.nn.functional.conv2d(x, torch.tensor(weight), padding=1, groups=2)
    assert torch.equal(x, y)


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (3, 2, 2)])
def test_orthogonal(shape):
    values = draw(init.Orthogonal(2.0), shape).reshape(shape[0], -1) / 2
    gram = values @ values.T if shape[0] <= values.shape[1] else values.T @ values
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-6)


def test_seed_repeats_and_advances():
    ms.set_seed(3)
    first, second = (initializer("normal", (4,)).asnumpy() for _ in range(2))
    ms.set_seed(3)
    assert (initializer("normal", (4,)).asnumpy() == first).all()
    assert (first != second).all()


def test_dtypes_and_tensors():
    assert initializer("normal", (2,), ms.float16).dtype == ms.float16
    assert initializer(2**24 + 1, (1,), ms.int32).asnumpy()[0] == 2**24 + 1
    source = Tensor([1.0, 2.0])
    assert initializer(source, (2,)) is source
    assert initializer(source, dtype=ms.float16).dtype == ms.float16
    made = initializer("ones", (2,))
    assert made.init_data() is made


def test_user_initializer():
    class Ramp(init.Initializer):
        def _initialize(self, arr):
            init._assignment(arr, np.arange(arr.size).reshape(arr.shape))

    assert initializer(Ramp(), (2, 2)).asnumpy().tolist() == [[0, 1], [2, 3]]


def test_helpers_that_models_import():
    assert init._calculate_fan_in_and_fan_out((8, 4, 3, 3)) == (36, 72)
    assert init._calculate_correct_fan((8, 4), "fan_out") == 8
    assert init._calculate_gain("tanh") == pytest.approx(5 / 3)
    assert init._calculate_gain("leaky_relu", 1.0) == 1.0


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: initializer("foo", (2,)), ValueError, "'init' must be one of"),
        (lambda: initializer("normal", (0,)), ValueError, "must be positive"),
        (lambda: initializer("normal", (2.0,)), TypeError, "tuple of ints"),
        (lambda: initializer([1], (2,)), TypeError, "got list"),
        (lambda: initializer(Tensor([1.0]), (2,)), ValueError, "that of the tensor"),
        (lambda: initializer("xavier_uniform", (2,)), ValueError, "at least 2 dimensions"),
        (lambda: initializer(init.HeNormal(mode="x"), (2, 2)), ValueError, "'mode' must be"),
        (lambda: initializer(init.HeNormal(nonlinearity="x"), (2, 2)), ValueError, "nonlinearity"),
        (lambda: init.TruncatedNormal(a=2.0, b=1.0), ValueError, "'a' must be below"),
        (lambda: init.VarianceScaling(-1.0), ValueError, "'scale' must be above 0"),
        (lambda: init.VarianceScaling(mode="x"), ValueError, "'mode' must be one of"),
        (lambda: init.VarianceScaling(distribution="x"), ValueError, "'distribution' must be"),
        (lambda: init.Dirac(0), ValueError, "positive int"),
        (lambda: initializer("dirac", (2, 2)), ValueError, "3, 4 or 5"),
        (lambda: initializer(init.Dirac(2), (3, 2, 2)), ValueError, "divisible"),
        (lambda: initializer("identity", (2,)), ValueError, "2 dimensions"),
        (lambda: initializer(init.Initializer(), (2,)), NotImplementedError, "_initialize"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()

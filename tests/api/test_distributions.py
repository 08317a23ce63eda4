"""Draws from distributions: their moments, that seeds repeat them, and that compiled code draws what eager code does."""

import math

import numpy as np
import pytest
from scipy import stats

import mindspore as ms
from mindspore import Tensor, ops

MANY = 20000
P = ops.operations


def scalar(value, dtype=ms.float32):
    return Tensor(value, dtype)


# name: (draw, distribution of SciPy)
DRAWS = {
    "standard_laplace": (lambda: ops.standard_laplace((MANY,), 3), stats.laplace()),
    "laplace": (
        lambda: ops.laplace((MANY,), scalar(2.0), scalar(3.0), 3),
        stats.laplace(2, 3),
    ),
    "gamma": (
        lambda: ops.gamma((MANY,), scalar(2.5), scalar(4.0), 3),
        stats.gamma(2.5, scale=0.25),
    ),
    "random_gamma": (lambda: ops.random_gamma((MANY,), scalar(7.0), 3), stats.gamma(7)),
    "small random_gamma": (lambda: ops.random_gamma((MANY,), scalar(0.4), 3), stats.gamma(0.4)),
    "Gamma": (lambda: P.Gamma(3)((MANY,), scalar(1.0), scalar(2.0)), stats.gamma(1, scale=0.5)),
    "RandomGamma": (lambda: P.RandomGamma(3)((MANY,), scalar(3.0)), stats.gamma(3)),
    "Cauchy": (lambda: P.Cauchy([MANY], 1.0, 2.0)(), stats.cauchy(1, 2)),
    "StandardLaplace": (lambda: P.StandardLaplace(3)((MANY,)), stats.laplace()),
    "TruncatedNormal": (lambda: P.TruncatedNormal(seed=3)((MANY,)), stats.truncnorm(-2, 2)),
    "ParameterizedTruncatedNormal": (
        lambda: P.ParameterizedTruncatedNormal(3)(
            (MANY,), scalar(1.0), scalar(2.0), scalar(0.0), scalar(9.0)
        ),
        stats.truncnorm(-0.5, 4, loc=1, scale=2),
    ),
    "LogNormalReverse": (
        lambda: P.LogNormalReverse(0.5, 0.25)(ops.zeros((MANY,), ms.float32)),
        stats.lognorm(0.25, scale=math.exp(0.5)),
    ),
    "poisson": (lambda: ops.poisson((MANY,), scalar(2.5), 3), stats.poisson(2.5)),
    "large poisson": (lambda: ops.poisson((MANY,), scalar(57.0), 3), stats.poisson(57)),
    "random_poisson": (
        lambda: ops.random_poisson((MANY,), scalar(12.0), 3, ms.int32),
        stats.poisson(12),
    ),
    "Poisson": (lambda: P.Poisson(3)((MANY,), scalar(4.0)), stats.poisson(4)),
    "RandomPoisson": (lambda: P.RandomPoisson(3)((MANY,), scalar(4.0)), stats.poisson(4)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_distribution(name):
    """Kolmogorov and Smirnov's distance, which for so many draws is above 0.02 once in 10^6 times."""
    draw, wanted = DRAWS[name]
    ms.set_seed(1)
    drawn = draw().asnumpy().astype(np.float64)
    assert drawn.shape == (MANY,)
    if isinstance(wanted.dist, stats.rv_discrete):
        values = np.arange(drawn.max() + 1)
        shares = np.array([(drawn <= v).mean() for v in values])
        assert np.abs(shares - wanted.cdf(values)).max() < 0.02
    else:
        assert stats.kstest(drawn, wanted.cdf).statistic < 0.02


@pytest.mark.parametrize("name", DRAWS)
def test_repeats_and_compiles(name):
    draw, _ = DRAWS[name]
    runs = []
    for run in (draw, draw, ms.jit(draw)):
        ms.set_seed(5)
        runs.append(run().asnumpy())
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_allclose(runs[0], runs[2], rtol=1e-5)


def test_each_parameter_has_its_draws():
    rates = np.array([[0.5], [300.0]], np.float32)
    drawn = ops.random_poisson((4000,), Tensor(rates)).asnumpy()
    assert drawn.shape == (4000, 2, 1)
    np.testing.assert_allclose(drawn.mean(0), rates, rtol=0.1)
    np.testing.assert_allclose(drawn.var(0), rates, rtol=0.15)


def test_gumbel_softmax_chooses_by_the_softmax():
    logits = np.array([0.0, 1.0, 2.0], np.float32)
    ms.set_seed(2)
    drawn = ops.gumbel_softmax(Tensor(np.tile(logits, (MANY, 1))), hard=True).asnumpy()
    assert set(np.unique(drawn.round(6))) == {0.0, 1.0}
    wanted = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(drawn.mean(0), wanted, atol=0.02)
    gradient = ms.grad(lambda x: ops.gumbel_softmax(x, hard=True)[..., 0].sum())
    assert np.abs(gradient(Tensor(logits)).asnumpy()).max() > 0


def test_rrelu_slopes():
    y = ops.rrelu(-ops.ones((MANY,), ms.float32), 0.2, 0.4).asnumpy()
    assert stats.kstest(-y, stats.uniform(0.2, 0.2).cdf).statistic < 0.02


@pytest.mark.parametrize("unique", [True, False])
def test_log_uniform_sampler(unique):
    """How often classes are drawn is what the second results say; with unique classes none comes twice."""
    true = Tensor([[0, 3]], ms.int64)
    counts, said = np.zeros(6), np.zeros(2)
    for seed in range(1, 400):
        sampler = P.LogUniformCandidateSampler(2, 3, unique, 6, seed)
        drawn, expected, of_drawn = sampler(true)
        np.add.at(counts, drawn.asnumpy(), 1)
        said += expected.asnumpy()[0]
        assert of_drawn.shape == (3,)
        assert not unique or len(set(drawn.asnumpy().tolist())) == 3
    np.testing.assert_allclose(counts[[0, 3]], said, rtol=0.15)


def test_uniform_sampler_refuses_more_than_there_are():
    with pytest.raises(ValueError, match="must be at most the 3 classes"):
        ops.uniform_candidate_sampler(Tensor([[1]], ms.int64), 1, 4, True, 3)


def test_dropout_masks():
    mask = P.DropoutGenMask(3, 4)((100, 100), scalar(0.75))
    assert mask.dtype == ms.uint8 and mask.size == 10112 // 8
    y = P.DropoutDoMask()(ops.ones((100, 100), ms.float32), mask, scalar(0.75)).asnumpy()
    assert set(np.unique(y)) <= {0.0, np.float32(1 / 0.75)}
    assert abs((y > 0).mean() - 0.75) < 0.02
    with pytest.raises(ValueError, match="'mask' must have 1264 bytes"):
        P.DropoutDoMask()(ops.ones((100, 100), ms.float32), mask[:16], scalar(0.75))


def test_shuffles_are_permutations():
    x = Tensor(np.arange(50))
    y = P.RandomShuffle(3)(x).asnumpy()
    assert sorted(y) == list(range(50)) and y.tolist() != list(range(50))
    assert sorted(P.RandpermV2(3)(20).asnumpy()) == list(range(20))
    numbers = P.NonDeterministicInts(ms.int32)((MANY,)).asnumpy()
    assert abs(numbers.astype(float).mean()) < 2e7 and numbers.dtype == np.int32


def test_functions_that_write():
    x = ops.zeros((MANY,), ms.float32)
    assert abs(ops.normal_(x, 2.0, 3.0).asnumpy().mean() - 2) < 0.1
    assert abs(ops.uniform_(x, 1.0, 3.0).asnumpy().mean() - 2) < 0.1
    assert abs(ops.exponential_(x, 4.0).asnumpy().mean() - 0.25) < 0.02
    assert abs(ops.bernoulli_(x, 0.25).asnumpy().mean() - 0.25) < 0.02
    assert set(np.unique(ops.random_(x, 3, 6).asnumpy())) == {3, 4, 5}
    assert not ops.zero_(x).asnumpy().any() and not x.asnumpy().any()


def test_parameters_without_a_distribution():
    """An infinite one gives infinity, at once; what is no parameter gives nan."""
    wild = Tensor([np.inf, np.nan, -1.0, 0.0])
    for draw in (ops.random_gamma, ops.random_poisson):
        drawn = draw((2,), wild).asnumpy()
        np.testing.assert_array_equal(drawn, [[np.inf, np.nan, np.nan, 0.0]] * 2)

"""Distributions and bijectors: samples, gradients, edges. Values: tests/differential/calls/probability_*.py."""

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

import mindspore as ms
import mindspore.nn.probability.bijector as msb
import mindspore.nn.probability.distribution as msd
from mindspore import Parameter, Tensor, nn, ops

MANY = 20000

# name: (parameters, the same distribution of SciPy)
FAMILIES = {
    "Normal": ((0.5, 2.0), stats.norm(0.5, 2)),
    "Cauchy": ((0.5, 2.0), stats.cauchy(0.5, 2)),
    "Laplace": ((0.5, 2.0), stats.laplace(0.5, 2)),
    "Logistic": ((0.5, 2.0), stats.logistic(0.5, 2)),
    "StudentT": ((5.0, 0.5, 2.0), stats.t(5, 0.5, 2)),
    "Gumbel": ((0.5, 2.0), stats.gumbel_r(0.5, 2)),
    "Uniform": ((-1.0, 3.0), stats.uniform(-1, 4)),
    "Exponential": ((1.5,), stats.expon(scale=1 / 1.5)),
    "Gamma": ((2.5, 3.0), stats.gamma(2.5, scale=1 / 3)),
    "Beta": ((2.5, 1.5), stats.beta(2.5, 1.5)),
    "HalfNormal": ((0.5, 2.0), stats.halfnorm(0.5, 2)),
    "LogNormal": ((0.5, 0.75), stats.lognorm(0.75, scale=math.exp(0.5))),
    "Bernoulli": ((0.25,), stats.bernoulli(0.25)),
    "Geometric": ((0.25,), stats.geom(0.25, loc=-1)),
    "Poisson": ((4.0,), stats.poisson(4)),
    "Categorical": (
        ([0.25, 0.25, 0.5],),
        stats.rv_discrete(values=([0, 1, 2], [0.25, 0.25, 0.5])),
    ),
}
DISCRETE = ("Bernoulli", "Geometric", "Poisson", "Categorical")
CONTINUOUS = [n for n in FAMILIES if n not in DISCRETE]


class Calls(nn.Cell):
    """A network that calls one function of a distribution."""

    def __init__(self, distribution, function):
        super().__init__()
        self.distribution, self.function = distribution, function

    def construct(self, *args):
        return self.distribution(self.function, *args)


def tensor(*values, dtype=ms.float32):
    return Tensor(list(values), dtype)


# ---- samples ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FAMILIES)
def test_samples_follow_the_distribution(name):
    given, like = FAMILIES[name]
    ms.set_seed(7)
    drawn = getattr(msd, name)(*given, seed=3).sample((MANY,)).asnumpy()
    if name in DISCRETE:
        counts = np.arange(int(like.ppf(0.999)) + 1)
        frequencies = (drawn[:, None] == counts).mean(0)
        np.testing.assert_allclose(frequencies, like.pmf(counts), atol=0.015)
    else:
        assert stats.kstest(drawn, like.cdf).pvalue > 1e-3
    if name != "Cauchy":
        np.testing.assert_allclose(drawn.mean(), like.mean(), atol=5 * like.std() / math.sqrt(MANY))
        np.testing.assert_allclose(drawn.std(), like.std(), rtol=0.1)


@pytest.mark.parametrize("name", FAMILIES)
def test_the_same_seed_gives_the_same_samples_in_both_modes(name):
    given, _ = FAMILIES[name]
    drawn = []
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE, ms.PYNATIVE_MODE):
        ms.set_context(mode=mode)
        ms.set_seed(11)
        distribution = getattr(msd, name)(*given, seed=5)
        draw = Calls(distribution, "sample")
        drawn.append(np.concatenate([draw((40,)).asnumpy(), draw((40,)).asnumpy()]))
    np.testing.assert_allclose(drawn[0], drawn[1], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(drawn[0], drawn[2])
    assert (drawn[0][:40] != drawn[0][40:]).any()  # another draw


def test_another_seed_gives_other_samples(mode):
    ms.set_seed(1)
    first = msd.Normal(0.0, 1.0, seed=1).sample((8,)).asnumpy()
    ms.set_seed(1)
    second = msd.Normal(0.0, 1.0, seed=2).sample((8,)).asnumpy()
    assert (first != second).any()


@pytest.mark.parametrize("name", FAMILIES)
def test_shapes_of_samples(name, mode):
    given, _ = FAMILIES[name]
    batch = [[x] * 3 for x in given]
    distribution = getattr(msd, name)(*batch)
    assert distribution.sample((2, 4)).shape == (2, 4, 3)
    assert distribution.sample().shape == (3,)
    assert distribution.broadcast_shape == (3,)
    assert getattr(msd, name)(*given).sample((2,)).shape == (2,)


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.float64], ids=str)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples_are_finite_and_of_the_dtype(name, dtype):
    drawn = getattr(msd, name)(*FAMILIES[name][0], dtype=dtype).sample((3000,))
    assert drawn.dtype == dtype
    assert np.isfinite(drawn.asnumpy()).all()


def test_samples_have_gradients_by_the_parameters(mode):
    normal = msd.Normal()

    def loss(mean, sd):
        return normal.sample((1000,), mean, sd).sum()

    mean, sd = ms.grad(loss, (0, 1))(tensor(1.0), tensor(2.0))
    assert mean.asnumpy() == 1000
    assert abs(float(sd.asnumpy()[0])) < 150


# ---- values ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FAMILIES)
def test_values_are_those_of_scipy(name, mode):
    given, like = FAMILIES[name]
    distribution = getattr(msd, name)(*given)
    points = np.arange(7.0) if name in DISCRETE else like.ppf(np.linspace(0.01, 0.99, 7))
    x = Tensor(points.astype(np.float32))
    density = like.pmf if name in DISCRETE else like.pdf
    pairs = [("prob", density), ("cdf", like.cdf), ("survival_function", like.sf)]
    if name in ("Beta", "StudentT"):
        pairs = pairs[:1]
    for function, expected in pairs:
        got = Calls(distribution, function)(x).asnumpy()
        np.testing.assert_allclose(got, expected(points), rtol=2e-4, atol=2e-6)
        with np.errstate(divide="ignore"):
            log = {"survival_function": "log_survival"}.get(function, f"log_{function}")
            got = Calls(distribution, log)(x).asnumpy()
            np.testing.assert_allclose(got, np.log(expected(points)), rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", [n for n in FAMILIES if n != "Cauchy"])
def test_moments_are_those_of_scipy(name, mode):
    given, like = FAMILIES[name]
    distribution = getattr(msd, name)(*given)
    for function, expected in (("mean", like.mean()), ("sd", like.std()), ("var", like.var())):
        got = np.squeeze(Calls(distribution, function)().asnumpy())
        np.testing.assert_allclose(got, expected, rtol=1e-5)
    if name != "Poisson":
        got = Calls(distribution, "entropy")().asnumpy()
        np.testing.assert_allclose(got, like.entropy(), rtol=1e-5)


OTHERS = {
    "Normal": (0.0, 1.5),
    "Cauchy": (0.0, 1.5),
    "Laplace": (0.0, 1.5),
    "Gumbel": (0.0, 1.5),
    "Uniform": (-2.0, 5.0),
    "Exponential": (0.5,),
    "Gamma": (1.5, 2.0),
    "Beta": (1.5, 2.0),
    "LogNormal": (0.0, 1.0),
    "Bernoulli": (0.5,),
    "Geometric": (0.5,),
    "Poisson": (3.0,),
}


@pytest.mark.parametrize("name", OTHERS)
def test_divergences_are_the_means_of_log_ratios(name, mode):
    given, like = FAMILIES[name]
    family = getattr(msd, name)
    others = [tensor(x) for x in OTHERS[name]]
    got = Calls(family(*given), "kl_loss")(name, *others).asnumpy()[0]
    if name in DISCRETE:
        points = np.arange(2.0 if name == "Bernoulli" else 100.0)
        weights = like.pmf(points)
    else:
        points = like.ppf((np.arange(200000) + 0.5) / 200000)
        weights = np.full(len(points), 1 / len(points))
    x = Tensor(points, ms.float64)
    a, b = (family(*p, dtype=ms.float64).log_prob(x).asnumpy() for p in (given, OTHERS[name]))
    expected = np.sum(np.where(weights > 0, weights * (a - b), 0.0))
    np.testing.assert_allclose(got, expected, rtol=5e-3, atol=1e-4)


POINTS = {"Bernoulli": (0.25, 0.75), "Beta": (0.3, 0.8), "Categorical": (0.0, 2.0)}


@pytest.mark.parametrize("name", [n for n in FAMILIES if n != "Gumbel"])
def test_gradients_by_value_and_parameters(name, mode):
    distribution = getattr(msd, name)(dtype=ms.float64)
    inputs = [np.array(POINTS.get(name, (1.25, 2.5)))]
    inputs += [np.array(p).reshape(-1) for p in FAMILIES[name][0]]
    steps = name in ("Categorical", "Geometric")  # of the value; for others it has a gradient

    def total(*inputs):
        return distribution.log_prob(*inputs).sum()

    places = tuple(range(len(inputs)))
    found = ms.grad(total, places)(*map(Tensor, inputs))
    for place in places[steps:]:
        for i in range(inputs[place].size):
            sides = []
            for step in (1e-6, -1e-6):
                moved = [x.copy() for x in inputs]
                moved[place][i] += step
                sides.append(float(total(*map(Tensor, moved)).asnumpy()))
            expected = (sides[0] - sides[1]) / 2e-6
            np.testing.assert_allclose(found[place].asnumpy()[i], expected, rtol=1e-4, atol=1e-6)


def test_gradients_of_a_gumbel_distribution(mode):
    x, loc = tensor(0.0, 2.0), Parameter(tensor(0.5), name="loc")
    gumbel = Calls(msd.Gumbel(loc, 2.0), "log_prob")
    by_value = ms.grad(lambda x: gumbel(x).sum())(x).asnumpy()
    by_loc = ms.grad(lambda x: gumbel(x).sum(), None, [loc])(x)[0].asnumpy()
    expected = (np.exp(-(x.asnumpy() - 0.5) / 2) - 1) / 2
    np.testing.assert_allclose(by_value, expected, rtol=1e-5)
    np.testing.assert_allclose(by_loc, [-expected.sum()], rtol=1e-4)


def test_gradients_at_special_parameters(mode):
    """Where a factor of a logarithm is 0, it still has a gradient."""
    gamma, x = msd.Gamma(), tensor(0.5)
    by_concentration = ms.grad(lambda c: gamma.log_prob(x, c, tensor(2.0)).sum())(tensor(1.0))
    expected = math.log(2) + math.log(0.5) + np.euler_gamma
    np.testing.assert_allclose(by_concentration.asnumpy(), [expected], rtol=1e-5)


# ---- edges -----------------------------------------------------------------------------------------
OUTSIDE = {
    "Uniform": (-2.0, 4.0),
    "Exponential": (-1.0,),
    "Gamma": (-1.0,),
    "Beta": (-0.5, 1.5),
    "HalfNormal": (0.0,),
    "LogNormal": (-1.0, 0.0),
    "Bernoulli": (-1.0, 2.0),
    "Geometric": (-1.0,),
    "Poisson": (-1.0,),
    "Categorical": (-1.0, 3.0),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_of_the_support(name, mode):
    distribution = getattr(msd, name)(*FAMILIES[name][0])
    x = tensor(*OUTSIDE[name])
    assert (Calls(distribution, "prob")(x).asnumpy() == 0).all()
    assert (Calls(distribution, "log_prob")(x).asnumpy() == -np.inf).all()
    gradient = ms.grad(lambda x: ops.exp(distribution.log_prob(x)).sum())(x)
    assert (gradient.asnumpy() == 0).all()
    if name != "Beta":
        above = np.asarray(OUTSIDE[name]) > 0 if name != "HalfNormal" else np.array([False])
        np.testing.assert_array_equal(Calls(distribution, "cdf")(x).asnumpy(), above)
        np.testing.assert_array_equal(Calls(distribution, "survival_function")(x).asnumpy(), ~above)


@pytest.mark.parametrize("name", FAMILIES)
def test_nan_stays_nan(name, mode):
    distribution = getattr(msd, name)(*FAMILIES[name][0])
    for function in ("prob", "log_prob"):
        assert np.isnan(Calls(distribution, function)(tensor(math.nan)).asnumpy()).all()


def test_far_tails(mode):
    normal = msd.Normal(0.0, 1.0)
    x = tensor(8.0, -8.0)
    expected = stats.norm.sf([8, -8])
    np.testing.assert_allclose(normal.survival_function(x).asnumpy(), expected, rtol=1e-3)
    np.testing.assert_allclose(normal.cdf(x).asnumpy(), expected[::-1], rtol=1e-3)
    np.testing.assert_allclose(
        msd.Exponential(1.0).log_cdf(tensor(1e-6)).asnumpy(), [math.log(1e-6)], rtol=1e-5
    )


def test_parameters_at_the_call(mode):
    normal, x = msd.Normal(0.0, sd=[1.0, 2.0]), tensor(0.5)
    by_name = normal.log_prob(x, mean=tensor(1.0))
    np.testing.assert_allclose(by_name.asnumpy(), stats.norm(1, [1, 2]).logpdf(0.5), rtol=1e-5)
    np.testing.assert_array_equal(by_name.asnumpy(), normal.log_prob(x, tensor(1.0)).asnumpy())
    assert normal.log_prob(Tensor(np.zeros((4, 1), np.float32))).shape == (4, 2)
    first = normal.kl_loss("Normal", tensor(1.0), tensor(1.0))
    second = normal.kl_loss("Normal", mean_b=tensor(1.0), sd_b=tensor(1.0))
    np.testing.assert_array_equal(first.asnumpy(), second.asnumpy())
    zero = normal.kl_loss("Normal", tensor(1.0), tensor(1.0), mean_a=tensor(1.0), sd_a=tensor(1.0))
    assert (zero.asnumpy() == 0).all()
    bernoulli = msd.Bernoulli()
    np.testing.assert_allclose(bernoulli.mean(probs1=tensor(0.25)).asnumpy(), [0.25])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: msd.Normal(0.0, -1.0), ValueError, "'sd' must be greater than 0"),
        (lambda: msd.Normal("a", 1.0), TypeError, "'mean' must be a number"),
        (lambda: msd.Normal([0.0, 1.0], [1.0] * 3), ValueError, "shapes that broadcast"),
        (lambda: msd.Normal(dtype=ms.int32), TypeError, "'dtype' must be a float type"),
        (lambda: msd.Normal(seed=-1), ValueError, "'seed' must be in"),
        (lambda: msd.Uniform(1.0, 1.0), ValueError, "'low' must be less than 'high'"),
        (lambda: msd.Categorical([0.5, 0.2]), ValueError, "'probs' must sum to 1"),
        (lambda: msd.Bernoulli(1.5), ValueError, r"'probs' must be in \(0, 1\)"),
        (lambda: msd.Normal().mean(), TypeError, "'mean' must be given"),
        (lambda: msd.Normal(0.0, 1.0).prob(1.0), TypeError, "'value' must be a Tensor"),
        (lambda: msd.Normal(0.0, 1.0).mean(*[tensor(1.0)] * 3), TypeError, "but got 3 of them"),
        (lambda: msd.Normal(0.0, 1.0).mean(loc=tensor(1.0)), TypeError, "but got 'loc'"),
        (lambda: msd.Normal(0.0, 1.0).mean(tensor(1.0), mean=tensor(1.0)), TypeError, "twice"),
        (lambda: msd.Normal(0.0, 1.0).sample([2]), TypeError, "'shape' must be a tuple"),
        (lambda: msd.Normal(0.0, 1.0).kl_loss("Gamma"), ValueError, "'dist' must be 'Normal'"),
        (lambda: msd.Normal(0.0, 1.0).kl_loss("Normal"), TypeError, "must be given"),
        (lambda: msd.Cauchy(0.0, 1.0).mean(), ValueError, "a mean must exist"),
        (lambda: msd.Uniform(0.0, 1.0).mode(), NotImplementedError, "'mode' must be stated"),
        (lambda: msd.Normal(0.0, 1.0)("area"), NotImplementedError, "but got 'area'"),
        (lambda: msb.PowerTransform(-1.0), ValueError, "'power' must not be negative"),
        (lambda: msb.Exp().forward(Tensor([1])), TypeError, "of a float type"),
        (lambda: msb.Bijector(name="b").inverse(tensor(1.0)), NotImplementedError, "'inverse'"),
        (lambda: msb.Bijector(name="b")("area"), NotImplementedError, "but got 'area'"),
    ],
)
def test_what_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


# ---- bijectors and what they make ------------------------------------------------------------------
BIJECTORS = {
    "exp": msb.Exp(),
    "power": msb.PowerTransform(0.5),
    "affine": msb.ScalarAffine(-2.0, 1.0),
    "softplus": msb.Softplus(2.0),
    "gumbel": msb.GumbelCDF(0.5, 2.0),
    "inverse": msb.Invert(msb.Softplus(2.0)),
}


@pytest.mark.parametrize("name", BIJECTORS)
def test_bijectors_go_back_and_know_their_derivatives(name, mode):
    bijector, x = BIJECTORS[name], tensor(0.3, 1.0, 2.5)
    y = Calls(bijector, "forward")(x)
    np.testing.assert_allclose(Calls(bijector, "inverse")(y).asnumpy(), x.asnumpy(), rtol=1e-5)
    slope = np.abs(ms.grad(lambda x: bijector.forward(x).sum())(x).asnumpy())
    forth = Calls(bijector, "forward_log_jacobian")(x).asnumpy()
    back = Calls(bijector, "inverse_log_jacobian")(y).asnumpy()
    np.testing.assert_allclose(forth, np.log(slope) if forth.ndim else np.log(slope[0]), atol=1e-5)
    np.testing.assert_allclose(back, -forth, atol=1e-5)


def test_transformed_distributions(mode):
    log_normal = msb.Exp()(msd.Normal(0.5, 0.75))
    x = tensor(-1.0, 0.0, 0.5, 2.0)
    like = FAMILIES["LogNormal"][1]
    for function, expected in (("prob", like.pdf), ("cdf", like.cdf), ("log_survival", like.logsf)):
        got = Calls(log_normal, function)(x).asnumpy()
        np.testing.assert_allclose(got, expected(x.asnumpy()), rtol=1e-4, atol=1e-6)
    turned = msd.TransformedDistribution(msb.ScalarAffine(-2.0, 1.0), msd.Exponential(1.0))
    below = Calls(turned, "cdf")(tensor(-3.0)).asnumpy()  # 1 - 2 x < -3 where x > 2
    np.testing.assert_allclose(below, [math.exp(-2)], rtol=1e-5)
    np.testing.assert_allclose(Calls(turned, "mean")().asnumpy(), -1.0)
    ms.set_seed(3)
    drawn = Calls(turned, "sample")((MANY,)).asnumpy()
    np.testing.assert_allclose(drawn.mean(), -1.0, atol=0.08)


def test_a_distribution_of_ones_own(mode):
    class Triangle(msd.Distribution):
        """The density 2 x / c^2 of (0, c)."""

        def __init__(self, c=None, name="Triangle"):
            super().__init__(None, ms.float32, name, {"c": c})
            self.c = self._add_parameter(c, "c")

        def _prob(self, value, c=None):
            c = self._check_param_type(c)
            return 2 * value / c**2

        def _log_survival(self, value, c=None):
            c = self._check_param_type(c)
            return ops.log1p(-((value / c) ** 2))

    triangle, x = Triangle(2.0), tensor(0.5, 1.0)
    np.testing.assert_allclose(triangle.log_prob(x).asnumpy(), np.log([0.25, 0.5]), rtol=1e-5)
    np.testing.assert_allclose(triangle.cdf(x).asnumpy(), [1 / 16, 1 / 4], rtol=1e-5)
    np.testing.assert_allclose(
        Calls(triangle, "log_cdf")(x).asnumpy(), np.log([1 / 16, 1 / 4]), rtol=1e-4
    )
    np.testing.assert_allclose(Calls(Triangle(), "prob")(x, tensor(1.0)).asnumpy(), [1.0, 2.0])
    with pytest.raises(NotImplementedError, match="'mean' must be stated"):
        triangle.mean()


# ---- networks --------------------------------------------------------------------------------------
def test_parameters_given_at_construction_are_trained(mode):
    mean = Parameter(Tensor([0.0], ms.float32), name="mean")
    normal = msd.Normal(mean, 1.0)
    assert [p.name for p in normal.trainable_params()] == ["mean"]
    loss = Calls(normal, "log_prob")
    gradient = ms.value_and_grad(lambda x: loss(x).sum(), None, [mean])(tensor(2.0, 4.0))[1]
    np.testing.assert_allclose(gradient[0].asnumpy(), [6.0])
    mean.set_data(tensor(3.0))
    np.testing.assert_allclose(loss(tensor(3.0)).asnumpy(), stats.norm.logpdf(0), rtol=1e-6)


def test_import_is_lazy():
    code = (
        "import sys, mindspore as ms, mindspore.nn as nn;"
        "assert 'mindspore.nn.probability' not in sys.modules;"
        "nn.probability.distribution.Normal(0.0, 1.0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

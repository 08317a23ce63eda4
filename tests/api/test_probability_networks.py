"""Networks that learn with distributions: maximum likelihood, and evidence bounds whose samples have gradients."""

import math

import numpy as np

import mindspore as ms
import mindspore.nn.probability.distribution as msd
from mindspore import Parameter, Tensor, nn, ops


def test_parameters_are_trained(mode):
    """Maximum likelihood finds the mean and the deviation of data."""

    class Fit(nn.Cell):
        def __init__(self):
            super().__init__()
            self.mean = Parameter(Tensor(0.0, ms.float32), name="mean")
            self.scale = Parameter(Tensor(0.0, ms.float32), name="scale")
            self.normal = msd.Normal()

        def construct(self, x):
            return -self.normal.log_prob(x, self.mean, ops.exp(self.scale)).mean()

    net = Fit()
    x = Tensor(np.random.default_rng(1).normal(3, 0.5, 500).astype(np.float32))
    step = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params(), 0.05)).set_train()
    losses = [float(step(x).asnumpy()) for _ in range(300)]
    assert losses[-1] < losses[0]
    np.testing.assert_allclose(net.mean.asnumpy(), x.asnumpy().mean(), atol=0.02)
    np.testing.assert_allclose(math.exp(net.scale.asnumpy()), x.asnumpy().std(), atol=0.02)


class VariationalAutoencoder(nn.Cell):
    """Minus the evidence bound of bits under two latent numbers."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.SequentialCell(nn.Dense(16, 32), nn.Tanh())
        self.mean, self.scale = nn.Dense(32, 2), nn.Dense(32, 2)
        self.decoder = nn.SequentialCell(nn.Dense(2, 32), nn.Tanh(), nn.Dense(32, 16), nn.Sigmoid())
        self.normal, self.bits = msd.Normal(0.0, 1.0, seed=1), msd.Bernoulli(dtype=ms.float32)

    def construct(self, x):
        h = self.encoder(x)
        mean, sd = self.mean(h), ops.exp(self.scale(h))
        code = self.normal("sample", (), mean, sd)
        probs = ops.clamp(self.decoder(code), 1e-4, 1 - 1e-4)
        fits = self.bits("log_prob", x, probs).sum(-1)
        prior = ops.zeros_like(mean)
        apart = self.normal("kl_loss", "Normal", prior, ops.ones_like(sd), mean, sd).sum(-1)
        return (apart - fits).mean()


def test_a_variational_autoencoder(mode):
    ms.set_seed(2)
    net = VariationalAutoencoder()
    random = np.random.default_rng(0)
    patterns = random.random((4, 16)) > 0.5
    x = Tensor(patterns[random.integers(0, 4, 64)].astype(np.float32))
    step = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params(), 0.01)).set_train()
    losses = [float(step(x).asnumpy()) for _ in range(150)]
    assert np.isfinite(losses).all()
    assert losses[0] > 9
    assert np.mean(losses[-10:]) < 5


class BayesianRegression(nn.Cell):
    """Minus the evidence bound of a line whose weights are normal."""

    def __init__(self, count):
        super().__init__()
        self.mean = Parameter(Tensor(np.zeros(2), ms.float32), name="mean")
        self.scale = Parameter(Tensor(np.full(2, -2.0), ms.float32), name="scale")
        self.weights, self.noise, self.count = msd.Normal(seed=4), msd.Normal(), count

    def construct(self, x, y):
        sd = ops.softplus(self.scale)
        w = self.weights.sample((), self.mean, sd)
        noise = ops.ones_like(y) * 0.1
        fits = self.noise.log_prob(y, w[0] * x + w[1], noise).sum()
        prior = ops.zeros_like(self.mean)
        apart = self.weights.kl_loss("Normal", prior, prior + 1.0, self.mean, sd).sum()
        return (apart - fits) / self.count


def test_a_bayesian_regression(mode):
    ms.set_seed(5)
    random = np.random.default_rng(3)
    x = random.uniform(-1, 1, 100).astype(np.float32)
    y = (2 * x - 0.5 + 0.1 * random.normal(size=100)).astype(np.float32)
    net = BayesianRegression(100)
    step = nn.TrainOneStepCell(net, nn.Adam(net.trainable_params(), 0.02)).set_train()
    for _ in range(400):
        step(Tensor(x), Tensor(y))
    np.testing.assert_allclose(net.mean.asnumpy(), [2, -0.5], atol=0.08)
    assert (ops.softplus(net.scale).asnumpy() < 0.1).all()  # the data leave little doubt

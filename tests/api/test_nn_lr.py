"""Learning-rate schedules as cells and as lists."""

from __future__ import annotations

import math

import pytest

import mindspore as ms
from mindspore import Tensor, nn


@pytest.mark.parametrize(
    ("schedule", "formula"),
    [
        (nn.ExponentialDecayLR(0.1, 0.9, 4), lambda s: 0.1 * 0.9 ** (s / 4)),
        (nn.ExponentialDecayLR(0.1, 0.9, 4, True), lambda s: 0.1 * 0.9 ** (s // 4)),
        (nn.NaturalExpDecayLR(0.1, 0.9, 4), lambda s: 0.1 * math.exp(-0.9 * s)),
        (nn.NaturalExpDecayLR(0.1, 0.9, 4, True), lambda s: 0.1 * math.exp(-0.9 * (s // 4 * 4))),
        (nn.InverseDecayLR(0.1, 0.5, 4), lambda s: 0.1 / (1 + 0.5 * s / 4)),
        (
            nn.CosineDecayLR(0.01, 0.1, 5),
            lambda s: 0.01 + 0.045 * (1 + math.cos(math.pi * min(s, 5) / 5)),
        ),
        (
            nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5),
            lambda s: 0.09 * (1 - min(s, 4) / 4) ** 0.5 + 0.01,
        ),
        (
            nn.PolynomialDecayLR(0.1, 0.01, 4, 0.5, True),
            lambda s: 0.09 * (1 - s / (4 * max(math.ceil(s / 4), 1))) ** 0.5 + 0.01,
        ),
        (nn.WarmUpLR(0.1, 5), lambda s: 0.1 * min(s, 5) / 5),
    ],
    ids=lambda item: getattr(item, "cls_name", ""),
)
def test_schedules(schedule, formula, mode):
    for step in range(10):
        rate = schedule(Tensor([step], ms.int32)).asnumpy().item()
        assert rate == pytest.approx(formula(step), abs=2e-6)


def test_user_schedule(mode):
    class Triangle(nn.LearningRateSchedule):
        def __init__(self):
            super().__init__()
            self.warm = nn.WarmUpLR(0.1, 5)

        def construct(self, global_step):
            return self.warm(global_step) * 2.0

    assert Triangle()(Tensor(5, ms.int32)).asnumpy() == pytest.approx(0.2)


def test_lists():
    assert nn.piecewise_constant_lr([2, 5], [0.1, 0.05]) == [0.1, 0.1, 0.05, 0.05, 0.05]
    assert nn.exponential_decay_lr(0.1, 0.9, 4, 2, 1) == pytest.approx([0.1, 0.1, 0.09, 0.09])
    natural = nn.natural_exp_decay_lr(0.1, 0.9, 6, 2, 2, True)
    assert natural[4] == pytest.approx(0.1 * math.exp(-1.8))
    assert nn.inverse_decay_lr(0.1, 0.5, 3, 1, 1, True) == pytest.approx([0.1, 0.1 / 1.5, 0.05])
    assert nn.cosine_decay_lr(0.01, 0.1, 6, 2, 2) == pytest.approx(
        [0.1, 0.1, 0.055, 0.055, 0.01, 0.01]
    )
    assert nn.polynomial_decay_lr(0.1, 0.01, 6, 2, 2, 0.5)[2] == pytest.approx(0.0736396103)
    assert nn.warmup_lr(0.1, 6, 2, 2) == pytest.approx([0.0, 0.0, 0.05, 0.05, 0.1, 0.1])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.ExponentialDecayLR(1, 0.9, 4), TypeError, "'learning_rate' must be a float"),
        (lambda: nn.ExponentialDecayLR(-0.1, 0.9, 4), ValueError, "'learning_rate'"),
        (lambda: nn.ExponentialDecayLR(0.1, 0.9, 4.0), TypeError, "'decay_steps'"),
        (lambda: nn.CosineDecayLR(0.1, 0.05, 4), ValueError, "'max_lr' must be greater"),
        (lambda: nn.WarmUpLR(0.1, 0), ValueError, "'warmup_steps'"),
        (lambda: nn.PolynomialDecayLR(0.1, 0.01, 4, -1.0), ValueError, "'power'"),
        (lambda: nn.piecewise_constant_lr([2, 1], [0.1, 0.05]), ValueError, "must grow"),
        (lambda: nn.piecewise_constant_lr([2], [0.1, 0.05]), ValueError, "same length"),
        (
            lambda: nn.piecewise_constant_lr([2], [1]),
            TypeError,
            "'learning_rates' must be a tuple or list of floats",
        ),
        (lambda: nn.piecewise_constant_lr(2, [1.0]), TypeError, "'milestone'"),
        (lambda: nn.cosine_decay_lr(0.1, 0.01, 6, 2, 2), ValueError, "'max_lr' must be greater"),
        (lambda: nn.exponential_decay_lr(0.1, 0.9, 6, 0, 1), ValueError, "'step_per_epoch'"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()

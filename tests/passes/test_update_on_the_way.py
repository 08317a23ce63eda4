"""Updates scale a gradient and add weight decay to it as they read it: no gradient is written on the way, and the bits are
those of the single ops."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops

SHAPES = [(3,), (1,), (64, 64), (4097,), (130, 70), (600, 400)]
DECAY, SCALE, CLIP = 0.01, 3.0, 0.3

OPTIMIZERS = {
    "SGD": lambda p, **k: nn.SGD(p, 0.1, 0.9, nesterov=True, **k),
    "SGD without momentum": lambda p, **k: nn.SGD(p, 0.1, **k),
    "Momentum": lambda p, **k: nn.Momentum(p, 0.1, 0.9, **k),
    "Adam": lambda p, **k: nn.Adam(p, 0.01, **k),
    "AdaMax": lambda p, **k: nn.AdaMax(p, 0.01, **k),
    "Adagrad": lambda p, **k: nn.Adagrad(p, 0.1, **k),
    "Adadelta": lambda p, **k: nn.Adadelta(p, 0.5, **k),
    "RMSProp": lambda p, **k: nn.RMSProp(p, 0.01, momentum=0.5, **k),
    "centered RMSProp": lambda p, **k: nn.RMSProp(p, 0.01, centered=True, **k),
}


class Clipped(nn.Cell):
    """An update by gradients times a number that is known when it runs."""

    def __init__(self, optimizer):
        super().__init__()
        self.optimizer = optimizer

    def construct(self, factor, gradients):
        scaled = ()
        for g in gradients:
            scaled = scaled + (factor * g,)
        return self.optimizer(scaled)


def arrays(seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(np.float32) for shape in SHAPES]


def parameters() -> list[Parameter]:
    return [Parameter(Tensor(v), name=f"p{i}") for i, v in enumerate(arrays(100))]


def states(optimizer) -> list[np.ndarray]:
    return [p.asnumpy() for p in optimizer.get_parameters()]


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("settings", ["decay", "scale", "both", "clip and both", "clip"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_same_bits_as_gradients_made_before(name, settings, mode):
    ms.set_context(mode=mode)
    decays = settings not in ("scale", "clip") and "SGD" not in name  # whose op has its own decay
    scales, clips = settings in ("scale", "both", "clip and both"), "clip" in settings
    given = {"weight_decay": DECAY} if decays else {}
    whole = OPTIMIZERS[name](parameters(), **given, **({"loss_scale": SCALE} if scales else {}))
    plain = OPTIMIZERS[name](parameters())
    step = Clipped(whole)
    for k in range(3):
        made = [np.float32(CLIP) * g for g in arrays(k)] if clips else arrays(k)
        if decays:
            decay = np.float32(DECAY * SCALE if scales else DECAY)
            made = [g + p.asnumpy() * decay for g, p in zip(made, plain.parameters)]
        if scales:
            made = [g * np.float32(1 / SCALE) for g in made]
        gradients = tuple(Tensor(g) for g in arrays(k))
        if clips:
            step(Tensor(np.float32(CLIP)), gradients)
        else:
            whole(gradients)
        plain(tuple(Tensor(g) for g in made))
    for a, b in zip(states(whole), states(plain), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_a_gradient_that_is_wanted_elsewhere_is_still_made(mode):
    ms.set_context(mode=mode)

    class Step(nn.Cell):
        def __init__(self, params):
            super().__init__()
            self.optimizer = nn.Momentum(params, 0.5, 0.0)

        def construct(self, gradient):
            clipped = gradient * 0.25
            self.optimizer((clipped,))
            return clipped

    param = Parameter(Tensor(np.ones((64, 64), np.float32)), name="p")
    clipped = Step([param])(ops.ones((64, 64)) * 2)
    assert np.all(clipped.asnumpy() == 0.5) and np.all(param.asnumpy() == 0.75)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_decay_of_another_parameter_is_none_of_the_update(mode):
    """Only a term made of the very weights that are updated may be left to the update."""
    ms.set_context(mode=mode)

    class Step(nn.Cell):
        def __init__(self, params):
            super().__init__()
            self.params = ms.ParameterTuple(params)
            self.optimizer = nn.Momentum(self.params, 0.5, 0.0)

        def construct(self, gradient):
            self.optimizer(
                (gradient + self.params[1] * 0.5, gradient + self.params[1] * self.params[1])
            )

    values = [np.full((64, 64), v, np.float32) for v in (1, 2)]
    params = [Parameter(Tensor(v), name=f"p{i}") for i, v in enumerate(values)]
    Step(params)(ops.ones((64, 64)))
    assert np.all(params[0].asnumpy() == 0.0) and np.all(params[1].asnumpy() == -0.5)


def by_numpy(p, g, accum, stat, rate, momentum, dampening, decay, nesterov):
    """SGD by its definition, in float64."""
    p, g, accum = (x.astype(np.float64) for x in (p, g, accum))
    g = g + decay * p
    if momentum == 0:
        return p - rate * g, accum, stat
    velocity = np.where(stat > 0, g, accum * momentum + (1 - dampening) * g)
    step = g + velocity * momentum if nesterov else velocity
    return p - rate * step, velocity, np.zeros_like(stat)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize(
    "momentum, dampening, nesterov", [(0, 0, False), (0.9, 0.5, False), (0.9, 0, True)]
)
@pytest.mark.parametrize("fresh", ["none", "all", "some", "the last"])
def test_sgd_leaves_alone_what_it_may(fresh, momentum, dampening, nesterov, mode):
    ms.set_context(mode=mode)
    n = 1700
    rng = np.random.default_rng(3)
    p, g, accum = (rng.standard_normal(n).astype(np.float32) for _ in range(3))
    stat = np.zeros(n, np.float32)
    stat[{"none": [], "all": slice(None), "some": slice(5, 700, 3), "the last": -1}[fresh]] = 1
    names = ("p", "accum", "stat")
    given = [Parameter(Tensor(v.copy()), name=k) for k, v in zip(names, (p, accum, stat))]

    class Step(nn.Cell):
        def __init__(self):
            super().__init__()
            self.given = ms.ParameterTuple(given)
            self.sgd = ops.SGD(dampening, 0.01, nesterov)

        def construct(self, g, rate, momentum):
            return self.sgd(self.given[0], g, rate, self.given[1], momentum, self.given[2])

    expected = by_numpy(p, g, accum, stat, 0.1, momentum, dampening, 0.01, nesterov)
    Step()(Tensor(g), Tensor(np.float32(0.1)), Tensor(np.float32(momentum)))
    for a, b in zip(given, expected):
        np.testing.assert_allclose(a.asnumpy(), b, rtol=1e-5, atol=1e-6)


@pytest.mark.fast_stage
def test_one_launch_for_each_parameter():
    code = (
        "import mindspore as ms, numpy as np; from mindspore import nn, Parameter, Tensor, ops;"
        "ms.set_context(mode=ms.GRAPH_MODE);"
        "p = [Parameter(Tensor(np.ones((70, 70), np.float32)), name=f'p{i}') for i in range(3)];"
        "nn.Adam(p, 0.1, weight_decay=0.1, loss_scale=2.0)((ops.ones((70, 70)),) * 3)"
    )
    env = {**os.environ, "MS_DUMP": "plan"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert "group of 3 launches in 3 chains" in done.stdout + done.stderr


class Checked(nn.Cell):
    """An update that is left out unless a flag says so, or where it says so."""

    def __init__(self, optimizer, when):
        super().__init__()
        self.optimizer, self.when = optimizer, when

    def construct(self, flag, gradients):
        if self.when:
            if flag:
                self.optimizer(gradients)
        elif not flag:
            self.optimizer(gradients)
        return flag


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
@pytest.mark.parametrize("when", [True, False])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_that_are_left_out(name, when, mode):
    ms.set_context(mode=mode)
    given = {"loss_scale": SCALE} if "SGD" in name else {"loss_scale": SCALE, "weight_decay": DECAY}
    checked, plain = (OPTIMIZERS[name](parameters(), **given) for _ in range(2))
    step = Checked(checked, when)
    for k, runs in enumerate([True, False, True, False]):
        gradients = tuple(Tensor(g) for g in arrays(k))
        if not runs:  # what would come of it must not be seen
            gradients = tuple(g * float("nan") for g in gradients)
        before = states(checked)
        step(Tensor(runs == when), gradients)
        if runs:
            plain(gradients)
            before = states(plain)
        for a, b in zip(states(checked), before, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_held_values_outlive_a_step_that_may_be_left_out(mode):
    ms.set_context(mode=mode)
    params = parameters()
    step = Checked(nn.Momentum(params, 0.1, 0.9, weight_decay=DECAY), True)
    for runs in (True, False):
        held = [p.copy() for p in params]
        before = [t.asnumpy().copy() for t in held]
        step(Tensor(runs), tuple(Tensor(g) for g in arrays(1)))
        for t, p, b in zip(held, params, before):
            np.testing.assert_array_equal(t.asnumpy(), b)
            assert np.array_equal(p.asnumpy(), b) != runs


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_a_gradient_made_of_weights_that_change_before_it_is_used(mode):
    """It is made of their values at its own place in the program."""
    ms.set_context(mode=mode)

    class Step(nn.Cell):
        def __init__(self, first, second):
            super().__init__()
            self.first, self.second = first, second
            self.velocities = ms.ParameterTuple([first, second]).clone("v", init="zeros")
            self.momentum = ops.ApplyMomentum()

        def construct(self, gradient):
            made = self.first * 0.5
            self.momentum(self.first, self.velocities[0], 1.0, gradient, 0.0)
            self.momentum(self.second, self.velocities[1], 1.0, made, 0.0)

    first, second = (
        Parameter(Tensor(np.full((80, 80), v, np.float32)), name=k) for k, v in (("a", 4), ("b", 8))
    )
    Step(first, second)(ops.ones((80, 80)))
    assert np.all(first.asnumpy() == 3.0) and np.all(second.asnumpy() == 6.0)

"""Optimizers of groups that may change, against PyTorch in both modes, and schedules of their rates."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.experimental import optim
from mindspore.experimental.optim import lr_scheduler
from mindspore.mint import optim as mint_optim

RNG = np.random.default_rng(0)
START = [RNG.standard_normal(shape).astype(np.float32) for shape in ((2, 3), (4,))]
GRADS = [[RNG.standard_normal(w.shape).astype(np.float32) for w in START] for _ in range(7)]


def parameters():
    return [Parameter(Tensor(value), name=name) for value, name in zip(START, "ab")]


def run(make, grads=GRADS):
    params = parameters()
    optimizer = make(params)
    for step in grads:
        optimizer(tuple(Tensor(g) for g in step))
    return [p.asnumpy() for p in params]


def run_torch(make):
    params = [torch.nn.Parameter(torch.tensor(value)) for value in START]
    optimizer = make(params)
    for step in GRADS:
        for param, grad in zip(params, step):
            param.grad = torch.tensor(grad)
        optimizer.step()
    return [p.detach().numpy() for p in params]


def same(ours, theirs, tol=1e-5):
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a, b, rtol=tol, atol=tol)


CASES = [
    (optim.SGD, {"lr": 0.1}),
    (
        optim.SGD,
        {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "weight_decay": 0.1, "maximize": True},
    ),
    (optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    (optim.ASGD, {"lr": 0.1, "lambd": 0.1, "alpha": 0.5, "t0": 2.0, "weight_decay": 0.1}),
    (optim.Rprop, {"lr": 0.1, "etas": (0.4, 1.5), "step_sizes": (0.05, 0.2)}),
    (optim.Adadelta, {"lr": 0.5, "weight_decay": 0.1, "maximize": True}),
    (optim.Adagrad, {"lr": 0.1, "lr_decay": 0.1, "initial_accumulator_value": 0.5}),
    (optim.RMSprop, {"lr": 0.1, "eps": 0.1, "momentum": 0.9, "centered": True}),
    (optim.RMSprop, {"lr": 0.1, "weight_decay": 0.1, "maximize": True}),
    (optim.AdamW, {"lr": 0.1, "weight_decay": 0.1, "eps": 0.1}),
    (optim.AdamW, {"lr": 0.1, "amsgrad": True, "eps": 0.1, "maximize": True}),
    (optim.AdamW, {"lr": 0.0}),
    (optim.Adamax, {"lr": 0.1, "eps": 0.1, "weight_decay": 0.1}),
    (optim.NAdam, {"lr": 0.1, "eps": 0.1, "weight_decay": 0.1}),
    (optim.RAdam, {"lr": 0.1, "weight_decay": 0.1, "betas": (0.8, 0.95)}),
    (mint_optim.Adam, {"lr": 0.1, "eps": 0.1, "weight_decay": 0.1}),
    (mint_optim.Adam, {"lr": 0.1, "eps": 0.1, "amsgrad": True, "betas": (0.0, 0.5)}),
    (mint_optim.AdamW, {"lr": 0.1}),
    (mint_optim.SGD, {"lr": 0.1, "momentum": 0.5}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0].__name__} {c[1]}")
def test_as_in_torch(case, mode):
    kind, settings = case
    theirs = getattr(torch.optim, kind.__name__)
    same(run(lambda p: kind(p, **settings)), run_torch(lambda p: theirs(p, **settings)))
    groups = lambda p: [{"params": p[:1], "lr": 0.03}, {"params": p[1:]}]
    same(
        run(lambda p: kind(groups(p), **settings)),
        run_torch(lambda p: theirs(groups(p), **settings)),
    )


@pytest.mark.parametrize("name", ["ASGD", "Adam", "NAdam", "RAdam", "RMSprop", "Rprop"])
def test_half_gradients_and_weights(name, mode):
    kind = getattr(optim, name)
    halves = [[g.astype(np.float16) for g in step] for step in GRADS]
    same(run(lambda p: kind(p, lr=0.1), halves), run(lambda p: kind(p, lr=0.1)), 1e-2)
    params = [Parameter(Tensor(w.astype(np.float16)), name=n) for w, n in zip(START, "ab")]
    optimizer = kind(params, lr=0.1)
    for step in halves:
        optimizer(tuple(Tensor(g) for g in step))
    assert all(p.dtype == ms.float16 for p in optimizer.parameters)
    same([p.asnumpy() for p in params], run(lambda p: kind(p, lr=0.1)), 2e-2)


def test_rates_that_change_compile_nothing_anew(mode):
    params = parameters()[:1]
    optimizer = optim.SGD(params, 0.5)
    gradient = (Tensor(np.ones((2, 3), np.float32)),)
    before = START[0]
    for rate in (0.5, 0.25, 0.125):
        ops.assign(optimizer.param_groups[0]["lr"], Tensor(rate))
        optimizer(gradient)
        before = before - rate
        np.testing.assert_allclose(params[0].asnumpy(), before, rtol=1e-6)
    assert optimizer._compiled_versions.compiled == 1


def test_options_that_change(mode):
    params = parameters()[:1]
    optimizer = optim.SGD(params, 0.5)
    gradient = (Tensor(np.zeros((2, 3), np.float32)),)
    optimizer(gradient)
    np.testing.assert_array_equal(params[0].asnumpy(), START[0])
    optimizer.param_groups[0]["weight_decay"] = 0.5
    optimizer(gradient)
    np.testing.assert_allclose(params[0].asnumpy(), START[0] * 0.75, rtol=1e-6)
    optimizer.param_groups[0]["lr"] = 0.0
    optimizer(gradient)
    np.testing.assert_allclose(params[0].asnumpy(), START[0] * 0.75, rtol=1e-6)


def test_groups_that_come_later(mode):
    params = parameters()
    optimizer = optim.Adam(params[:1], 0.1)
    optimizer((Tensor(GRADS[0][0]),))
    optimizer.add_param_group({"params": params[1], "lr": 0.2})
    assert optimizer.group_start_id == [0, 1]
    assert [p.name for p in optimizer.exp_avg] == ["exp_avg.a", "exp_avg.b"]
    optimizer(tuple(Tensor(g) for g in GRADS[1]))
    assert not np.allclose(params[1].asnumpy(), START[1])
    with pytest.raises(ValueError, match="once"):
        optimizer.add_param_group({"params": params[1]})


def test_names_of_state():
    names = lambda o: [p.name for p in o.get_parameters()][2:]
    assert names(optim.SGD(parameters(), 0.1)) == ["accum.a", "accum.b", "stat.a", "stat.b"]
    assert names(optim.Adam(parameters()))[::2] == [
        "exp_avg.a",
        "exp_avg_sq.a",
        "max_exp_avg_sq.a",
        "state_step",
    ]


def test_text():
    assert str(optim.SGD(parameters(), 0.1)).splitlines()[:3] == [
        "SGD (",
        "Parameter Group 0",
        "    dampening: 0",
    ]


def test_of_users(mode):
    class Climb(optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def construct(self, gradients):
            for number, group in enumerate(self.param_groups):
                start = self.group_start_id[number]
                for i, param in enumerate(group["params"]):
                    ops.assign(param, param + gradients[start + i] * group["lr"])
            return True

    expected = [w + 0.1 * sum(step[i] for step in GRADS) for i, w in enumerate(START)]
    same(run(lambda p: Climb(p, 0.1)), expected)


def test_training(mode):
    ms.set_seed(0)
    net = nn.Dense(4, 1)
    loss_fn = nn.MSELoss()
    optimizer = optim.AdamW(net.trainable_params(), 0.05)
    schedule = lr_scheduler.ExponentialLR(optimizer, 0.9)
    forward = lambda x, y: loss_fn(net(x), y)
    step = ms.value_and_grad(forward, None, optimizer.parameters)
    x = Tensor(np.random.default_rng(0).standard_normal((32, 4)).astype(np.float32))
    y = x.sum(1, keepdims=True)
    losses = []
    for _ in range(30):
        loss, grads = step(x, y)
        optimizer(grads)
        losses.append(float(loss))
        schedule.step()
    assert losses[-1] < 0.5 * losses[0]
    assert float(schedule.get_last_lr()[0]) == pytest.approx(0.05 * 0.9**30, rel=1e-4)


def scheduled(module, make, epochs=12):
    if module is torch:
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], 0.5)
        scheduler = make(torch.optim.lr_scheduler, optimizer)
    else:
        optimizer = optim.SGD(parameters()[:1], 0.5)
        scheduler = make(lr_scheduler, optimizer)
    found = []
    for _ in range(epochs):
        found.append(float(optimizer.param_groups[0]["lr"]))
        if module is torch:
            optimizer.step()
        scheduler.step()
    return found


@pytest.mark.parametrize(
    "make",
    [
        lambda m, o: m.StepLR(o, 3, 0.5),
        lambda m, o: m.MultiStepLR(o, [2, 5, 5]),
        lambda m, o: m.ConstantLR(o, 0.5, 3),
        lambda m, o: m.LinearLR(o, 0.25, 0.0, 4),
        lambda m, o: m.ExponentialLR(o, 0.9),
        lambda m, o: m.PolynomialLR(o, 6, 2.0),
        lambda m, o: m.LambdaLR(o, lambda e: 1 / (1 + e)),
        lambda m, o: m.MultiplicativeLR(o, lambda e: 1 / (1 + e)),
        lambda m, o: m.CosineAnnealingLR(o, 4, 0.1),
        lambda m, o: m.CosineAnnealingWarmRestarts(o, 2, 2, 0.1),
        lambda m, o: m.SequentialLR(o, [m.LinearLR(o, 0.1), m.CosineAnnealingLR(o, 4)], [3]),
    ],
)
def test_schedules_as_in_torch(make):
    np.testing.assert_allclose(scheduled(None, make), scheduled(torch, make), rtol=1e-5, atol=1e-7)


def test_schedule_of_users():
    class Halved(lr_scheduler.LRScheduler):
        def get_lr(self):
            return [rate / 2**self.last_epoch for rate in self.base_lrs]

    assert scheduled(None, lambda m, o: Halved(o), 3) == [0.5, 0.25, 0.125]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: optim.SGD([], 0.1), ValueError, "at least one parameter"),
        (lambda: optim.SGD(parameters()[0], 0.1), TypeError, "iterable of Parameters"),
        (lambda: optim.SGD([Tensor(1.0)], 0.1), TypeError, "'params' must hold Parameters"),
        (lambda: optim.SGD([{"lr": 0.1}], 0.1), KeyError, "'params'"),
        (lambda: optim.SGD(parameters() * 2, 0.1), ValueError, "once"),
        (lambda: optim.SGD(parameters(), 0.1)((Tensor(1.0),)), ValueError, "a gradient for each"),
        (lambda: optim.SGD(parameters(), 0.1, -1.0), ValueError, "'momentum' must not be negative"),
        (lambda: optim.Adam(parameters(), betas=(0.9,)), ValueError, "'betas' must be two"),
        (lambda: optim.Adadelta(parameters(), rho=2.0), ValueError, r"'rho' must be in \[0, 1\]"),
        (
            lambda: lr_scheduler.StepLR(nn.SGD(parameters(), 0.1), 2),
            TypeError,
            "'optimizer' must be an Optimizer",
        ),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()

"""Optimizers against PyTorch or NumPy in both modes, groups, schedules and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from peers import torch

import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore.ops import composite as C
from mindspore.ops import functional as F

SHAPES = {"a.weight": (2, 3), "a.bias": (3,), "bn.gamma": (4,)}
RNG = np.random.default_rng(0)
START = {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in SHAPES.items()}
GRADS = [
    {name: RNG.standard_normal(shape).astype(np.float32) for name, shape in SHAPES.items()}
    for _ in range(3)
]


def parameters():
    return [Parameter(Tensor(value), name=name) for name, value in START.items()]


def run(make, steps=3):
    """The parameters after some steps."""
    params = parameters()
    optimizer = make(params)
    for grads in GRADS[:steps]:
        optimizer(tuple(Tensor(grad) for grad in grads.values()))
    return [param.asnumpy() for param in params]


def run_torch(make, decayed=(True, True, False), decay=0.0):
    """The same with PyTorch; decay goes into the gradient of the decayed ones."""
    params = [torch.tensor(value, requires_grad=True) for value in START.values()]
    optimizer = make(params)
    for grads in GRADS:
        for param, grad, flag in zip(params, grads.values(), decayed):
            param.grad = torch.tensor(grad) + (decay * param.detach() if flag else 0)
        optimizer.step()
    return [param.detach().numpy() for param in params]


def same(ours, theirs, tol=1e-5):
    for a, b in zip(ours, theirs):
        np.testing.assert_allclose(a, b, rtol=tol, atol=tol)


@pytest.mark.parametrize("settings", [{}, {"dampening": 0.3}, {"nesterov": True}])
def test_sgd(settings, mode):
    momentum = 0.9 if settings else 0.0
    same(
        run(lambda p: nn.SGD(p, 0.1, momentum, weight_decay=0.1, **settings)),
        run_torch(lambda p: torch.optim.SGD(p, 0.1, momentum, **settings), decay=0.1),
    )


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum(nesterov, mode):
    same(
        run(lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.1, use_nesterov=nesterov)),
        run_torch(lambda p: torch.optim.SGD(p, 0.1, 0.9, nesterov=nesterov), decay=0.1),
    )


def test_loss_scale(mode):
    scaled = [{name: 8 * grad for name, grad in grads.items()} for grads in GRADS]
    params = parameters()
    optimizer = nn.Momentum(params, 0.1, 0.9, loss_scale=8.0)
    for grads in scaled:
        optimizer(tuple(Tensor(grad) for grad in grads.values()))
    same([p.asnumpy() for p in params], run(lambda p: nn.Momentum(p, 0.1, 0.9)))


def test_adam(mode):
    same(
        run(lambda p: nn.Adam(p, 0.1, weight_decay=0.1)),
        run_torch(lambda p: torch.optim.Adam(p, 0.1), decay=0.1),
        1e-4,
    )
    same(
        run(lambda p: nn.Adam(p, 0.1, use_amsgrad=True)),
        run_torch(lambda p: torch.optim.Adam(p, 0.1, amsgrad=True)),
        1e-3,
    )


def adam_moments(grads, beta1=0.9, beta2=0.999):
    m = v = 0.0
    for grad in grads:
        m = beta1 * m + (1 - beta1) * grad
        v = beta2 * v + (1 - beta2) * grad**2
        yield m, v


def test_adam_weight_decay(mode):
    expected = []
    for (name, w), decay in zip(START.items(), (0.1, 0.1, 0.0)):
        for m, v in adam_moments([grads[name] for grads in GRADS]):
            w = w - 0.1 * (m / (np.sqrt(v) + 1e-6) + decay * w)
        expected.append(w)
    same(run(lambda p: nn.AdamWeightDecay(p, 0.1, weight_decay=0.1)), expected, 1e-4)


def test_lamb(mode):
    expected = []
    for (name, w), decay in zip(START.items(), (0.1, 0.1, 0.0)):
        moments = adam_moments([grads[name] for grads in GRADS])
        for step, (m, v) in enumerate(moments, 1):
            update = m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.999**step)) + 1e-6) + decay * w
            w = w - 0.1 * np.linalg.norm(w) / np.linalg.norm(update) * update
        expected.append(w)
    same(run(lambda p: nn.Lamb(p, 0.1, weight_decay=0.1)), expected, 1e-3)


@pytest.mark.parametrize("centered", [False, True])
def test_rmsprop(centered, mode):
    expected = []
    for name, w in START.items():
        square, mean, moment = 1.0, 0.0, 0.0
        for grads in GRADS:
            grad = grads[name]
            square = 0.9 * square + 0.1 * grad**2
            mean = 0.9 * mean + 0.1 * grad
            variance = square - mean**2 if centered else square
            moment = 0.5 * moment + 0.1 * grad / np.sqrt(variance + 1e-10)
            w = w - moment
        expected.append(w)
    same(run(lambda p: nn.RMSProp(p, 0.1, momentum=0.5, centered=centered)), expected)


def test_adagrad_and_adadelta(mode):
    same(
        run(lambda p: nn.Adagrad(p, accum=0.1, learning_rate=0.1)),
        run_torch(lambda p: torch.optim.Adagrad(p, 0.1, initial_accumulator_value=0.1, eps=0.0)),
    )
    same(
        run(lambda p: nn.Adadelta(p, 0.5)),
        run_torch(lambda p: torch.optim.Adadelta(p, 0.5)),
    )


def test_adamax(mode):
    same(
        run(lambda p: nn.AdaMax(p, 0.1)),
        run_torch(lambda p: torch.optim.Adamax(p, 0.1)),
        1e-4,
    )


def test_ftrl(mode):
    expected = []
    for name, w in START.items():
        total, linear = np.full_like(w, 0.1), np.zeros_like(w)
        for grads in GRADS:
            grad = grads[name]
            grown = total + grad**2
            linear += grad - (np.sqrt(grown) - np.sqrt(total)) / 0.1 * w
            total = grown
            shrunk = np.sign(linear) * 0.01 - linear
            w = np.where(np.abs(linear) > 0.01, shrunk / (np.sqrt(total) / 0.1 + 0.04), 0)
        expected.append(w)
    same(run(lambda p: nn.FTRL(p, learning_rate=0.1, l1=0.01, l2=0.02)), expected, 1e-4)


def test_groups(mode):
    def make(params):
        return nn.Momentum(
            [{"params": params[:1], "lr": 0.05, "weight_decay": 0.02}, {"params": params[1:]}],
            0.1,
            0.9,
            weight_decay=0.1,
        )

    expected = []
    for (name, w), rate, decay in zip(START.items(), (0.05, 0.1, 0.1), (0.02, 0.1, 0.1)):
        velocity = 0.0
        for grads in GRADS:
            velocity = 0.9 * velocity + grads[name] + decay * w
            w = w - rate * velocity
        expected.append(w)
    same(run(make), expected)


def test_order_and_centralization(mode):
    params = parameters()
    optimizer = nn.SGD(
        [
            {"params": params[:2], "grad_centralization": True},
            {"params": params[2:]},
            {"order_params": params[::-1]},
        ],
        0.1,
    )
    assert [p.name for p in optimizer.parameters] == ["bn.gamma", "a.bias", "a.weight"]
    grads = list(GRADS[0].values())[::-1]
    optimizer(tuple(Tensor(grad) for grad in grads))
    centred = grads[2] - grads[2].mean(axis=1, keepdims=True)
    np.testing.assert_allclose(params[0].asnumpy(), START["a.weight"] - 0.1 * centred, rtol=1e-5)
    np.testing.assert_allclose(params[1].asnumpy(), START["a.bias"] - 0.1 * grads[1], rtol=1e-5)


@pytest.mark.parametrize(
    ("rate", "rates"),
    [
        ([0.1, 0.2, 0.3], [0.1, 0.2, 0.3]),
        (Tensor([0.1, 0.2, 0.3]), [0.1, 0.2, 0.3]),
        (Tensor(0.1), [0.1, 0.1, 0.1]),
        ((0.1 * i for i in range(1, 4)), [0.1, 0.2, 0.3]),
        (nn.PolynomialDecayLR(0.4, 0.1, 3, 1.0), [0.4, 0.3, 0.2]),
    ],
    ids=["list", "tensor", "scalar", "generator", "schedule"],
)
def test_learning_rates(rate, rates):
    rate = list(rate) if not isinstance(rate, (Tensor, nn.Cell, list)) else rate
    expected = [
        w - sum(r * grads[name] for r, grads in zip(rates, GRADS)) for name, w in START.items()
    ]
    for run_mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        before = ms.get_context("mode")
        ms.set_context(mode=run_mode)
        same(run(lambda p: nn.SGD(p, rate)), expected)
        ms.set_context(mode=before)


def test_group_schedules(mode):
    def make(params):
        return nn.SGD([{"params": params[:1], "lr": [0.3, 0.2, 0.1]}, {"params": params[1:]}], 0.1)

    expected = []
    for name, rates in zip(START, ([0.3, 0.2, 0.1], [0.1] * 3, [0.1] * 3)):
        expected.append(START[name] - sum(r * grads[name] for r, grads in zip(rates, GRADS)))
    same(run(make), expected)


def test_weight_decay_schedule(mode):
    def make(params):
        return nn.SGD(params, 0.1, weight_decay=nn.ExponentialDecayLR(0.1, 0.5, 1))

    expected = []
    for name, w in START.items():
        for step, grads in enumerate(GRADS):
            decay = 0.0 if "gamma" in name else 0.1 * 0.5**step
            w = w - 0.1 * (grads[name] + decay * w)
        expected.append(w)
    same(run(make), expected)


def test_user_optimizer(mode):
    class Signed(nn.Optimizer):
        def __init__(self, params, rate):
            super().__init__(rate, params)
            self.assign_sub = ms.ops.AssignSub()

        def construct(self, gradients):
            gradients = self.scale_grad(self.decay_weight(gradients))
            rate = self.get_lr()
            for param, gradient in zip(self.parameters, gradients):
                self.assign_sub(param, rate * ms.ops.sign(gradient))
            return True

    expected = [w - 0.1 * sum(np.sign(g[name]) for g in GRADS) for name, w in START.items()]
    same(run(lambda p: Signed(p, 0.1)), expected)


def test_lars(mode):
    w, g = START["a.weight"], GRADS[0]["a.weight"]
    ratio = 0.1 * np.linalg.norm(w) / (np.linalg.norm(g) + 0.01 * np.linalg.norm(w) + 1e-5)
    expected = w - 0.5 * ratio * (g + 0.01 * w)
    ours = run(lambda p: nn.LARS(nn.Momentum(p, 0.5, 0.0, weight_decay=0.01), coefficient=0.1), 1)
    np.testing.assert_allclose(ours[0], expected, rtol=1e-4)
    np.testing.assert_allclose(ours[1], START["a.bias"] - 0.5 * GRADS[0]["a.bias"], rtol=1e-5)


def test_names_of_state():
    def names(optimizer):
        own = {id(p) for p in optimizer.parameters}
        return [p.name for p in optimizer.get_parameters() if id(p) not in own]

    one = parameters()[:1]
    assert names(nn.Momentum(one, 0.1, 0.9)) == [
        "global_step",
        "learning_rate",
        "momentum",
        "moments.a.weight",
    ]
    assert names(nn.Adam(one)) == [
        "global_step",
        "learning_rate",
        "beta1_power",
        "beta2_power",
        "moment1.a.weight",
        "moment2.a.weight",
    ]
    assert names(nn.SGD(one)) == [
        "global_step",
        "learning_rate",
        "momentum",
        "accum.a.weight",
        "stat.a.weight",
    ]
    assert names(nn.RMSProp(one)) == [
        "global_step",
        "learning_rate",
        "mean_square.a.weight",
        "moment.a.weight",
    ]
    assert names(nn.AdamWeightDecay(one))[2:] == ["adam_m.a.weight", "adam_v.a.weight"]
    grouped = nn.Momentum([{"params": one, "lr": 0.2}], 0.1, 0.9)
    assert "learning_rate_group_0" in names(grouped)


def test_get_lr(pynative):
    params = parameters()
    optimizer = nn.Momentum(params, [0.1, 0.2], 0.9)
    assert optimizer.get_lr().asnumpy() == np.float32(0.1)
    assert optimizer.global_step.asnumpy() == 0
    optimizer(tuple(Tensor(grad) for grad in GRADS[0].values()))
    assert optimizer.get_lr().asnumpy() == np.float32(0.2)
    assert optimizer.get_lr_parameter(params[0]).asnumpy() == np.float32(0.2)
    grouped = nn.Momentum([{"params": params[:1], "lr": 0.2}, {"params": params[1:]}], 0.1, 0.9)
    assert [float(rate.asnumpy()) for rate in grouped.get_lr()] == pytest.approx([0.2, 0.1, 0.1])


EACH = {
    "ASGD": (),
    "AdaFactor": (),
    "AdaMax": (0.1,),
    "Adadelta": (),
    "Adagrad": (0.1, 0.1),
    "Adam": (0.1,),
    "AdamOffload": (0.1,),
    "AdamWeightDecay": (0.1,),
    "FTRL": (),
    "Lamb": (0.1,),
    "LazyAdam": (0.1,),
    "Momentum": (0.1, 0.9),
    "ProximalAdagrad": (),
    "RMSProp": (),
    "Rprop": (),
    "SGD": (),
}


@pytest.mark.parametrize("name", EACH)
def test_gradients_and_weights_of_half_precision(name, mode):
    kind, args = getattr(nn, name), EACH[name]
    expected = run(lambda p: kind(p, *args, weight_decay=0.1))
    for weights in (np.float32, np.float16):
        params = [Parameter(Tensor(v.astype(weights)), name=n) for n, v in START.items()]
        optimizer = kind(params, *args, weight_decay=0.1)
        for grads in GRADS:
            optimizer(tuple(Tensor(grad.astype(np.float16)) for grad in grads.values()))
        assert {p.dtype for p in params} == {Tensor(START["a.bias"].astype(weights)).dtype}
        same([p.asnumpy() for p in params], expected, 2e-2)


@pytest.mark.parametrize("name", EACH)
def test_a_parameter_comes_once(name):
    one = parameters()[:1] * 2
    with pytest.raises(ValueError, match="must differ"):
        getattr(nn, name)(one, *EACH[name])
    with pytest.raises(RuntimeError, match="one group only"):
        getattr(nn, name)([{"params": one}], *EACH[name])


def test_compressed_means(mode):
    params = parameters()
    optimizer = nn.AdaFactor(params, compression=True)
    assert {p.dtype for p in (*optimizer.exp_avg, *optimizer.exp_avg_sq_row)} == {ms.float16}
    for grads in GRADS:
        optimizer(tuple(Tensor(grad) for grad in grads.values()))
    same([p.asnumpy() for p in params], run(nn.AdaFactor), 1e-2)


def test_one_process_has_nobody_to_join_with():
    for kind in (nn.AdaSumByGradWrapCell, nn.AdaSumByDeltaWeightWrapCell):
        with pytest.raises(RuntimeError, match="at least 16 devices"):
            kind(nn.SGD(parameters(), 0.1))


P = parameters()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.Momentum(P, -0.1, 0.9), ValueError, "'learning_rate' must not be negative"),
        (lambda: nn.Momentum(P, "a", 0.9), TypeError, "'learning_rate' must be"),
        (lambda: nn.Momentum(P, [], 0.9), ValueError, "'learning_rate'"),
        (lambda: nn.Momentum(P, [[0.1]], 0.9), TypeError, "a tuple or list of numbers"),
        (lambda: nn.Momentum(P, 0.1, -0.9), ValueError, "'momentum' must not be negative"),
        (lambda: nn.Momentum(P, 0.1, 0.9, -1.0), ValueError, "'weight_decay'"),
        (lambda: nn.Momentum(P, 0.1, 0.9, "a"), TypeError, "'weight_decay'"),
        (lambda: nn.Momentum(P, 0.1, 0.9, loss_scale=0.0), ValueError, "'loss_scale'"),
        (lambda: nn.Momentum(P, 0.1, 0.9, use_nesterov=1), TypeError, "'use_nesterov'"),
        (lambda: nn.Momentum([], 0.1, 0.9), ValueError, "at least one parameter"),
        (lambda: nn.Momentum([1], 0.1, 0.9), TypeError, "all Parameters or all dictionaries"),
        (lambda: nn.Momentum(nn.ReLU(), 0.1, 0.9), TypeError, "iterable of Parameters"),
        (lambda: nn.Momentum([{"param": P}], 0.1, 0.9), KeyError, "keys of a group"),
        (lambda: nn.Momentum([{"params": P}, {"params": P}], 0.1, 0.9), RuntimeError, "twice"),
        (
            lambda: nn.Momentum([{"params": P}, {"order_params": P[:1]}], 0.1, 0.9),
            ValueError,
            "'order_params' must hold every parameter",
        ),
        (lambda: nn.SGD(P, 0.1, nesterov=True), ValueError, "'nesterov' needs"),
        (lambda: nn.Adam(P, beta1=1.0), ValueError, "'beta1'"),
        (lambda: nn.Adam(P, eps=0.0), ValueError, "'eps'"),
        (lambda: nn.Adam(P, foo=1), TypeError, "foo"),
        (lambda: nn.FTRL(P, learning_rate=[0.1]), ValueError, "one number"),
        (lambda: nn.LARS(nn.ReLU()), TypeError, "'optimizer' must be Optimizer"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("schedule", [False, True], ids=["number", "schedule"])
@pytest.mark.parametrize("make", [nn.SGD, nn.Momentum, nn.RMSProp], ids=lambda m: m.__name__)
def test_weight_decay_is_not_divided_by_the_loss_scale(make, schedule, mode):
    class Constant(nn.Cell):
        def construct(self, step):
            return Tensor(0.5, ms.float32)

    results = []
    for scale in (1.0, 4.0):
        w, v = (Parameter(Tensor([1.0, -2.0], ms.float32), name=name) for name in "wv")
        groups = [{"params": [w], "weight_decay": 0.25}, {"params": [v]}]
        arguments = {"momentum": 0.9} if make is nn.Momentum else {}
        decay = Constant() if schedule and make is not nn.SGD else 0.5
        optimizer = make(groups, 0.1, weight_decay=decay, loss_scale=scale, **arguments)
        gradient = Tensor([0.4 * scale, 0.0], ms.float32)
        for _ in range(2):
            optimizer((gradient, gradient))
        results.append([w.asnumpy(), v.asnumpy()])
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE])
def test_an_optimizer_of_ones_own_reads_decays_as_tensors(mode):
    class Decays(nn.Optimizer):
        def construct(self, gradients):
            return self.get_weight_decay()

    ms.set_context(mode=mode)
    w, v = parameters()[:2]
    decay = Decays(0.1, [w, v], weight_decay=0.5)((w, v))
    assert isinstance(decay, Tensor) and decay.dtype == ms.float32 and float(decay) == 0.5
    of_groups = Decays(0.1, [{"params": [w], "weight_decay": 0.25}, {"params": [v]}])((w, v))
    assert all(isinstance(d, Tensor) and d.dtype == ms.float32 for d in of_groups)
    assert [float(d) for d in of_groups] == [0.25, 0.0]


@pytest.mark.parametrize(
    "make", [nn.Adam, nn.LazyAdam, nn.Momentum, nn.FTRL], ids=lambda m: m.__name__
)
def test_parameters_named_as_an_attribute_of_the_optimizer(make, mode):
    names = (
        "eps",
        "beta1",
        "weight_decay",
        "momentum",
        "l1",
        "sparse",
        "lazy",
        "opt",
        "assign",
        "sens",
    )

    class Net(nn.Cell):
        def __init__(self, prefix):
            super().__init__()
            self.weights = ParameterTuple(
                [Parameter(Tensor([1.0, 2.0]), name=prefix + name) for name in names]
            )

        def construct(self, x):
            for weight in self.weights:
                x = x * weight
            return x.sum()

    ends = []
    for net in (Net(""), Net("my_")):
        weights = net.trainable_params()
        rest = (0.1, 0.9) if make is nn.Momentum else (0.1,) if make is not nn.FTRL else ()
        step = nn.TrainOneStepCell(net, make(weights, *rest))
        for _ in range(3):
            step(Tensor([0.5, 0.25]))
        ends.append([weight.asnumpy() for weight in weights])
    np.testing.assert_array_equal(*ends)
    assert (ends[0][0] != [1.0, 2.0]).all()


class OwnDecay(nn.Optimizer):
    """As public models write theirs: going over groups with the maps that the base has."""

    def __init__(self, params, learning_rate, weight_decay=0.0):
        super().__init__(learning_rate, params, weight_decay)
        self.moments = self.parameters.clone(prefix="m", init="zeros")

    def construct(self, gradients):
        lr, decay = self.get_lr(), self.weight_decay
        if self.is_group:
            return self.hyper_map(
                F.partial(own_step, lr),
                decay,
                self.parameters,
                self.moments,
                gradients,
                self.decay_flags,
                self.optim_filter,
            )
        return self.map_(
            F.partial(own_step, lr, decay),
            self.parameters,
            self.moments,
            gradients,
            self.decay_flags,
            self.optim_filter,
        )


own_step = C.MultitypeFuncGraph("own_step")


@own_step.register("Tensor", "Tensor", "Tensor", "Tensor", "Tensor", "Bool", "Bool")
@own_step.register("Tensor", "Number", "Tensor", "Tensor", "Tensor", "Bool", "Bool")
def _own_step(lr, decay, weight, moment, gradient, flag, chosen):
    if not chosen:
        return gradient
    moment_now = moment * 0.5 + gradient
    update = moment_now + weight * decay if flag else moment_now
    ops.assign(moment, moment_now)
    return F.depend(True, ops.assign(weight, weight - lr * update))


@pytest.mark.parametrize("groups", [True, False])
def test_an_optimizer_of_a_user_with_what_the_base_has(groups, mode):
    net = nn.Dense(2, 1, weight_init="ones", bias_init="ones")
    params = net.trainable_params()
    if groups:
        params = [{"params": params[:1], "weight_decay": 0.1}, {"params": params[1:]}]
    optimizer = OwnDecay(params, 0.5, 0.0 if groups else 0.1)
    nn.TrainOneStepCell(net, optimizer)(Tensor([[1.0, 2.0]]))
    np.testing.assert_allclose(net.weight.asnumpy(), [[0.45, -0.05]], rtol=1e-6)
    np.testing.assert_allclose(net.bias.asnumpy(), [0.5 if groups else 0.45], rtol=1e-6)


@pytest.mark.parametrize(
    "make",
    [nn.FTRL, nn.LazyAdam, nn.ProximalAdagrad, nn.Lamb, nn.SGD, nn.AdaFactor],
    ids=lambda m: m.__name__,
)
def test_a_gradient_of_another_shape_is_refused(make, mode):
    weight = Parameter(Tensor(np.ones((4, 2), np.float32)), name="weight")
    optimizer = make([weight]) if make is nn.AdaFactor else make([weight], learning_rate=0.1)
    says = rf"'{make.__name__}', a gradient must have the shape of its parameter, which is \(4, 2\) for 'weight', but got \(2,\)"
    with pytest.raises(ValueError, match=says):
        optimizer((Tensor([1.0, 2.0]),))
    assert (weight.asnumpy() == 1).all()

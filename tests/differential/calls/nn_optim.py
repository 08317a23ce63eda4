"""Five steps of each optimizer, in groups, with rates that change, and with gradients of half precision."""

import numpy as np
from differential.calllib import case

RANDOM = np.random.default_rng(0)
SHAPES = {"a.weight": (2, 3), "a.bias": (4,), "bn.gamma": (2,), "c.weight": (2, 3, 2)}
WEIGHTS = {n: RANDOM.uniform(-2, 2, s).astype(np.float32) for n, s in SHAPES.items()}
GRADIENTS = [
    [RANDOM.uniform(-2, 2, s).astype(np.float32) for s in SHAPES.values()] for _ in range(5)
]


def trained(ms, make, gradients="float32", weights="float32", schedule=None):
    """The parameters and states after the steps."""
    made = {n: ms.Parameter(ms.Tensor(w.astype(weights)), name=n) for n, w in WEIGHTS.items()}
    optimizer = make(list(made.values()))
    after = schedule(optimizer) if schedule else None
    for step in GRADIENTS:
        optimizer(tuple(ms.Tensor(g.astype(gradients)) for g in step))
        if after:
            after()
    return [p for p in optimizer.get_parameters() if p.name != "learning_rate"]


def listed(name, *args, half=True, **kwargs):
    """The optimizer as it is, in groups of `nn`, with rates that change, and with other gradients."""

    def make(ms, params, rate=None):
        given = dict(kwargs) if rate is None else {**kwargs, "learning_rate": rate}
        return getattr(ms.nn, name)(params, *args, **given)

    def groups(params):
        own = {"params": params[:2], "weight_decay": 0.01}
        return [own, {"params": params[2:], "lr": 0.05}, {"order_params": params}]

    label = f"{args} {kwargs}"

    @case(f"nn.{name}", tol=1e-4)
    def plain(ms):
        return trained(ms, lambda p: make(ms, p))

    def grouped(ms):
        return trained(ms, lambda p: make(ms, groups(p)))

    def dynamic(ms):
        return trained(ms, lambda p: make(ms, p, [0.1, 0.2, 0.3, 0.2, 0.1]))

    def halved(ms):
        plain = {k: v for k, v in kwargs.items() if k != "weight_decay"}
        made = lambda p: getattr(ms.nn, name)(p, *args, **plain)
        return trained(ms, made, gradients="float16")

    programs = {"in groups": grouped, "half": halved}
    if not args and name != "AdaFactor":
        programs["with rates"] = dynamic
    for what, program in programs.items():
        if what != "half" or half:
            program.__doc__ = f"{what} {label}"
            case(f"nn.{name}", tol=1e-4)(program)


listed("ASGD", weight_decay=0.1)
listed("ASGD", lambd=0.1, alpha=0.5, t0=2.0)
listed("Rprop", weight_decay=0.1)
listed("Rprop", etas=(0.4, 1.5), step_sizes=(0.05, 0.2))
listed("ProximalAdagrad", weight_decay=0.1)
listed("ProximalAdagrad", l1=0.3, l2=0.2)
listed("AdaFactor", weight_decay=0.1)
listed("AdaFactor", 0.1, relative_step=False, scale_parameter=False, beta1=0.9)
listed("AdaFactor", warmup_init=True, decay_rate=0.5, clip_threshold=0.3)
listed("AdamOffload", weight_decay=0.1, use_nesterov=True)
listed("LazyAdam", weight_decay=0.1)
listed("Adam", weight_decay=0.1)
listed("Adam", use_amsgrad=True)
listed("AdamWeightDecay", weight_decay=0.1)
listed("AdaMax", weight_decay=0.1)
listed("Adagrad", weight_decay=0.1)
listed("Adadelta", weight_decay=0.1)
listed("FTRL", l1=0.01, l2=0.02)
listed("Momentum", 0.1, 0.9, weight_decay=0.1)
listed("SGD", momentum=0.9, weight_decay=0.1)
listed("RMSProp", weight_decay=0.1, momentum=0.5)
listed("RMSProp", centered=True)
listed("Lamb", 0.1, weight_decay=0.1)


def refused(name, *args, **kwargs):
    """What no optimizer can be made with."""

    @case(f"nn.{name}")
    def program(ms):
        return trained(ms, lambda p: getattr(ms.nn, name)(p, *args, **kwargs))


refused("Rprop", etas=(0.5, 0.9))
refused("Rprop", step_sizes=(1.0, 0.5))
refused("Rprop", etas=(0.5,))
refused("ASGD", lambd="a")
refused("ProximalAdagrad", accum=-1.0)
refused("ProximalAdagrad", l1=-1.0)
refused("AdaFactor", learning_rate=0.1)
refused("AdaFactor", 0.1, relative_step=False, warmup_init=True)
refused("AdaFactor", eps=(1e-3,))
refused("AdamOffload", beta1=1.5)


@case("nn.SGD")
def _(ms):
    """of one parameter twice"""
    one = ms.Parameter(ms.Tensor([1.0]), name="one")
    return trained(ms, lambda p: ms.nn.SGD([one, one], 0.1))


@case("nn.Momentum")
def _(ms):
    """of one parameter twice"""
    one = ms.Parameter(ms.Tensor([1.0]), name="one")
    return trained(ms, lambda p: ms.nn.Momentum([one, one], 0.1, 0.9))


@case("nn.AdaSumByGradWrapCell")
def _(ms):
    return ms.nn.AdaSumByGradWrapCell(ms.nn.SGD([ms.Parameter(ms.Tensor([1.0]), name="a")], 0.1))


@case("nn.AdaSumByDeltaWeightWrapCell")
def _(ms):
    one = ms.Parameter(ms.Tensor([1.0]), name="a")
    return ms.nn.AdaSumByDeltaWeightWrapCell(ms.nn.SGD([one], 0.1))


def experimental(name, half=True, **kwargs):
    """An optimizer of groups that may change: alone, in groups, and under a schedule."""
    full = f"experimental.optim.{name}"

    def optim(ms):
        import importlib

        return importlib.import_module(f"{ms.__name__}.experimental.optim")

    def weights(found):
        """States apart, of which the reference does not keep all."""
        return [p for p in found if p.name in SHAPES]

    def make(ms, params):
        return getattr(optim(ms), name)(params, **kwargs)

    def plain(ms):
        return weights(trained(ms, lambda p: make(ms, p)))

    def grouped(ms):
        groups = lambda p: [{"params": p[:2], "lr": 0.05}, {"params": p[2:]}]
        return weights(trained(ms, lambda p: make(ms, groups(p))))

    def halved(ms):
        plain = {k: v for k, v in kwargs.items() if k != "weight_decay"}
        made = lambda p: getattr(optim(ms), name)(p, **plain)
        return weights(trained(ms, made, gradients="float16"))

    def scheduled(ms):
        steps = lambda o: optim(ms).lr_scheduler.StepLR(o, 2, 0.5).step
        return weights(trained(ms, lambda p: make(ms, p), schedule=steps))

    programs = {"": plain, "in groups": grouped, "scheduled": scheduled}
    for what, program in ({**programs, "half": halved} if half else programs).items():
        program.__doc__ = f"{what} {kwargs}"
        case(full, tol=1e-4)(program)


experimental("SGD", lr=0.1)
experimental("SGD", lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.1, maximize=True)
experimental("SGD", lr=0.1, momentum=0.9, nesterov=True)
experimental("ASGD", weight_decay=0.1, t0=2.0)
experimental("Adadelta", weight_decay=0.1, maximize=True)
experimental("Adagrad", lr_decay=0.1, initial_accumulator_value=0.5, weight_decay=0.1)
experimental("Adam", eps=0.1, weight_decay=0.1)
experimental("Adam", lr=0.1, amsgrad=True, maximize=True)
experimental("AdamW", half=False, lr=0.1, weight_decay=0.1)
experimental("AdamW", half=False, lr=0.1, amsgrad=True, eps=0.1)
experimental("Adamax", lr=0.1, eps=0.1, weight_decay=0.1)
experimental("NAdam", lr=0.1, eps=0.1, weight_decay=0.1)
experimental("RAdam", lr=0.1, weight_decay=0.1)
experimental("RMSprop", half=False, weight_decay=0.1, momentum=0.5)
experimental("RMSprop", half=False, centered=True, eps=0.1)
experimental("Rprop", etas=(0.4, 1.5), step_sizes=(0.05, 0.2), maximize=True)
experimental("SGD", lr=-0.1)
experimental("SGD", lr="a")
experimental("SGD", lr=0.1, nesterov=True)
experimental("Adam", betas=(1.0, 0.5))
experimental("Adam", eps=-1.0)
experimental("Adam", weight_decay=-1.0)
experimental("Rprop", etas=(2.0, 1.0))


def rates(name, *args, epochs=9, metric=None, **kwargs):
    """The rates of two groups over epochs, and what is told of them."""

    @case(f"experimental.optim.lr_scheduler.{name}", tol=1e-4)
    def program(ms):
        import importlib

        optim = importlib.import_module(f"{ms.__name__}.experimental.optim")
        a, b = (ms.Parameter(ms.Tensor([1.0]), name=n) for n in "ab")
        optimizer = optim.SGD([{"params": [a], "lr": 0.5}, {"params": [b]}], lr=1.0)
        given = [v(optim, optimizer) if hasattr(v, "of_optimizer") else v for v in args]
        scheduler = getattr(optim.lr_scheduler, name)(optimizer, *given, **kwargs)
        found = []
        for epoch in range(epochs):
            found.append([float(group["lr"]) for group in optimizer.param_groups])
            scheduler.step(*(() if metric is None else (metric(epoch),)))
        return found, scheduler.get_last_lr()


def schedulers(optim, optimizer):
    """Two of them."""
    kinds = optim.lr_scheduler
    return [kinds.ConstantLR(optimizer, 0.5, 2), kinds.ExponentialLR(optimizer, 0.9)]


schedulers.of_optimizer = True

rates("StepLR", 2, 0.5)
rates("StepLR", 2.5)
rates("StepLR", 2, 0.1, -3)
rates("StepLR", 2, 0.1, 2)
rates("StepLR", 2, 0.1, 2.0)
rates("MultiStepLR", [2, 4, 4])
rates("MultiStepLR", (2, 4))
rates("ConstantLR", 0.5, 3)
rates("ConstantLR")
rates("LinearLR", 0.25, 0.5, 3)
rates("LinearLR", 0.0)
rates("LinearLR", 1.0, 1.5)
rates("ExponentialLR", 0.5)
rates("ExponentialLR", "a")
rates("PolynomialLR", 4, 2.0)
rates("PolynomialLR")
rates("LambdaLR", lambda e: 0.9**e)
rates("LambdaLR", [lambda e: 0.9**e, lambda e: e + 1])
rates("LambdaLR", [lambda e: 0.9**e])
rates("MultiplicativeLR", lambda e: 0.9)
rates("CosineAnnealingLR", 4, 0.1)
rates("CosineAnnealingLR", 3)
rates("CosineAnnealingWarmRestarts", 3, 2)
rates("CosineAnnealingWarmRestarts", 2, 1, 0.1)
rates("CyclicLR", 0.1, 1.0, 2)
rates("CyclicLR", [0.1, 0.2], 1.0, 2, 3, mode="exp_range", gamma=0.9)
rates("CyclicLR", 0.1, [1.0, 0.5], 2, mode="triangular2")
rates("CyclicLR", 0.1, 1.0, 2, mode="square")
rates("CyclicLR", [0.1], 1.0, 2)
rates("SequentialLR", schedulers, [3])
rates("SequentialLR", schedulers, [3, 4])
rates("ReduceLROnPlateau", "min", 0.5, 1, metric=lambda e: 1.0)
rates("ReduceLROnPlateau", "max", 0.5, 1, cooldown=1, min_lr=[0.3, 0.1], metric=lambda e: e % 3)
rates("ReduceLROnPlateau", "max", 0.5, 0, 0.1, "abs", metric=lambda e: e * 0.07 - 0.2)
rates("ReduceLROnPlateau", "min", 0.5, 0, 0.1, metric=lambda e: -1 - e * 0.07)
rates("ReduceLROnPlateau", "middle")
rates("ReduceLROnPlateau", factor=1.0)

"""Bases that users derive from, and what has few settings."""

import numpy as np
from differential.calllib import case
from differential.small_model import X, Y, dense


@case("experimental.optim.Optimizer", tol=1e-5)
def _(ms):
    """one's own, with a schedule of one's own"""
    from importlib import import_module

    optim = import_module(f"{ms.__name__}.experimental.optim")

    class Plain(optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def construct(self, gradients):
            for i, group in enumerate(self.param_groups):
                first = self.group_start_id[i]
                for p, g in zip(group["params"], gradients[first:]):
                    p.set_data(p - group["lr"] * g)
            return True

    class Thirds(optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            return [group["lr"] / 3 for group in self.optimizer.param_groups]

    weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="weight")
    optimizer = Plain([weight], 0.9)
    schedule = Thirds(optimizer)
    optimizer((ms.Tensor([1.0, -1.0]),))
    schedule.step()
    return [weight, [float(g["lr"]) for g in optimizer.param_groups]]


@case("experimental.optim.lr_scheduler.LRScheduler")
def _(ms):
    """of no optimizer"""
    from importlib import import_module

    return import_module(f"{ms.__name__}.experimental.optim").lr_scheduler.LRScheduler(3)


@case("get_seed")
def _(ms):
    ms.set_seed(5)
    return ms.get_seed()


@case("train.Callback")
def _(ms):
    """with the older names of events"""
    seen = []

    class Older(ms.train.Callback):
        def begin(self, context):
            seen.append("begin")

        def epoch_end(self, context):
            seen.append("epoch_end")

        def step_end(self, context):
            seen.append(context.original_args().cur_step_num)

    from differential.small_model import batches, model

    model(ms)[0].train(2, batches(ms), callbacks=[Older()], dataset_sink_mode=False)
    return seen


case("train.Callback")(lambda ms: ms.train.Callback().begin(3))


@case("amp.LossScaler")
def _(ms):
    """that is not written"""
    return ms.amp.LossScaler().scale(ms.Tensor(1.0))


@case("train.LossScaleManager")
def _(ms):
    m = ms.train.LossScaleManager()
    return [m.get_loss_scale(), m.update_loss_scale(True), m.get_update_cell()]


@case("nn.Cell.set_mixed_precision_type")
def _(ms):
    return dense(ms).set_mixed_precision_type(3)


@case("mint.optim.Adam", tol=1e-5)
def _(ms):
    weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="weight")
    from importlib import import_module

    optimizer = import_module(f"{ms.__name__}.mint.optim").Adam([weight], lr=0.1)
    for _ in range(3):
        optimizer((ms.Tensor([1.0, -1.0]),))
    return weight


@case("nn.GraphCell")
def _(ms):
    return ms.nn.GraphCell(3)


@case("nn.VirtualDatasetCellTriple")
def _(ms):
    class Product(ms.nn.Cell):
        def construct(self, a, b, c):
            return a * b + c

    x = ms.Tensor(X)
    return ms.nn.VirtualDatasetCellTriple(Product())(x, x, x)


@case("train.ConvertModelUtils")
def _(ms):
    return ms.train.ConvertModelUtils.convert_to_thor_model(3)


@case("nn.Cell.register_parameter_forward_hook")
def _(ms):
    net = dense(ms)
    net.register_parameter_forward_hook(lambda p: p * 2)
    return net(ms.Tensor(X))


@case("boost.freeze_cell")
def _(ms):
    return len(ms.boost.freeze_cell("bfgs", dense(ms)))


@case("profiler.ProfilerLevel")
def _(ms):
    kinds = ("ProfilerLevel", "ProfilerActivity", "ExportType")
    return [
        sorted(m.name for m in getattr(ms.profiler, k))
        if hasattr(getattr(ms.profiler, k), "__members__")
        else k
        for k in kinds
    ]


@case("nn.SGD", tol=1e-5)
def _(ms):
    """by a step function"""
    net = dense(ms)
    optimizer = ms.nn.SGD(net.trainable_params(), 0.1)
    loss = ms.nn.MSELoss()
    step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    for _ in range(2):
        value, grads = step(ms.Tensor(X), ms.Tensor(Y))
        optimizer(grads)
    return [value, [np.asarray(g.asnumpy()) for g in grads], list(net.get_parameters())]

"""Cells that wrap others for training, loss scales and mixed precision, and what they leave behind."""

import numpy as np
from differential.calllib import case, f32
from differential.small_model import X, Y, batches, dense


# ---- wrapping cells ---------------------------------------------------------------------------
def wrapped(name, build):
    """What a wrapping cell returns, and the weights behind it, eager and compiled."""

    @case(f"nn.{name}", tol=1e-4)
    def program(ms):
        net = dense(ms)
        cell = build(ms, net)
        results = [cell(ms.Tensor(X), ms.Tensor(Y)) for _ in range(2)]
        return [results, list(net.get_parameters())]


def with_loss(ms, net):
    """The loss of the layer."""
    return ms.nn.WithLossCell(net, ms.nn.MSELoss())


def sgd(ms, net):
    """An optimizer of its weights."""
    return ms.nn.SGD(net.trainable_params(), 0.1)


wrapped("WithLossCell", with_loss)
wrapped("WithEvalCell", lambda ms, net: ms.nn.WithEvalCell(net, ms.nn.MSELoss()))
wrapped("WithEvalCell", lambda ms, net: ms.nn.WithEvalCell(net, ms.nn.MSELoss(), True))
wrapped("WithGradCell", lambda ms, net: ms.nn.WithGradCell(net, ms.nn.MSELoss()))
wrapped("WithGradCell", lambda ms, net: ms.nn.WithGradCell(net, ms.nn.MSELoss(), 2.0))
wrapped(
    "ForwardValueAndGrad",
    lambda ms, net: ms.nn.ForwardValueAndGrad(
        with_loss(ms, net), weights=net.trainable_params(), get_by_list=True
    ),
)
wrapped(
    "ForwardValueAndGrad",
    lambda ms, net: ms.nn.ForwardValueAndGrad(with_loss(ms, net), get_all=True),
)
wrapped(
    "TrainOneStepCell", lambda ms, net: ms.nn.TrainOneStepCell(with_loss(ms, net), sgd(ms, net))
)
wrapped(
    "TrainOneStepCell",
    lambda ms, net: ms.nn.TrainOneStepCell(with_loss(ms, net), sgd(ms, net), 4.0),
)
wrapped("TrainOneStepCell", lambda ms, net: ms.nn.TrainOneStepCell(with_loss(ms, net), 3))
wrapped(
    "TrainOneStepWithLossScaleCell",
    lambda ms, net: ms.nn.TrainOneStepWithLossScaleCell(
        with_loss(ms, net), sgd(ms, net), ms.nn.FixedLossScaleUpdateCell(64.0)
    ),
)
wrapped(
    "TrainOneStepWithLossScaleCell",
    lambda ms, net: ms.nn.TrainOneStepWithLossScaleCell(
        with_loss(ms, net), sgd(ms, net), ms.nn.DynamicLossScaleUpdateCell(64.0, 2, 1)
    ),
)
wrapped(
    "TrainOneStepWithLossScaleCell",
    lambda ms, net: ms.nn.TrainOneStepWithLossScaleCell(
        with_loss(ms, net), sgd(ms, net), ms.Tensor(8.0)
    ),
)
wrapped(
    "TrainOneStepWithLossScaleCell",
    lambda ms, net: ms.nn.TrainOneStepWithLossScaleCell(with_loss(ms, net), sgd(ms, net), "a"),
)
wrapped("GradAccumulationCell", lambda ms, net: ms.nn.GradAccumulationCell(with_loss(ms, net), 2))
wrapped("MicroBatchInterleaved", lambda ms, net: ms.nn.MicroBatchInterleaved(with_loss(ms, net), 2))
wrapped("PipelineCell", lambda ms, net: ms.nn.PipelineCell(with_loss(ms, net), 2))


for options in ((64.0, 2, 2), (64.0, 2, 0), (0.0, 2, 2), (64.0, 1, 2), (64.0, "a", 2)):

    @case("nn.DynamicLossScaleUpdateCell")
    def _(ms, options=options):
        manager = ms.nn.DynamicLossScaleUpdateCell(*options)
        scale, seen = ms.Parameter(ms.Tensor(options[0], ms.float32), name="scale"), []
        for over in (False, False, True, False, True, False):
            seen.append([manager(scale, ms.Tensor(over)), scale.asnumpy()])
        return [seen, manager.get_loss_scale()]


@case("nn.FixedLossScaleUpdateCell")
def _(ms):
    manager = ms.nn.FixedLossScaleUpdateCell(8.0)
    scale = ms.Parameter(ms.Tensor(8.0), name="scale")
    return [manager(scale, ms.Tensor(True)), scale, manager.get_loss_scale()]


@case("nn.ParameterUpdate")
def _(ms):
    p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
    return [ms.nn.ParameterUpdate(p)(ms.Tensor([3.0, 4.0])), p]


for kind in ("Jvp", "Vjp"):

    @case(f"nn.{kind}", tol=1e-4)
    def _(ms, kind=kind):
        class Product(ms.nn.Cell):
            def construct(self, x, y):
                return x**3 + y

        x, y = ms.Tensor(X), ms.Tensor(X * 2)
        inputs = (x, y, (x, y)) if kind == "Jvp" else (x, y, x)
        return getattr(ms.nn, kind)(Product())(*inputs)


@case("nn.LARS", tol=1e-4)
def _(ms):
    weight = ms.Parameter(ms.Tensor([1.0, -2.0]), name="weight")
    lars = ms.nn.LARS(
        ms.nn.Momentum([weight], 0.1, 0.9),
        coefficient=0.02,
        epsilon=1e-8,
        lars_filter=lambda p: True,
    )
    for _ in range(3):
        lars((ms.Tensor([0.5, 0.25]),))
    return weight


@case("nn.Optimizer")
def _(ms):
    """what all have: rates, decay, scales"""
    weights = [ms.Parameter(ms.Tensor([1.0]), name=n) for n in ("a.weight", "b.bias")]
    base = ms.nn.Optimizer(0.1, weights, weight_decay=0.01, loss_scale=4.0)
    grads = (ms.Tensor([4.0]), ms.Tensor([8.0]))
    return [
        base.get_lr(),
        base.get_weight_decay(),
        base.scale_grad(grads),
        base.decay_weight(grads),
        base.get_lr_parameter(weights[0]),
    ]


# ---- loss scales ------------------------------------------------------------------------------
@case("train.DynamicLossScaleManager")
def _(ms):
    m = ms.train.DynamicLossScaleManager(16.0, 2, 2)
    seen = []
    for over in (False, False, True, True, False, False):
        m.update_loss_scale(over)
        seen.append(m.get_loss_scale())
    return [seen, m.get_drop_overflow_update(), type(m.get_update_cell()).__name__]


@case("train.FixedLossScaleManager")
def _(ms):
    made = [ms.train.FixedLossScaleManager(), ms.train.FixedLossScaleManager(8.0, False)]
    for m in made:
        m.update_loss_scale(True)
    return [
        [m.get_loss_scale(), m.get_drop_overflow_update(), type(m.get_update_cell()).__name__]
        for m in made
    ]


for args in ((0.5,), ("a",), (16.0, 0), (16.0, 2, 0), (16.0, 2, "a")):

    @case("train.DynamicLossScaleManager")
    def _(ms, args=args):
        return ms.train.DynamicLossScaleManager(*args).get_loss_scale()

    @case("train.FixedLossScaleManager")
    def _(ms, args=args):
        return ms.train.FixedLossScaleManager(*args).get_loss_scale()


@case("amp.DynamicLossScaler")
def _(ms):
    s = ms.amp.DynamicLossScaler(16.0, 2, 2)
    seen = []
    for finite in (True, True, False, True, True):
        s.adjust(ms.Tensor(finite))
        seen.append(
            [s.scale_value.asnumpy(), s.scale(ms.Tensor(2.0)), s.unscale((ms.Tensor([32.0]),))]
        )
    return seen


@case("amp.StaticLossScaler")
def _(ms):
    s = ms.amp.StaticLossScaler(16.0)
    return [
        s.scale(ms.Tensor(2.0)),
        s.unscale((ms.Tensor([32.0]), ms.Tensor([8.0]))),
        s.adjust(ms.Tensor(False)),
    ]


for args in ((0.0, 2, 2), (16.0, 2), ("a", 2, 2), (16.0, 2.0, 0)):

    @case("amp.DynamicLossScaler")
    def _(ms, args=args):
        return ms.amp.DynamicLossScaler(*args).scale_value


for values in ([1.0, 2.0], [1.0, np.inf], [np.nan], [np.inf, 3.0]):

    @case("amp.all_finite")
    def _(ms, values=values):
        return ms.amp.all_finite((ms.Tensor([1.0]), ms.Tensor(np.array(values, np.float32))))


class Mixed:
    """A net of two dense layers and a norm that notes the dtypes between them."""

    def __new__(cls, ms):
        class Net(ms.nn.Cell):
            def __init__(self):
                super().__init__()
                self.fc = ms.nn.Dense(4, 3, "ones", "zeros")
                self.bn = ms.nn.BatchNorm1d(3)
                self.last = ms.nn.Dense(3, 2, "ones", "zeros")
                self.softmax = ms.ops.Softmax()
                self.seen = []

            def construct(self, x):
                first = self.fc(x)
                second = self.bn(first)
                last = self.last(second)
                self.seen.append([str(v.dtype) for v in (first, second, last)])
                return self.softmax(last * 0.01)

        return Net()


def described_kinds(ms, change):
    """The dtypes that a net's parts give, and its weights'."""
    net = Mixed(ms)
    result = change(net)(ms.Tensor(f32(2, 4).value))
    return [net.seen, str(result.dtype), [str(p.dtype) for p in net.get_parameters()]]


for level in ("O0", "O1", "O2", "O3", "auto", "O4", 2):

    @case("amp.auto_mixed_precision")
    def _(ms, level=level):
        return described_kinds(ms, lambda net: ms.amp.auto_mixed_precision(net, level))


for option in (
    {"white_list": "conv"},
    {"black_list": "bn"},
    {},
    {"white_list": 3},
    {"white_list": "conv", "black_list": "bn"},
):

    @case("amp.custom_mixed_precision")
    def _(ms, option=option):
        kinds = {"conv": [ms.nn.Dense], "bn": [ms.nn.BatchNorm1d]}
        given = {k: kinds.get(v, v) for k, v in option.items()}
        return described_kinds(ms, lambda net: ms.amp.custom_mixed_precision(net, **given))


case("amp.get_black_list")(lambda ms: sorted(c.__name__ for c in ms.amp.get_black_list()))


@case("amp.get_white_list")
def _(ms):
    found = ms.amp.get_white_list()
    found.append(3)
    return [ms.nn.Conv2d in found, ms.nn.Dense in found, 3 in ms.amp.get_white_list()]


for level in ("O0", "O2", "O5"):

    @case("amp.build_train_network", tol=1e-2)
    def _(ms, level=level):
        net = dense(ms)
        train = ms.amp.build_train_network(net, sgd(ms, net), ms.nn.MSELoss(), level)
        train.set_train()
        return [train(ms.Tensor(X), ms.Tensor(Y)), list(net.get_parameters())]


@case("train.data_sink", tol=1e-4)
def _(ms):
    net = dense(ms)
    step = ms.nn.TrainOneStepCell(with_loss(ms, net), sgd(ms, net))
    sink = ms.train.data_sink(lambda x, y: step(x, y), batches(ms))
    for _ in range(4):
        sink()
    return list(net.get_parameters())


@case("nn.no_init_parameters")
def _(ms):
    with ms.nn.no_init_parameters():
        net = dense(ms)
        late = ms.nn.Dense(2, 3, "ones", "zeros")
    return [
        [list(p.shape) for p in net.get_parameters()],
        late.weight.shape,
        len(late.init_parameters_data()),
    ]

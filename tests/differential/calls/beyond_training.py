"""Trainings, cells and files of which the reference computes nothing on a CPU, or says it otherwise: against their formulas."""

import importlib
import tempfile
from pathlib import Path

import numpy as np
from differential.calllib import case, f32
from differential.small_model import X, Y, batches, dense

STEPS = 2
GRADIENTS = [f32(2, 3, seed=i).value for i in range(3)]
START = f32(2, 3, seed=9).value


def stepped(times=STEPS, rate=0.1, rows=None):
    """The weights of the layer after steps of descent over all rows, or over so many at once."""
    w, b = np.float32([[0.5, -0.25]]), np.float32([0.1])
    size, losses = rows or len(X), []
    for _ in range(times):
        for i in range(0, len(X), size):
            x, y = X[i : i + size], Y[i : i + size]
            off = x @ w.T + b - y
            losses.append(np.float32(np.mean(off**2)))
            w, b = w - rate * 2 * off.T @ x / size, b - rate * 2 * off.mean(0)
    return losses, w.astype(np.float32), b.astype(np.float32)


def _scaled():
    losses, *weights = stepped()
    return [losses, [False, False], weights]


for scale in (lambda ms: ms.nn.FixedLossScaleUpdateCell(64.0), lambda ms: ms.Tensor([8.0])):

    @case("nn.TrainOneStepWithLossScaleCell", tol=1e-4, ref=_scaled)
    def _(ms, scale=scale):
        net = dense(ms)
        loss = ms.nn.WithLossCell(net, ms.nn.MSELoss())
        optimizer = ms.nn.SGD(net.trainable_params(), 0.1)
        cell = ms.nn.TrainOneStepWithLossScaleCell(loss, optimizer, scale(ms))
        found = [cell(ms.Tensor(X), ms.Tensor(Y)) for _ in range(STEPS)]
        losses = [loss for loss, *_ in found]
        return [losses, [bool(over) for _, over, _ in found], list(net.trainable_params())]


def trained(ms, make):
    """A weight after three steps of an optimizer."""
    weight = ms.Parameter(ms.Tensor(START), name="a.weight")
    optimizer = make([weight])
    for gradient in GRADIENTS:
        optimizer((ms.Tensor(gradient),))
    return weight


def _lamb():
    w, m, v = START, 0.0, 0.0
    for step, g in enumerate(GRADIENTS, 1):
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        update = m / (1 - 0.9**step) / (np.sqrt(v / (1 - 0.999**step)) + 1e-6) + 0.1 * w
        w = w - 0.1 * np.linalg.norm(w) / np.linalg.norm(update) * update
    return w


@case("nn.Lamb", tol=1e-4, ref=_lamb)
def _(ms):
    return trained(ms, lambda p: ms.nn.Lamb(p, 0.1, weight_decay=0.1))


def _lars():
    w = START
    for g in GRADIENTS:
        decayed = g + 0.01 * w
        norms = np.linalg.norm(w), np.linalg.norm(g)
        w = w - 0.5 * 0.1 * norms[0] / (norms[1] + 0.01 * norms[0] + 1e-5) * decayed
    return w


@case("nn.LARS", tol=1e-4, ref=_lars)
def _(ms):
    def make(params):
        return ms.nn.LARS(ms.nn.Momentum(params, 0.5, 0.0, weight_decay=0.01), coefficient=0.1)

    return trained(ms, make)


@case("nn.Optimizer", tol=1e-5, ref=lambda: START - 0.1 * sum(map(np.sign, GRADIENTS)))
def _(ms):
    """one's own"""

    class Signed(ms.nn.Optimizer):
        def construct(self, gradients):
            for param, gradient in zip(self.parameters, gradients):
                ms.ops.assign_sub(param, self.get_lr() * ms.ops.sign(gradient))
            return True

    return trained(ms, lambda p: Signed(0.1, p))


@case("mint.optim.Adam", tol=1e-5, ref=lambda: np.float32([0.7, 2.3]))
def _(ms):
    """a gradient that stays moves by the rate at each step"""
    weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="weight")
    optimizer = importlib.import_module(f"{ms.__name__}.mint.optim").Adam([weight], lr=0.1)
    for _ in range(3):
        optimizer((ms.Tensor([1.0, -1.0]),))
    return weight


@case("nn.SyncBatchNorm", tol=1e-5, ref=lambda: _normed(f32(4, 2, 3, 3).value))
def _(ms):
    """in one process, where it is the usual one"""
    return ms.nn.SyncBatchNorm(2).set_train()(ms.Tensor(f32(4, 2, 3, 3).value))


def _normed(x):
    mean, variance = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5)


@case("nn.SparseToDense", ref=lambda: np.float32([[0, 1, 0], [0, 0, 2]]))
def _(ms):
    """a matrix of two"""
    places = ms.Tensor([[0, 1], [1, 2]], ms.int32)
    return ms.nn.SparseToDense()(ms.COOTensor(places, ms.Tensor([1.0, 2.0]), (2, 3)))


@case("nn.LearningRateSchedule", tol=1e-6, ref=lambda: START - np.float32(0.6) * GRADIENTS[0])
def _(ms):
    """of one's own, of which each step asks"""

    class Rising(ms.nn.learning_rate_schedule.LearningRateSchedule):
        def construct(self, global_step):
            return 0.1 * (global_step + 1)

    weight = ms.Parameter(ms.Tensor(START), name="weight")
    optimizer = ms.nn.SGD([weight], Rising())
    for _ in range(3):
        optimizer((ms.Tensor(GRADIENTS[0]),))
    return weight


# ---- models -----------------------------------------------------------------------------------
def _fitted(epochs=1):
    return stepped(epochs, rows=2)[1:]


def plain(ms, scale=1.0, **kwargs):
    """A model of plain descent, and its layer."""
    net = dense(ms)
    sgd = ms.nn.SGD(net.trainable_params(), 0.1, loss_scale=scale)
    return ms.train.Model(net, ms.nn.MSELoss(), sgd, **kwargs), net


for sunk in False, True:

    @case("Model.train", tol=1e-4, ref=lambda: [*_fitted(2)])
    def _(ms, sunk=sunk):
        m, net = plain(ms)
        m.train(2, batches(ms), dataset_sink_mode=sunk)
        return list(net.trainable_params())


@case("Model.fit", tol=1e-4, ref=lambda: [*_fitted(3)])
def _(ms):
    m, net = plain(ms, metrics={"mae"})
    m.fit(3, batches(ms), batches(ms), dataset_sink_mode=False)
    return list(net.trainable_params())


@case("Model.eval", tol=1e-5, ref=lambda: {"mse": float(stepped(1)[0][0])})
def _(ms):
    found = plain(ms, metrics={"mse"})[0].eval(batches(ms), dataset_sink_mode=False)
    return {k: float(v) for k, v in found.items()}


@case("Model.predict", tol=1e-5, ref=lambda: X @ np.float32([[0.5], [-0.25]]) + np.float32(0.1))
def _(ms):
    return plain(ms)[0].predict(ms.Tensor(X))


@case("Model.build", tol=1e-4, ref=lambda: [*_fitted()])
def _(ms):
    """then trained: what was built is what runs"""
    m, net = plain(ms)
    m.build(batches(ms), epoch=1)
    m.train(1, batches(ms))
    return list(net.trainable_params())


@case("train.data_sink", tol=1e-4, ref=lambda: [*_fitted()])
def _(ms):
    """four steps at once"""
    net = dense(ms)
    step = ms.nn.TrainOneStepCell(
        ms.nn.WithLossCell(net, ms.nn.MSELoss()), ms.nn.SGD(net.trainable_params(), 0.1)
    )
    ms.train.data_sink(lambda *batch: step(*batch), batches(ms), 4)()
    return list(net.trainable_params())


@case(
    "connect_network_with_dataset",
    tol=1e-5,
    ref=lambda: [X[:2] @ np.float32([[0.5], [-0.25]]) + np.float32(0.1)],
)
def _(ms):
    """the network takes its input from there"""
    data = importlib.import_module(f"{ms.__name__}.dataset")
    rows = data.NumpySlicesDataset({"x": X[:2]}, shuffle=False).batch(2)
    helper = ms.train.DatasetHelper(rows, dataset_sink_mode=True, sink_size=1)
    return [ms.connect_network_with_dataset(dense(ms), helper)(*inputs) for inputs in helper]


# ---- cells ------------------------------------------------------------------------------------
class _Doubling:
    """Makes a cell of one weight that doubles what it is given."""

    def __new__(cls, ms):
        class Net(ms.nn.Cell):
            def __init__(self):
                super().__init__()
                self.weight = ms.Parameter(ms.Tensor([2.0]), name="weight")

            def construct(self, x):
                return x * self.weight

        return Net()


SIX = np.float32([6.0])


def of_cell(name, ref):
    """What a method of the cell does."""

    def listed(program):
        def whole(ms):
            return program(ms, _Doubling(ms), ms.Tensor([3.0]))

        return case(f"nn.Cell.{name}", ref=ref)(whole)

    return listed


of_cell("shard", lambda: SIX)(lambda ms, n, x: n.shard(((1,),))(x))
of_cell("set_data_parallel", lambda: SIX)(lambda ms, n, x: [n.set_data_parallel(), n(x)][1])
of_cell("offload", lambda: SIX)(lambda ms, n, x: [n.offload(), n(x)][1])
of_cell("run_construct", lambda: SIX)(lambda ms, n, x: n.run_construct((x,), {}))
of_cell("compile_and_run", lambda: SIX)(lambda ms, n, x: n.compile_and_run(x))
of_cell("get_flags", lambda: {"one": 1})(lambda ms, n, x: n.add_flags(one=1).get_flags())


@of_cell("to_float", lambda: [2.0**11 * 2, "Float16"])
def _(ms, n, x):
    """computes in halves: 2049 is none"""
    made = n.to_float(ms.float16)(ms.Tensor([2049.0]))
    return [float(made.asnumpy()[0]), str(made.dtype)]


@of_cell("cast_inputs", lambda: ["Float16", "Float32"])
def _(ms, n, x):
    """each to its dtype"""
    return [str(c.dtype) for c in n.cast_inputs((x, x), ms.float16)[:1]] + [str(x.dtype)]


@of_cell("register_parameter_forward_hook", lambda: np.float32([18.0]))
def _(ms, n, x):
    """the weight three times"""
    n.register_parameter_forward_hook(lambda p: p * 3)
    return n(x)


@of_cell("register_buffer", lambda: [np.float32([5.0]), ["count"], ["weight", "count"]])
def _(ms, n, x):
    n.register_buffer("count", ms.Tensor([1.0]))
    n.count = ms.Tensor([5.0])
    return [n.count, [k for k, _ in n.named_buffers()], list(n.state_dict())]


@of_cell("get_buffer", lambda: np.float32([1.0]))
def _(ms, n, x):
    n.register_buffer("count", ms.Tensor([1.0]))
    return n.get_buffer("count")


@of_cell("get_extra_state", lambda: [["weight", "_extra_state"], 3])
def _(ms, n, x):
    """is kept with the parameters"""
    type(n).get_extra_state = lambda self: 3
    state = n.state_dict()
    return [list(state), state["_extra_state"]]


@case("nn.Cell.check_names", ref=lambda: "ValueError")
def _(ms):
    """two of a name"""
    n = _Doubling(ms)
    n.other = ms.Parameter(ms.Tensor([1.0]), name="other")
    n.other.name = "weight"
    try:
        n.check_names()
    except ValueError as error:
        return type(error).__name__


# ---- files and settings -----------------------------------------------------------------------
for name in "export", "load":

    @case(name, ref=lambda: [SIX, np.float32([4.0])])
    def _(ms, name=name):
        """to a MindIR and back"""
        with tempfile.TemporaryDirectory() as folder:
            ms.export(
                _Doubling(ms), ms.Tensor([3.0]), file_name=f"{folder}/a", file_format="MINDIR"
            )
            graph = ms.nn.GraphCell(ms.load(f"{folder}/a.mindir"))
            return [graph(ms.Tensor([3.0])), graph(ms.Tensor([2.0]))]


@case("nn.GraphCell", ref=lambda: np.float32([15.0]))
def _(ms):
    """with other weights"""
    with tempfile.TemporaryDirectory() as folder:
        ms.export(_Doubling(ms), ms.Tensor([3.0]), file_name=f"{folder}/a", file_format="MINDIR")
        weights = {"weight": ms.Parameter(ms.Tensor([5.0]), name="weight")}
        return ms.nn.GraphCell(ms.load(f"{folder}/a.mindir"), weights)(ms.Tensor([3.0]))


@case("SummaryRecord", ref=lambda: [0.0, 1.0, 2.0])
def _(ms):
    """the numbers that were put in are in the file"""
    with tempfile.TemporaryDirectory() as folder:
        with ms.SummaryRecord(log_dir=folder) as record:
            for step in range(3):
                record.add_value("scalar", "loss", ms.Tensor(float(step)))
                record.record(step)
        (made,) = Path(folder).iterdir()
        return _scalars(made.read_bytes())


def _scalars(data):
    """The numbers behind the tag of each event: a field of four bytes."""
    found, place = [], 0
    while (place := data.find(b"loss", place)) >= 0:
        at = data.find(b"\x15", place, place + 8)
        found += [float(np.frombuffer(data[at + 1 : at + 5], "<f4")[0])] if at > 0 else []
        place += 4
    return found


class _Manager:
    """Makes a manager of one's own, which doubles."""

    def __new__(cls, ms):
        class Doubling(ms.train.LossScaleManager):
            scale = 2.0

            def get_loss_scale(self):
                return self.scale

            def update_loss_scale(self, overflow):
                self.scale *= 1 if overflow else 2

            def get_update_cell(self):
                return None

        return Doubling()


@case("train.LossScaleManager", tol=1e-4, ref=lambda: [[*_fitted()], 2.0])
def _(ms):
    """one's own, which a model asks for its scale"""
    m, net = plain(ms, 2.0, loss_scale_manager=(manager := _Manager(ms)))
    m.train(1, batches(ms), dataset_sink_mode=False)
    return [list(net.trainable_params()), manager.get_loss_scale()]


@case("amp.LossScaler", ref=lambda: [np.float32(6.0), np.float32(3.0), 4.0])
def _(ms):
    """one's own"""

    class Twice(ms.amp.LossScaler):
        value = 2.0

        def scale(self, inputs):
            return inputs * self.value

        def unscale(self, inputs):
            return inputs / self.value

        def adjust(self, grads_finite):
            self.value *= 2

    scaler = Twice()
    scaled = scaler.scale(ms.Tensor(3.0))
    back = scaler.unscale(scaled)
    scaler.adjust(True)
    return [scaled, back, scaler.value]


@case("enable_dynamic", ref=lambda: [np.float32([2.0, 2.0]), np.float32([2.0, 2.0, 2.0])])
def _(ms):
    """a size that changes"""

    @ms.enable_dynamic(x=ms.Tensor(shape=[None], dtype=ms.float32))
    @ms.jit
    def twice(x):
        return x * 2

    return [twice(ms.Tensor(np.ones(n, np.float32))) for n in (2, 3)]


@case("experimental.optim.lr_scheduler.LRScheduler", tol=1e-6, ref=lambda: [0.9, 0.45, 0.225])
def _(ms):
    """one's own, by halves"""
    optim = importlib.import_module(f"{ms.__name__}.experimental.optim")

    class Halves(optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            last = self.last_epoch > 0
            return [g["lr"] / 2 if last else g["lr"] for g in self.optimizer.param_groups]

    optimizer = optim.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")], 0.9)
    schedule, rates = Halves(optimizer), []
    for _ in range(3):
        rates += [float(group["lr"]) for group in optimizer.param_groups]
        schedule.step()
    return rates


@case("Layout", ref=lambda: [[2, 4], [1, 0], [0, 1, 2, 3, 4, 5, 6, 7]])
def _(ms):
    """which axis of the devices divides which of a tensor"""
    said = ms.Layout((2, 4), ("a", "b"))("a", "b").to_dict()
    return [list(said[k]) for k in ("device_matrix", "tensor_map", "rank_list")]


for name in "manual_seed", "set_rng_state":

    @case(name, ref=lambda: True)
    def _(ms, name=name):
        """what was drawn is drawn again"""
        ms.manual_seed(5)
        state, one = ms.get_rng_state(), ms.mint.rand(4).asnumpy()
        ms.manual_seed(5) if name == "manual_seed" else ms.set_rng_state(state)
        return bool((ms.mint.rand(4).asnumpy() == one).all())


@case("set_deterministic", ref=lambda: ["ON", "OFF"])
def _(ms):
    """what the setting says then"""
    said = []
    for on in True, False:
        ms.set_deterministic(on)
        said.append(ms.get_context("deterministic"))
    return said


@case("set_device", ref=lambda: "CPU")
def _(ms):
    ms.set_device("CPU")
    return ms.get_context("device_target")


for method in "minimize", "line_search":

    @case(f"scipy.optimize.{method}", tol=1e-4, ref=lambda: np.float32([1.0, -2.0]))
    def _(ms, method=method):
        """of a square: where it is least"""
        optimize = importlib.import_module(f"{ms.__name__}.scipy.optimize")
        least, start = ms.Tensor([1.0, -2.0]), ms.Tensor([0.0, 0.0])
        square = lambda x: ((x - least) ** 2).sum()
        if method == "minimize":
            return optimize.minimize(square, start, method="BFGS").x
        found = optimize.line_search(square, start, least)
        return start + found.a_k * least

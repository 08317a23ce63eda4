"""Model: training, evaluation, prediction, and the callbacks they call."""

from __future__ import annotations

import re

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore import dataset as ds
from mindspore.train import (
    Callback,
    DatasetHelper,
    DynamicLossScaleManager,
    FixedLossScaleManager,
    LossMonitor,
    Model,
    RunContext,
    TimeMonitor,
    connect_network_with_dataset,
    data_sink,
)
from mindspore.train.callback import _time_monitor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 4)).astype(np.float32)
Y = RNG.integers(0, 3, 12).astype(np.int32)


def batches(size=4):
    return ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(size)


def make_net():
    ms.set_seed(1)
    return nn.Dense(4, 3)


def loss():
    return nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def make_model(net=None, metrics=("accuracy", "loss"), **options):
    net = net or make_net()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return Model(net, loss(), optimizer, metrics=set(metrics) if metrics else None, **options)


class Losses(Callback):
    """Keeps the losses."""

    def __init__(self):
        self.values = []

    def on_train_step_end(self, run_context):
        outputs = run_context.original_args().net_outputs
        outputs = outputs[0] if isinstance(outputs, tuple) else outputs
        self.values.append(float(outputs.asnumpy()))


def reference(epochs):
    """The same training in NumPy."""
    net = make_net()
    weight, bias = net.weight.asnumpy().astype(np.float64), net.bias.asnumpy().astype(np.float64)
    speed = [np.zeros_like(weight), np.zeros_like(bias)]
    losses = []
    for _ in range(epochs):
        for start in range(0, 12, 4):
            x, y = X[start : start + 4].astype(np.float64), Y[start : start + 4]
            logits = x @ weight.T + bias
            p = np.exp(logits - logits.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            losses.append(-np.log(p[np.arange(4), y]).mean())
            p[np.arange(4), y] -= 1
            for i, g in enumerate((p.T @ x / 4, p.mean(0))):
                speed[i] = 0.9 * speed[i] + g
            weight, bias = weight - 0.1 * speed[0], bias - 0.1 * speed[1]
    return losses


@pytest.mark.parametrize("sink", [False, True])
def test_train_is_the_textbook_training(mode, sink):
    losses = Losses()
    make_model().train(3, batches(), callbacks=losses, dataset_sink_mode=sink)
    np.testing.assert_allclose(losses.values, reference(3), rtol=1e-4)


def test_printed_lines(capsys):
    make_model().train(1, batches(), callbacks=[LossMonitor(2), TimeMonitor()])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("epoch: 1 step: 2, loss is 1.")
    assert lines[1].startswith("Train epoch time: ") and "ms, per step time: " in lines[1]
    assert len(lines) == 2


def test_the_time_of_data(capsys, monkeypatch):
    """Between steps, of which each epoch here has three."""
    clock = iter([0, 0, 1, 2, 4, 5, 8, 9, 10])  # s: begin twice, then two of each step, end
    monkeypatch.setattr(_time_monitor.time, "perf_counter", lambda: next(clock))
    monitor, context = TimeMonitor(data_time=True), RunContext({"batch_num": 3, "mode": "train"})
    monitor.on_train_epoch_begin(context)
    for _ in range(3):
        monitor.on_train_step_begin(context)
        monitor.on_train_step_end(context)
    monitor.on_train_epoch_end(context)
    text = "Train epoch time: 10000.000 ms, per step time: 3333.333 ms (data time: 2000.000 ms)"
    assert capsys.readouterr().out.strip() == text


@pytest.mark.parametrize("sink", [False, True])
def test_the_time_of_data_of_a_training(capsys, sink):
    make_model().fit(
        1, batches(), batches(), callbacks=TimeMonitor(data_time=True), dataset_sink_mode=sink
    )
    lines = [line for line in capsys.readouterr().out.splitlines() if "epoch time" in line]
    assert [line.split()[0] for line in lines] == ["Eval", "Train"]
    for line in lines:
        whole, _, data = (float(word) for word in re.findall(r"([0-9.]+) ms", line))
        assert 0 < data < whole


def test_eval_and_predict(mode):
    model = make_model()
    model.train(5, batches())
    result = model.eval(batches(5))
    logits = model.predict(Tensor(X)).asnumpy()
    assert result["accuracy"] == pytest.approx((logits.argmax(1) == Y).mean())
    assert list(result) == ["accuracy", "loss"]


def test_fit(capsys):
    order = []

    class Order(Callback):
        def on_train_step_end(self, rc):
            order.append(("t", rc.original_args().cur_step_num))

        def on_eval_step_end(self, rc):
            order.append(("e", rc.original_args().cur_step_num))

        def on_train_epoch_end(self, rc):
            params = rc.original_args()
            order.append(("end", params.cur_epoch_num, "eval_loss" in params.eval_results))

    make_model().fit(2, batches(), batches(6), callbacks=[Order(), LossMonitor()])
    assert order == [
        ("t", 1), ("t", 2), ("t", 3), ("e", 1), ("e", 2), ("end", 1, True),
        ("t", 4), ("t", 5), ("t", 6), ("e", 1), ("e", 2), ("end", 2, True),
    ]  # fmt: skip
    out = capsys.readouterr().out
    assert "Eval result: epoch 1, metrics: {'accuracy': " in out


def test_valid_frequency_and_initial_epoch():
    evaluated = []

    class Evaluated(Callback):
        def on_eval_end(self, rc):
            evaluated.append(rc.original_args().cur_epoch_num)

    make_model().fit(4, batches(), batches(), valid_frequency=2, callbacks=Evaluated())
    assert evaluated == [2, 4]
    evaluated.clear()
    make_model().fit(5, batches(), batches(), [1, 4], Evaluated(), initial_epoch=2)
    assert evaluated == [4]


def test_networks_that_need_no_loss_or_optimizer():
    net = make_net()
    with_loss = nn.WithLossCell(net, loss())
    losses = Losses()
    Model(with_loss, optimizer=nn.Momentum(net.trainable_params(), 0.1, 0.9)).train(
        1, batches(), losses
    )
    step = nn.TrainOneStepCell(
        nn.WithLossCell(make_net(), loss()), nn.SGD(make_net().trainable_params(), 0.1)
    )
    Model(step).train(1, batches(), losses)
    np.testing.assert_allclose(losses.values[:3], reference(1), rtol=1e-4)


def test_eval_network_and_indexes():
    net = make_net()

    class Eval(nn.Cell):
        def __init__(self):
            super().__init__()
            self.net = net
            self.loss = loss()

        def construct(self, x, y):
            out = self.net(x)
            return y, self.loss(out, y), out

    model = Model(net, eval_network=Eval(), eval_indexes=[1, 2, 0], metrics={"accuracy", "loss"})
    expected = make_model(net).eval(batches())
    assert model.eval(batches()) == pytest.approx(expected)


def test_networks_are_as_in_mindspore():
    model = make_model()
    assert isinstance(model.train_network, nn.TrainOneStepCell)
    assert isinstance(model.eval_network, nn.WithEvalCell)
    assert model.predict_network is model._network
    assert make_model(metrics=None).eval_network is None


@pytest.mark.parametrize(
    "make_manager",
    [None, lambda: FixedLossScaleManager(8.0), lambda: DynamicLossScaleManager(64, 2, 2)],
    ids=["none", "fixed", "dynamic"],
)
@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3", "auto"])
def test_precision_levels(mode, level, make_manager):
    options = {} if make_manager is None else {"loss_scale_manager": make_manager()}
    losses = Losses()
    make_model(amp_level=level, **options).train(2, batches(), callbacks=losses)
    np.testing.assert_allclose(losses.values, reference(2), rtol=2e-2 if level != "O0" else 1e-3)


def test_fixed_scale_without_overflow_check():
    net = make_net()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9, loss_scale=16.0)
    manager = FixedLossScaleManager(16.0, drop_overflow_update=False)
    losses = Losses()
    Model(net, loss(), optimizer, loss_scale_manager=manager).train(1, batches(), callbacks=losses)
    np.testing.assert_allclose(losses.values, reference(1), rtol=1e-4)


# Wrong uses


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: Model(5), TypeError, "'network' must be a Cell"),
        (lambda: Model(make_net(), 5), TypeError, "'loss_fn' must be"),
        (lambda: Model(make_net(), loss(), 5), TypeError, "'optimizer' must be a Cell"),
        (lambda: make_model(metrics=["zz"]), KeyError, "zz"),
        (lambda: Model(make_net(), metrics={"accuracy"}), ValueError, "need an 'eval_network'"),
        (lambda: make_model(amp_level="O9"), ValueError, "'amp_level' must be one of"),
        (lambda: make_model(colour=1), ValueError, "must be among"),
        (lambda: make_model(eval_indexes=[1, 2]), ValueError, "'eval_indexes' must be three"),
        (lambda: make_model().train(0, batches()), ValueError, "'epoch' must be at least 1"),
        (lambda: make_model().train("1", batches()), TypeError, "'epoch' must be an int"),
        (lambda: make_model().train(1, 5), TypeError, "must be a Dataset"),
        (
            lambda: make_model().train(1, batches(), dataset_sink_mode=1),
            TypeError,
            "must be a bool",
        ),
        (
            lambda: make_model().train(1, batches(), dataset_sink_mode=True, sink_size="2"),
            TypeError,
            "'Model.train', 'sink_size' must be an int",
        ),
        (
            lambda: make_model().fit(1, batches(), sink_size=0),
            ValueError,
            "'Model.train', 'sink_size' must be -1 or positive, but got 0",
        ),
        (
            lambda: make_model().train(1, batches(), initial_epoch=1),
            ValueError,
            "less than 'epoch'",
        ),
        (lambda: make_model().train(1, batches(), callbacks=[5]), TypeError, "must be Callback"),
        (
            lambda: make_model().train(1, batches().take(1).skip(1)),
            ValueError,
            "at least one batch",
        ),
        (lambda: make_model(metrics=None).eval(batches()), ValueError, "'metrics' of the Model"),
        (
            lambda: make_model().fit(1, batches(), batches(), valid_frequency=0),
            ValueError,
            "valid_freq",
        ),
        (lambda: make_model().predict("text"), TypeError, "must be Tensors"),
    ],
)
def test_wrong_arguments(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_a_broken_loss_ends_the_training():
    bad = ds.NumpySlicesDataset({"x": X * np.nan, "y": Y}).batch(4)
    with pytest.raises(ValueError, match="epoch: 1 step: 1, the loss is nan"):
        make_model().train(1, bad, callbacks=LossMonitor())


def test_failures_in_the_data_show_the_users_line():
    def broken(x):
        raise OverflowError("here")

    with pytest.raises(RuntimeError, match=r"test_train_model.py:\d+ in broken"):
        make_model().train(1, batches().map(broken, "x"))


# Other ways to feed


def test_dataset_helper():
    helper = DatasetHelper(batches(), dataset_sink_mode=False, epoch_num=2)
    for _ in range(2):
        rows = list(helper)
        assert len(rows) == 3 and rows[0][0].shape == (4, 4)
    assert helper.sink_size() == 3
    assert helper.types_shapes() == ([ms.float32, ms.int32], [[4, 4], [4]])
    with pytest.raises(ValueError, match="'sink_size' must be"):
        DatasetHelper(batches(), sink_size=0)


def test_connected_network_and_data_sink():
    net = nn.WithLossCell(make_net(), loss())
    connected = connect_network_with_dataset(net, DatasetHelper(batches(), epoch_num=-1))
    first = [float(connected().asnumpy()) for _ in range(4)]
    assert first[0] == first[3] and first[0] == pytest.approx(reference(1)[0], rel=1e-4)
    step = data_sink(lambda x, y: net(x, y), batches(), sink_size=3)
    assert float(step().asnumpy()) == pytest.approx(first[2])
    assert float(step().asnumpy()) == pytest.approx(first[2])


@pytest.mark.parametrize("sink", [True, False])
def test_a_connected_network_has_the_batch_of_the_loop(sink):
    class Sum(nn.Cell):
        def construct(self, x):
            return x.sum()

    data = ds.NumpySlicesDataset(np.arange(6, dtype=np.float32), shuffle=False).batch(1)
    helper = DatasetHelper(data, sink, epoch_num=-1)
    net = connect_network_with_dataset(Sum(), helper)
    for batch in helper:
        assert float(net()) == float(batch[0])
    for batch in helper:
        assert float(net(*batch)) == float(batch[0])
        break
    assert [float(net()) for _ in range(7)] == [1, 2, 3, 4, 5, 0, 1]


def test_epochs_without_a_batch_are_named():
    none = batches().filter(lambda *_: False)
    connected = connect_network_with_dataset(make_net(), DatasetHelper(none, epoch_num=-1))
    for name, step in (
        ("data_sink", data_sink(lambda x, y: x, none)),
        ("connect_network_with_dataset", connected),
    ):
        with pytest.raises(ValueError, match=f"For '{name}', each epoch .* but this one has none"):
            step()


def test_old_paths():
    from mindspore.train.callback import LossMonitor as OldMonitor
    from mindspore.train.dataset_helper import DatasetHelper as OldHelper
    from mindspore.train.loss_scale_manager import FixedLossScaleManager as OldManager
    from mindspore.train.model import Model as OldModel
    from mindspore.train.model import ParallelMode

    assert ms.Model is OldModel and ms.LossMonitor is OldMonitor
    assert ms.FixedLossScaleManager is OldManager and ms.DatasetHelper is OldHelper
    assert ParallelMode.DATA_PARALLEL == "data_parallel"

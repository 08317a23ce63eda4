"""Model.train with dataset_sink_mode: the runtime makes steps by itself, with the same numbers, and callbacks see several steps as one
where a sink size says so."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import compile as front_end
from mindspore import dataset as ds
from mindspore import nn, ops
from mindspore.train import (
    Callback,
    CheckpointConfig,
    DynamicLossScaleManager,
    LossMonitor,
    Model,
    ModelCheckpoint,
    TimeMonitor,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 4)).astype(np.float32)
Y = (np.arange(20) % 3).astype(np.int32)
SIZES = [-1, 1, 2, 3, 100]


class Odd(nn.Cell):
    """Has a line that runs eagerly, between compiled parts."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(4, 3)

    def construct(self, x):
        y = self.dense(x)
        return y * float(str(float(y.shape[0] > 0)))


def plain():
    return nn.SequentialCell(nn.Dense(4, 8), nn.Dropout(p=0.5), nn.BatchNorm1d(8), nn.Dense(8, 3))


def training(make=plain, batch=4, data=None, rate=0.05, **options):
    ms.set_seed(3)
    net = make()
    optimizer = nn.Adam(net.trainable_params(), rate)
    if data is None:
        data = ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=True).batch(batch)
    return Model(net, nn.CrossEntropyLoss(), optimizer, **options), data


def values(model):
    return {p.name: p.asnumpy().tobytes() for p in model.train_network.get_parameters()}


class Seen(Callback):
    """Notes when it is called, and what the last step returned."""

    def __init__(self):
        self.begins, self.ends, self.losses = [], [], []

    def step_begin(self, run_context):
        self.begins.append(run_context.original_args().cur_step_num)

    def step_end(self, run_context):
        params = run_context.original_args()
        self.ends.append(params.cur_step_num)
        self.losses.append(float(params.net_outputs))
        assert params.train_dataset_element[0].shape[1] == 4


@pytest.fixture
def calls(monkeypatch):
    """Calls of compiled cells from Python."""
    made = []
    run_cell = front_end.run_cell

    def counting(cell, args, kwargs):
        made.append(cell)
        return run_cell(cell, args, kwargs)

    monkeypatch.setattr(front_end, "run_cell", counting)
    return made


def uneven():
    return ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=True).batch(3)


def generated():
    def rows():
        for i in np.random.permutation(20):
            yield X[i], Y[i]

    return ds.GeneratorDataset(rows, ["x", "y"]).batch(4)


def filtered():
    data = ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=True)
    return data.map(lambda x: x * 2, "x").filter(lambda x, y: y != 1).batch(2)


TRAININGS = {
    "plain": {},
    "a last batch of other sizes": {"data": uneven},
    "a source in Python": {"data": generated},
    "functions in Python": {"data": filtered},
    "rates by step": {"rate": np.linspace(0.1, 0.01, 20).tolist()},
    "an eager line": {"make": Odd},
    "loss scale": {
        "amp_level": "O2",
        "loss_scale_manager": lambda: DynamicLossScaleManager(2**20, 2, 4),
    },
}


def made(case, **more):
    options = {
        k: v() if k in ("data", "loss_scale_manager") else v for k, v in TRAININGS[case].items()
    }
    return training(**options, **more)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", TRAININGS)
def test_the_numbers_are_those_of_steps(mode, case, size):
    found = []
    for sink in (False, True):
        model, data = made(case)
        model.train(3, data, dataset_sink_mode=sink, sink_size=size)
        scale = model._loss_scale_manager
        found.append((values(model), scale and scale.get_loss_scale(), ms.get_rng_state()))
    assert found[0][0] == found[1][0]
    assert found[0][1] == found[1][1]
    np.testing.assert_array_equal(found[0][2].asnumpy(), found[1][2].asnumpy())


@pytest.mark.parametrize("tunes, size", [(True, -1), (True, 3), (False, 2**63), (False, 2**70)])
def test_pipelines_that_tune_themselves_and_sinks_beyond_all_numbers(mode, tunes, size):
    found = []
    for sink in (False, True):
        model, data = training()
        ds.config.set_enable_autotune(tunes)
        try:
            model.train(2, data, dataset_sink_mode=sink, sink_size=size)
        finally:
            ds.config.set_enable_autotune(False)
        found.append(values(model))
    assert found[0] == found[1]


@pytest.mark.parametrize("size, made_here", [(-1, 3), (2, 9), (100, 3)])
def test_the_runtime_makes_the_steps(calls, size, made_here):
    ms.set_context(mode=ms.GRAPH_MODE)
    model, data = training()
    model.train(3, data, dataset_sink_mode=True, sink_size=size, callbacks=TimeMonitor())
    assert calls == [model.train_network] * made_here


def test_callbacks_see_a_sink_as_a_step(mode):
    every, sunk = Seen(), Seen()
    model, data = training()
    model.train(2, data, callbacks=every)
    model, data = training()
    model.train(2, data, callbacks=sunk, dataset_sink_mode=True, sink_size=2)
    assert every.ends == list(range(1, 11))
    assert sunk.begins == [1, 3, 5, 6, 8, 10]
    assert sunk.ends == [2, 4, 5, 7, 9, 10]
    assert sunk.losses == [every.losses[end - 1] for end in sunk.ends]


@pytest.mark.parametrize(
    "callback", [LossMonitor, Seen, lambda: ms.train.LambdaCallback(on_train_step_end=print)]
)
def test_callbacks_that_listen_see_each_step_where_no_size_is_given(callback, capsys):
    seen = Seen()
    model, data = training()
    model.train(1, data, callbacks=[callback(), seen], dataset_sink_mode=True)
    assert seen.ends == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("size", SIZES)
def test_it_goes_on_from_within_an_epoch(mode, tmp_path, size):
    model, data = training()
    saving = ModelCheckpoint("c", str(tmp_path), CheckpointConfig(1, keep_checkpoint_max=100))
    model.train(3, data, callbacks=saving, dataset_sink_mode=True, sink_size=size)
    whole = values(model)
    ends = sorted(int(f.stem.split("_")[1]) for f in tmp_path.glob("c-2_*.ckpt"))
    assert ends == {2: [2, 4, 5], 3: [3, 5], 100: [5]}.get(size, [1, 2, 3, 4, 5])
    model, data = training()
    model.resume(str(tmp_path / f"c-2_{ends[0]}.ckpt"))
    model.train(3, data, dataset_sink_mode=True, sink_size=size)
    assert values(model) == whole


def test_a_loss_that_is_none_is_told_with_its_step(mode, caplog):
    x = X.copy()
    x[13] = np.nan  # in the fourth batch
    data = ds.NumpySlicesDataset({"x": x, "y": Y}, shuffle=False).batch(4)
    model, data = training(data=data)
    model.train(2, data, dataset_sink_mode=True)
    said = [line for line in caplog.messages if "the loss is" in line]
    assert len(said) == 1 and said[0].startswith("epoch: 1 step: 4, the loss is nan")


def test_steps_that_overflow_are_told(mode, caplog):
    model, data = made("loss scale")
    model.train(2, data, dataset_sink_mode=True)
    first, last = (line for line in caplog.messages if "no parameter" in line)
    assert first.startswith("epoch: 1 step: 1, gradients overflow with loss scale 1.04858e+06")
    skipped = int(last.split()[0])
    assert 1 < skipped < 10 and f"{skipped} of 10 steps changed no parameter" in last


@pytest.mark.parametrize("size", [-1, 100])
def test_an_error_of_the_data_leaves_the_steps_before_it(mode, size):
    class Rows:
        def __len__(self):
            return 20

        def __getitem__(self, index):
            if index == 13:
                raise KeyError("thirteen")
            return X[index], Y[index]

    data = ds.GeneratorDataset(Rows(), ["x", "y"], shuffle=False).batch(4)
    model, data = training(data=data)
    with pytest.raises(RuntimeError, match="thirteen"):
        model.train(2, data, dataset_sink_mode=True, sink_size=size)
    assert model._optimizer.global_step.asnumpy().tolist() == [3]


def test_data_that_waits_is_told_of_each_step(mode):
    data = ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False)
    data = data.sync_wait("trained", num_batch=4).batch(4)

    class Tells(Seen):
        def step_end(self, run_context):
            super().step_end(run_context)
            data.sync_update("trained", num_batch=4)

    seen = Tells()
    model, data = training(data=data)
    model.train(2, data, callbacks=seen, dataset_sink_mode=True, sink_size=3)
    assert seen.ends == list(range(1, 11))


def test_what_changes_meanwhile_ends_it():
    ms.set_context(mode=ms.GRAPH_MODE)

    class Times(nn.Cell):
        def __init__(self):
            super().__init__()
            self.factor = 2.0

        def construct(self, x, y):
            return ops.reduce_sum(x) * self.factor

    net = Times()
    data = ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(4)
    rows = data.create_tuple_iterator(num_epochs=1)
    first = next(iter(rows))
    net(*first)
    version = front_end.graph_of(net, tuple(first))
    sink = ms._core.Sink(version.graph, version.guards)
    rows.lend(sink, 2, 10.0)
    assert (sink.taken, sink.done, sink.ended, sink.unused) == (2, 2, False, None)
    net.factor = 3.0
    rows.lend(sink, 2, 10.0)
    assert (sink.taken, sink.done, sink.outputs) == (1, 0, None)
    np.testing.assert_array_equal(sink.unused[0].asnumpy(), X[12:16])
    assert rows.state()["step"] == 4
    assert front_end.graph_of(net, tuple(first)) is None

"""Trainings that end early: BackupAndRestore goes on where another left, OnRequestExit ends a run after its step."""

import contextlib
import json
import os
import signal
import threading

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.dataset import GeneratorDataset, NumpySlicesDataset
from mindspore.train import BackupAndRestore, Callback, Model, OnRequestExit


def _model():
    ms.set_seed(1)
    net = nn.Dense(2, 1)
    return net, Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9))


def _data(steps=4):
    rows = [(np.full(2, i, np.float32), np.ones(1, np.float32)) for i in range(steps)]
    return GeneratorDataset(rows, ["x", "y"], shuffle=False).batch(1)


class _Steps(Callback):
    """Counts steps, and does something at one of them."""

    def __init__(self, at=0, act=None):
        super().__init__()
        self.count, self.at, self.act = 0, at, act

    def on_train_step_end(self, run_context):
        self.count += 1
        if self.count == self.at:
            self.act()


def test_a_training_goes_on_from_its_backup(tmp_path):
    net, model = _model()
    model.train(1, _data(), callbacks=BackupAndRestore(str(tmp_path), delete_checkpoint=False))
    left = net.weight.asnumpy().copy()
    again, model = _model()
    seen = []

    class Start(Callback):
        def on_train_epoch_begin(self, run_context):
            seen.append(again.weight.asnumpy().copy())

    model.train(1, _data(), callbacks=[BackupAndRestore(str(tmp_path)), Start()])
    np.testing.assert_array_equal(seen[0], left)
    assert not (tmp_path / "backup.ckpt").exists()


@pytest.mark.parametrize("given", [{"backup_dir": 3}, {"save_freq": 0}, {"save_freq": "step"}])
def test_a_backup_refuses(given):
    kind = TypeError if "backup_dir" in given else ValueError
    with pytest.raises(kind, match="For 'BackupAndRestore', '"):
        BackupAndRestore(**{"backup_dir": "x", **given})


@pytest.mark.parametrize("told_by", ["signal", "file"])
def test_a_run_ends_after_the_step_in_which_it_is_told_to(tmp_path, told_by):
    config = tmp_path / "exit.json"

    def tell():
        if told_by == "signal":
            os.kill(os.getpid(), signal.SIGTERM)
        else:
            config.write_text(json.dumps({"GracefulExit": 1}))

    net, model = _model()
    before = signal.getsignal(signal.SIGTERM)
    leaving = OnRequestExit(
        save_mindir=False, file_name="net", directory=str(tmp_path), config_file=str(config)
    )
    steps = _Steps(2, tell)
    ends = pytest.raises(SystemExit) if told_by == "signal" else contextlib.nullcontext()
    with ends as ended:
        model.train(3, _data(), callbacks=[steps, leaving], dataset_sink_mode=False)
    assert ended is None or ended.value.code == 128 + signal.SIGTERM
    assert steps.count == 2
    assert signal.getsignal(signal.SIGTERM) is before
    saved = ms.load_checkpoint(str(tmp_path / "rank_0" / "net_train.ckpt"))
    np.testing.assert_array_equal(saved["weight"].asnumpy(), net.weight.asnumpy())


@pytest.mark.parametrize("told_by", ["signal", "file"])
def test_a_long_sink_ends_early_when_it_is_told_to(tmp_path, mode, told_by):
    config = tmp_path / "exit.json"

    class Tell(Callback):
        def on_train_step_begin(self, run_context):
            if told_by == "signal":
                os.kill(os.getpid(), signal.SIGTERM)
            else:
                config.write_text(json.dumps({"GracefulExit": 1}))

    net, model = _model()
    leaving = OnRequestExit(save_mindir=False, directory=str(tmp_path), config_file=str(config))
    rows = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)
    data = NumpySlicesDataset(rows, ["x", "y"], shuffle=False).batch(1).repeat(20000)
    ends = pytest.raises(SystemExit) if told_by == "signal" else contextlib.nullcontext()
    with ends:
        model.train(1, data, [Tell(), leaving], dataset_sink_mode=True, sink_size=80000)
    saved = ms.load_checkpoint(str(tmp_path / "rank_0" / "Net_train.ckpt"))
    assert 0 < int(saved["global_step"]) < 80000
    np.testing.assert_array_equal(saved["weight"].asnumpy(), net.weight.asnumpy())


def test_the_network_is_saved_as_a_graph_that_infers(tmp_path):
    net = nn.SequentialCell(nn.Dense(4, 8), nn.Dropout(p=0.5), nn.BatchNorm1d(8), nn.Dense(8, 2))
    net[2].set_train(False)  # frozen by the program
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    steps = _Steps(2, lambda: os.kill(os.getpid(), signal.SIGTERM))
    rows = np.random.RandomState(0).randn(16, 6).astype(np.float32)
    data = NumpySlicesDataset((rows[:, :4], rows[:, 4:]), ["x", "y"]).batch(4)
    with pytest.raises(SystemExit):
        model.train(3, data, callbacks=[steps, OnRequestExit(directory=str(tmp_path))])
    again = nn.GraphCell(ms.load(str(tmp_path / "rank_0" / "Net_train.mindir")))
    x = Tensor(rows[:4, :4])
    trained = [cell.training for cell in net]
    expected = net.set_train(False)(x).asnumpy()
    np.testing.assert_array_equal(again(x).asnumpy(), expected)
    assert trained == [True, True, True, True]  # model.train sets them all


def test_a_network_that_no_graph_can_be_of_keeps_its_weights(tmp_path, caplog):
    class Counts(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, 1)
            self.seen = ms.Parameter(Tensor(0, ms.int32), requires_grad=False)

        def construct(self, x):
            self.seen += 1
            return self.dense(x)

    net = Counts()
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    steps = _Steps(2, lambda: os.kill(os.getpid(), signal.SIGTERM))
    with caplog.at_level("WARNING"), pytest.raises(SystemExit):
        model.train(3, _data(), callbacks=[steps, OnRequestExit(directory=str(tmp_path))])
    assert os.listdir(tmp_path / "rank_0") == ["Net_train.ckpt"]


def test_what_was_learnt_is_saved_when_told_in_an_evaluation(tmp_path):
    class Tell(Callback):
        def on_eval_step_end(self, run_context):
            os.kill(os.getpid(), signal.SIGTERM)

    net, _ = _model()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    model = Model(net, nn.MSELoss(), optimizer, metrics={"loss"})
    leaving = OnRequestExit(save_mindir=False, directory=str(tmp_path))
    backup = BackupAndRestore(str(tmp_path))
    with pytest.raises(SystemExit):
        model.fit(3, _data(), _data(), callbacks=[Tell(), leaving, backup])
    saved = ms.load_checkpoint(str(tmp_path / "rank_0" / "Net_train.ckpt"))
    np.testing.assert_array_equal(saved["weight"].asnumpy(), net.weight.asnumpy())
    evaluated = []

    class Count(Callback):
        def on_train_step_end(self, run_context):
            evaluated.append("step")

        def on_eval_begin(self, run_context):
            evaluated.append("eval")

    model.fit(2, _data(), _data(), callbacks=[backup, Count()])
    assert evaluated == [
        "eval",
        *["step"] * 4,
        "eval",
    ]  # the evaluation of the first epoch comes first


def test_in_a_thread_the_file_alone_tells(tmp_path):
    config = tmp_path / "exit.json"
    config.write_text("{")  # as somebody writes it
    leaving = OnRequestExit(save_mindir=False, directory=str(tmp_path), config_file=str(config))
    steps = _Steps(2, lambda: config.write_text(json.dumps({"GracefulExit": 1})))
    _, model = _model()
    thread = threading.Thread(target=lambda: model.train(3, _data(), callbacks=[steps, leaving]))
    thread.start()
    thread.join()
    assert steps.count == 2


def test_leaving_refuses():
    with pytest.raises(TypeError, match="For 'OnRequestExit', 'save_ckpt' must be a bool"):
        OnRequestExit(save_ckpt=1)

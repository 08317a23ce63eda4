"""Callbacks: when they are called, and what those that ship do."""

from __future__ import annotations

import os

import numpy as np
import pytest

import mindspore as ms
from mindspore import dataset as ds
from mindspore import nn
from mindspore.train import (
    Callback,
    CheckpointConfig,
    EarlyStopping,
    History,
    LambdaCallback,
    LearningRateScheduler,
    LossMonitor,
    Model,
    ModelCheckpoint,
    ReduceLROnPlateau,
    RunContext,
    TimeMonitor,
)
from mindspore.train.callback import _InternalCallbackParam

X = np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32)
Y = (np.arange(8) % 3).astype(np.int32)


def batches():
    return ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(4)


def make_model(rate=0.1, metrics=("loss",)):
    ms.set_seed(1)
    net = nn.Dense(4, 3)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    return Model(net, loss, nn.Momentum(net.trainable_params(), rate, 0.9), metrics=metrics)


class Events(Callback):
    """Records every event under its new name."""

    def __init__(self):
        self.seen = []

    def __getattribute__(self, name):
        if not name.startswith("on_"):
            return super().__getattribute__(name)
        return lambda rc: self.seen.append((name[3:], rc.original_args().cur_step_num))


def test_order_of_events():
    events = Events()
    make_model().train(2, batches(), callbacks=[events])
    assert events.seen == [
        ("train_begin", 0),
        ("train_epoch_begin", 0), ("train_step_begin", 1), ("train_step_end", 1),
        ("train_step_begin", 2), ("train_step_end", 2), ("train_epoch_end", 2),
        ("train_epoch_begin", 2), ("train_step_begin", 3), ("train_step_end", 3),
        ("train_step_begin", 4), ("train_step_end", 4), ("train_epoch_end", 4),
        ("train_end", 4),
    ]  # fmt: skip
    events.seen.clear()
    make_model().eval(batches(), callbacks=[events])
    assert [name for name, _ in events.seen] == [
        "eval_begin", "eval_epoch_begin", "eval_step_begin", "eval_step_end", "eval_step_begin",
        "eval_step_end", "eval_epoch_end", "eval_end",
    ]  # fmt: skip


def test_old_names_serve_training_and_evaluation():
    seen = []

    class Old(Callback):
        def begin(self, run_context):
            seen.append("begin")

        def step_end(self, run_context):
            seen.append(run_context.original_args().mode)

        def end(self, run_context):
            seen.append("end")

    make_model().train(1, batches(), callbacks=Old())
    make_model().eval(batches(), callbacks=Old())
    assert seen == ["begin", "train", "train", "end", "begin", "eval", "eval", "end"]


def test_request_stop_and_context():
    steps = []

    class Stop(Callback):
        def __enter__(self):
            steps.append("enter")
            return self

        def __exit__(self, *error):
            steps.append("exit")

        def on_train_step_end(self, run_context):
            steps.append(run_context.original_args().cur_step_num)
            run_context.request_stop()

    make_model().train(5, batches(), callbacks=Stop())
    assert steps == ["enter", 1, "exit"]


def test_callbacks_are_left_when_the_training_fails():
    left = []

    class Failing(Callback):
        def __exit__(self, kind, error, trace):
            left.append(kind)

        def on_train_step_end(self, run_context):
            raise RuntimeError("stop here")

    with pytest.raises(RuntimeError, match="stop here"):
        make_model().train(1, batches(), callbacks=[Failing(), LossMonitor()])
    assert left == [RuntimeError]


def test_parameters_of_the_run():
    params = _InternalCallbackParam(a=1)
    params.b = 2
    assert params["b"] == 2 and params.a == 1 and params.get("c") is None
    with pytest.raises(KeyError):
        _ = params.c
    context = RunContext(params)
    assert context.original_args() is params and not context.get_stop_requested()


def test_lambda_callback():
    seen = []
    callback = LambdaCallback(
        on_train_begin=lambda rc: seen.append("begin"),
        on_train_epoch_end=lambda rc: seen.append("epoch"),
    )
    make_model().train(2, batches(), callbacks=callback)
    assert seen == ["begin", "epoch", "epoch"]
    with pytest.raises(TypeError, match="'on_train_end' must be callable"):
        LambdaCallback(on_train_end=5)


def test_history():
    history = History()
    make_model().fit(2, batches(), batches(), callbacks=history)
    assert history.epoch == {"epoch": [1, 2]}
    assert set(history.history) == {"net_output", "loss"}
    assert len(history.history["loss"]) == 2
    assert len(history.history["net_output"]) == 2


def test_learning_rate_scheduler():
    model = make_model(0.8)
    model.train(2, batches(), callbacks=LearningRateScheduler(lambda rate, step: rate / 2))
    assert float(model._optimizer.learning_rate.asnumpy()) == pytest.approx(0.05)


def test_reduce_lr_on_plateau(capsys):
    model = make_model(0.8)
    callback = ReduceLROnPlateau(
        "eval_loss", factor=0.5, patience=1, mode="max", verbose=True, min_lr=0.15
    )
    model.fit(5, batches(), batches(), callbacks=callback)
    assert float(model._optimizer.learning_rate.asnumpy()) == pytest.approx(0.15)
    assert "the learning rate is now 0.4" in capsys.readouterr().out


def test_early_stopping(capsys):
    epochs = []
    count = LambdaCallback(
        on_train_epoch_end=lambda rc: epochs.append(rc.original_args().cur_epoch_num)
    )
    model = make_model()
    stop = EarlyStopping(
        "eval_loss", patience=2, mode="max", verbose=True, restore_best_weights=True
    )
    first = []
    keep = LambdaCallback(
        on_train_epoch_end=lambda rc: first or first.append(model._network.weight.asnumpy().copy())
    )
    model.fit(9, batches(), batches(), callbacks=[keep, stop, count])
    assert epochs == [1, 2, 3]
    assert "Epoch 00003: early stopping" in capsys.readouterr().out
    np.testing.assert_array_equal(model._network.weight.asnumpy(), first[0])


class Told(nn.Metric):
    """Gives what it was told, one after the other."""

    def __init__(self, *values):
        super().__init__()
        self.values = list(values)

    def clear(self):
        pass

    def update(self, *inputs):
        pass

    def eval(self):
        return self.values.pop(0)


@pytest.mark.parametrize(
    ("name", "larger"),
    [
        *((n, True) for n in ("acc", "top_1_accuracy", "mIoU", "bleu_score", "F1", "cosine_similarity", "speed")),
        *((n, False) for n in ("mse", "MAE", "perplexity", "hausdorff_distance", "error", "dice_loss", "rmse", "wer")),
    ],
)  # fmt: skip
def test_what_is_better_is_told_by_the_name(name, larger):
    model = make_model(0.8, metrics={name: Told(0.5, 0.7, 0.9)})
    plateau = ReduceLROnPlateau(name, factor=0.5, patience=1)
    epochs = History()
    stop = EarlyStopping(name, patience=1)
    model.fit(3, batches(), batches(), callbacks=[plateau, stop, epochs])
    assert len(epochs.epoch["epoch"]) == (3 if larger else 2)
    assert float(model._optimizer.learning_rate.asnumpy()) == pytest.approx(0.8 if larger else 0.4)


def test_loss_is_that_of_the_training():
    model = make_model(1e-30, metrics={"loss": Told(0.9, 0.7, 0.5)})
    epochs = History()
    stop = EarlyStopping("loss", patience=1)
    model.fit(3, batches(), batches(), callbacks=[stop, epochs])
    assert len(epochs.epoch["epoch"]) == 2


def test_monitors_that_are_not_there():
    with pytest.raises(
        ValueError, match=r"'monitor' must be 'loss' or one of \['eval_loss', 'loss'\]"
    ):
        make_model().fit(1, batches(), batches(), callbacks=EarlyStopping("speed"))
    with pytest.raises(ValueError, match="'mode' must be"):
        EarlyStopping(mode="best")


# Checkpoints


def test_model_checkpoint(tmp_path):
    config = CheckpointConfig(
        save_checkpoint_steps=1,
        keep_checkpoint_max=2,
        append_info=["epoch_num", "step_num", {"a": 1}],
    )
    callback = ModelCheckpoint("net", str(tmp_path / "new" / "folder"), config)
    make_model().train(2, batches(), callbacks=callback)
    folder = tmp_path / "new" / "folder"
    assert sorted(os.listdir(folder)) == ["net-2_1.ckpt", "net-2_2.ckpt"]
    assert callback.latest_ckpt_file_name == str(folder / "net-2_2.ckpt")
    loaded = ms.load_checkpoint(callback.latest_ckpt_file_name)
    assert int(loaded["epoch_num"].asnumpy()) == 2 and int(loaded["step_num"].asnumpy()) == 4
    assert {"weight", "bias", "moments.weight", "learning_rate", "a"} <= set(loaded)


def test_a_checkpoint_in_a_loop_by_hand(tmp_path):
    """By the older names of the hooks, told or not that the loop begins; subclasses may override them."""
    saved = []

    class Told(ModelCheckpoint):
        def step_end(self, run_context):
            super().step_end(run_context)
            saved.append(os.path.basename(self.latest_ckpt_file_name))

    for begins in (True, False):
        params = _InternalCallbackParam()
        params.train_network, params.batch_num = nn.Dense(2, 2), 4
        params.cur_epoch_num, params.cur_step_num = 1, 0
        context = RunContext(params)
        config = CheckpointConfig(save_checkpoint_steps=2)
        callback = Told("net", str(tmp_path / str(begins)), config)
        if begins:
            callback.begin(context)
        for _ in range(4):
            params.cur_step_num += 1
            callback.step_end(context)
        assert saved[-4:] == ["", "net-1_2.ckpt", "net-1_2.ckpt", "net-1_4.ckpt"]
    make_model().train(1, batches(), callbacks=Told("net", str(tmp_path / "run"), config))
    assert saved[-2:] == ["", "net-1_2.ckpt"]
    make_model().eval(batches(), callbacks=Told("net", str(tmp_path / "none"), config))
    assert len(saved) == 10 and not (tmp_path / "none" / "net-1_2.ckpt").exists()


def test_a_second_run_gets_another_name(tmp_path):
    for _ in range(3):
        callback = ModelCheckpoint(
            "net", str(tmp_path), CheckpointConfig(save_checkpoint_steps=100)
        )
        make_model().train(1, batches(), callbacks=callback)
    assert sorted(os.listdir(tmp_path)) == ["net-1_2.ckpt", "net_1-1_2.ckpt", "net_2-1_2.ckpt"]


def test_checkpoint_at_an_exception(tmp_path):
    class Bad(Callback):
        def on_train_step_end(self, run_context):
            raise RuntimeError("broken")

    config = CheckpointConfig(save_checkpoint_steps=100, exception_save=True)
    with pytest.raises(RuntimeError, match="broken"):
        make_model().train(
            1, batches(), callbacks=[Bad(), ModelCheckpoint("net", str(tmp_path), config)]
        )
    assert os.listdir(tmp_path) == ["net-1_1_breakpoint.ckpt"]


def test_saved_network_async_and_seconds(tmp_path):
    net = nn.Dense(2, 2)
    config = CheckpointConfig(
        save_checkpoint_steps=0,
        save_checkpoint_seconds=3600,
        saved_network=net,
        async_save=True,
        crc_check=True,
    )
    make_model().train(
        1, batches(), callbacks=ModelCheckpoint(lambda params: "made", str(tmp_path), config)
    )
    loaded = ms.load_checkpoint(str(tmp_path / "made-1_2.ckpt"), crc_check=True)
    assert loaded["weight"].shape == (2, 2)


def test_keep_one_per_minutes(tmp_path):
    config = CheckpointConfig(
        save_checkpoint_steps=1, keep_checkpoint_max=0, keep_checkpoint_per_n_minutes=1
    )
    make_model().train(2, batches(), callbacks=ModelCheckpoint("net", str(tmp_path), config))
    assert os.listdir(tmp_path) == ["net-2_2.ckpt"]


def test_training_resumes_where_it_was(tmp_path):
    whole, rest = History(), History()
    make_model().fit(4, batches(), batches(), callbacks=whole)
    callback = ModelCheckpoint("net", str(tmp_path), CheckpointConfig(save_checkpoint_steps=100))
    make_model().train(2, batches(), callbacks=callback)
    model = make_model()
    ms.load_checkpoint(callback.latest_ckpt_file_name, model.train_network)
    model.fit(4, batches(), batches(), callbacks=rest, initial_epoch=2)
    assert rest.epoch == {"epoch": [3, 4]}
    assert rest.history["loss"] == whole.history["loss"][2:]


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: CheckpointConfig(save_checkpoint_steps="1"), TypeError, "must be an int"),
        (lambda: CheckpointConfig(keep_checkpoint_max=-1), ValueError, "must be at least 0"),
        (lambda: CheckpointConfig(0, 0, 0, 0), ValueError, "must be positive"),
        (lambda: CheckpointConfig(append_info=["lr"]), ValueError, "'append_info' must hold"),
        (lambda: CheckpointConfig(append_info={"lr": 1}), TypeError, "must be a list"),
        (lambda: CheckpointConfig(saved_network=5), TypeError, "'saved_network' must be a Cell"),
        (lambda: CheckpointConfig(enc_key="x"), TypeError, "'enc_key' must be bytes or None"),
        (lambda: ModelCheckpoint("a/b"), ValueError, "without '/'"),
        (lambda: ModelCheckpoint(config=5), TypeError, "must be a CheckpointConfig"),
        (lambda: LossMonitor(-1), ValueError, "must be at least 0"),
        (lambda: LossMonitor("1"), TypeError, "must be an int"),
        (lambda: TimeMonitor(0), ValueError, "must be at least 1"),
        (lambda: LearningRateScheduler(5), TypeError, "must be callable"),
        (lambda: ReduceLROnPlateau(factor=1.5), ValueError, r"must be in \(0, 1\)"),
    ],
)
def test_wrong_arguments(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_policy():
    assert CheckpointConfig(1, 3, 2, 1).get_checkpoint_policy() == {
        "save_checkpoint_steps": 1,
        "save_checkpoint_seconds": None,
        "keep_checkpoint_max": 2,
        "keep_checkpoint_per_n_minutes": None,
        "saved_network": None,
    }


def test_old_paths():
    from mindspore.train.callback._callback import Callback as OldCallback
    from mindspore.train.callback._checkpoint import CheckpointConfig as OldConfig
    from mindspore.train.callback._checkpoint import (
        _check_file_name_prefix,
        _chg_ckpt_file_name_if_same_exist,
    )
    from mindspore.train.callback._loss_monitor import LossMonitor as OldMonitor
    from mindspore.train.callback._time_monitor import TimeMonitor as OldTime

    assert (OldCallback, OldConfig, OldMonitor, OldTime) == (
        Callback,
        CheckpointConfig,
        LossMonitor,
        TimeMonitor,
    )
    assert _check_file_name_prefix("a") and not _check_file_name_prefix("a/b")
    assert callable(_chg_ckpt_file_name_if_same_exist)

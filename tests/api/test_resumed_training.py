"""A training that was stopped goes on as if it had not been: the same losses, bit for bit."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import mindspore as ms
from mindspore import dataset as ds
from mindspore import nn
from mindspore.train import (
    BackupAndRestore,
    Callback,
    CheckpointConfig,
    DynamicLossScaleManager,
    EarlyStopping,
    History,
    LearningRateScheduler,
    Model,
    ModelCheckpoint,
    ReduceLROnPlateau,
)

X = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
Y = (np.arange(20) % 3).astype(np.int32)
EPOCHS, STEPS = 3, 5


class Losses(Callback):
    """Keeps the loss and the learning rate of each step; may do something after one."""

    def __init__(self, at=0, act=None):
        self.seen, self.at, self.act = {}, at, act

    def on_train_step_end(self, run_context):
        params = run_context.original_args()
        loss = params.net_outputs
        loss = loss[0] if isinstance(loss, tuple) else loss
        rate = float(params.optimizer.learning_rate.asnumpy())
        self.seen[params.cur_step_num] = (params.cur_epoch_num, float(loss).hex(), rate)
        if params.cur_step_num == self.at:
            self.act()


def drawing_rows():
    """Rows in an order, and with noise, that the process's own generators give."""
    for i in np.random.permutation(20):
        yield X[i] + np.float32(random.random()), Y[i]


def training(seeded=True, own_source=False, **options):
    if seeded:
        ms.set_seed(3)
        random.seed(4)
    if own_source:
        data = ds.GeneratorDataset(drawing_rows, ["x", "y"])
    else:
        data = ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=True)
    net = nn.SequentialCell(nn.Dense(4, 8), nn.Dropout(p=0.5), nn.BatchNorm1d(8), nn.Dense(8, 3))
    optimizer = nn.Adam(net.trainable_params(), 0.05)
    model = Model(net, nn.CrossEntropyLoss(), optimizer, metrics={"loss"}, **options)
    return model, data.batch(4)


def callbacks(losses):
    """Callbacks that change the training, with states of their own."""
    return [
        losses,
        ReduceLROnPlateau("eval_loss", patience=1, factor=0.5, mode="max"),
        EarlyStopping("eval_loss", patience=50),
    ]


def checkpoints(folder):
    config = CheckpointConfig(save_checkpoint_steps=1, keep_checkpoint_max=100)
    return ModelCheckpoint("c", str(folder), config)


def after(losses, steps):
    return {step: value for step, value in losses.seen.items() if step > steps}


KINDS = {
    "plain": {},
    "unseeded": {"seeded": False},
    "own source": {"own_source": True},
    "loss scale": {
        "amp_level": "O2",
        "loss_scale_manager": (lambda: DynamicLossScaleManager(2**10, 2, 4)),
    },
}


@pytest.mark.parametrize("sink", [False, True], ids=["steps", "sink"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_training_goes_on_from_any_checkpoint(mode, tmp_path, kind, sink):
    options = {k: v() if callable(v) else v for k, v in KINDS[kind].items()}
    model, data = training(**options)
    whole = Losses()
    scheduler = LearningRateScheduler(lambda rate, step: rate * 0.99)  # told after the saving
    first = [*callbacks(whole), checkpoints(tmp_path / "whole"), scheduler]
    model.fit(EPOCHS, data, data, callbacks=first, dataset_sink_mode=sink)
    assert len(whole.seen) == EPOCHS * STEPS
    for epoch, step in ((1, 2), (2, 5), (3, 5)):
        options = {k: v() if callable(v) else v for k, v in KINDS[kind].items()}
        model, data = training(**options)
        assert model.resume(str(tmp_path / "whole" / f"c-{epoch}_{step}.ckpt"))
        rest = Losses()
        scheduler = LearningRateScheduler(lambda rate, step: rate * 0.99)
        model.fit(
            EPOCHS, data, data, callbacks=[*callbacks(rest), scheduler], dataset_sink_mode=sink
        )
        assert rest.seen == after(whole, (epoch - 1) * STEPS + step)


def test_the_newest_checkpoint_of_a_folder(pynative, tmp_path):
    whole = Losses()
    model, data = training()
    assert not model.resume(str(tmp_path / "missing"))
    model.train(EPOCHS, data, callbacks=whole)
    model, data = training()
    model.train(2, data, callbacks=checkpoints(tmp_path))
    rest = Losses()
    model, data = training()
    assert model.resume(str(tmp_path))
    model.train(EPOCHS, data, callbacks=rest)
    assert rest.seen == after(whole, 2 * STEPS)
    values = ms.load_checkpoint(str(tmp_path / "c-2_5.ckpt"))
    assert not [name for name in values if "state" in name]


def test_safetensors_and_history(pynative, tmp_path):
    whole, rest = History(), History()
    config = CheckpointConfig(save_checkpoint_steps=STEPS, format="safetensors")
    model, data = training()
    model.fit(
        EPOCHS, data, data, callbacks=[whole, ModelCheckpoint("c", str(tmp_path / "a"), config)]
    )
    model, data = training()
    assert model.resume(str(tmp_path / "a" / "c-2_5.safetensors"))
    model.fit(EPOCHS, data, data, callbacks=rest)
    assert rest.epoch == whole.epoch
    assert rest.history["loss"] == whole.history["loss"]


@pytest.mark.parametrize("at", [1, 5, 8, 14])
def test_a_backup_is_enough(pynative, tmp_path, at):
    whole, first, second = Losses(), Losses(at, lambda: 1 / 0), Losses()
    model, data = training()
    model.fit(EPOCHS, data, data, callbacks=callbacks(whole))
    backup = tmp_path / "backup"
    model, data = training()
    with pytest.raises(ZeroDivisionError):
        model.fit(EPOCHS, data, data, callbacks=[BackupAndRestore(str(backup)), *callbacks(first)])
    model, data = training()
    model.fit(EPOCHS, data, data, callbacks=[BackupAndRestore(str(backup)), *callbacks(second)])
    assert {**first.seen, **second.seen} == whole.seen
    assert min(second.seen) == at // STEPS * STEPS + 1 if at % STEPS else at - STEPS + 1
    assert not os.listdir(backup)


def test_a_finished_backup_begins_with_its_parameters(pynative, tmp_path):
    model, data = training()
    model.train(2, data, callbacks=BackupAndRestore(str(tmp_path), delete_checkpoint=False))
    left = model._network[0].weight.asnumpy().copy()
    model, data = training()
    seen = Losses(1, lambda: None)
    started = []

    class Start(Callback):
        def on_train_begin(self, run_context):
            started.append(model._network[0].weight.asnumpy().copy())

    model.train(2, data, callbacks=[BackupAndRestore(str(tmp_path)), Start(), seen])
    np.testing.assert_array_equal(started[0], left)
    assert len(seen.seen) == 2 * STEPS


PROGRAM = """
    import os, signal, sys
    sys.path.insert(0, {here!r})
    import mindspore as ms
    from mindspore.train import BackupAndRestore, CheckpointConfig, ModelCheckpoint, OnRequestExit
    from test_resumed_training import Losses, training

    ms.set_context(mode=ms.GRAPH_MODE)
    kill, kind, folder, epochs = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    model, data = training()
    own = [BackupAndRestore(folder)]
    if kind == "each step":
        os.makedirs(folder, exist_ok=True)
        model.resume(folder)
        own = [ModelCheckpoint("c", folder, CheckpointConfig(save_checkpoint_steps=1))]
    if kind == "term":
        own.append(OnRequestExit(save_mindir=False, directory=folder))
    if kind == "handler":
        own.append(OnRequestExit(save_mindir=False, directory=folder))
        signal.signal(signal.SIGTERM, lambda number, frame: print("told", number, flush=True))
    sent = signal.SIGTERM if kind in ("term", "handler") else signal.SIGKILL
    losses = Losses(kill, lambda: os.kill(os.getpid(), sent))
    try:
        # A checkpoint holds the step after which it is saved.
        order = [*own, losses] if kind == "each step" else [losses, *own]
        model.fit(epochs, data, data, callbacks=order)
    finally:
        for step, value in losses.seen.items():
            print(step, *value, flush=True)
    print("end", flush=True)
"""


def run(kill, kind, folder, epochs=EPOCHS):
    program = textwrap.dedent(PROGRAM).format(here=os.path.dirname(__file__))
    done = subprocess.run(
        [sys.executable, "-c", program, str(kill), kind, str(folder), str(epochs)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
    losses = {int(line[0]): line[1] for line in lines if line[0].isdigit()}
    return done, losses


def test_a_process_that_is_told_to_end_goes_on_within_its_epoch(tmp_path):
    _, whole = run(0, "term", tmp_path / "whole")
    assert len(whole) == EPOCHS * STEPS
    told, first = run(7, "term", tmp_path / "run")
    assert told.returncode == 128 + signal.SIGTERM, told.stderr
    assert "end" not in told.stdout and max(first) == 7
    assert (tmp_path / "run" / "rank_0" / "Net_train.ckpt").exists()
    done, rest = run(0, "term", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert min(rest) == 8 and {**first, **rest} == whole


def test_a_handler_of_the_program_is_called(tmp_path):
    told, losses = run(7, "handler", tmp_path)
    assert told.returncode == 0, told.stderr
    assert max(losses) == 7
    assert told.stdout.splitlines()[0] == "told 15" and told.stdout.endswith("end\n")


@pytest.mark.parametrize(
    "kills", [(7,), pytest.param(tuple(range(1, 16)), marks=pytest.mark.slow)], ids=["one", "each"]
)
def test_a_killed_process_goes_on(tmp_path, kills):
    _, whole = run(0, "kill", tmp_path / "whole")
    for kill in kills:
        folder = tmp_path / str(kill)
        killed, _ = run(kill, "kill", folder)
        assert killed.returncode == -signal.SIGKILL
        done, rest = run(0, "kill", folder)
        assert done.returncode == 0, done.stderr
        begun = (kill - 1) // STEPS * STEPS
        assert rest == {step: value for step, value in whole.items() if step > begun}


@pytest.mark.parametrize("count", [1, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["kill", "each step"])
def test_kills_at_random_steps_of_a_long_training(tmp_path, kind, count):
    epochs = 60
    _, whole = run(0, kind, tmp_path / "whole", epochs)
    assert len(whole) == epochs * STEPS == 300
    for kill in random.Random(count).sample(range(1, 300), count):
        killed, _ = run(kill, kind, tmp_path / str(kill), epochs)
        assert killed.returncode == -signal.SIGKILL
        done, rest = run(0, kind, tmp_path / str(kill), epochs)
        assert done.returncode == 0, done.stderr
        begun = (kill - 1) // STEPS * STEPS if kind == "kill" else kill
        assert rest == {step: value for step, value in whole.items() if step > begun}


@pytest.mark.parametrize("runs", [3, pytest.param(20, marks=pytest.mark.slow)])
def test_runs_of_one_seed_are_the_same(mode, tmp_path, runs):
    seen = []
    for _ in range(runs):
        losses = Losses()
        model, data = training()
        model.fit(EPOCHS, data, data, callbacks=callbacks(losses))
        weights = [p.asnumpy().tobytes() for p in model.train_network.get_parameters()]
        seen.append((losses.seen, weights))
    assert all(one == seen[0] for one in seen)
    apart = [run(0, "kill", tmp_path / str(number))[1] for number in range(2)]
    assert len(apart[0]) == EPOCHS * STEPS and apart[0] == apart[1]


@pytest.mark.parametrize("fault", ["eio", "enospc", "short"])
def test_a_backup_that_fails_leaves_the_one_before(pynative, tmp_path, monkeypatch, fault):
    whole = Losses()
    model, data = training()
    model.fit(EPOCHS, data, data, callbacks=callbacks(whole))
    failed = 0
    for call in range(1, 12):  # each system call of the second save
        folder = str(tmp_path / str(call))
        monkeypatch.delenv("MS_IO_FAULT", raising=False)
        first, text = Losses(STEPS + 2), f"{call}:{fault}"
        first.act = lambda text=text: monkeypatch.setenv("MS_IO_FAULT", text)
        model, data = training()
        try:
            own = BackupAndRestore(folder, delete_checkpoint=False)
            model.fit(2, data, data, callbacks=[own, *callbacks(first)])
        except OSError:
            failed += 1
        monkeypatch.delenv("MS_IO_FAULT", raising=False)
        rest = Losses()
        model, data = training()
        assert model.resume(os.path.join(folder, "backup.ckpt"))
        model.fit(EPOCHS, data, data, callbacks=callbacks(rest))
        assert min(rest.seen) in (STEPS + 1, 2 * STEPS + 1)
        assert rest.seen == after(whole, min(rest.seen) - 1)
        assert [name for name in os.listdir(folder) if name.endswith(".ckpt")] == ["backup.ckpt"]
    assert failed >= 4 or fault == "short"


def test_callbacks_of_users_may_have_any_attribute(pynative, tmp_path):
    class Own(Callback):
        def __init__(self):
            self._state, self._run, self._leaving = {"a": 1}, 2, True

    model, data = training()
    model.train(1, data, callbacks=[Own(), checkpoints(tmp_path)])
    assert model.resume(str(tmp_path))


def test_what_cannot_be_taken_up(pynative, tmp_path):
    model, data = training()
    ms.save_checkpoint(model.train_network, str(tmp_path / "bare.ckpt"))
    with pytest.raises(
        ValueError, match=r"For 'Model.resume', 'ckpt_path' must be a checkpoint of"
    ):
        model.resume(str(tmp_path / "bare.ckpt"))
    with pytest.raises(ValueError, match=r"For 'Model.resume', the file must exist"):
        model.resume(str(tmp_path / "none.ckpt"))
    model.train(1, data, callbacks=checkpoints(tmp_path))
    model, _ = training()
    model.resume(str(tmp_path / "c-1_2.ckpt"))
    with pytest.raises(ValueError, match=r"'train_dataset' must have 5 batches, .* but it has 2"):
        model.train(2, ds.NumpySlicesDataset({"x": X[:12], "y": Y[:12]}).batch(10))
    values = ms.load_checkpoint(str(tmp_path / "c-1_2.ckpt"))
    broken = ms.Tensor(np.frombuffer(b"[1", np.uint8).copy())
    ms.save_checkpoint(
        [{"name": name, "data": value} for name, value in values.items()],
        str(tmp_path / "broken.ckpt"),
        append_dict={"mindspore.training_state": broken},
    )
    with pytest.raises(ValueError, match=r"The state of the training in '.*broken.ckpt' is dam"):
        model.resume(str(tmp_path / "broken.ckpt"))


class Plain:
    """What is no Dataset, but gives batches; one that can be moved is told where to begin."""

    def __init__(self, movable):
        self.epoch, self.given = 0, []
        if movable:
            self.restore = lambda state: setattr(self, "epoch", state["epoch"])

    def get_dataset_size(self):
        return 3

    def create_tuple_iterator(self, num_epochs=-1, **_):
        return self

    def state(self):
        return {"version": 1, "epoch": self.epoch, "step": 0}

    def __iter__(self):
        self.epoch += 1
        for step in range(3):
            self.given.append((self.epoch, step))
            yield [
                ms.Tensor(np.full((2, 4), self.epoch * 0.1 + step, np.float32)),
                ms.Tensor([0, 1]),
            ]


@pytest.mark.parametrize("movable", [True, False])
def test_what_only_gives_batches(pynative, tmp_path, movable):
    if not movable:
        Plain.state, kept = None, Plain.state
    try:
        whole, rest = Losses(), Losses()
        model, _ = training()
        model.train(3, Plain(movable), callbacks=[whole, checkpoints(tmp_path)])
        model, _ = training()
        assert model.resume(str(tmp_path / "c-2_2.ckpt"))
        data = Plain(movable)
        model.train(3, data, callbacks=rest)
    finally:
        if not movable:
            Plain.state = kept
    assert rest.seen == after(whole, 5)
    assert data.given[0] == ((2, 0) if movable else (1, 0))


def test_other_conditions_are_told_once(pynative, tmp_path, monkeypatch):
    from mindspore.train import _resume

    lines = []
    monkeypatch.setattr(ms.log, "warn_once", lambda key, text: lines.append((key, text)))
    model, data = training()
    model.train(1, data, callbacks=checkpoints(tmp_path))
    monkeypatch.setattr(_resume, "processor", lambda: "another")
    losses = Losses()
    model, data = training()
    model.resume(str(tmp_path / "c-1_5.ckpt"))
    model.train(2, data, callbacks=losses)
    assert len(losses.seen) == STEPS
    assert [key for key, _ in lines] == ["resume"] and "another" in lines[0][1]


def test_a_finished_training_that_is_started_again_has_nothing_to_do(pynative, tmp_path):
    """Also where its last file was written at its end, not after a step of the plan."""
    for finished in (False, True):
        model, data = training()
        assert model.resume(str(tmp_path)) is finished
        saving = ModelCheckpoint("c", str(tmp_path), CheckpointConfig(save_checkpoint_steps=4))
        losses = Losses()
        model.train(1, data, callbacks=[losses, saving], dataset_sink_mode=False)
        assert len(losses.seen) == (0 if finished else STEPS)


def test_a_training_that_was_stopped_within_an_epoch_goes_on_there(pynative, tmp_path):
    """The file is written at its end, after no step of the plan."""
    whole = Losses()
    model, data = training()
    model.train(2, data, callbacks=[whole], dataset_sink_mode=False)

    class Stop(Callback):
        def on_train_step_end(self, run_context):
            if run_context.original_args().cur_step_num == 2:
                run_context.request_stop()

    seen = {}
    for callback in (Stop(), Callback()):
        model, data = training()
        model.resume(str(tmp_path))
        losses = Losses()
        saving = ModelCheckpoint("c", str(tmp_path), CheckpointConfig(save_checkpoint_steps=100))
        model.train(2, data, callbacks=[losses, callback, saving], dataset_sink_mode=False)
        assert not seen.keys() & losses.seen.keys()
        seen |= losses.seen
    assert seen == whole.seen

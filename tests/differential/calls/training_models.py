"""Models and callbacks, and what they leave behind."""

import os
import tempfile

from differential.calllib import case
from differential.small_model import Seen, X, batches, dense, model


# ---- models -----------------------------------------------------------------------------------
@case("train.Model", tol=1e-4)
def _(ms):
    """trained, evaluated, asked"""
    m, net = model(ms, metrics={"mse", "loss"})
    note = Seen(ms)
    m.train(2, batches(ms), callbacks=[note], dataset_sink_mode=False)
    found = m.eval(batches(ms), dataset_sink_mode=False)
    return [
        note.log,
        list(net.get_parameters()),
        {k: float(v) for k, v in found.items()},
        m.predict(ms.Tensor(X)),
    ]


@case("train.Model", tol=1e-4)
def _(ms):
    """fitted"""
    m, net = model(ms, metrics={"mae"})
    note = Seen(ms)
    m.fit(
        3,
        batches(ms),
        batches(ms),
        valid_frequency=2,
        callbacks=note,
        dataset_sink_mode=False,
        valid_dataset_sink_mode=False,
    )
    return [note.log, list(net.get_parameters())]


@case("train.Model", tol=1e-4)
def _(ms):
    """with a loss scale"""
    m, net = model(ms, loss_scale_manager=ms.train.FixedLossScaleManager(4.0, False))
    m.train(1, batches(ms), dataset_sink_mode=False)
    return list(net.get_parameters())


@case("train.Model")
def _(ms):
    """stopped, and from an epoch on"""
    m, _ = model(ms)
    note, late = Seen(ms, 2), Seen(ms)
    m.train(3, batches(ms), callbacks=note, dataset_sink_mode=False)
    m.train(3, batches(ms), callbacks=late, dataset_sink_mode=False, initial_epoch=2)
    return [note.log, late.log]


for wrong in (
    {"network": 3},
    {"metrics": {"nothing"}},
    {"metrics": 3},
    {"amp_level": "O7"},
    {"loss_scale_manager": 3},
    {"boost_level": "O7"},
    {"loss_fn": None, "metrics": {"acc"}},
):

    @case("train.Model")
    def _(ms, wrong=wrong):
        return type(
            ms.train.Model(**{"network": dense(ms), "loss_fn": ms.nn.MSELoss(), **wrong})
        ).__name__


for wrong in ((0,), (1.5,), ("a",), (-1,)):

    @case("Model.train")
    def _(ms, wrong=wrong):
        return model(ms)[0].train(*wrong, batches(ms), dataset_sink_mode=False)


case("Model.eval")(lambda ms: model(ms)[0].eval(batches(ms), dataset_sink_mode=False))
case("Model.predict")(lambda ms: model(ms)[0].predict(ms.Tensor(X), ms.Tensor(X)))
case("Model.fit")(lambda ms: model(ms)[0].fit(1, batches(ms), batches(ms), dataset_sink_mode=False))


@case("Model.build")
def _(ms):
    m, _ = model(ms)
    return [m.build(batches(ms)), type(m.train_network).__name__, m.eval_network is None]


# ---- callbacks --------------------------------------------------------------------------------
def ran(name, *args, epochs=3, ask=lambda c: None, fit=False, **kwargs):
    """What a callback leaves behind."""

    @case(f"train.{name}", tol=1e-4)
    def program(ms):
        callback = getattr(ms.train, name)(*args, **kwargs)
        m, net = model(ms, metrics={"mse"})
        if fit:
            m.fit(
                epochs,
                batches(ms),
                batches(ms),
                callbacks=callback,
                dataset_sink_mode=False,
                valid_dataset_sink_mode=False,
            )
        else:
            m.train(epochs, batches(ms), callbacks=callback, dataset_sink_mode=False)
        return [ask(callback), m._optimizer.get_lr(), list(net.get_parameters())]


ran("LossMonitor")
ran("LossMonitor", 2)
ran("LossMonitor", -1)
ran("LossMonitor", "a")
ran("TimeMonitor")
ran("TimeMonitor", 2)
ran("TimeMonitor", -1)
ran(
    "History",
    ask=lambda c: [
        sorted(c.epoch),
        len(c.history["net_output"]) if "net_output" in c.history else sorted(c.history),
    ],
)
ran("LearningRateScheduler", lambda rate, step: rate * 0.5 if step > 2 else rate)
ran("LearningRateScheduler", 3)
ran("LambdaCallback", on_train_epoch_end=lambda context: None)
ran("LambdaCallback", on_train_epoch_end=3)
ran("EarlyStopping", "mse", 0.0, 1, mode="min", fit=True, epochs=6, ask=lambda c: c.stopped_epoch)
ran("EarlyStopping", "mse", 9.0, 1, mode="min", fit=True, epochs=6, ask=lambda c: c.stopped_epoch)
ran("EarlyStopping", "mse", 9.0, 1, mode="min", restore_best_weights=True, fit=True, epochs=6)
ran(
    "EarlyStopping",
    "mse",
    baseline=1e-9,
    patience=1,
    fit=True,
    epochs=6,
    ask=lambda c: c.stopped_epoch,
)
ran("EarlyStopping", patience=-1, fit=True)
ran("EarlyStopping", mode="most", fit=True)
ran("ReduceLROnPlateau", "mse", 0.5, 1, mode="min", min_delta=9.0, fit=True, epochs=6)
ran(
    "ReduceLROnPlateau",
    "mse",
    0.5,
    1,
    mode="min",
    min_delta=9.0,
    cooldown=2,
    min_lr=0.04,
    fit=True,
    epochs=6,
)
ran("ReduceLROnPlateau", factor=1.5, fit=True)
ran("ReduceLROnPlateau", mode="most", fit=True)


def kept(prefix="net", epochs=3, **kwargs):
    """The files that checkpoints leave, and what is in one."""

    @case("train.ModelCheckpoint", tol=1e-4)
    def program(ms):
        with tempfile.TemporaryDirectory() as folder:
            config = ms.train.CheckpointConfig(**kwargs)
            saver = ms.train.ModelCheckpoint(prefix, folder, config)
            model(ms)[0].train(epochs, batches(ms), callbacks=saver, dataset_sink_mode=False)
            found = sorted(f for f in os.listdir(folder) if not f.endswith((".meta", ".json")))
            values = ms.load_checkpoint(os.path.join(folder, found[-1]))
            return [found, dict(values), os.path.basename(saver.latest_ckpt_file_name)]


kept()
kept(save_checkpoint_steps=2, keep_checkpoint_max=2)
kept(save_checkpoint_steps=4, keep_checkpoint_max=10)
kept(save_checkpoint_steps=100)
kept(save_checkpoint_steps=4, append_info=["epoch_num", "step_num", {"mine": 3}])
kept(save_checkpoint_steps=4, format="safetensors")
kept("a/b")
kept(3)
for wrong in (
    {"save_checkpoint_steps": -1},
    {"save_checkpoint_steps": None, "save_checkpoint_seconds": None},
    {"keep_checkpoint_max": -1},
    {"append_info": 3},
    {"integrated_save": 3},
    {"save_checkpoint_steps": 1.5},
):

    @case("train.CheckpointConfig")
    def _(ms, wrong=wrong):
        config = ms.train.CheckpointConfig(**wrong)
        return [config.save_checkpoint_steps, config.keep_checkpoint_max, config.integrated_save]


@case("train.CheckpointConfig")
def _(ms):
    """as it is"""
    c = ms.train.CheckpointConfig()
    return [
        c.save_checkpoint_steps,
        c.save_checkpoint_seconds,
        c.keep_checkpoint_max,
        c.integrated_save,
        c.async_save,
        c.append_dict,
    ]


@case("train.RunContext")
def _(ms):
    class Args(dict):
        __getattr__ = dict.get

    c = ms.train.RunContext(Args(a=3))
    before = c.get_stop_requested()
    c.request_stop()
    return [before, c.get_stop_requested(), c.original_args()["a"]]


case("train.RunContext")(lambda ms: ms.train.RunContext(3))


@case("train.DatasetHelper")
def _(ms):
    helper = ms.train.DatasetHelper(batches(ms), dataset_sink_mode=False)
    return [list(x) for x in helper]

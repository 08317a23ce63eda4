"""Callbacks that write files, profiles, reducers, helpers of checkpoints, layers of quantisation, checks of arguments."""

import json
import os
import tempfile

import numpy as np
from differential.calllib import case, found
from differential.small_model import Seen, X, Y, batches, dense, model

# ---- callbacks --------------------------------------------------------------------------------------
for _home in ("", "train.", "train.callback."):

    @case(f"{_home}BackupAndRestore")
    def _(ms, home=_home):
        """A training goes on where another one left; its file goes with it."""
        with tempfile.TemporaryDirectory() as folder:
            kind = found(ms, f"{home}BackupAndRestore")
            made, net = model(ms)
            made.train(
                1,
                batches(ms),
                callbacks=[kind(folder, delete_checkpoint=False)],
                dataset_sink_mode=False,
            )
            left, kept = net.weight.asnumpy().copy(), sorted(os.listdir(folder))
            again, net = model(ms)
            seen = Seen(ms)
            again.train(2, batches(ms), callbacks=[kind(folder), seen], dataset_sink_mode=False)
            return left, kept, [line[0] for line in seen.log][:4], sorted(os.listdir(folder))

    @case(f"{_home}BackupAndRestore")
    def _(ms, home=_home):
        """A folder that is none."""
        return found(ms, f"{home}BackupAndRestore")(3)

    @case(f"{_home}OnRequestExit", ref=lambda: [1, 0.5, -0.25])
    def _(ms, home=_home):
        """The request of a file ends the training after its step."""
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "exit.json")
            with open(config, "w") as file:
                json.dump({"GracefulExit": 0}, file)
            kind = found(ms, f"{home}OnRequestExit")
            made, net = model(ms, optimizer=ms.nn.SGD(dense(ms).trainable_params(), 0.1))
            steps = []

            class Ask(ms.train.Callback):
                def on_train_step_end(self, run_context):
                    steps.append(1)
                    if len(steps) == 1:
                        with open(config, "w") as file:
                            json.dump({"GracefulExit": 1}, file)

            leave = kind(save_ckpt=False, save_mindir=False, directory=folder, config_file=config)
            made.train(1, batches(ms), callbacks=[Ask(), leave], dataset_sink_mode=False)
            return [len(steps), *net.weight.asnumpy().ravel().tolist()]

    @case(f"{_home}OnRequestExit")
    def _(ms, home=_home):
        """A signal that is none."""
        return found(ms, f"{home}OnRequestExit")(sig="nothing")


for _home in ("", "train.", "train.callback."):

    @case(f"{_home}SummaryCollector")
    def _(ms, home=_home):
        """A file of the run, in the folder."""
        with tempfile.TemporaryDirectory() as folder:
            collector = found(ms, f"{home}SummaryCollector")(folder, collect_freq=1)
            trained, net = model(ms)
            trained.train(1, batches(ms), callbacks=[collector], dataset_sink_mode=False)
            return net.weight, any("summary" in name for name in os.listdir(folder))

    for _options in (
        {"collect_freq": 0},
        {"collect_specified_data": {"nothing": 1}},
        {"keep_default_action": 3},
    ):

        @case(f"{_home}SummaryCollector")
        def _(ms, home=_home, options=_options):
            with tempfile.TemporaryDirectory() as folder:
                return found(ms, f"{home}SummaryCollector")(folder, **options)


@case("train.callback._InternalCallbackParam")
def _(ms):
    """Values by name, two ways."""
    p = ms.train.callback._InternalCallbackParam()
    p.epoch, p["step"] = 3, 4
    return dict(p), p.step, p["epoch"], p.get("nothing", 5)


@case("train.callback._CallbackManager")
def _(ms):
    """All of its callbacks are told."""
    seen = [Seen(ms), Seen(ms)]
    param = ms.train.callback._InternalCallbackParam()
    param.cur_epoch_num, param.cur_step_num = 2, 7
    with ms.train.callback._CallbackManager(seen) as manager:
        manager.on_train_step_end(ms.train.RunContext(param))
    return [s.log for s in seen]


for _name in ("train.callback._set_cur_net", "train.callback._callback.set_cur_net"):

    @case(_name)
    def _(ms, name=_name):
        """The network stays as it is."""
        net = dense(ms)
        found(ms, name)(net)
        return net.weight


# ---- helpers of checkpoints -------------------------------------------------------------------------
@case("train._utils._make_directory")
def _(ms):
    """Folders that are missing are made."""
    from importlib import import_module

    make = import_module(f"{ms.__name__}.train._utils")._make_directory
    with tempfile.TemporaryDirectory() as folder:
        path = make(os.path.join(folder, "a", "b"))
        return os.path.relpath(path, folder), os.path.isdir(path)


@case("train._utils._make_directory")
def _(ms):
    """A path that is none."""
    return found(ms, "train._utils._make_directory")(3)


@case("train.callback._checkpoint._chg_ckpt_file_name_if_same_exist")
def _(ms):
    """A prefix that is free, taken, and taken twice."""
    change = found(ms, "train.callback._checkpoint._chg_ckpt_file_name_if_same_exist")
    with tempfile.TemporaryDirectory() as folder:
        seen = [change(folder, "net")]
        for name in ("net-1_4.ckpt", "net_1-2_4.ckpt"):
            open(os.path.join(folder, name), "w").close()
            seen.append(change(folder, "net"))
        return seen, change(folder, "other")


@case("train.callback._checkpoint._cur_dir")
def _(ms):
    """A folder."""
    return os.path.isdir(found(ms, "train.callback._checkpoint._cur_dir"))


@case(
    "train.callback._checkpoint._check_file_name_prefix",
    ref=lambda: [True, True, False, False],
)
def _(ms):
    """Names, a path and a number."""
    check = found(ms, "train.callback._checkpoint._check_file_name_prefix")
    return [check(p) for p in ("net", "net-2", "a/b", 3)]


@case("train.CheckpointManager", ref=lambda: [0, []])
def _(ms):
    """A new one knows no files."""
    manager = ms.train.CheckpointManager()
    return [manager.ckpoint_num, manager.ckpoint_filelist]


@case("train.serialization._update_param")
def _(ms):
    """Of the same dtype, and of another."""
    old = ms.Parameter(ms.Tensor(X), name="a")
    found(ms, "train.serialization._update_param")(old, ms.Parameter(ms.Tensor(X * 2)), False)
    return old


@case("train.serialization._update_param")
def _(ms):
    """Another shape."""
    old = ms.Parameter(ms.Tensor(X), name="a")
    found(ms, "train.serialization._update_param")(old, ms.Parameter(ms.Tensor(Y)), False)
    return old


@case("train.serialization._check_checkpoint_param")
def _(ms):
    """A file that is none."""
    return found(ms, "train.serialization._check_checkpoint_param")(3)


@case("train.serialization._check_checkpoint_param", ref=lambda: True)
def _(ms):
    """A file that there is."""
    with tempfile.NamedTemporaryFile(suffix=".ckpt") as file:
        checked = found(ms, "train.serialization._check_checkpoint_param")(file.name)
        return os.path.basename(str(checked if isinstance(checked, str) else checked[0])) == (
            os.path.basename(file.name)
        )


@case("train.serialization.tensor_to_ms_type")
def _(ms):
    """Types by their names in a file."""
    table = found(ms, "train.serialization.tensor_to_ms_type")
    return {n: str(table[n]) for n in "Int8 UInt8 Int64 Float16 Float32 Bool BFloat16".split()}


@case("train.serialization.tensor_to_np_type")
def _(ms):
    """Types of NumPy by their names in a file."""
    table = found(ms, "train.serialization.tensor_to_np_type")
    return [np.dtype(table(n)).name for n in "Int8 UInt8 Int64 Float16 Float32".split()]


# ---- checks of arguments ----------------------------------------------------------------------------
_CHECK = "_checkparam.Validator"


@case("train.serialization.Validator.check_isinstance")
def _(ms):
    """Of the class, and not."""
    check = found(ms, "train.serialization.Validator.check_isinstance")
    check("x", 3, (int, str))
    return check("x", 3.5, (int, str))


@case(
    "_checkparam.Rel",
    ref=lambda: "EQ NE LT LE GT GE INC_NEITHER INC_LEFT INC_RIGHT INC_BOTH IN NOT_IN".split(),
)
def _(ms):
    """How numbers compare."""
    return [rel.name for rel in ms._checkparam.Rel]


for _name, _good, _bad in (
    ("check_float_range", (0.5, 0.0, 1.0), (1.5, 0.0, 1.0)),
    ("check_int_range", (3, 0, 3), (4, 0, 3)),
    ("check_integer", (3, 3), (2, 3)),
):

    @case(f"{_CHECK}.{_name}", ref=lambda good=_good: [good[0], "ValueError"])
    def _(ms, name=_name, good=_good, bad=_bad):
        """A good one and a bad one."""
        check, rel = getattr(ms._checkparam.Validator, name), ms._checkparam.Rel
        rule = rel.GE if name == "check_integer" else rel.INC_BOTH
        try:
            return [check(*good, rule, "x", "op"), check(*bad, rule, "x", "op")]
        except ValueError as error:
            return [check(*good, rule, "x", "op"), type(error).__name__]


@case(f"{_CHECK}.check_subclass", ref=lambda: "TypeError")
def _(ms):
    """One of them, and none."""
    check = ms._checkparam.Validator.check_subclass
    check("x", ms.float32, (ms.float32, ms.number), "op")
    try:
        return check("x", ms.float32, (ms.int32,), "op")
    except TypeError as error:
        return type(error).__name__


@case(f"{_CHECK}.check_type_name", ref=lambda: "TypeError")
def _(ms):
    """One of them, and none."""
    check = ms._checkparam.Validator.check_type_name
    check("x", ms.float32, (ms.float32,), "op")
    try:
        return check("x", ms.float32, (ms.int32,), "op")
    except TypeError as error:
        return type(error).__name__


@case("nn.layer.basic.check_dense_input_shape", ref=lambda: "ValueError")
def _(ms):
    """A matrix, and a vector."""
    check = found(ms, "nn.layer.basic.check_dense_input_shape")
    check((2, 3), "Dense")
    try:
        return check((), "Dense")
    except ValueError as error:
        return type(error).__name__

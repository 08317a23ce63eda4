"""Constants, types without tensors, and what cells, models and primitives say of themselves."""

import importlib

import numpy as np
from differential.calllib import call, case, f32, found, of
from differential.small_model import X, Y, batches, dense, model

CONSTANTS = (
    "GRAPH_MODE PYNATIVE_MODE STRICT COMPATIBLE LAX ParallelMode.DATA_PARALLEL ParallelMode.HYBRID_PARALLEL "
    "ParallelMode.STAND_ALONE train.model.ParallelMode.DATA_PARALLEL train.model.ParallelMode.AUTO_PARALLEL "
    "train.serialization.context.GRAPH_MODE numpy.pi numpy.inf"
)
TYPES = (
    "_null common.dtype._null common.dtype.float8_e4m3fn common.dtype.float8_e5m2 common.dtype.hifloat8 "
    "common.dtype.qint4x2 float8_e5m2 float_ hifloat8 int_ list_ number qint4x2 string tuple_ type_none uint"
)
MODULES = {
    "dtype": "float32 int64",
    "train.serialization.context": "set_context",
    "dataset.engine.config": "set_seed",
    "nn.probability.distribution": "Normal",
}

for _name in CONSTANTS.split():

    @case(_name)
    def _(ms, name=_name):
        """Its value."""
        return found(ms, name)


for _name in TYPES.split():

    @case(_name)
    def _(ms, name=_name):
        """How it is shown, and what it is like."""
        it = found(ms, name)
        return str(it), it == found(ms, name), it == ms.float32, hash(it) == hash(found(ms, name))


for _path, _names in MODULES.items():

    @case(_path)
    def _(ms, path=_path, names=_names):
        """What it has."""
        return [hasattr(found(ms, path), n) for n in names.split()]


@case("_NullType")
def _(ms):
    """The class of the type of nothing."""
    return isinstance(ms._null, ms._NullType), isinstance(ms.float32, ms._NullType)


@case("number_type", ref=lambda: (True, False, True))
def _(ms):
    """The types of numbers."""
    return ms.float32 in ms.number_type, ms.bool_ in ms.number_type, ms.int8 in ms.number_type


@case("default_generator")
def _(ms):
    """What the ops draw from follows its seed."""
    ms.default_generator.manual_seed(5)
    first = ms.default_generator.initial_seed()
    a = ms.mint.rand(4)
    ms.default_generator.manual_seed(5)
    b = ms.mint.rand(4)
    return first, bool((a == b).all()), bool((ms.mint.rand(4) == b).all())


# ---- cells ------------------------------------------------------------------------------------------
_CELL = (
    "bprop_debug cls_name compile_phase enable_backward_hook parallel_parameter_name_list param_prefix "
    "phase_cache pipeline_segment pipeline_stage parameter_layout_dict parallel_parameter_merge_net_dict compile_cache "
    "exist_names exist_objs cell_init_args jit_config_dict"
)
for _name in _CELL.split():

    @case(f"nn.Cell.{_name}")
    def _(ms, name=_name):
        """Of a new layer."""
        value = getattr(dense(ms), name)
        return type(value).__name__ if isinstance(value, str) else value or type(value).__name__


for _name in (
    "cls_name enable_backward_hook param_prefix phase_cache pipeline_segment pipeline_stage "
    "compile_cache exist_names exist_objs jit_config_dict"
).split():

    @case(f"nn.Cell.{_name}")
    def _(ms, name=_name):
        """Of a user's cell that sets it."""

        class Net(ms.nn.Cell):
            def construct(self, x):
                return x * 2

        net = Net()
        setattr(net, name, 3)
        return getattr(net, name), net(ms.Tensor(X))


@case("nn.Cell.cls_name")
def _(ms):
    """Of a layer, a container and a user's cell."""

    class Net(ms.nn.Cell):
        pass

    return dense(ms).cls_name, ms.nn.SequentialCell(dense(ms)).cls_name, Net().cls_name


@case("nn.Cell.phase")
def _(ms):
    """While training and after it."""
    net = dense(ms)
    seen = [net.phase]
    for train in (True, False):
        net.set_train(train)
        seen.append(net.phase)
    net.phase = "predict"
    return [*seen, net.phase, net.training]


@case("nn.Cell.compiled")
def _(ms):
    """Before anything ran, and after an eager run."""
    net = dense(ms)
    before = bool(net.compiled)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net(ms.Tensor(X))
    return before, bool(net.compiled)


@case("nn.Cell.get_mixed_precision_type", ref=lambda: ["float16", "float32"])
def _(ms):
    """Of layers that compute in a type."""
    kinds = [dense(ms).to_float(ms.float16), dense(ms).to_float(ms.float32)]
    return [str(k.get_mixed_precision_type()).rpartition(".")[2].lower() for k in kinds]


@case("nn.Cell.T_destination")
def _(ms):
    """The name of what a state is written into."""
    return str(ms.nn.Cell.T_destination)


@case("nn.Cell.IGNORE_LIST")
def _(ms):
    """A list of attributes."""
    return isinstance(ms.nn.Cell.IGNORE_LIST, list), all(
        isinstance(n, str) for n in ms.nn.Cell.IGNORE_LIST
    )


@case("nn.Cell.global_cells")
def _(ms):
    """Kinds of it."""
    return type(ms.nn.Cell.global_cells).__name__


@case("nn.Cell.total_instance_count")
def _(ms):
    """A whole number."""
    return type(ms.nn.Cell.total_instance_count).__name__


@case("nn.Cell.create_time")
def _(ms):
    """A number that does not fall."""
    first, second = dense(ms), dense(ms)
    return type(first.create_time).__name__, first.create_time <= second.create_time


# ---- models -----------------------------------------------------------------------------------------
for _name in "train_network eval_network predict_network".split():

    @case(f"Model.{_name}")
    def _(ms, name=_name):
        """What it computes, before and after training."""
        made, net = model(ms, metrics={"loss"})
        network = getattr(made, name)
        kind = [n for n in ("train_network", "eval_network", "predict_network") if n == name]
        x, y = ms.Tensor(X), ms.Tensor(X[:, :1])
        inputs = (x,) if name == "predict_network" else (x, y)
        return kind, network(*inputs), [p.name for p in net.trainable_params()]


@case("Model.eval_network")
def _(ms):
    """Of a model without metrics."""
    made, _ = model(ms)
    return made.eval_network is None


for _name in "infer_predict_layout infer_train_layout".split():

    @case(f"Model.{_name}")
    def _(ms, name=_name):
        """Without automatic parallelism."""
        made, _ = model(ms)
        given = ms.Tensor(X) if "predict" in name else batches(ms)
        return getattr(made, name)(given)


# ---- tensors ----------------------------------------------------------------------------------------
@case("Tensor.parent_tensor_")
def _(ms):
    """Of a new tensor."""
    return ms.Tensor(X).parent_tensor_


@case("Tensor.set_cast_dtype")
def _(ms):
    """The values stay."""
    x = ms.Tensor(X)
    x.set_cast_dtype(ms.float16)
    return x


@case("Tensor.set_init_flag")
def _(ms):
    """The flag that a tensor says back."""
    x = ms.Tensor(X)
    x.set_init_flag(True)
    return x


@case("Tensor.to_", ref=lambda: (X, True))
def _(ms):
    """To the place where it is: itself."""
    x = ms.Tensor(X)
    return x, x.to_("CPU") is x


# ---- primitives -------------------------------------------------------------------------------------
@case("ops.Primitive.set_user_data")
def _(ms):
    """What was put there comes back."""
    op = ms.ops.ReLU()
    op.set_user_data("mark", 3)
    return op.get_user_data("mark"), op(ms.Tensor(X))


@case("ops.Primitive.get_user_data")
def _(ms):
    """What was never put there."""
    return ms.ops.ReLU().get_user_data("nothing")


for _name, _args in (
    ("set_const_input_indexes", ([0],)),
    ("set_const_prim", (True,)),
    ("set_inplace_prim", (False,)),
    ("set_signatures", ([],)),
):

    @case(f"ops.Primitive.{_name}")
    def _(ms, name=_name, args=_args):
        """The op computes as before."""
        op = ms.ops.ReLU()
        getattr(op, name)(*args)
        return op(ms.Tensor(X))


@case("ops.Primitive.set_prim_type", ref=lambda: None)
def _(ms):
    """Nothing comes of it."""
    return ms.ops.ReLU().set_prim_type(1)


@case("ops.Primitive.update_parameter", ref=lambda: (False, True))
def _(ms):
    """Of ops that write and do not."""
    return ms.ops.ReLU().update_parameter, ms.ops.Assign().update_parameter


@case("ops.stop_gradient_", ref=lambda: np.float32([2, -4]))
def _(ms):
    """No gradient goes through it."""

    def f(x):
        y = x * 2
        ms.ops.stop_gradient_(y)
        return (y * x).sum()

    ms.set_context(mode=ms.PYNATIVE_MODE)
    return ms.grad(f)(ms.Tensor([1.0, -2.0]))


@case("ops.switch", ref=lambda: (X, X * 2))
def _(ms):
    """Either of two."""
    x = ms.Tensor(X)
    return ms.ops.switch(True, x, x * 2), ms.ops.switch(ms.Tensor(False), x, x * 2)


@case("ops.switch_layer", ref=lambda: (abs(X), X))
def _(ms):
    """A layer by its number."""
    layers = (ms.nn.ReLU(), ms.nn.Identity())
    x = ms.Tensor(abs(X)), ms.Tensor(X)
    return [ms.ops.switch_layer(ms.Tensor(i), layers)(x[i]) for i in (0, 1)]


# ---- what older and newer scripts call by other names -----------------------------------------------
call("numpy.shape", f32(2, 3), ref=lambda x: x.shape)
call("numpy.shape", of(3.0), ref=lambda x: x.shape)


@case("ms_function", ref=lambda: (X * 2, X * 2))
def _(ms):
    """With and without brackets."""
    return ms.ms_function(lambda x: x * 2)(ms.Tensor(X)), ms.ms_function()(lambda x: x * 2)(
        ms.Tensor(X)
    )


@case("_pynative_executor", ref=lambda: X + 1)
def _(ms):
    """Waits for what runs."""
    y = ms.Tensor(X) + 1
    ms._pynative_executor.sync()
    return y


@case("cells_compile_cache", ref=lambda: "dict")
def _(ms):
    """A table."""
    return type(ms.cells_compile_cache).__name__


@case("utils.to_dlpack")
def _(ms):
    """And back."""
    capsule = ms.utils.to_dlpack(ms.Tensor(X))
    return type(capsule).__name__, ms.utils.from_dlpack(capsule)


@case("data_sink", ref=lambda: [X[i : i + 2].sum() + Y[i : i + 2].sum() for i in (0, 2)])
def _(ms):
    """A step over a dataset, run by run."""
    seen = []

    def step(x, y):
        seen.append(1)
        return x.sum() + y.sum()

    ms.set_context(mode=ms.PYNATIVE_MODE)
    run = ms.data_sink(step, batches(ms))
    return [run(), run()]


for _name in ("nn.thor", "nn.optim.thor"):

    @case(_name, ref=lambda: True)
    def _(ms, name=_name):
        """The function of the module of that name says why there is none."""
        try:
            importlib.import_module(f"{ms.__name__}.{name}").thor(None)
        except NotImplementedError as error:
            return "second-order" in str(error)

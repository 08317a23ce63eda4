"""Calls of primitives of one's own and their settings, of checks of arguments, of files of tensors, and of other inner names."""

import os
import tempfile

import numpy as np
from differential.calllib import case, f32, made

X = np.arange(6, dtype=np.float32).reshape(2, 3)


# ---- settings of primitives ---------------------------------------------------------------------
@case("ops.Primitive.add_prim_attr")
def _(ms):
    """Kept and found, and taken away."""
    op = ms.ops.Primitive("one")
    same = op.add_prim_attr("size", 3) is op
    there = op.attrs["size"], op.size
    op.del_prim_attr("size")
    return same, there, "size" in op.attrs


@case("ops.Primitive.add_attr")
def _(ms):
    """Of an op that computes."""
    op = ms.ops.Add()
    op.add_prim_attr("mark", "x")
    return op(ms.Tensor(X), ms.Tensor(X)), op.attrs["mark"]


@case("ops.Primitive.add_attr", ref=lambda: ({"a": 1}, {}))
def _(ms):
    """The core's names of the same."""
    op = ms.ops.Primitive("one")
    op.add_attr("a", 1)
    before = {k: v for k, v in op.get_attr_dict().items() if k == "a"}
    op.del_attr("a")
    return before, {k: v for k, v in op.get_attr_dict().items() if k == "a"}


@case("ops.Primitive.del_attr", ref=lambda: True)
def _(ms):
    """What was there is gone."""
    op = ms.ops.Primitive("one")
    op.add_attr("a", 1)
    op.del_attr("a")
    return "a" not in op.get_attr_dict()


@case("ops.Primitive.del_prim_attr")
def _(ms):
    """What is there is gone."""
    op = ms.ops.Primitive("one")
    op.add_prim_attr("a", 1)
    op.del_prim_attr("a")
    return "a" in op.attrs


@case("ops.Primitive.get_attr_dict", ref=lambda: 3)
def _(ms):
    """All of them."""
    op = ms.ops.Primitive("one")
    op.add_prim_attr("a", 3)
    return op.get_attr_dict()["a"]


@case("ops.Primitive.init_prim_io_names")
def _(ms):
    """Names of inputs and outputs."""
    op = ms.ops.Primitive("one")
    op.init_prim_io_names(inputs=["x", "y"], outputs=["z"])
    return op.attrs["input_names"], op.attrs["output_names"]


@case("ops.Primitive.init_prim_io_names")
def _(ms):
    """What are no names."""
    ms.ops.Primitive("one").init_prim_io_names(inputs=3, outputs=["z"])


@case("ops.Primitive.set_device")
def _(ms):
    """Where it runs."""
    op = ms.ops.Primitive("one")
    return op.set_device("CPU") is op, op.attrs["primitive_target"]


@case("ops.Primitive.set_stage")
def _(ms):
    """The stage of a pipeline."""
    op = ms.ops.Add().set_stage(2)
    return op.attrs["stage"]


@case("ops.Primitive.set_prim_instance_name")
def _(ms):
    """A name of its own."""
    op = ms.ops.Primitive("one")
    return op.set_prim_instance_name("other") is op, op.instance_name, op.name


@case("ops.Primitive.set_instance_name", ref=lambda: "other")
def _(ms):
    """The core's name of the same."""
    op = ms.ops.Primitive("one")
    op.set_instance_name("other")
    return op.instance_name


@case("ops.Primitive.recompute")
def _(ms):
    """Whether results are computed again."""
    ms.set_context(mode=ms.GRAPH_MODE)
    op = ms.ops.Add()
    op.recompute()
    first = op.attrs["recompute"]
    op.recompute(False)
    return first, op.attrs["recompute"]


@case("ops.Primitive.recompute")
def _(ms):
    """What is no truth value."""
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.ops.Add().recompute(3)


@case("ops.Primitive.place")
def _(ms):
    """A role that there is not."""
    ms.ops.Primitive("one").place("x", 0)


@case("ops.Primitive.place")
def _(ms):
    """A rank below zero."""
    ms.ops.Primitive("one").place("MS_WORKER", -1)


@case("ops.Primitive.shard")
def _(ms):
    """How inputs are cut, kept for parallel runs."""
    op = ms.ops.Add()
    return op.shard(((1, 1), (1, 1))) is op, op(ms.Tensor(X), ms.Tensor(X))


@case("ops.Primitive.shard")
def _(ms):
    """What is no strategy."""
    ms.ops.Add().shard(3)


# ---- primitives of one's own --------------------------------------------------------------------
def _own(ms, base):
    class Twice(base):
        @ms.ops.prim_attr_register
        def __init__(self, factor=2):
            self.seen = factor

        def infer_shape(self, x):
            return x

        def infer_dtype(self, x):
            return x

        def vm_impl(self, x):
            return ms.Tensor(x.asnumpy() * self.factor)

    return Twice


@case("ops.prim_attr_register")
def _(ms):
    """Arguments become attributes."""
    op = _own(ms, ms.ops.PrimitiveWithInfer)(5)
    return op.factor, op.seen, op.name, op.attrs["factor"], op.init_attrs


@case("ops.PrimitiveWithInfer", ref=lambda: X * 3)
def _(ms):
    """Types by its methods, values by another."""
    return _own(ms, ms.ops.PrimitiveWithInfer)(3)(ms.Tensor(X))


@case("ops.PrimitiveWithCheck")
def _(ms):
    """Checks of its own."""

    class Checked(ms.ops.PrimitiveWithCheck):
        @ms.ops.prim_attr_register
        def __init__(self):
            pass

        def check_shape(self, x):
            raise ValueError("no")

    op = Checked()
    return op.name, op.check_dtype(3)


@case("ops.Primitive")
def _(ms):
    """Its name and its settings."""
    op = ms.ops.Primitive("one")
    return op.name, dict(op.attrs)


@case("ops.Primitive")
def _(ms):
    """A name that is no text."""
    ms.ops.Primitive()


# ---- files --------------------------------------------------------------------------------------
@case("ops.TensorDump", ref=lambda: X.tolist())
def _(ms):
    """A file of NumPy."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    with tempfile.TemporaryDirectory() as folder:
        ms.ops.TensorDump()(os.path.join(folder, "x"), ms.Tensor(X))
        ms.runtime.synchronize()
        (found,) = os.listdir(folder)
        return np.load(os.path.join(folder, found)).tolist()


@case("ops.tensordump", ref=lambda: ".npy")
def _(ms):
    """A file of NumPy."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    with tempfile.TemporaryDirectory() as folder:
        ms.ops.tensordump(os.path.join(folder, "x"), ms.Tensor(X))
        (found,) = os.listdir(folder)
        return found[-4:]


@case("ops.tensordump")
def _(ms):
    """What is no path."""
    ms.ops.tensordump(3, ms.Tensor(X))


@case("ops.TensorDump")
def _(ms):
    """What is no tensor."""
    ms.ops.TensorDump()("x", 3)


for _name, _value in (
    ("ScalarSummary", np.float32(1.5)),
    ("TensorSummary", X),
    ("HistogramSummary", X),
    ("ImageSummary", X.reshape(1, 1, 2, 3)),
):

    @case(f"ops.{_name}", ref=lambda: None)
    def _(ms, name=_name, value=_value):
        """Outside a record it does nothing."""
        return getattr(ms.ops, name)()("tag", ms.Tensor(value))

    for _wrong, _tag, _given, _raises in (
        ("no tensor", "tag", "x", "TypeError"),
        ("no tag", 3, _value, "TypeError"),
        ("another shape", "tag", _value[None] if _name == "ImageSummary" else None, "ValueError"),
    ):
        if _given is None:
            continue

        def _refused(ms, name=_name, tag=_tag, given=_given):
            try:
                value = given if isinstance(given, str) else ms.Tensor(given)
                getattr(ms.ops, name)()(tag, value)
            except (TypeError, ValueError) as error:
                return type(error).__name__

        _refused.__doc__ = f"It is {_wrong}."
        case(f"ops.{_name}", ref=lambda r=_raises: r)(_refused)


made("ops._VirtualDataset")(f32(2, 3), ref=lambda x: (x,))


@case(
    "ops.ResizeBilinear",
    tol=1e-4,
    ref=lambda: np.array(
        [[0, 0.5, 1, 1], [1, 1.5, 2, 2], [2, 2.5, 3, 3], [2, 2.5, 3, 3]], np.float32
    ),
)
def _(ms):
    """The class of older releases."""
    x = ms.Tensor(np.array([[[[0, 1], [2, 3]]]], np.float32))
    return ms.ops.ResizeBilinear((4, 4))(x)[0, 0]


# ---- paths of ops -------------------------------------------------------------------------------
@case("ops.comm_ops", ref=lambda: True)
def _(ms):
    """The collectives of older releases."""
    from importlib import import_module

    return import_module("mindspore.ops.comm_ops").AllReduce is ms.ops.AllReduce


@case("ops._inner_ops", ref=lambda: "_inner_ops")
def _(ms):
    """The path of inner ops."""
    from importlib import import_module

    return import_module("mindspore.ops._inner_ops").__name__.rpartition(".")[2]


# ---- checks of arguments, as older releases have them -------------------------------------------
_CHECKS = {
    "check_positive_int": ((3, "n", "op"), (0, "n", "op")),
    "check_bool": ((True, "n", "op"), (3, "n", "op")),
    "check_positive_float": ((1.5, "n", "op"), (-1.0, "n", "op")),
    "check_non_negative_float": ((0.0, "n", "op"), (-1.0, "n", "op")),
    "check_value_type": (("n", 3, [int], "op"), ("n", "x", [int], "op")),
    "check_float_legal_value": (("n", 1.5, "op"), ("n", float("nan"), "op")),
}
for _name, (_good, _bad) in _CHECKS.items():

    @case(f"_checkparam.Validator.{_name}", ref=lambda n=_name: True)
    def _(ms, name=_name, good=_good, bad=_bad):
        """One passes, one does not."""
        from importlib import import_module

        check = getattr(import_module("mindspore._checkparam").Validator, name)
        check(*good)
        try:
            check(*bad)
        except (TypeError, ValueError):
            return True
        return False


@case("_checkparam.Validator", ref=lambda: [True] * 5)
def _(ms):
    """Ranges, relations, dtypes."""
    from importlib import import_module

    checks = import_module("mindspore._checkparam")
    validator, rel = checks.Validator, checks.Rel
    found = []
    for check, good, bad in (
        (
            validator.check_int_range,
            (2, 1, 3, rel.INC_BOTH, "n", "op"),
            (3, 1, 3, rel.INC_LEFT, "n", "op"),
        ),
        (
            validator.check_float_range,
            (0.5, 0.0, 1.0, rel.INC_BOTH, "n", "op"),
            (1.5, 0.0, 1.0, rel.INC_BOTH, "n", "op"),
        ),
        (validator.check_integer, ("n", 3, 2, rel.GE, "op"), ("n", 1, 2, rel.GE, "op")),
        (
            validator.check_type_name,
            ("n", ms.float32, [ms.float32], "op"),
            ("n", ms.int32, [ms.float32], "op"),
        ),
        (validator.check_float_positive, ("n", 1.5, "op"), ("n", -1.5, "op")),
    ):
        check(*good)
        try:
            check(*bad)
            found.append(False)
        except (TypeError, ValueError):
            found.append(True)
    return found


# ---- other names --------------------------------------------------------------------------------
@case("common.JitConfig")
def _(ms):
    """Its settings."""
    return ms.common.JitConfig(jit_level="O1").jit_config_dict["jit_level"]


@case("common.JitConfig")
def _(ms):
    """A level that there is not."""
    ms.common.JitConfig(jit_level="x")


@case("common.api.jit_class")
def _(ms):
    """What is no class."""
    ms.common.api.jit_class(3)


@case("common.api.ms_memory_recycle")
def _(ms):
    """Nothing to see."""
    return ms.common.api.ms_memory_recycle()


@case("common.api.jit", ref=lambda: X * 2 + 1)
def _(ms):
    """A function, compiled."""

    @ms.common.api.jit
    def doubled(x):
        return x * 2 + 1

    return doubled(ms.Tensor(X))


@case("common.api._pynative_executor.sync")
def _(ms):
    """Waits."""
    return ms.common.api._pynative_executor.sync()


@case("common.initializer._register", ref=lambda: [2.0, 2.0])
def _(ms):
    """A name for an initializer of one's own."""
    i = ms.common.initializer

    @i._register("twos")
    class Twos(i.Initializer):
        def _initialize(self, arr):
            arr[...] = 2

    return i.initializer("twos", [2], ms.float32).init_data().asnumpy().tolist()


@case("_extends.cell_attr_register", ref=lambda: True)
def _(ms):
    """Marks a constructor."""
    from importlib import import_module

    register = import_module("mindspore._extends").cell_attr_register

    class Net(ms.nn.Cell):
        @register
        def __init__(self, n=3):
            super().__init__()
            self.n = n

    return Net(4).n == 4


@case("_get_graph_seed", ref=lambda: 2)
def _(ms):
    """A pair of seeds."""
    from importlib import import_module

    return len(import_module("mindspore.common.seed")._get_graph_seed(1, "op"))


@case("log.logging.info")
def _(ms):
    """As Python has it."""
    return ms.log.logging.info("%s", "x"), ms.log.logging.warning("%s", "x")


@case("log.logging.warning")
def _(ms):
    """As Python has it."""
    return ms.log.logging.warning("%s", "x")


@case("__version__", ref=lambda: True)
def _(ms):
    """Numbers with points."""
    return ms.__version__.split(".")[0].isdigit()

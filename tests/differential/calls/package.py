"""What is directly in the package: tensors, parameters, dtypes, seeds, files, contexts."""

import os
import tempfile

import numpy as np
from differential.calllib import at, call, case, f32, i32, of

# ---- tensors and dtypes -----------------------------------------------------------------------
for value in (
    3,
    2.5,
    True,
    [1, 2],
    [[1.0], [2.0]],
    (1, 2.0),
    [True, False],
    [],
    [[]],
    1 << 40,
    [1, "a"],
    "a",
    None,
    [[1], [1, 2]],
    1j,
):
    call("Tensor", value)
    call("tensor", value)
for value in ([1, 2], [0.5, 1.5], 3, f32(2, 3)):
    for dtype in ("float16", "float32", "float64", "int8", "int64", "bool_", "uint8", "complex64"):
        call("Tensor", value, at(dtype))
        call("tensor", value, dtype=at(dtype))
call("Tensor", [1, 2], at("nn.ReLU"))
call("Tensor", shape=(2, 3), dtype=at("float32"), init=1)
call("Tensor", [300, -1], at("uint8"))
call("tensor", of([1.5, 2.5]))
call("tensor")
for dtype in (
    "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128 string bfloat16 number"
).split():
    call("dtype_to_nptype", at(dtype))
    call("dtype_to_pytype", at(dtype))
for kind in (
    int,
    float,
    bool,
    str,
    np.float16,
    np.float32,
    np.int8,
    np.uint64,
    list,
    tuple,
    complex,
    3,
    "float32",
    None,
):
    call("pytype_to_dtype", kind)
for value in (1, 2.5, True, "a", (1, 2), [1.0], None, f32(2)):
    call("get_py_obj_dtype", value)
for value in (1, f32(2), np.ones(2), [f32(2)], None):
    call("is_tensor", value)
call("frombuffer", b"\x01\x00\x02\x00", dtype=at("int16"))
call("frombuffer", np.array([1.5, 2.5], np.float32).tobytes(), dtype=at("float32"))
call("frombuffer", bytes(range(16)), dtype=at("int32"), count=2, offset=4)
call("frombuffer", bytes(range(16)), dtype=at("uint8"), count=-1, offset=3)
call("frombuffer", bytes(range(6)), dtype=at("int32"))
call("frombuffer", bytes(range(8)), dtype=at("int32"), count=3)
call("frombuffer", bytes(range(8)), dtype=at("int32"), offset=9)
call("frombuffer", b"", dtype=at("int32"))
call("frombuffer", "abcd", dtype=at("int32"))


@case("Type")
def _(ms):
    """names of dtypes"""
    kinds = "float16 float32 int8 int64 uint8 bool_ complex64 bfloat16 string tensor_type type_none number int_ uint float_ list_ tuple_".split()
    found = [str(getattr(ms, k)) for k in kinds if hasattr(ms, k)]
    return [found, ms.float32 == ms.float32, ms.float32 != ms.float16, len({ms.int32, ms.int32})]


@case("TensorType")
def _(ms):
    return [str(ms.TensorType(ms.float32)), str(ms.dtype.TensorType(ms.int8))]


@case("Int")
def _(ms):
    return [str(ms.Int(32)), ms.Int(64) == ms.int64]


# ---- parameters -------------------------------------------------------------------------------
def parameter(*args, **kwargs):
    """What is known of a parameter."""

    @case("Parameter")
    def program(ms):
        given = [ms.Tensor(a) if isinstance(a, np.ndarray) else a for a in args]
        p = ms.Parameter(*given, **kwargs)
        return [
            p,
            p.name.split("#")[0],
            p.requires_grad,
            p.layerwise_parallel,
            p.shape,
            str(p.dtype),
            p.parallel_optimizer,
        ]


parameter(f32(2, 3).value)
parameter(f32(2, 3).value, "w")
parameter(f32(2, 3).value, name="w", requires_grad=False, layerwise_parallel=True)
parameter(i32(2).value, "w", parallel_optimizer=False)
parameter(3, "w")
parameter(2.5, "w")
parameter([1.0, 2.0], "w")
parameter("a", "w")
parameter(None, "w")
parameter(f32(2).value, 3)
parameter(f32(2).value, "w", requires_grad=1)
parameter(f32(2).value, "")
parameter(f32(2).value, "a b")


@case("Parameter")
def _(ms):
    """changed"""
    p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
    before = p.value()
    p.set_data(ms.Tensor([3.0, 4.0]))
    copy = p.clone()
    copy.set_data(ms.Tensor([5.0, 6.0]))
    p.name, p.requires_grad = "q", False
    return [
        before,
        p,
        copy,
        copy.name,
        copy.requires_grad,
        p.clone("ones"),
        p.sliced,
        p.comm_fusion,
        p.is_init,
    ]


for data in ([1, 2], [[1.0]], [1.0, 2.0, 3.0], "a"):
    for slices in (False, True):

        @case("Parameter")
        def _(ms, data=data, slices=slices):
            p = ms.Parameter(ms.Tensor([1.0, 2.0]), name="p")
            p.set_data(ms.Tensor(data), slices)
            return [p, str(p.dtype)]


@case("ParameterTuple")
def _(ms):
    ps = ms.ParameterTuple([ms.Parameter(ms.Tensor([float(i)]), name=f"p{i}") for i in range(3)])
    copies = ps.clone("copy", init="zeros")
    return [
        len(ps),
        [p.name for p in ps],
        list(copies),
        [p.name for p in copies],
        type(ps[:2]).__name__,
        isinstance(ps, tuple),
    ]


@case("ParameterTuple")
def _(ms):
    """of one name twice"""
    return ms.ParameterTuple([ms.Parameter(ms.Tensor([1.0]), name="p")] * 2)


@case("ParameterTuple")
def _(ms):
    """of no parameters"""
    return ms.ParameterTuple([ms.Tensor([1.0])])


# ---- seeds ------------------------------------------------------------------------------------
@case("set_seed")
def _(ms):
    """the same numbers again"""
    draws = []
    for seed in (3, 3, 4):
        ms.set_seed(seed)
        draws.append((ms.ops.standard_normal((4,)).asnumpy(), np.random.rand(), ms.get_seed()))
    return [bool((draws[0][0] == draws[i][0]).all()) for i in (1, 2)], [d[1:] for d in draws]


for seed in (-1, 1.5, "a", True, 1 << 40):

    @case("set_seed")
    def _(ms, seed=seed):
        ms.set_seed(seed)
        return ms.get_seed()


@case("Generator")
def _(ms):
    g = ms.Generator()
    g.manual_seed(7)
    state = g.get_state()
    seeds = [g.initial_seed(), str(state.dtype)]
    g.manual_seed(8)
    g.set_state(state)
    return [seeds, g.initial_seed()]


@case("initial_seed")
def _(ms):
    ms.manual_seed(11)
    return ms.initial_seed()


@case("seed")
def _(ms):
    first = ms.seed()
    return [type(first).__name__, first == ms.initial_seed()]


# ---- files ------------------------------------------------------------------------------------
class Net:
    """A small network of the package."""

    def __new__(cls, ms, fill=1.0, size=2):
        class Small(ms.nn.Cell):
            def __init__(self):
                super().__init__()
                self.dense = ms.nn.Dense(size, 2)
                self.norm = ms.nn.BatchNorm1d(2)

            def construct(self, x):
                return self.norm(self.dense(x))

        net = Small()
        for i, p in enumerate(net.get_parameters()):
            p.set_data(ms.Tensor(np.full(p.shape, fill + i, np.float32)))
        return net


def saved(*args, of_net=True, load=None, into=None, **kwargs):
    """What comes back from a checkpoint."""

    @case("save_checkpoint")
    def program(ms):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.ckpt")
            what = Net(ms) if of_net is True else of_net(ms)
            if kwargs.get("choice_func"):
                kwargs["choice_func"] = lambda name: "dense" in name
            ms.save_checkpoint(what, path, *args, **kwargs)
            found = sorted(os.listdir(folder))
            given = dict(load or {})
            loaded = ms.load_checkpoint(os.path.join(folder, found[0]), **given)
            result = {k: [type(v).__name__, v] for k, v in loaded.items()}
            return [[f for f in found if "." in f], result]


saved()
saved(format="safetensors", load={"format": "safetensors"})
saved(append_dict={"epoch": 3, "lr": 0.5, "done": True, "who": "me", "w": None})
saved(append_dict={"epoch": 3, "lr": 0.5, "who": "me"})
saved(integrated_save=False)
saved(choice_func=True)
saved(load={"specify_prefix": "dense"})
saved(load={"filter_prefix": "dense"})
saved(load={"filter_prefix": ["norm.g", "dense.b"]})
saved(load={"choice_func": lambda name: name.endswith("bias")})
saved(load={"filter_prefix": 3})
saved(load={"specify_prefix": "nothing"})
saved(of_net=lambda ms: [{"name": "a", "data": ms.Tensor([1.5])}, {"name": "b", "data": 3}])
saved(
    of_net=lambda ms: {
        "a": ms.Parameter(ms.Tensor([1.5]), name="a"),
        "b": ms.Parameter(ms.Tensor([2], ms.int8), name="b"),
    }
)
saved(
    of_net=lambda ms: (
        [ms.Parameter(ms.Tensor([1.5], ms.bfloat16), name="a")]
        and {"a": ms.Parameter(ms.Tensor([1.5], ms.bfloat16), name="a")}
    )
)
saved(of_net=lambda ms: 3)
saved(of_net=lambda ms: [{"name": "a"}])
saved(append_dict=3)
saved(integrated_save=3)
saved(format="most")
saved(enc_key=b"0123456789ABCDEF", load={"dec_key": b"0123456789ABCDEF"})
saved(enc_key=b"0123456789ABCDEF", load={"dec_key": b"0123456789ABCDEX"})
saved(enc_key=b"0123456789ABCDEF")
saved(enc_key=b"short")


def loaded(strict=False, change=lambda ms, p: p, **kwargs):
    """A network after parameters went into it, and what did not."""

    @case("load_param_into_net")
    def program(ms):
        net = Net(ms, 1.0, kwargs.get("size", 2))
        values = change(ms, {p.name: p for p in Net(ms, 7.0).get_parameters()})
        unloaded = ms.load_param_into_net(net, values, strict)
        return [unloaded, list(net.get_parameters())]


loaded()
loaded(change=lambda ms, p: {k: v for k, v in p.items() if "norm" in k})
loaded(change=lambda ms, p: {**p, "more": ms.Parameter(ms.Tensor([1.0]), name="more")})
loaded(change=lambda ms, p: {})
loaded(change=lambda ms, p: {f"net.{k}": v for k, v in p.items()})
loaded(change=lambda ms, p: {**p, "dense.bias": 3})
loaded(change=lambda ms, p: 3)
for strict in (False, True):
    loaded(strict, size=3)
    loaded(
        strict,
        lambda ms, p: {
            **p,
            "dense.bias": ms.Parameter(ms.Tensor([1.0, 2.0], ms.float16), name="b"),
        },
    )
    loaded(
        strict,
        lambda ms, p: {**p, "dense.bias": ms.Parameter(ms.Tensor([1, 2], ms.int32), name="b")},
    )
loaded(3)


@case("load_checkpoint")
def _(ms):
    """into a net"""
    with tempfile.TemporaryDirectory() as folder:
        ms.save_checkpoint(Net(ms, 5.0), f"{folder}/a.ckpt")
        net = Net(ms)
        ms.load_checkpoint(f"{folder}/a.ckpt", net)
        return list(net.get_parameters())


for path in ("/nowhere/a.ckpt", "a.txt", "", 3, None):

    @case("load_checkpoint")
    def _(ms, path=path):
        return ms.load_checkpoint(path)


@case("load_checkpoint")
def _(ms):
    """that is broken"""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/a.ckpt", "wb") as file:
            file.write(b"\x03broken\xff" * 9)
        return ms.load_checkpoint(f"{folder}/a.ckpt")


@case("load_checkpoint_async")
def _(ms):
    with tempfile.TemporaryDirectory() as folder:
        ms.save_checkpoint(Net(ms, 5.0), f"{folder}/a.ckpt")
        return dict(ms.load_checkpoint_async(f"{folder}/a.ckpt").result())


@case("async_ckpt_thread_status")
def _(ms):
    return ms.async_ckpt_thread_status()


@case("ckpt_to_safetensors")
def _(ms):
    """there and back"""
    with tempfile.TemporaryDirectory() as folder:
        ms.save_checkpoint(Net(ms, 5.0), f"{folder}/a.ckpt")
        os.mkdir(f"{folder}/out")
        os.mkdir(f"{folder}/back")
        ms.ckpt_to_safetensors(f"{folder}/a.ckpt", f"{folder}/out")
        between = sorted(os.listdir(f"{folder}/out"))
        ms.safetensors_to_ckpt(f"{folder}/out/{between[0]}", f"{folder}/back")
        back = sorted(os.listdir(f"{folder}/back"))
        return [between, back, dict(ms.load_checkpoint(f"{folder}/back/{back[0]}"))]


@case("safetensors_to_ckpt")
def _(ms):
    """of nothing"""
    return ms.safetensors_to_ckpt("nowhere/a.safetensors", "nowhere")


@case("export")
def _(ms):
    """to a MindIR and back"""
    with tempfile.TemporaryDirectory() as folder:
        net, x = Net(ms), ms.Tensor(f32(3, 2).value)
        net.set_train(False)
        ms.export(net, x, file_name=f"{folder}/net", file_format="MINDIR")
        found = sorted(os.listdir(folder))
        again = ms.nn.GraphCell(ms.load(f"{folder}/net.mindir"))
        return [found, again(x)]


for options in (
    {"file_format": "MOST"},
    {"file_format": 3},
    {"file_name": 3, "file_format": "MINDIR"},
):

    @case("export")
    def _(ms, options=options):
        given = {"file_name": "/tmp/never", **options}
        return ms.export(Net(ms), ms.Tensor(f32(3, 2).value), **given)


for path in ("/nowhere/a.mindir", "a.txt", 3):

    @case("load")
    def _(ms, path=path):
        return ms.load(path)

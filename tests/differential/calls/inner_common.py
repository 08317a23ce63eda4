"""Calls of Parameters, primitives, dtypes, initializers, settings and the log."""

import numpy as np
from differential.calllib import case

X = np.arange(6, dtype=np.float32).reshape(2, 3)

# ---- dtypes -------------------------------------------------------------------------------------
for _name in (
    "bfloat16 bool_ byte cdouble cfloat complex128 complex64 double float16 float32 float64 float_ half int16 int32 int64 int8 int_ "
    "intc intp list_ long number short single string tensor_type tuple_ type_none ubyte uint uint16 uint32 uint64 uint8 uintc uintp "
    "ushort"
).split():

    @case(f"common.dtype.{_name}")
    def _(ms, name=_name):
        """Its name."""
        return str(getattr(ms.common.dtype, name))


for _name in ("float32", "int32"):

    @case(f"common.{_name}")
    def _(ms, name=_name):
        """The same thing as elsewhere."""
        return getattr(ms.common, name) == getattr(ms, name)


_NAMED = "float32 float16 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_ complex64"


@case("common.dtype.dtype_to_nptype")
def _(ms):
    """Of every dtype."""
    convert = ms.common.dtype.dtype_to_nptype
    return [np.dtype(convert(getattr(ms, n))).name for n in _NAMED.split()]


@case("common.dtype.dtype_to_nptype")
def _(ms):
    """Of a text."""
    return ms.common.dtype.dtype_to_nptype("float32")


@case("common.dtype.dtype_to_pytype")
def _(ms):
    """Of every kind."""
    convert = ms.common.dtype.dtype_to_pytype
    names = "float32 float16 int8 int64 bool_ string type_none list_ tuple_ complex64"
    return [convert(getattr(ms.common.dtype, n)).__name__ for n in names.split()]


@case("common.dtype.pytype_to_dtype")
def _(ms):
    """Of Python's and NumPy's types."""
    convert = ms.common.dtype.pytype_to_dtype
    return [str(convert(t)) for t in (int, float, bool, np.float32, np.int8, np.float16)]


@case("common.dtype.pytype_to_dtype")
def _(ms):
    """Of what has none."""
    return ms.common.dtype.pytype_to_dtype(object)


@case("common.dtype.get_py_obj_dtype")
def _(ms):
    """Of values."""
    kind = ms.common.dtype.get_py_obj_dtype
    return [str(kind(v)) for v in (1, 1.5, True, int, float)]


@case("common.dtype.Type")
def _(ms):
    """What dtypes are."""
    return isinstance(ms.float32, ms.common.dtype.Type), isinstance(3, ms.common.dtype.Type)


@case("common.dtype.Int")
def _(ms):
    """Whole numbers among them."""
    kind = ms.common.dtype.Int
    return isinstance(ms.int32, kind), isinstance(ms.float32, kind)


@case("common.dtype.TensorType")
def _(ms):
    """What a tensor of a dtype is."""
    return isinstance(ms.common.dtype.tensor_type, ms.common.dtype.TensorType)


@case("common.dtype.QuantDtype")
def _(ms):
    """Widths of numbers for storage."""
    kinds = ms.common.dtype.QuantDtype
    return [kinds.INT8.num_bits, kinds.UINT4.num_bits, str(kinds.INT1), kinds.INT2.value()]


# ---- initializers -------------------------------------------------------------------------------
for _name in "Zero One".split():

    @case(f"common.initializer.{_name}")
    def _(ms, name=_name):
        """All the same."""
        i = ms.common.initializer
        return i.initializer(getattr(i, name)(), [2, 3], ms.float32), i.initializer(
            name.lower() + "s", [2], ms.int32
        )


@case("common.initializer.Constant")
def _(ms):
    """Of a value."""
    i = ms.common.initializer
    return i.initializer(i.Constant(2.5), (2, 3)), i.initializer(3, (2,), ms.int32)


@case("common.initializer.Identity")
def _(ms):
    """Ones on the diagonal."""
    i = ms.common.initializer
    return i.initializer(i.Identity(), (2, 3)), i.initializer("identity", (3, 2))


@case("common.initializer.Identity")
def _(ms):
    """Of other dimensions."""
    i = ms.common.initializer
    return i.initializer(i.Identity(), (2, 3, 4))


@case("common.initializer.Dirac")
def _(ms):
    """Convolutions that change nothing."""
    i = ms.common.initializer
    return i.initializer(i.Dirac(), (3, 2, 3)), i.initializer(i.Dirac(groups=2), (4, 2, 3, 3))


@case("common.initializer.Dirac")
def _(ms):
    """Of other dimensions."""
    i = ms.common.initializer
    return i.initializer(i.Dirac(), (3, 2))


_RANDOM = {
    "Normal": ({}, {"sigma": 2.0, "mean": 5.0}),
    "TruncatedNormal": ({}, {"sigma": 0.5, "mean": 1.0, "a": -1.0, "b": 1.0}),
    "Uniform": ({}, {"scale": 3.0}),
    "XavierUniform": ({}, {"gain": 2.0}),
    "XavierNormal": ({}, {"gain": 2.0}),
    "HeUniform": ({}, {"negative_slope": 1.0, "mode": "fan_out", "nonlinearity": "relu"}),
    "HeNormal": ({}, {"negative_slope": 1.0, "mode": "fan_out", "nonlinearity": "leaky_relu"}),
    "VarianceScaling": ({}, {"scale": 2.0, "mode": "fan_avg", "distribution": "uniform"}),
    "Orthogonal": ({}, {"gain": 2.0}),
}
for _name, _options in _RANDOM.items():
    for _given in _options:

        def _spread(ms, name=_name, given=_given):
            i = ms.common.initializer
            drawn = i.initializer(getattr(i, name)(**given), (400, 300), ms.float32).init_data()
            values = drawn.asnumpy()
            return f"{values.std():.1g}", round(float(values.mean())), str(drawn.dtype)

        _spread.__doc__ = f"The spread of {_given}."
        case(f"common.initializer.{_name}")(_spread)


@case("common.initializer.Orthogonal", tol=1e-4)
def _(ms):
    """Rows at right angles."""
    i = ms.common.initializer
    values = i.initializer(i.Orthogonal(2.0), (3, 5)).init_data().asnumpy()
    return (values @ values.T + 1).tolist()


@case("common.initializer.Sparse")
def _(ms):
    """Zeros in each column."""
    i = ms.common.initializer
    values = i.initializer(i.Sparse(0.4), (10, 4)).init_data().asnumpy()
    return (values == 0).sum(0).tolist()


for _name, _bad in (
    ("Sparse", {"sparsity": 0.5}),
    ("Uniform", {"scale": "a"}),
    ("VarianceScaling", {"scale": -1.0}),
    ("HeUniform", {"mode": "x"}),
    ("HeNormal", {"nonlinearity": "x"}),
    ("Constant", {"value": "x"}),
    ("TruncatedNormal", {"sigma": "x"}),
):

    @case(f"common.initializer.{_name}")
    def _(ms, name=_name, bad=_bad):
        """What is refused."""
        i = ms.common.initializer
        return i.initializer(getattr(i, name)(**bad), (2,), ms.float32).init_data()


@case("common.initializer.initializer")
def _(ms):
    """By names and by tensors, in dtypes."""
    make = ms.common.initializer.initializer
    kept = make(ms.Tensor(X), [2, 3], ms.float32)
    return make("ones", [2, 3], ms.float16), make(ms.Tensor(X), (2, 3)), kept, make("zeros", 3)


@case("common.initializer.initializer")
def _(ms):
    """A name that there is not."""
    return ms.common.initializer.initializer("none_such", [2])


@case("common.initializer.initializer")
def _(ms):
    """A shape of nothing."""
    return ms.common.initializer.initializer("ones", [0, 2])


@case("common.initializer.initializer")
def _(ms):
    """A tensor of another shape."""
    return ms.common.initializer.initializer(ms.Tensor(X), [3, 3])


@case("common.initializer.Initializer")
def _(ms):
    """One of one's own."""
    i = ms.common.initializer

    class Counted(i.Initializer):
        def _initialize(self, arr):
            arr[...] = np.arange(arr.size).reshape(arr.shape)

    return i.initializer(Counted(), (2, 3), ms.float32).init_data()


@case("common.initializer._calculate_fan_in_and_fan_out")
def _(ms):
    """Of weights."""
    i = ms.common.initializer
    found = [i._calculate_fan_in_and_fan_out(s) for s in ((3, 4), (5, 4, 3, 2))]
    return (
        found,
        i._calculate_correct_fan((3, 4), "fan_out"),
        i._calculate_correct_fan((3, 4), "fan_in"),
    )


@case("common.initializer._calculate_correct_fan")
def _(ms):
    """A mode that there is not."""
    return ms.common.initializer._calculate_correct_fan((3, 4), "x")


@case("common.initializer._calculate_gain")
def _(ms):
    """Of activations."""
    gain = ms.common.initializer._calculate_gain
    names = "linear conv2d sigmoid tanh relu".split()
    return [float(gain(n)) for n in names], float(gain("leaky_relu", 0.2))


@case("common.initializer._assignment")
def _(ms):
    """Into an array."""
    array = np.zeros((2, 3), np.float32)
    ms.common.initializer._assignment(array, X)
    return array


# ---- Parameters ---------------------------------------------------------------------------------
for _name in (
    "cache_enable cache_shape comm_fusion inited_param key layerwise_parallel name parallel_optimizer parallel_optimizer_comm_recompute "
    "requires_grad sliced"
).split():

    @case(f"Parameter.{_name}")
    def _(ms, name=_name):
        """As it is made."""
        return getattr(ms.Parameter(ms.Tensor(X), name="p"), name)


for _name, _value in (
    ("requires_grad", False),
    ("layerwise_parallel", True),
    ("name", "other"),
    ("comm_fusion", 2),
    ("parallel_optimizer", False),
    ("sliced", True),
    ("cache_enable", True),
    ("key", 3),
    ("cache_shape", (2,)),
    ("parallel_optimizer_comm_recompute", True),
    ("requires_grad", 3),
    ("name", 3),
    ("layerwise_parallel", 3),
    ("comm_fusion", -1),
    ("comm_fusion", "x"),
    ("parallel_optimizer", 3),
):

    def _set(ms, name=_name, value=_value):
        made = ms.Parameter(ms.Tensor(X), name="p")
        setattr(made, name, value)
        return getattr(made, name)

    _set.__doc__ = f"Set to {_value!r}."
    case(f"Parameter.{_name}")(_set)


@case("Parameter.set_data")
def _(ms):
    """Of the same shape, of another one, of another dtype."""
    made = ms.Parameter(ms.Tensor(X), name="p")
    same = made.set_data(ms.Tensor(2 * X)) is made
    first = made.asnumpy().copy()
    made.set_data(ms.Tensor(X[:1]), slice_shape=True)
    second = made.asnumpy().copy()
    made.set_data(ms.Tensor([[1, 2]], ms.int32), slice_shape=True)
    return same, first, second, made


@case("Parameter.set_data")
def _(ms):
    """Another shape."""
    ms.Parameter(ms.Tensor(X), name="p").set_data(ms.Tensor(X[:1]))


@case("Parameter.set_data")
def _(ms):
    """No tensor."""
    ms.Parameter(ms.Tensor(X), name="p").set_data("x")


@case("Parameter.set_data")
def _(ms):
    """Numbers of a wider dtype."""
    made = ms.Parameter(ms.Tensor([1, 2], ms.int32), name="p")
    made.set_data(ms.Tensor([1.5, 2.5], ms.float32))
    return made


# ---- tensors ------------------------------------------------------------------------------------
for _name in "const_arg data init init_flag param_info symbolic_shape virtual_flag".split():

    @case(f"Tensor.{_name}")
    def _(ms, name=_name):
        """Of a plain tensor."""
        return getattr(ms.Tensor(X), name)


@case("Tensor.data_sync")
def _(ms):
    """Nothing to wait for."""
    x = ms.Tensor(X)
    return x.data_sync(), x.wait_pipeline(), x


@case("Tensor.wait_pipeline")
def _(ms):
    """Nothing to wait for."""
    return ms.Tensor(X).wait_pipeline()


@case("Tensor.to_dlpack")
def _(ms):
    """There and back."""
    return ms.Tensor.from_dlpack(ms.Tensor(X).to_dlpack())


@case("Tensor.from_dlpack")
def _(ms):
    """What is no capsule."""
    return ms.Tensor.from_dlpack(3)


@case("Tensor.pin_memory", ref=lambda: X)
def _(ms):
    """The same values."""
    return ms.Tensor(X).pin_memory()


@case("Tensor.triangular_solve", ref=lambda: np.array([[0.5], [0.5]], np.float32))
def _(ms):
    """A system of an upper matrix, as documented: the right side first."""
    found = ms.Tensor([[1.5], [1.0]]).triangular_solve(ms.Tensor([[2.0, 1.0], [0.0, 2.0]]))
    return found[0] if isinstance(found, tuple) else found

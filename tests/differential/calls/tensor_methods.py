"""Calls of Tensor methods: those that are functions under the same name, and those with forms of their own."""

from differential.calllib import at, b1, call, case, f32, f64, i32, of

X, Y, ROW, CUBE = f32(3, 4), f32(3, 4, seed=1), f32(4), f32(2, 3, 4)
POSITIVE, UNIT, LARGER = (
    f32(3, 4, low=0.1),
    f32(3, 4, low=-0.9, high=0.9),
    f32(3, 4, low=1.0, high=3.0),
)
INTS, MORE, BITS = i32(3, 4), i32(3, 4, seed=1), b1(3, 4)

# ---- elementwise --------------------------------------------------------------------------------
for name in (
    "abs absolute angle asinh arcsinh atan arctan bool byte ceil conj cos cosh deg2rad digamma double erf erfc exp expm1 float floor "
    "frac half hardshrink imag int is_complex is_floating_point is_signed isfinite isinf isnan isneginf isposinf isreal lgamma "
    "logical_not long nan_to_num neg negative positive rad2deg real reciprocal round sgn short sigmoid sign signbit sin sinc sinh "
    "square tan tanh trunc bfloat16 clone copy contiguous is_contiguous numel ndimension dim ndim size shape dtype itemsize nbytes "
    "strides T ravel tolist asnumpy numpy type"
).split():
    call(f"Tensor.{name}", X, **({"tol": 2e-3} if name in ("digamma", "lgamma") else {}))
    call(f"Tensor.{name}", f32(), **({"tol": 2e-3} if name in ("digamma", "lgamma") else {}))
for name in "abs float int long bool double square sign neg type isfinite logical_not".split():
    call(f"Tensor.{name}", INTS)
for name in "log log10 log1p log2 sqrt rsqrt".split():
    call(f"Tensor.{name}", POSITIVE)
    call(f"Tensor.{name}", f64(3, low=0.5))
for name in "acos arccos asin arcsin atanh arctanh".split():
    call(f"Tensor.{name}", UNIT)
for name in "acosh arccosh".split():
    call(f"Tensor.{name}", LARGER)
call("Tensor.logit", f32(3, 4, low=0.1, high=0.9), tol=1e-4)
call("Tensor.logit", X, 1e-2, tol=1e-4)
call("Tensor.round", f32(3, low=-9.0, high=9.0))
call("Tensor.invert", INTS)
for name in (
    "add approximate_equal atan2 arctan2 copysign div divide eq equal floor_divide fmax fmin fmod ge greater greater_equal gt "
    "heaviside hypot isclose ldexp le less less_equal logaddexp logaddexp2 lt maximum minimum mul multiply ne not_equal remainder "
    "sub subtract true_divide"
).split():
    call(f"Tensor.{name}", X, Y)
    call(f"Tensor.{name}", X, f32(3, 5))
for name in "add sub mul div eq ne gt ge lt le floor_divide remainder multiply subtract".split():
    call(f"Tensor.{name}", X, 2)
    call(f"Tensor.{name}", INTS, i32(3, 4, low=1, seed=1))
for name in "pow float_power".split():
    call(f"Tensor.{name}", POSITIVE, X)
    call(f"Tensor.{name}", X, 2)
for name in "logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor".split():
    call(f"Tensor.{name}", BITS, b1(3, 4, seed=1))
    call(f"Tensor.{name}", INTS, MORE)
for name in "bitwise_left_shift bitwise_right_shift".split():
    call(f"Tensor.{name}", i32(3, low=1), 2)
call("Tensor.xlogy", X, POSITIVE)
call("Tensor.lerp", X, Y, 0.3)
call("Tensor.addcmul", X, Y, ROW)
call("Tensor.addcdiv", X, Y, POSITIVE, of(0.5))
call("Tensor.clamp", X, -0.5, 0.5)
call("Tensor.clip", X, max=0.5)
call("Tensor.clip", X)
call("Tensor.where", X, BITS, Y)
call("Tensor.select", X, BITS, Y)
call("Tensor.masked_fill", X, BITS, 2.0)
call("Tensor.masked_select", X, BITS)
for dtype in ("float16", "int32", "bool_"):
    call("Tensor.astype", X, at(dtype))
    call("Tensor.to", X, at(dtype))
    call("Tensor.type", X, at(dtype))
call("Tensor.astype", X, "float16")
call("Tensor.astype", X, "x")
call("Tensor.type_as", X, INTS)

# ---- reductions and orders ----------------------------------------------------------------------
for name in "amax amin max mean median min prod std sum var argmax argmin logsumexp ptp".split():
    call(f"Tensor.{name}", X, 1)
    call(f"Tensor.{name}", X, 0, True)
    call(f"Tensor.{name}", X, 2)
    if name != "logsumexp":
        call(f"Tensor.{name}", X)
for name in "all any".split():
    call(f"Tensor.{name}", BITS)
    call(f"Tensor.{name}", BITS, 1)
    call(f"Tensor.{name}", BITS, axis=0, keep_dims=True)
call("Tensor.sum", X, dtype=at("float64"))
call("Tensor.sum", X, axis=(0, 1), keepdims=True)
call("Tensor.sum", X, initial=2.0)
call("Tensor.max", X, axis=1, keepdims=True)
call("Tensor.max", X, axis=1, return_indices=True)
call("Tensor.min", X, initial=-1.0, where=BITS)
call("Tensor.mean", X, axis=(0, 1))
call("Tensor.std", X, axis=1, ddof=1)
call("Tensor.var", X, 1, 1, True)
call("Tensor.argmax_with_value", X, 1)
call("Tensor.argmin_with_value", X, axis=0, keep_dims=True)
call("Tensor.nansum", of([[1.0, float("nan")], [2.0, 3.0]]), 1)
call("Tensor.count_nonzero", INTS)
call("Tensor.count_nonzero", INTS, axis=1)
for name in "cumsum cumprod".split():
    call(f"Tensor.{name}", X, 1)
    call(f"Tensor.{name}", X, 2)
call("Tensor.diff", X)
call("Tensor.norm", X)
call("Tensor.norm", X, 1, 0)
call("Tensor.softmax", X, 0)
call("Tensor.sort", X)
call("Tensor.sort", X, 0, True)
call("Tensor.argsort", X, axis=0)
call("Tensor.topk", X, 2)
call("Tensor.topk", X, 5)
call("Tensor.unique", of([3, 1, 3, 2, 1], "int32"))
call("Tensor.nonzero", INTS)
call("Tensor.searchsorted", of([1.0, 2.0, 3.0]), of([0.5, 2.0]))
call("Tensor.searchsorted", of([1.0, 2.0, 3.0]), of([0.5, 2.0]), side="right")

# ---- products -----------------------------------------------------------------------------------
call("Tensor.matmul", f32(2, 3), f32(3, 4))
call("Tensor.mm", f32(2, 3), f32(3, 4))
call("Tensor.bmm", f32(2, 3, 4), f32(2, 4, 5))
call("Tensor.dot", f32(2, 3), f32(3, 4))
call("Tensor.ger", f32(3), f32(4))
call("Tensor.outer", f32(3), f32(4))
call("Tensor.inner", f32(2, 3), f32(4, 3))
call("Tensor.addr", f32(2, 3), f32(2), f32(3), beta=0.5)
call("Tensor.addmm", f32(2, 4), f32(2, 3), f32(3, 4), alpha=2, tol=2e-5)
call("Tensor.addmv", f32(2), f32(2, 3), f32(3))
call("Tensor.addbmm", f32(3, 5), f32(2, 3, 4), f32(2, 4, 5), tol=2e-5)
call("Tensor.baddbmm", f32(2, 3, 5), f32(2, 3, 4), f32(2, 4, 5), beta=2)
call("Tensor.trace", X)
call("Tensor.trace", CUBE, 1, 1, 2)

# ---- shapes -------------------------------------------------------------------------------------
call("Tensor.broadcast_to", ROW, (3, 4))
call("Tensor.expand", f32(3, 1), (3, 4))
call("Tensor.expand_as", ROW, X)
call("Tensor.expand_dims", X, 1)
call("Tensor.chunk", X, 2, 1)
call("Tensor.split", X, 2, 1)
call("Tensor.split", X, (1, 2), 0)
call("Tensor.hsplit", X, 2)
call("Tensor.vsplit", f32(4, 3), 2)
call("Tensor.dsplit", CUBE, 2)
call("Tensor.tensor_split", f32(7), 3)
call("Tensor.unbind", X, 1)
call("Tensor.diag", f32(3))
call("Tensor.diagonal", X)
call("Tensor.diagonal", CUBE, 1, 1, 2)
call("Tensor.flatten", CUBE)
call("Tensor.flatten", CUBE, "F")
call("Tensor.flatten", CUBE, start_dim=1)
call("Tensor.flip", CUBE, (0, 2))
call("Tensor.fliplr", X)
call("Tensor.flipud", X)
call("Tensor.rot90", X, 1, (0, 1))
call("Tensor.roll", X, 1, 0)
for name in "moveaxis movedim".split():
    call(f"Tensor.{name}", CUBE, 0, 2)
for name in "swapaxes swapdims".split():
    call(f"Tensor.{name}", CUBE, 0, 2)
call("Tensor.permute", CUBE, 2, 0, 1)
call("Tensor.permute", CUBE, (2, 0, 1))
call("Tensor.transpose", CUBE)
call("Tensor.transpose", CUBE, 2, 0, 1)
call("Tensor.transpose", CUBE, (2, 0, 1))
call("Tensor.t", X)
call("Tensor.narrow", X, 1, 1, 2)
call("Tensor.reshape", X, 2, 6)
call("Tensor.reshape", X, (-1, 2))
call("Tensor.reshape", X, 5)
call("Tensor.view", X, 2, 6)
call("Tensor.view", X, (-1,))
call("Tensor.view_as", X, f32(4, 3))
call("Tensor.squeeze", f32(1, 3, 1))
call("Tensor.squeeze", f32(1, 3, 1), 0)
call("Tensor.unsqueeze", X, 1)
call("Tensor.tile", X, (2, 1))
call("Tensor.repeat", X, 2)
call("Tensor.repeat", X, 2, 1)
call("Tensor.repeat_interleave", X, 2, 1)
call("Tensor.resize", X, 2, 3)
call("Tensor.resize", X, 4, 4)
call("Tensor.tril", X)
call("Tensor.triu", X, 1)
call("Tensor.new_zeros", X, (2,))
call("Tensor.new_ones", X, (2,), dtype=at("int32"))
call("Tensor.fill", X, 2.5)
call("Tensor.fills", X, 2.5)

# ---- positions ----------------------------------------------------------------------------------
call("Tensor.gather", X, of([0, 2], "int32"), 0)
call("Tensor.gather", X, 1, of([[0, 3], [1, 1], [2, 0]], "int64"))
call("Tensor.gather_elements", X, 1, of([[0, 3], [1, 1], [2, 0]], "int64"))
call("Tensor.gather_nd", X, of([[0, 1], [2, 3]], "int32"))
call("Tensor.index_select", X, 1, of([0, 3], "int32"))
call("Tensor.index_add", X, 1, of([0, 3], "int32"), f32(3, 2))
call("Tensor.index_fill", X, 1, of([0, 3], "int32"), 2.0)
call("Tensor.take", X, of([0, 5], "int32"))
call("Tensor.take", X, of([0, 5], "int32"), axis=1, mode="wrap")
call("Tensor.choose", of([0, 1], "int32"), [of([1.0, 2.0]), of([3.0, 4.0])])
call("Tensor.scatter", X, 1, of([[0, 1], [2, 3], [1, 0]], "int64"), f32(3, 2))
call("Tensor.scatter_add", X, of([[0, 1], [2, 3]], "int32"), f32(2))
call("Tensor.select_scatter", X, f32(3), 1, 2)
call("Tensor.slice_scatter", X, f32(3, 2), 1, 0, 4, 2)
call("Tensor.item", f32())
call("Tensor.item", X, 5)
call("Tensor.item", X)
call("Tensor.itemset", X, 5, 2.0)
call("Tensor.__getitem__", X, 1)
call("Tensor.__getitem__", CUBE, (slice(None), 1))
call("Tensor.__getitem__", CUBE, (..., 1, None))
call("Tensor.__getitem__", X, of([0, 2], "int64"))
call("Tensor.__getitem__", X, BITS)
call("Tensor.__getitem__", X, 3)

# ---- random -------------------------------------------------------------------------------------
call("Tensor.bernoulli", X, 1.0)
call("Tensor.bernoulli", X, shape_only=True)
call("Tensor.multinomial", of([0.1, 0.9, 0.2]), 2, shape_only=True)

# ---- written in place ---------------------------------------------------------------------------
IN_PLACE = (
    ("add_", Y),
    ("sub_", Y),
    ("mul_", 2.0),
    ("div_", 2.0),
    ("floor_divide_", 0.5),
    ("remainder_", 0.7),
    ("exp_",),
    ("log_",),
    ("sigmoid_",),
    ("tanh_",),
    ("floor_",),
    ("sign_",),
    ("clamp_", 0.5, 1.0),
    ("fill_", 2.5),
    ("zero_",),
    ("copy_", Y),
    ("masked_fill_", BITS, 2.0),
    ("index_fill_", 1, of([0, 3], "int64"), 2.0),
    ("fill_diagonal_", 7.0),
    ("scatter_", 1, of([[0, 1], [2, 3], [1, 0]], "int64"), f32(3, 2)),
    ("addmm_", f32(3, 2), f32(2, 4)),
    ("index_add_", 1, of([0, 3], "int64"), f32(3, 2)),
    ("scatter_add_", 1, of([[0, 1], [2, 3], [1, 0]], "int64"), f32(3, 2)),
    ("masked_scatter_", BITS, f32(12)),
    ("index_copy_", 1, of([0, 3], "int64"), f32(3, 2)),
    ("put_", of([0, 5], "int64"), of([1.0, 2.0])),
    ("index_put_", (of([0, 1], "int64"), of([2, 3], "int64")), of([1.0, 2.0])),
)
for name, *arguments in IN_PLACE:
    call(f"Tensor.{name}", POSITIVE, *arguments, torch=f"Tensor.{name}")
for name in "normal_ uniform_ random_ exponential_ bernoulli_".split():
    call(f"Tensor.{name}", POSITIVE, shape_only=True, torch=f"Tensor.{name}")


@case("Tensor.flush_from_cache")
def _(ms):
    return ms.Tensor([1.0]).flush_from_cache()


@case("Tensor.from_numpy")
def _(ms):
    import numpy as np

    return ms.Tensor.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))


@case("Tensor.init_data")
def _(ms):
    from mindspore.common.initializer import One

    return ms.Tensor(shape=(2, 3), dtype=ms.float32, init=One()).init_data()


@case("Tensor.has_init")
def _(ms):
    from mindspore.common.initializer import One

    return [ms.Tensor(shape=(2,), dtype=ms.float32, init=One()).has_init, ms.Tensor([1.0]).has_init]


@case("Tensor.value")
def _(ms):
    return ms.Tensor([1.0]).value()


@case("Tensor.register_hook")
def _(ms):
    """A gradient doubled on its way."""
    weight = ms.Parameter(ms.Tensor([3.0]), name="w")

    def loss(x):
        return (x * weight).sum()

    weight.register_hook(lambda g: g * 2)
    return ms.value_and_grad(loss, None, [weight])(ms.Tensor([2.0]))[1]


@case("Tensor.move_to")
def _(ms):
    return ms.Tensor([1.0]).move_to("CPU")


@case("Tensor.device")
def _(ms):
    return ms.Tensor([1.0]).device.split(":")[0]

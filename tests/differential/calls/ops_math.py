"""Calls of functions on numbers: elementwise ones, comparisons, products and reductions."""

from differential.calllib import at, b1, bf16, call, f16, f32, f64, i8, i32, i64, of, u8

X, Y, ROW = f32(3, 4), f32(3, 4, seed=1), f32(4)
POSITIVE, UNIT, LARGER = (
    f32(3, 4, low=0.1),
    f32(3, 4, low=-0.9, high=0.9),
    f32(3, 4, low=1.0, high=3.0),
)
INTS, MORE = i32(3, 4), i32(3, 4, seed=1)

# ---- of one tensor ----------------------------------------------------------------------------
ANYWHERE = (
    "abs absolute asinh arcsinh atan arctan ceil cos cosh deg2rad digamma erf erfc exp exp2 expm1 fast_gelu floor frac gelu "
    "hardshrink hardsigmoid hardswish hardtanh identity isfinite isinf isnan isneginf isposinf isreal lgamma logical_not logsigmoid "
    "mish nan_to_num neg negative positive rad2deg reciprocal relu relu6 round selu sgn sigmoid sign signbit silu sin sinc sinh "
    "softplus softshrink softsign square tan tanh tanhshrink tensor_exp tensor_expm1 trunc celu elu leaky_relu is_floating_point "
    "is_complex numel rank shape size typeof stop_gradient inv"
).split()
for name in ANYWHERE:
    for x in (X, f32(), f32(0, 2), f64(2, 3), f16(2, 3)):
        call(f"ops.{name}", x, **({"tol": 2e-3} if name in ("digamma", "lgamma") else {}))
for name in "abs ceil floor identity isfinite isnan logical_not neg positive relu round sgn sign square trunc rank size".split():
    for x in (INTS, i64(3), u8(2, 2), b1(2, 3)):
        call(f"ops.{name}", x)
for name in "log log10 log1p log2 sqrt rsqrt inv".split():
    for x in (POSITIVE, f32(low=0.5), f64(2, low=0.5), f16(2, 3, low=0.5), i32(3, low=1)):
        call(f"ops.{name}", x)
for name in "acos arccos asin arcsin atanh arctanh".split():
    for x in (UNIT, f32(low=0.1, high=0.5), f64(3, low=-0.5, high=0.5), f32(2, low=1.5)):
        call(f"ops.{name}", x)
for name in "acosh arccosh".split():
    for x in (LARGER, f32(low=1.5), f64(3, low=1.5), f32(2, low=-0.5, high=0.5)):
        call(f"ops.{name}", x)
for name in "exp sin tanh sigmoid relu gelu silu erf softplus log1p sqrt mish elu".split():
    call(f"ops.{name}", POSITIVE, grad=True)
call("ops.celu", X, 0.5)
call("ops.elu", X, 1.0)
call("ops.gelu", X, approximate="tanh")
call("ops.gelu", X, "none")
call("ops.hardshrink", X, 1.0)
call("ops.softshrink", X, lambd=0.3)
call("ops.hardtanh", X, -0.5, max_val=0.25)
call("ops.leaky_relu", X, alpha=0.1)
call("ops.logit", f32(3, 4, low=0.1, high=0.9), tol=1e-4)
call("ops.logit", X, eps=1e-2, tol=1e-4)
call("ops.nan_to_num", of([float("nan"), float("inf"), -float("inf"), 1.0]))
call("ops.nan_to_num", of([float("nan"), float("inf"), -float("inf"), 1.0]), 1.0, 2.0, neginf=-3.0)
call("ops.polygamma", of(1, "int32"), POSITIVE, tol=1e-3)
call("ops.polygamma", of(2, "int64"), POSITIVE, tol=1e-3)
call("ops.round", f32(5, low=-200.0, high=200.0), decimals=1)
call("ops.round", f32(5, low=-200.0, high=200.0), decimals=-1)
call("ops.softplus", X, 2, 1)
call("ops.threshold", X, 0.1, 20.0)
call("ops.glu", X)
call("ops.glu", f32(4, 3), axis=0)
call("ops.glu", f32(4, 3))
call("ops.invert", INTS)
call("ops.invert", X)
call("ops.real", X)
call("ops.imag", X)
call("ops.conj", X)
call("ops.angle", X)

# ---- of two ------------------------------------------------------------------------------------
BROADCASTING = (
    "add approximate_equal copysign div divide eq equal floor_div floor_divide floor_mod fmax fmin fmod ge greater greater_equal "
    "gt heaviside hypot ldexp le less less_equal logaddexp logaddexp2 lt maximum minimum mul multiply ne not_equal remainder sub "
    "subtract tensor_add tensor_div tensor_floordiv tensor_ge tensor_gt tensor_le tensor_lt tensor_mod tensor_mul tensor_sub "
    "true_divide truncate_div truncate_mod arctan2 atan2 float_power"
).split()
for name in BROADCASTING:
    first, second = (POSITIVE, f32(4, low=0.5)) if "pow" in name else (X, Y)
    call(f"ops.{name}", first, second)
    call(f"ops.{name}", f64(3, 4), f64(4, low=0.5))
    call(f"ops.{name}", X, f32(3, 5))
for name in (
    "add sub mul div maximum minimum eq ne gt ge lt le floor_divide floor_mod multiply subtract fmod remainder greater less equal"
).split():
    call(f"ops.{name}", INTS, i32(3, 4, low=1, seed=1))
    call(f"ops.{name}", X, INTS)
    call(f"ops.{name}", X, 2)
    call(f"ops.{name}", 1.5, X)
    call(f"ops.{name}", i8(3), u8(3, low=1))
    call(f"ops.{name}", f16(3), bf16(3, low=0.5))
    call(f"ops.{name}", f32(0, 4), ROW)
for name in "add sub mul div maximum atan2 hypot pow".split():
    call(f"ops.{name}", POSITIVE, f32(4, low=0.5), grad=True)
for name in "pow tensor_pow".split():
    call(f"ops.{name}", POSITIVE, X)
    call(f"ops.{name}", X, 2)
    call(f"ops.{name}", 2.0, X)
    call(f"ops.{name}", i32(3, low=1, high=4), 3)
    call(f"ops.{name}", X, f32(3, 5))
for name in "logical_and logical_or logical_xor".split():
    call(f"ops.{name}", b1(3, 4), b1(4, seed=1))
    call(f"ops.{name}", X, INTS)
    call(f"ops.{name}", b1(3), b1(4))
for name in "bitwise_and bitwise_or bitwise_xor".split():
    call(f"ops.{name}", INTS, MORE)
    call(f"ops.{name}", b1(3, 4), b1(3, 4, seed=1))
    call(f"ops.{name}", X, Y)
for name in "bitwise_left_shift bitwise_right_shift".split():
    call(f"ops.{name}", i32(3, low=1), i32(3, low=0, high=4))
    call(f"ops.{name}", i32(3, low=1), 2)
    call(f"ops.{name}", f32(3), f32(3))
call("ops.div", X, Y, rounding_mode="floor")
call("ops.div", X, Y, rounding_mode="trunc")
call("ops.div", INTS, 3, rounding_mode="floor")
call("ops.div", X, Y, rounding_mode="up")
call("ops.subtract", X, Y, alpha=2)
call("ops.isclose", X, Y, 1.0, 0.5)
call("ops.isclose", of([1.0, float("nan")]), of([1.0, float("nan")]), equal_nan=True)
call("ops.approximate_equal", X, Y, 0.5)
call("ops.xlogy", X, POSITIVE)
call("ops.xlogy", of([0.0, 1.0]), of([0.0, 2.0]))
call("ops.xlogy", X, 2.0)
call("ops.lerp", X, Y, 0.3)
call("ops.lerp", X, Y, f32(3, 4, seed=2), grad=True)
call("ops.lerp", X, f32(3, 5), 0.3)
call("ops.addcmul", X, Y, ROW)
call("ops.addcmul", X, Y, ROW, of(0.5), grad=True)
call("ops.addcdiv", X, Y, POSITIVE)
call("ops.addcdiv", X, Y, POSITIVE, 2)
call("ops.addn", [X, Y, X])
call("ops.addn", (INTS, MORE))
call("ops.addn", [X, ROW])
call("ops.clamp", X, -0.5, 0.5)
call("ops.clamp", X, None, 0.5)
call("ops.clamp", INTS, 2)
call("ops.clamp", X, ROW, None)
call("ops.clamp", X)
call("ops.clip", X, max=0.5)
call("ops.clip", X, 1.0, -1.0)
call("ops.clip_by_value", X, -0.5, 0.5)
call("ops.clip_by_value", X, ROW)
call("ops.clip_by_value", [X, Y], -0.5, 0.5)
call("ops.clip_by_global_norm", [X, Y])
call("ops.clip_by_global_norm", (X, Y), 0.5)
call("ops.clip_by_global_norm", (X, Y), 1.0, 2.0)
call("ops.where", b1(3, 4), X, Y)
call("ops.where", b1(3, 4), X, 0.0)
call("ops.where", b1(4), 1.0, X, grad=False)
call("ops.select", b1(3, 4), X, Y)
call("ops.select", b1(3, 4), X, 0.5)
call("ops.select", b1(3, 4), 1, INTS)
call("ops.masked_fill", X, b1(3, 4), 2.0)
call("ops.masked_fill", X, b1(4), of(3.0))
call("ops.masked_fill", X, INTS, 2.0)
call("ops.masked_select", X, b1(3, 4))
call("ops.masked_select", X, b1(4))
call("ops.cast", X, at("int32"))
call("ops.cast", INTS, at("float16"))
call("ops.cast", X, at("bool_"))
call("ops.cast", X, "x")
call("ops.type_as", X, INTS)
call("ops.type_as", INTS, f16(2))

# ---- products ---------------------------------------------------------------------------------
call("ops.matmul", f32(2, 3), f32(3, 4), grad=True)
call("ops.matmul", f32(3), f32(3))
call("ops.matmul", f32(5, 2, 3), f32(3))
call("ops.matmul", f32(5, 1, 2, 3), f32(4, 3, 2))
call("ops.matmul", i32(2, 3), i32(3, 4))
call("ops.matmul", f32(2, 3), f32(4, 3))
call("ops.mm", f32(2, 3), f32(3, 4))
call("ops.mm", f32(2, 3), f32(2, 3))
call("ops.bmm", f32(2, 3, 4), f32(2, 4, 5))
call("ops.bmm", f32(2, 3, 4), f32(3, 4, 5))
call("ops.mv", f32(2, 3), f32(3))
call("ops.mv", f32(2, 3), f32(2))
call("ops.dot", f32(3), f32(3, seed=1))
call("ops.dot", f32(2, 3), f32(3, 4))
call("ops.dot", f32(2, 3), f32(2, 3))
call("ops.ger", f32(3), f32(4))
call("ops.ger", f32(3, 1), f32(4))
call("ops.outer", f32(3), f32(4), grad=True)
call("ops.inner", f32(2, 3), f32(4, 3))
call("ops.inner", f32(3), f32(4))
call("ops.addr", f32(2, 3), f32(2), f32(3), beta=0.5, alpha=2)
call("ops.addr", f32(2, 3), f32(3), f32(3))
call("ops.addmm", f32(2, 4), f32(2, 3), f32(3, 4), beta=0.5, alpha=2)
call("ops.addmm", f32(4), f32(2, 3), f32(3, 4))
call("ops.addmv", f32(2), f32(2, 3), f32(3), alpha=0.5)
call("ops.addbmm", f32(3, 5), f32(2, 3, 4), f32(2, 4, 5), alpha=0.5, tol=2e-5)
call("ops.baddbmm", f32(2, 3, 5), f32(2, 3, 4), f32(2, 4, 5), beta=2, alpha=0.5)
call("ops.tensor_dot", f32(2, 3, 4), f32(4, 3, 5), ((1, 2), (1, 0)))
call("ops.tensor_dot", f32(2, 3), f32(3, 4), 1)
call("ops.tensor_dot", f32(2, 3), f32(4, 3), 1)
call("ops.dense", f32(2, 3), f32(4, 3), f32(4), grad=True)
call("ops.dense", f32(5, 2, 3), f32(4, 3))
call("ops.dense", f32(2, 3), f32(4, 2))
call("ops.bias_add", f32(2, 3), f32(3))
call("ops.bias_add", f32(2, 3, 4, 4), f32(3))
call("ops.bias_add", f32(2, 3), f32(2))
call("ops.norm", X)
call("ops.norm", X, 1, 0)
call("ops.norm", X, "fro", (0, 1), True)
call("ops.norm", X, float("inf"), 1)
call("ops.norm", X, 3, dim=1, dtype=at("float64"))
call("ops.norm", X, "nuclear")

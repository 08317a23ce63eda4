"""Calls of the classes of elementwise ops: made, then called."""

from differential.calllib import b1, call, case, f16, f32, f64, i32, made, of, param

X, Y, ROW = f32(3, 4), f32(3, 4, seed=1), f32(4)
POSITIVE, UNIT = f32(3, 4, low=0.1), f32(3, 4, low=-0.9, high=0.9)
LARGER = f32(3, 4, low=1.1, high=3.0)
SPECIAL = of([1.5, float("nan"), float("inf"), float("-inf"), -0.0])

# ---- of one input -------------------------------------------------------------------------------
for name in (
    "Abs Asinh Atan Cos Cosh Elu Erf Erfc Exp Expm1 FastGeLU FastGelu HShrink HSigmoid HSwish LogSoftmax Mish Neg ReLU ReLU6 SeLU "
    "Sigmoid Sign Sin Sinh Softmax Softplus Softsign Square Tan Tanh"
).split():
    made(f"ops.{name}")(X, grad=True)
    made(f"ops.{name}")(f16(3, 4))
    made(f"ops.{name}")(X, X)
for name in "Abs Asinh Atan Cos Cosh Erf Erfc Exp Expm1 Neg ReLU Sigmoid Sign Sin Sinh Softsign Square Tan Tanh".split():
    made(f"ops.{name}")(f64())
    made(f"ops.{name}")(f32(0, 3))
for name in "Log Log1p Sqrt Rsqrt Reciprocal Inv".split():
    made(f"ops.{name}")(POSITIVE, grad=True)
    made(f"ops.{name}")(f64(3, low=0.5))
    made(f"ops.{name}")(of([0.0, -1.0, 2.0]))
    made(f"ops.{name}")("x")
for name in "ACos Asin Atanh".split():
    made(f"ops.{name}")(UNIT, grad=True)
    made(f"ops.{name}")(of([1.0, -1.0, 2.0]))
    made(f"ops.{name}")()
made("ops.Acosh")(LARGER, grad=True)
made("ops.Acosh")(of([1.0, 0.5]))
made("ops.Acosh")(None)
for name in "Digamma Lgamma".split():
    made(f"ops.{name}")(POSITIVE, tol=2e-4)
    made(f"ops.{name}")(of([0.5, -1.5, 30.0]), tol=2e-4)
    made(f"ops.{name}")("x")
for name in "Ceil Floor Rint Round Trunc".split():
    made(f"ops.{name}")(X)
    made(f"ops.{name}")(of([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]))
    made(f"ops.{name}")(f16(5, low=-9.0, high=9.0))
    made(f"ops.{name}")("x")
made("ops.Round")(f32(4, low=-9.0, high=9.0), 1)
for name in "IsFinite IsInf IsNan".split():
    made(f"ops.{name}")(SPECIAL)
    made(f"ops.{name}")(i32(3))
    made(f"ops.{name}")(1.0)
for name in "ZerosLike OnesLike".split():
    made(f"ops.{name}")(X)
    made(f"ops.{name}")(i32(2, 0))
    made(f"ops.{name}")(b1(3))
    made(f"ops.{name}")("x")
made("ops.Softmax", 0)(X, grad=True)
made("ops.Softmax", (0, 1))(X)
made("ops.Softmax", axis=-1)(f32(2, 3, 4), grad=True)
made("ops.Softmax", 2)(X)
made("ops.LogSoftmax", 0)(X, grad=True)
made("ops.LogSoftmax", 2)(X)
made("ops.Elu", 1.0)(X)
made("ops.Elu", "a")(X)
made("ops.HShrink", 1.0)(X, grad=True)
made("ops.HShrink", "a")(X)

# ---- of two inputs ------------------------------------------------------------------------------
for name in "Equal NotEqual Greater GreaterEqual Less LessEqual".split():
    made(f"ops.{name}")(X, Y)
    made(f"ops.{name}")(of([1.0, 2.0, float("nan")]), of([1.0, 3.0, float("nan")]))
    made(f"ops.{name}")(i32(3, 1), i32(4))
    made(f"ops.{name}")(X, 0.5)
    made(f"ops.{name}")(X, f32(3, 5))
for name in "LogicalAnd LogicalOr LogicalXor".split():
    made(f"ops.{name}")(b1(3, 4), b1(3, 4, seed=1))
    made(f"ops.{name}")(b1(3, 1), b1(4))
    made(f"ops.{name}")(b1(3), b1(4))
for name in "BitwiseAnd BitwiseOr BitwiseXor".split():
    made(f"ops.{name}")(i32(3, 4), i32(3, 4, seed=1))
    made(f"ops.{name}")(of([-1, 7], "int16"), of([3, 12], "int16"))
    made(f"ops.{name}")(X, Y)
made("ops.Mod")(X, f32(3, 4, low=0.5, seed=1), grad=True)
made("ops.Mod")(of([-7, 7, -7, 7], "int32"), of([3, 3, -3, -3], "int32"))
made("ops.Mod")(X, 1.5)
made("ops.Mod")(X, f32(3, 5))
made("ops.TruncateMod")(X, f32(3, 4, low=0.5, seed=1))
made("ops.TruncateMod")(of([-7, 7, -7, 7], "int32"), of([3, 3, -3, -3], "int32"))
made("ops.TruncateMod")(X, f32(3, 5))
call("ops.float_power_ext", POSITIVE, X)
call("ops.float_power_ext", X, 2)
call("ops.float_power_ext", i32(3), i32(3, low=1))
call("ops.float_power_ext", POSITIVE, "x")

# ---- in place: what was given is what is changed ------------------------------------------------
for name in "Assign AssignAdd AssignSub".split():
    made(f"ops.{name}")(param(X), Y)
    made(f"ops.{name}")(param(of([1, 2], "int32")), of([3, 4], "int32"))
    made(f"ops.{name}")(param(X), f32(2, 4))
call("ops.erfinv_", param(f32(3, low=-0.9, high=0.9)))
call("ops.tanh_", param(X))
call("ops.inplace_sigmoid", param(X))
call("ops.zero_", param(X))
call("ops.clamp_", param(X), -0.5, 0.5)
call("ops.clamp_", param(X), min=0.1)
call("ops.clamp_", param(X), of(-0.5), of(0.5))
for name in "tanh_ zero_ clamp_ erfinv_".split():
    call(f"ops.{name}", "x")


def _changed(name, *args, **kwargs):
    @case(f"ops.{name}")
    def _(ms):
        x = ms.Tensor([[0.25, 0.75], [-0.5, 0.5]])
        function = getattr(ms.ops, name, None)
        found = function(x, *args, **kwargs) if function else getattr(x, name)(*args, **kwargs)
        return found.shape, str(found.dtype)


for _name, _args in (
    ("normal_", (0.0, 1.0)),
    ("uniform_", (2.0, 3.0)),
    ("random_", (2, 7)),
    ("exponential_", (2.0,)),
    ("bernoulli_", (0.5,)),
):
    _changed(_name, *_args)


@case("ops.uniform_")
def _(ms):
    """Within its bounds."""
    x = ms.ops.zeros((50,), ms.float32)
    x.uniform_(2.0, 3.0)
    return bool((x >= 2).all()), bool((x < 3).all())


@case("ops.uniform_")
def _(ms):
    """Bounds the wrong way round."""
    ms.ops.zeros((5,), ms.float32).uniform_(3.0, 2.0)


@case("ops.random_")
def _(ms):
    """Whole numbers within their bounds."""
    x = ms.ops.zeros((50,), ms.float32)
    x.random_(2, 7)
    return bool((x >= 2).all()), bool((x < 7).all()), bool((x == x.floor()).all())


@case("ops.bernoulli_")
def _(ms):
    """Always and never."""
    x = ms.ops.zeros((5,), ms.float32)
    return x.bernoulli_(1.0).asnumpy().tolist(), x.bernoulli_(0.0).asnumpy().tolist()


@case("ops.normal_")
def _(ms):
    """Of no width."""
    return ms.ops.zeros((3,), ms.float32).normal_(1.5, 0.0)


@case("ops.exponential_")
def _(ms):
    """Nothing below zero."""
    return bool((ms.ops.zeros((50,), ms.float32).exponential_(2.0) >= 0).all())


@case("ops.exponential_")
def _(ms):
    """A rate of zero."""
    ms.ops.zeros((5,), ms.float32).exponential_(0.0)


call("ops.bernoulli_ext", of([0.0, 1.0, 1.0]))
call("ops.bernoulli_ext", f32(3, 4, low=0.0, high=1.0), shape_only=True)
call("ops.bernoulli_ext", of([2.0]))

# ---- in place under these names, as methods -----------------------------------------------------
call("Tensor.erfinv_", param(f32(3, low=-0.9, high=0.9)))
call("Tensor.inv", POSITIVE)
call("Tensor.i0", X, tol=1e-4)

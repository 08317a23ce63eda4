"""Calls of the classes of reductions, of forms and of places: made, then called."""

import numpy as np
from differential.calllib import at, b1, call, case, f16, f32, i32, made, of, param

X, Y, CUBE = f32(3, 4), f32(3, 4, seed=1), f32(2, 3, 4)
INTS, BITS = i32(3, 4), b1(3, 4)
REPEATED = of([3, 1, 3, 2, 1, 1], "int32")

# ---- reductions ---------------------------------------------------------------------------------
for name in "ReduceMax ReduceMin".split():
    made(f"ops.{name}")(X, 1, grad=True)
    made(f"ops.{name}", keep_dims=True)(X, (0, 1), grad=True)
    made(f"ops.{name}", True)(CUBE, -1)
    made(f"ops.{name}")(INTS)
    made(f"ops.{name}")(X, ())
    made(f"ops.{name}")(X, 2)
    made(f"ops.{name}", 3)(X)
for name in "ReduceAll ReduceAny".split():
    made(f"ops.{name}")(BITS)
    made(f"ops.{name}", keep_dims=True)(BITS, 1)
    made(f"ops.{name}")(b1(2, 3, 4), (0, 2))
    made(f"ops.{name}")(BITS, 2)
for name in "ArgMaxWithValue ArgMinWithValue".split():
    made(f"ops.{name}")(X)
    made(f"ops.{name}", 1, True)(X)
    made(f"ops.{name}", axis=-1)(CUBE)
    made(f"ops.{name}")(of([2.0, 1.0, 2.0, 1.0]))
    made(f"ops.{name}", 2)(X)
for name in "Argmax Argmin".split():
    made(f"ops.{name}")(X)
    made(f"ops.{name}", 0, at("int32"))(X)
    made(f"ops.{name}", axis=1, output_type=at("int64"))(CUBE)
    made(f"ops.{name}")(of([1.0, 2.0, 2.0, 1.0]))
    made(f"ops.{name}", 2)(X)
    made(f"ops.{name}", 0, at("float32"))(X)
made("ops.ReduceStd")(X, ref=lambda x: (x.std(ddof=1), x.mean()))
made("ops.ReduceStd", 1)(X, ref=lambda x: (x.std(1, ddof=1), x.mean(1)))
made("ops.ReduceStd", 1, False, True)(
    X, ref=lambda x: (x.std(1, keepdims=True), x.mean(1, keepdims=True))
)
made("ops.ReduceStd", 3)(X)
made("ops.CountNonZero")(
    of([[0.0, 1.0, 2.0], [0.0, 0.0, 3.0]]), ref=lambda x: (x != 0).sum().astype("int32")
)
made("ops.CountNonZero", [0])(
    of([[0, 1], [2, 3]], "int32"), ref=lambda x: (x != 0).sum(0).astype("int32")
)
made("ops.CountNonZero", [2])(of([[0, 1], [2, 3]], "int32"))
made("ops.LpNorm", 1, 2)(X, grad=True)
made("ops.LpNorm", [0, 1], 3, True)(X, tol=1e-4)
made("ops.LpNorm", 2)(X)
made("ops.LpNorm", axis=0, p=1, epsilon=1e-6)(X)

made("ops.Quantile")(X, of([0.3]), ref=lambda x, q: np.quantile(x, q))

# ---- forms --------------------------------------------------------------------------------------
for name in "Shape DType Rank Size TensorShape DynamicShape".split():
    made(f"ops.{name}")(X)
    made(f"ops.{name}")(f32())
    made(f"ops.{name}")(i32(2, 0))
    made(f"ops.{name}")("x")
for name in "Zeros Ones".split():
    made(f"ops.{name}")((2, 3), at("float32"))
    made(f"ops.{name}")(4, at("int32"))
    made(f"ops.{name}")((0, 2), at("float16"))
    made(f"ops.{name}")((2,), at("bool_"))
    made(f"ops.{name}")((-1, 2), at("float32"))
for name in "Tril Triu".split():
    made(f"ops.{name}")(f32(4, 4), grad=True)
    made(f"ops.{name}", 1)(f32(2, 3, 4), grad=True)
    made(f"ops.{name}", diagonal=-1)(i32(3, 4))
    made(f"ops.{name}")(f32(3))
    made(f"ops.{name}", "a")(X)
made("ops.Meshgrid")((f32(2), f32(3)))
made("ops.Meshgrid", indexing="ij")((f32(2), f32(3), f32(4)))
made("ops.Meshgrid", "xy")((i32(2), i32(3)))
made("ops.Meshgrid", "x")((f32(2), f32(3)))
made("ops.Meshgrid")((f32(2, 2), f32(3)))
made("ops.DepthToSpace", 2)(f32(1, 8, 2, 3), grad=True)
made("ops.DepthToSpace", 3)(f32(2, 9, 1, 2))
made("ops.DepthToSpace", 2)(f32(1, 3, 2, 2))
made("ops.DepthToSpace", 1)(f32(1, 4, 2, 2))
made("ops.SpaceToDepth", 2)(f32(1, 2, 4, 6), grad=True)
made("ops.SpaceToDepth", 3)(f32(2, 1, 3, 6))
made("ops.SpaceToDepth", 2)(f32(1, 2, 3, 4))
made("ops.SpaceToDepth", 1)(f32(1, 2, 4, 4))
made("ops.ReverseSequence", 0, 1)(X, of([1, 2, 4], "int64"), grad=True)
made("ops.ReverseSequence", seq_dim=1, batch_dim=0)(CUBE, of([3, 2], "int32"))
made("ops.ReverseSequence", 0, 0)(X, of([1, 2, 3, 4], "int64"))
made("ops.ReverseSequence", 0, 1)(X, of([1, 2, 9], "int64"))
made("ops.Roll", 1, 0)(X, ref=lambda x: np.roll(x, 1, 0))
made("ops.Roll", [1, -1], [0, 1])(X, ref=lambda x: np.roll(x, (1, -1), (0, 1)))
made("ops.Roll", 1, 2)(X)
made("ops.ScalarToTensor")(2.5)
made("ops.ScalarToTensor")(3, at("int32"))
made("ops.ScalarToTensor")(True, at("float32"))
made("ops.ScalarToTensor")("x")
made("ops.ScalarToArray")(2.5, at("float32"))
made("ops.ScalarToArray")(3)
made("ops.ScalarToArray")("x")
made("ops.TupleToArray")((1, 2, 3))
made("ops.TupleToArray")((1.5, 2.0))
made("ops.TupleToArray")((1, 2.5))
made("ops.TupleToArray")(3)
call("ops.array_to_scalar", of(2.5))
call("ops.array_to_scalar", of(3, "int32"))
call("ops.array_to_scalar", f32(3))

# ---- what depends on values ---------------------------------------------------------------------
made("ops.Unique")(REPEATED)
made("ops.Unique")(of([2.0, 1.0, 2.0]))
made("ops.Unique")(of([1, 2, 1], "int64"))
made("ops.Unique")(X)
made("ops.UniqueConsecutive")(of([1, 1, 2, 2, 1], "int32"))
made("ops.UniqueConsecutive", True, True)(of([1, 1, 2, 2, 1], "int32"))
made("ops.UniqueConsecutive", True, True, 0)(of([[1, 1], [1, 1], [2, 2]], "int32"))
made("ops.UniqueConsecutive", axis=3)(of([1, 1, 2], "int32"))
made("ops.NonZero")(of([[0.0, 1.0], [2.0, 0.0]]))
made("ops.NonZero")(BITS)
made("ops.NonZero")(of([0, 0], "int32"))
made("ops.NonZero")("x")
made("ops.MaskedSelect")(X, BITS)
made("ops.MaskedSelect")(X, b1(4))
made("ops.MaskedSelect")(X, b1(5))
made("ops.MaskedSelect")(X, INTS)
made("ops.MaskedFill")(X, BITS, of(2.0), grad=True)
made("ops.MaskedFill")(X, b1(4), 0.5)
made("ops.MaskedFill")(INTS, BITS, of(2, "int32"))
made("ops.MaskedFill")(X, INTS, of(2.0))
made("ops.MaskedFill")(X, b1(5), of(2.0))

# ---- writing at places --------------------------------------------------------------------------
ROWS, PLACES = of([0, 2, 0], "int32"), of([[0], [2]], "int32")
for name in "Update Add Sub Mul Div Max Min".split():
    made(f"ops.Scatter{name}")(param(f32(3, 2)), of([0, 2], "int32"), f32(2, 2, low=0.5, seed=1))
    made(f"ops.Scatter{name}")(param(i32(4)), of([[1], [3]], "int32"), i32(2, 1, low=1, seed=1))
    made(f"ops.Scatter{name}")(param(f32(3, 2)), of([0, 5], "int32"), f32(2, 2, seed=1))
    made(f"ops.Scatter{name}")(param(f32(3, 2)), of([0, 2], "int32"), f32(3, 2, seed=1))
    made(f"ops.ScatterNd{name}")(param(f32(3, 2)), PLACES, f32(2, 2, low=0.5, seed=1))
    made(f"ops.ScatterNd{name}")(param(i32(4)), of([[1], [3]], "int32"), i32(2, low=1, seed=1))
    made(f"ops.ScatterNd{name}")(param(f32(3, 2)), of([[0], [7]], "int32"), f32(2, 2, seed=1))
    made(f"ops.TensorScatter{name}")(
        f32(3, 2),
        of([[0, 1], [2, 0]], "int32"),
        f32(2, low=0.5, seed=1),
        grad=name in ("Update", "Add", "Sub"),
    )
    made(f"ops.TensorScatter{name}")(f32(3, 2), PLACES, f32(2, 2, low=0.5, seed=1))
    made(f"ops.TensorScatter{name}")(f32(3, 2), of([[0], [7]], "int32"), f32(2, 2, seed=1))
for name in "Add Sub Mul Max Min".split():
    made(f"ops.Scatter{name}")(param(f32(3, 2)), ROWS, f32(3, 2, seed=1))
    made(f"ops.TensorScatter{name}")(f32(3, 2), of([[1], [1]], "int32"), f32(2, 2, seed=1))
made("ops.ScatterNonAliasingAdd")(param(f32(3, 2)), PLACES, f32(2, 2, seed=1))
made("ops.ScatterNonAliasingAdd")(param(f32(4)), of([[1], [3]], "int32"), f32(2, seed=1))
made("ops.ScatterNonAliasingAdd")(param(f32(3, 2)), of([[0], [7]], "int32"), f32(2, 2, seed=1))
made("ops.IndexAdd", 1)(param(f32(2, 3)), of([0, 2], "int32"), f32(2, 2, seed=1))
made("ops.IndexAdd", axis=0)(param(f32(3, 2)), of([1, 1], "int32"), f32(2, 2, seed=1))
made("ops.IndexAdd", 0, True, False)(param(f32(3)), of([1], "int32"), f32(1, seed=1))
made("ops.IndexAdd", 0)(param(f32(3, 2)), of([1, 5], "int32"), f32(2, 2, seed=1))
made("ops.IndexAdd", 5)(param(f32(3, 2)), of([1], "int32"), f32(1, 2, seed=1))

# ---- names of one's own -------------------------------------------------------------------------
call("ops.diff_ext", f32(5), grad=True)
call("ops.diff_ext", f32(2, 5), 2, 1)
call("ops.diff_ext", f32(5), prepend=f32(1, seed=1))
call("ops.diff_ext", f32(5), -1)
call("ops.mse_loss_ext", X, Y, grad=True)
call("ops.mse_loss_ext", X, Y, "sum")
call("ops.mse_loss_ext", X, Y, reduction="none")
call("ops.mse_loss_ext", X, Y, "x")


@case("ops.Assert")
def _(ms):
    """What holds."""
    ms.ops.Assert()(ms.Tensor(True), [ms.Tensor([1.0])])
    return True


@case("ops.Print")
def _(ms):
    """Values of every kind."""
    ms.ops.Print()("some", ms.Tensor([1.0]), (ms.Tensor(2), ms.Tensor([3])))
    return True


made("ops.Print")(f16(2))

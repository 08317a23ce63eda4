"""Calls of loops over functions, linear approximations, and of primitives behind functions and methods."""

import numpy as np
from differential.calllib import call, case, f32, f64, i64, made, of

call("ops.row_stack", (f32(2, 3), f32(1, 3, seed=1)))
call("ops.row_stack", (f32(3), f32(3, seed=1)))
call("ops.row_stack", (f32(3), f32(2, seed=1)))
call("ops.reshape_", f32(2, 3), (3, 2))
call("ops.reshape_", f32(2, 3), (4, 2))
call("ops.baddbmm_ext", f32(2, 2, 4), f32(2, 2, 3), f32(2, 3, 4), beta=2, alpha=3)
call(
    "ops.adaptive_avg_pool2d_ext",
    f32(1, 2, 4, 5),
    (2, 3),
    torch="nn.functional.adaptive_avg_pool2d",
)
made("ops.LogSpace", 5, 10)(of(0.0), of(2.0))
made("ops.LogSpace", steps=3, base=2)(of(-1.0), of(4.0))
made("ops.LogSoftmaxExt")(f32(2, 3), -1, None)
made("ops.LogSoftmaxExt")(f32(2, 3), 0, None)
made("ops.LogSoftmaxExt")(f32(2, 3), 3, None)
made("ops.SelectView")(f32(2, 3), 1, 0)
made("ops.SelectView")(f32(2, 3), 2, 1)
made("ops.SelectView")(f32(2, 3, 4), -1, -2)
made("ops.SelectView")(f32(2, 3), 0, 2)
made("ops.TransposeView")(f32(2, 3, 4), (2, 0, 1))
made("ops.TransposeView")(f32(2, 3), (0, 0))
made("ops.TransposeExtView")(f32(2, 3, 4), 0, 2)
made("ops.TransposeExtView")(f32(2, 3, 4), 0, 5)
made("ops.Coalesce")(of([[0, 0, 1], [1, 1, 2]], "int64"), f32(3), of([3, 3], "int64"))
made("ops.MapUniform")(of([1, 2, 3, 4, 5, 6, 7, 8], "int64"), 3, 5)
made("ops.SubAndFilter")(of([1, 3, 5, 8, 2, 45], "int32"), 9, 4)
made("ops.SubAndFilter")(of([1, 3], "int32"), 9, 40)
made("ops.ParallelConcat")((f32(1, 3), f32(1, 3, seed=1)))
made("ops.ParallelConcat")((f32(2, 3), f32(1, 3, seed=1)))
made("ops.TensorToTuple")(i64(3))
made("ops.TensorToTuple")(f64(3))
made("ops.UpdateState")(f32(2, 3), f32(2))
made("ops.Reusing")(f32(2, 3))


def _lstm(x, h, c, w, b):
    """What the reference documents, and runs on other devices alone."""
    sigmoid = lambda v: 1 / (1 + np.exp(-v))
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ w + b, 4, 1)
    i, j, f, o = sigmoid(i), np.tanh(j), sigmoid(f + 1), sigmoid(o)
    cell = c * f + i * j
    return cell, np.tanh(cell) * o, i, j, f, o, np.tanh(cell)


made("ops.BasicLSTMCell")(f32(2, 3), f32(2, 4), f32(2, 4, seed=1), f32(7, 16), f32(16), ref=_lstm)
made("ops.BasicLSTMCell")(f32(2, 3), f32(2, 4), f32(2, 4, seed=1), f32(7, 12), f32(16))
made("ops.MoveTo")(f32(2, 3), "CPU", True, ref=lambda x, *_: x)
call("ops.move_to", f32(2, 3), ref=lambda x: x)
call("ops.move_to", f32(2, 3), "moon")


def _solved(b, a, upper=True, transpose=False, unit=False):
    a = np.triu(a) if upper else np.tril(a)
    if unit:
        np.fill_diagonal(a, 1)
    return np.linalg.solve(a.T if transpose else a, b), a


call("mint.triangular_solve", f32(3, 2), of([[2.0, 1, 1], [0, 3, 1], [0, 0, 4]]), ref=_solved)
call(
    "mint.triangular_solve",
    f32(3, 2),
    of([[2.0, 0, 0], [1, 3, 0], [1, 1, 4]]),
    False,
    True,
    ref=_solved,
)
call("mint.triangular_solve", f32(3, 2), f32(2, 3))


@case("ops.ForiLoop")
def _(ms):
    loop = ms.ops.ForiLoop()
    x = ms.Tensor([1.0, 2.0])

    def step(i, v):
        return v * 2 + i

    return loop(0, 3, step, x), loop(2, 2, step, x), loop(1, 3, step, x, False)


@case("ops.WhileLoop")
def _(ms):
    def more(v):
        return v < 20

    def step(v):
        return v * 3

    return ms.ops.WhileLoop()(more, step, ms.Tensor(1.0)), ms.ops.WhileLoop()(
        more, step, ms.Tensor(30.0)
    )


@case("ops.Scan")
def _(ms):
    def step(carry, x):
        return carry + x, carry * x

    start = ms.Tensor(1.0)
    return ms.ops.Scan()(step, start, [1, 2, 3], 3), ms.ops.Scan()(
        step, start, [ms.Tensor(2.0)], 1, False
    )


@case("ops.linearize")
def _(ms):
    def cube(x, y):
        return x * x * y

    x, y = ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])
    value, along = ms.ops.linearize(cube, (x, y))
    return value, along((ms.Tensor([1.0, 1.0]), ms.Tensor([0.0, 1.0])))


@case("ops.composite._ones_like_for_grad")
def _(ms):
    x = ms.Tensor([1.0, 2.0])
    return ms.ops.composite._ones_like_for_grad((x, (x, x)))


@case("ops.Primitive.check_elim")
def _(ms):
    add = ms.ops.Add()
    add.set_const_prim(True)
    add.set_const_input_indexes([0])
    add.set_inplace_prim(False)
    return add.check_elim(1, 2), add.update_parameter

"""Calls of mindspore.numpy that change shapes, join, cut, repeat and look up."""

import numpy as np
from differential.calllib import at, b1, call, case, f16, f32, i32, i64, of

# ---- shapes ---------------------------------------------------------------------------------------------------------------
call("numpy.reshape", f32(2, 3), (3, 2), grad=True)
call("numpy.reshape", f32(2, 3), -1)
call("numpy.reshape", f32(2, 3), [3, -1])
call("numpy.reshape", f32(2, 3), (4,))
call("numpy.ravel", f32(2, 3), grad=True)
call("numpy.ravel", f32())
call("numpy.ravel", i32(2, 0))
call("numpy.ravel", "a")
call("numpy.transpose", f32(2, 3), grad=True)
call("numpy.transpose", f32(2, 3, 4), (0, 2, 1))
call("numpy.transpose", f32(3))
call("numpy.transpose", f32(2, 3, 4), (0, 1))
call("numpy.swapaxes", f32(2, 3, 4), 0, 2, grad=True)
call("numpy.swapaxes", f32(2, 3), -1, 0)
call("numpy.swapaxes", f32(2), 0, 0)
call("numpy.swapaxes", f32(2, 3), 0, 5)
call("numpy.moveaxis", f32(2, 3, 4), 0, -1, grad=True)
call("numpy.moveaxis", f32(2, 3, 4), [0, 1], [-1, -2])
call("numpy.moveaxis", f32(2, 3), (1,), (0,))
call("numpy.moveaxis", f32(2, 3, 4), 0, 5)
call("numpy.rollaxis", f32(2, 3, 4), 2, grad=True)
call("numpy.rollaxis", f32(2, 3, 4), 0, 3)
call("numpy.rollaxis", f32(2, 3, 4), 1, 1)
call("numpy.rollaxis", f32(2, 3, 4), -1, 1)
call("numpy.rollaxis", f32(2, 3, 4), 4)
call("numpy.expand_dims", f32(3), 0, grad=True)
call("numpy.expand_dims", f32(3), -1)
call("numpy.expand_dims", f32(3), (0, 2))
call("numpy.expand_dims", f32(3), 5)
call("numpy.squeeze", f32(1, 2, 1), grad=True)
call("numpy.squeeze", f32(1, 2, 1), 0)
call("numpy.squeeze", f32(1, 2, 1), (0, 2))
call("numpy.squeeze", f32(1, 2), 3)
call("numpy.atleast_1d", f32(), grad=True)
call("numpy.atleast_1d", f32(), f32(2))
call("numpy.atleast_1d", f32(2, 3))
call("numpy.atleast_1d", "a")
call("numpy.atleast_2d", f32(3), f32(2, 3))
call("numpy.atleast_2d", f32())
call("numpy.atleast_2d", f32(2, 3, 4))
call("numpy.atleast_2d", "a")
call("numpy.atleast_3d", f32(3), grad=True)
call("numpy.atleast_3d", f32(2, 3), f32())
call("numpy.atleast_3d", f32(2, 3, 4))
call("numpy.atleast_3d", "a")
call("numpy.broadcast_to", f32(3), (2, 3), grad=True)
call("numpy.broadcast_to", f32(2, 1), (3, 2, 4))
call("numpy.broadcast_to", f32(), (2,))
call("numpy.broadcast_to", f32(3), (2,))
call("numpy.broadcast_arrays", f32(3), f32(2, 3), grad=True)
call("numpy.broadcast_arrays", f32(2, 1), i32(1, 3))
call("numpy.broadcast_arrays", f32(2))
call("numpy.broadcast_arrays", f32(2), f32(3))
call("numpy.size", f32(2, 3))
call("numpy.size", f32(2, 3), 1)
call("numpy.size", 3)
call("numpy.size", [[1, 2]], 0)
call("numpy.size", f32(2, 3), 5)
call("numpy.array_str", f32(2, 3))
call("numpy.array_str", of([1, 2], "int64"))
call("numpy.array_str", of(True, "bool"))
call("numpy.array_str", 1)

# ---- joining --------------------------------------------------------------------------------------------------------------
call("numpy.concatenate", (f32(2, 3), f32(1, 3, seed=1)))
call("numpy.concatenate", [f32(2, 3), i32(2, 3)], 1)
call("numpy.concatenate", (f32(2, 3), f32(2, 3, seed=1)), None)
call("numpy.concatenate", (f32(2, 3), f32(3)))
call("numpy.concatenate", f32(2, 3))
call("numpy.append", f32(3), f32(2), grad=True)
call("numpy.append", f32(2, 3), f32(2, 3, seed=1), 0)
call("numpy.append", f32(2, 3), i32(2, 1), axis=1)
call("numpy.append", f32(2, 3), f32(3), 0)
call("numpy.stack", [f32(3), f32(3, seed=1)])
call("numpy.stack", (f32(2, 3), f32(2, 3, seed=1)), 1)
call("numpy.stack", [f32(3), i32(3)], -1)
call("numpy.stack", f32(2, 3))
call("numpy.stack", [])
for name in ("hstack", "vstack", "dstack", "column_stack"):
    call(f"numpy.{name}", [f32(3), f32(3, seed=1)])
    call(f"numpy.{name}", (f32(2, 3), f32(2, 3, seed=1)))
    call(f"numpy.{name}", [f32(2, 3, 4), f32(2, 3, 4, seed=1)])
    call(f"numpy.{name}", [])
call("numpy.vstack", f32(2, 3))

# ---- cutting --------------------------------------------------------------------------------------------------------------
call("numpy.array_split", f32(8), 3, grad=True)
call("numpy.array_split", f32(2, 3), 2, 1)
call("numpy.array_split", i32(8), [2, 5])
call("numpy.array_split", f32(2, 3), 2, axis=-1)
call("numpy.array_split", f32(2, 3), 0)
call("numpy.split", f32(8), 4, grad=True)
call("numpy.split", f32(8), [2, 5])
call("numpy.split", f32(2, 3), (1,), axis=1)
call("numpy.split", f32(8), 3)
call("numpy.split", f32(2, 3), 2, 5)
call("numpy.hsplit", f32(2, 3), 3, grad=True)
call("numpy.hsplit", f32(2, 4), [1, 3])
call("numpy.hsplit", f32(2, 4, 2), 2)
call("numpy.hsplit", f32(4), 2, ref=lambda x, n: np.hsplit(x, n))
call("numpy.hsplit", f32(2, 3), 2)
call("numpy.vsplit", f32(2, 3), 2, grad=True)
call("numpy.vsplit", f32(4), 2)
call("numpy.vsplit", f32(4, 2), [1])
call("numpy.vsplit", f32(3, 2), 2)
call("numpy.dsplit", f32(2, 3, 4), 2, grad=True)
call("numpy.dsplit", f32(2, 3, 4), [1, 2])
call("numpy.dsplit", f32(1, 1, 3), 3)
call("numpy.dsplit", f32(2, 3), 2)

# ---- repeating and turning ------------------------------------------------------------------------------------------------
call("numpy.tile", f32(3), 2, grad=True)
call("numpy.tile", f32(3), (2, 2))
call("numpy.tile", f32(2, 3), (2, 1, 1))
call("numpy.tile", f32(2, 3), 2)
call("numpy.tile", f32(3), -1)
call("numpy.repeat", f32(3), 2, grad=True)
call("numpy.repeat", f32(2, 3), 2, 1)
call("numpy.repeat", f32(2, 3), [1, 2], 0)
call("numpy.repeat", 3, 4)
call("numpy.repeat", f32(2, 3), [2], 0)
call("numpy.repeat", f32(2, 3), -1)
call("numpy.flip", f32(2, 3))
call("numpy.flip", f32(2, 3), 0)
call("numpy.flip", f32(2, 3, 4), (0, 2))
call("numpy.flip", f32(2, 3), 2)
call("numpy.fliplr", f32(2, 3))
call("numpy.fliplr", f32(2, 3, 4))
call("numpy.fliplr", i32(2, 1))
call("numpy.fliplr", f32(3))
call("numpy.flipud", f32(2, 3))
call("numpy.flipud", f32(3))
call("numpy.flipud", i32(2, 1))
call("numpy.flipud", f32())
for k in (0, 1, 2, 3, -1, 6):
    call("numpy.rot90", f32(2, 3), k)
call("numpy.rot90", f32(2, 3, 4), 1, (1, 2))
call("numpy.rot90", f32(3))
call("numpy.roll", f32(5), 2, grad=True)
call("numpy.roll", f32(2, 3), 1)
call("numpy.roll", f32(2, 3), 1, 0)
call("numpy.roll", f32(2, 3), (1, -1), (0, 1))
call("numpy.roll", f32(2, 5), [1, 2], 1)
call("numpy.roll", f32(2, 3), 1, (0, 1))
call("numpy.roll", f32(2, 3), 1, 5)

# ---- looking up -----------------------------------------------------------------------------------------------------------
call("numpy.take", f32(2, 3), of([0, 5], "int32"), grad=True)
call("numpy.take", f32(2, 3), of([0, 2], "int32"), 1, grad=True)
call("numpy.take", f32(2, 3), of([[-1, 0], [0, 1]], "int32"), 0)
call("numpy.take", f32(2, 3), of([0, 7], "int32"), 1)
call("numpy.take", f32(2, 3), of([0, 7, -4], "int32"), 1, mode="wrap")
call("numpy.take", f32(2, 3), of([0], "int32"), 4)
call("numpy.take_along_axis", f32(2, 3), of([[0, 1]], "int32"), 1)
call("numpy.take_along_axis", f32(2, 3), of([[0, 0], [1, 2]], "int32"), 1, grad=True)
call("numpy.take_along_axis", f32(2, 3), of([0, 5], "int32"), None)
call("numpy.take_along_axis", f32(2, 3), of([[-1, 0, 1]], "int32"), 0)
call("numpy.take_along_axis", f32(2, 3), of([0], "int32"), 1)
call("numpy.choose", [0, 1, 0], [[1, 2, 3], [4, 5, 6]])
call("numpy.choose", of([0, 5], "int32"), [f32(2), f32(2, seed=1)])
call("numpy.choose", of([0, 5, -1], "int32"), [f32(3), f32(3, seed=1), i32(3)], mode="wrap")
call("numpy.choose", of([[0], [1]], "int32"), [f32(2), f32(2, seed=1)])
call("numpy.choose", of([0], "int32"), [])
call("numpy.argwhere", i32(3, 4, low=0, high=2))
call("numpy.argwhere", [[0, 1], [1, 0]])
call("numpy.argwhere", b1(5))
call("numpy.argwhere", "a")
call("numpy.where", b1(2, 3), f32(2, 3), f32(2, 3, seed=1), grad=True)
call("numpy.where", b1(3), f32(2, 3), 0)
call("numpy.where", b1(3), 1, 2)
call("numpy.where", b1(3), f16(3), i32(3))
call("numpy.where", [True, False], [1, 2], [3, 4])
call("numpy.where", i32(3, low=0, high=2), i64(1), i64(1, seed=1))
call("numpy.where", b1(3), f32(3), f32(2))
call("numpy.select", [b1(3), b1(3, seed=1)], [f32(3), f32(3, seed=1)])
call("numpy.select", [[True, False], [True, True]], [[1, 2], [3, 4]], default=9)
call("numpy.select", [b1(3)], [f32(3)], 1.5)
call("numpy.select", [b1(3)], [f32(3), f32(3)])
call("numpy.unravel_index", 22, (7, 6))
call("numpy.unravel_index", of([22, 41], "int64"), (7, 6))
call("numpy.unravel_index", [22, 41], (7, 6), order="F")
call("numpy.unravel_index", 99, (7, 6))
call("numpy.unravel_index", of([99, -1], "int64"), (7, 6))
call("numpy.unravel_index", of([99, -1], "int64"), (7, 6), "X")


def _raveled(order="C", mode="raise"):
    return lambda x, dims, **kwargs: np.ravel_multi_index(tuple(x), dims, mode=mode, order=order)


call("numpy.ravel_multi_index", of([[3, 6], [4, 5]], "int64"), (7, 6), ref=_raveled())
call("numpy.ravel_multi_index", of([[3, 6], [4, 5]], "int64"), (7, 6), order="F", ref=_raveled("F"))
call("numpy.ravel_multi_index", of([[9, 6], [4, 9]], "int64"), (7, 6), ref=_raveled(mode="clip"))
call(
    "numpy.ravel_multi_index",
    of([[9, 6], [4, 9]], "int64"),
    (7, 6),
    mode="wrap",
    ref=_raveled(mode="wrap"),
)
call("numpy.ravel_multi_index", f32(3), (7, 6))

# ---- sets -----------------------------------------------------------------------------------------------------------------
call("numpy.unique", i32(8, low=0, high=4))
call("numpy.unique", of([[3.0, 1], [1, 2]]))
call("numpy.unique", i32(2, 4, low=0, high=4), return_inverse=True)
call("numpy.unique", "a")
call("numpy.isin", [1, 2, 3], [2])
call("numpy.isin", i32(2, 3), [1, 2], invert=True)
call("numpy.isin", f32(2, 3), f32(2))
call("numpy.isin", i32(20, low=0, high=9), i32(4, low=0, high=9))
call("numpy.isin", [True, False], [True])
call("numpy.isin", "a", [1])
call("numpy.in1d", i32(2, 3, low=0, high=4), [1, 2])
call("numpy.in1d", f32(3), [])
call("numpy.in1d", [1, 2, 3], [2], invert=True)
call("numpy.in1d", "a", [1])
call("numpy.setdiff1d", [3, 1, 2, 3], [1])
call("numpy.setdiff1d", i32(2, 4, low=0, high=9), i32(3, low=0, high=9))
call("numpy.setdiff1d", f32(4), f32(4), assume_unique=True)
call("numpy.setdiff1d", "a", [1])
call("numpy.intersect1d", [3, 1, 2, 3], [1, 3])
call("numpy.intersect1d", [3, 1, 2], [1, 3], True, True)
call("numpy.intersect1d", [3, 1, 2, 3], [1, 3], return_indices=True)
call("numpy.intersect1d", "a", [1])


# ---- functions of the user ------------------------------------------------------------------------------------------------
@case("numpy.apply_along_axis")
def _(ms):
    """axes"""
    mnp, x = ms.numpy, ms.Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    return (
        mnp.apply_along_axis(lambda a: a.sum(), 1, x),
        mnp.apply_along_axis(lambda a: a * 2, 0, x),
        mnp.apply_along_axis(mnp.diag, -1, x),
        mnp.apply_along_axis(lambda a, k, b=0: a * k + b, 1, x, 3, b=2),
    )


@case("numpy.apply_along_axis")
def _(ms):
    """no such axis"""
    return ms.numpy.apply_along_axis(lambda a: a, 5, ms.Tensor([1.0]))


@case("numpy.apply_over_axes")
def _(ms):
    """axes"""
    mnp, x = ms.numpy, ms.Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    return (
        mnp.apply_over_axes(mnp.sum, x, [0, 2]),
        mnp.apply_over_axes(mnp.sum, x, 1),
        mnp.apply_over_axes(mnp.mean, x, (-1,)),
    )


@case("numpy.apply_over_axes")
def _(ms):
    """no such axis"""
    return ms.numpy.apply_over_axes(ms.numpy.sum, ms.Tensor([1.0]), 5)


@case("numpy.piecewise")
def _(ms):
    """values and functions"""
    mnp, x = ms.numpy, ms.Tensor([-1.0, 0.0, 1.0])
    return (
        mnp.piecewise(x, [x < 0, x >= 0], [lambda a: -a, lambda a: a * 2]),
        mnp.piecewise(x, [x < 0, x > 0], [lambda a: a - 1, lambda a: a + 1, lambda a: a * 0 + 7]),
        mnp.piecewise(x, [ms.Tensor([True, False, False]), x >= 0], [-1, 1]),
        mnp.piecewise(x, [x < 0, x >= 0], [lambda a, k: a * k, lambda a, k: a + k], 3),
    )


@case("numpy.piecewise")
def _(ms):
    """too few functions"""
    x = ms.Tensor([-1.0, 0.0, 1.0])
    return ms.numpy.piecewise(x, [x < 0, x >= 0], [1])


@case("numpy.pad")
def _(ms):
    """a function as the mode"""
    x = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
    return ms.numpy.pad(x, 1, lambda row, width, axis, options: row * 2)


call("numpy.promote_types", at("int32"), at("float32"))
call("numpy.promote_types", at("int32"), at("float16"))
call("numpy.promote_types", at("int8"), at("uint8"))
call("numpy.promote_types", at("uint32"), at("int32"))
call("numpy.promote_types", at("bool_"), at("int16"))
call("numpy.promote_types", "int32", float)
call("numpy.promote_types", "a", float)
call("numpy.result_type", "i2", at("float32"))
call("numpy.result_type", i64(1), 1.5)
call("numpy.result_type", 1, 2)
call("numpy.result_type", at("int32"), f16(1), 1)
call("numpy.result_type", of([1], "int8"), 300)
call("numpy.result_type", True)
call("numpy.result_type")

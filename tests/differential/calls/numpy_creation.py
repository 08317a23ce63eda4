"""Calls of mindspore.numpy that make arrays."""

import numpy as np
from differential.calllib import at, call, case, f16, f32, i32, i64, of

# ---- from values ----------------------------------------------------------------------------------------------------------
for value in (1, 1.5, True, [1, 2], [1.0, 2], [True, False], (1, (2)), [[1, 2], [3, 4.5]], []):
    call("numpy.array", value)
call("numpy.array", (1, 2, 3), ndmin=3)
call("numpy.array", [[1, 2], [3, 4.0]], dtype=at("float16"))
for dtype in ("float32", "int8", "bool", int, float, bool, np.float32):
    call("numpy.array", [1, 2], dtype)
call("numpy.array", f32(2, 3))
call("numpy.array", f32(2, 3), ndmin=3, dtype=at("float16"))
call("numpy.array", [f32(), f32(seed=1)])
call("numpy.array", [1.5, -2.5], dtype=at("int32"))
call("numpy.array", [[1], [1, 2]])
call("numpy.array", "a")
call("numpy.array", [1], "no dtype")
call("numpy.array", of([1, 2], "int64"), ndmin=2)
call("numpy.asarray", [1, 2])
call("numpy.asarray", f16(2, 2))
call("numpy.asarray", 1.5)
call("numpy.asarray", i32(3), at("float32"))
call("numpy.asarray", "a")
call("numpy.asfarray", [1, 2])
call("numpy.asfarray", [1, 2], dtype=at("float64"))
call("numpy.asfarray", i64(2, 2))
call("numpy.asfarray", f16(2), at("float32"))
call("numpy.asfarray", None)
call("numpy.copy", f32(2, 3), grad=True)
call("numpy.copy", [1, 2])
call("numpy.copy", 1.5)
call("numpy.copy", "a")

# ---- of one value ---------------------------------------------------------------------------------------------------------
for name in ("zeros", "ones"):
    for shape in (3, (2, 3), [2], (), (0, 2)):
        call(f"numpy.{name}", shape)
    for dtype in (at("int32"), "int32", int, float, bool, at("numpy.int8")):
        call(f"numpy.{name}", (2,), dtype)
    call(f"numpy.{name}", -1)
    call(f"numpy.{name}", 2.5)
    call(f"numpy.{name}_like", i64(2))
    call(f"numpy.{name}_like", [1, 2])
    call(f"numpy.{name}_like", [1.0, 2], at("int32"))
    call(f"numpy.{name}_like", i64(2), at("float32"), (2, 2))
    call(f"numpy.{name}_like", 5)
    call(f"numpy.{name}_like", f16(2, 3), shape=3)
    call(f"numpy.{name}_like", "a")
call("numpy.empty", (2, 2), shape_only=True)
call("numpy.empty", 3, at("int32"), shape_only=True)
call("numpy.empty", (), shape_only=True)
call("numpy.empty", -1, shape_only=True)
call("numpy.empty_like", i64(2), shape_only=True)
call("numpy.empty_like", [1.0, 2], at("int32"), (2, 2), shape_only=True)
call("numpy.empty_like", f32(2, 3), shape=4, shape_only=True)
call("numpy.empty_like", "a")
for value in (1, 1.5, True, [1, 2]):
    call("numpy.full", (2, 2), value)
call("numpy.full", 2, of([1, 2], "int64"))
call("numpy.full", (2, 2), 1, dtype=at("float32"))
call("numpy.full", (2,), 1, dtype="float16")
call("numpy.full", (2, 3), f32(3))
call("numpy.full", -1, 1)
call("numpy.full", (2, 3), f32(2))
call("numpy.full_like", i64(2), 1.5)
call("numpy.full_like", f32(2), 1.5, shape=(3,))
call("numpy.full_like", f32(2, 3), 2, at("int32"))
call("numpy.full_like", "a", 1)
call("numpy.eye", 2)
call("numpy.eye", 2, 3, 1)
call("numpy.eye", 2, dtype=at("int32"))
call("numpy.eye", 3, 2, -1)
call("numpy.eye", 3, 3, 7)
call("numpy.eye", 0)
call("numpy.eye", -1)
call("numpy.eye", 1.5)
call("numpy.identity", 2)
call("numpy.identity", 2, at("int8"))
call("numpy.identity", 1)
call("numpy.identity", -1)
call("numpy.tri", 2)
call("numpy.tri", 2, 3, 1, dtype=at("int32"))
call("numpy.tri", 3, 2, -1)
call("numpy.tri", 2, k=5)
call("numpy.tri", 1.5)

# ---- sequences ------------------------------------------------------------------------------------------------------------
call("numpy.arange", 3)
call("numpy.arange", 3.0)
call("numpy.arange", 1, 5)
call("numpy.arange", 1, 5, 2)
call("numpy.arange", 0, 1, 0.25)
call("numpy.arange", 5, 1, -2)
call("numpy.arange", 5, dtype=at("float32"))
call("numpy.arange", start=2, stop=4)
call("numpy.arange", 3, dtype="float16")
call("numpy.arange", 1, 5, 0)
call("numpy.arange", "a")
call("numpy.linspace", 0, 5, 6)
call("numpy.linspace", 0, 5, 6, endpoint=False)
call("numpy.linspace", 0, 5, 6, retstep=True)
call("numpy.linspace", f32(2), f32(2, seed=1), 3, grad=True)
call("numpy.linspace", [0, 1], [2, 3], 3, axis=1)
call("numpy.linspace", f32(2), 4, 3, axis=-1)
call("numpy.linspace", 0, 5, 1)
call("numpy.linspace", 0, 5, 4, dtype=at("int32"))
call("numpy.linspace", 0, 5, -1)
call("numpy.linspace", "a", 5)
call("numpy.logspace", 0, 3, 4)
call("numpy.logspace", 0, 3, 4, base=2, dtype=at("int32"))
call("numpy.logspace", 0, 3, 4, endpoint=False)
call("numpy.logspace", [0, 1], [2, 3], 3)
call("numpy.logspace", 0, 3, 2.5)
call("numpy.geomspace", 1, 1000, 4)
call("numpy.geomspace", -1, -1000, 4)
call("numpy.geomspace", 1, 256, 9)
call("numpy.geomspace", [1, 2], [8, 32], 3, endpoint=False)
call("numpy.geomspace", 1, 5, -2)
for name in ("bartlett", "blackman", "hamming", "hanning"):
    for points in (1, 2, 5, 8):
        call(f"numpy.{name}", points)
    call(f"numpy.{name}", 2.5)
call("numpy.vander", [1, 2, 3])
call("numpy.vander", f32(3), 2, increasing=True, grad=True)
call("numpy.vander", f32(3), grad=True)
call("numpy.vander", i32(3), 5)
call("numpy.vander", f32(2, 2))
for name in ("rand", "randn"):
    call(f"numpy.{name}", shape_only=True)
    call(f"numpy.{name}", 2, 3, shape_only=True)
    call(f"numpy.{name}", (2, 3), shape_only=True)
    call(f"numpy.{name}", 2, dtype=at("float16"), shape_only=True)
    call(f"numpy.{name}", 2, dtype=at("int32"), shape_only=True)
    call(f"numpy.{name}", -2, shape_only=True)
call("numpy.randint", 5, shape=(3,), shape_only=True)
call("numpy.randint", 1, 2, (3,))
call("numpy.randint", 5, shape_only=True)
call("numpy.randint", 5, shape=4, dtype=at("int32"), shape_only=True)
call("numpy.randint", 5, 5, (3,))
call("numpy.randint", 5.0, shape=3)
call("numpy.randint", 5, shape=3, dtype=at("float32"))

# ---- diagonals, triangles and grids ---------------------------------------------------------------------------------------
call("numpy.diag", f32(3), grad=True)
call("numpy.diag", i64(2), 1)
call("numpy.diag", f32(3, 3), -1, grad=True)
call("numpy.diag", f32(2, 3))
call("numpy.diag", f32())
call("numpy.diagflat", f32(2, 2), grad=True)
call("numpy.diagflat", i32(3), -1)
call("numpy.diagflat", f32(1), 2)
call("numpy.diagflat", "a")
call("numpy.diag_indices", 3)
call("numpy.diag_indices", 2, 3)
call("numpy.diag_indices", 1, 1)
call("numpy.diag_indices", 1.5)
call("numpy.diagonal", f32(2, 3), grad=True)
call("numpy.diagonal", f32(2, 3, 4), 1, 1, 2)
call("numpy.diagonal", f32(2, 3, 4), -1, 2, 0)
call("numpy.diagonal", f32(2, 2), 3)
call("numpy.diagonal", f32(2))
call("numpy.trace", f32(2, 3), grad=True)
call("numpy.trace", f32(2, 3, 4), 1, 1, 2)
call("numpy.trace", i32(3, 3))
call("numpy.trace", f32(2, 2), 5)
call("numpy.trace", f32(3, 3), dtype=at("float16"))
call("numpy.trace", f32(3))
for name in ("tril", "triu"):
    call(f"numpy.{name}", f32(3, 3), grad=True)
    call(f"numpy.{name}", f32(2, 3, 4), 1)
    call(f"numpy.{name}", i64(3))
    call(f"numpy.{name}", [[1, 2], [3, 4]], -1)
    call(f"numpy.{name}", f32())
    call(f"numpy.{name}_indices", 2)
    call(f"numpy.{name}_indices", 2, 1, 3)
    call(f"numpy.{name}_indices", 3, -1, 2)
    call(f"numpy.{name}_indices", "a")
    call(f"numpy.{name}_indices_from", f32(2, 2))
    call(f"numpy.{name}_indices_from", f32(2, 3), 1)
    call(f"numpy.{name}_indices_from", f32(3, 2), k=-1)
    call(f"numpy.{name}_indices_from", f32(3))
call("numpy.meshgrid", f32(2), f32(3), grad=True)
call("numpy.meshgrid", i32(2), f32(3), indexing="ij")
call("numpy.meshgrid", f32(2), f32(3), i32(4), sparse=True)
call("numpy.meshgrid", f32(2))
call("numpy.meshgrid", f32(2), f32(2), indexing="a")
call("numpy.ix_", i64(2), i64(3))
call("numpy.ix_", i64(2), i64(3), i64(4))
call("numpy.ix_", f32(2), f32(3))
call("numpy.ix_", f32(2, 2), f32(3))
call("numpy.indices", (2, 3))
call("numpy.indices", (2, 3), sparse=True)
call("numpy.indices", (2,), dtype=at("float32"))
call("numpy.indices", 2.5)


@case("numpy.mgrid")
def _(ms):
    """slices"""
    grid = ms.numpy.mgrid
    return grid[0:3], grid[0:2, 0:3], grid[0:2:5j], grid[0:1:0.25], grid[1:7:2, 0:3]


@case("numpy.mgrid")
def _(ms):
    """slices without a start"""
    return ms.numpy.mgrid[:3, :2]


@case("numpy.mgrid")
def _(ms):
    """ints and floats"""
    return ms.numpy.mgrid[0:2, 0:1:3j]


@case("numpy.mgrid")
def _(ms):
    """no slice"""
    return ms.numpy.mgrid[2]


@case("numpy.ogrid")
def _(ms):
    """slices"""
    grid = ms.numpy.ogrid
    return grid[0:3], grid[0:2, 0:3], grid[0:2:5j], grid[0:2:5j, 0:1], grid[1:7:2, 0:2, 0:1]


@case("numpy.ogrid")
def _(ms):
    """no slice"""
    return ms.numpy.ogrid[2]


@case("numpy")
def _(ms):
    """constants and dtypes"""
    mnp = ms.numpy
    kinds = (mnp.bool_, mnp.int8, mnp.int16, mnp.int32, mnp.int64, mnp.int_, mnp.uint8)
    kinds += (mnp.uint16, mnp.uint32, mnp.uint64, mnp.float16, mnp.float32, mnp.float64, mnp.float_)
    return mnp.pi, mnp.inf, -mnp.inf == mnp.NINF, mnp.nan, [str(kind) for kind in kinds]


# ---- pad ------------------------------------------------------------------------------------------------------------------
call("numpy.pad", f32(3), 1, grad=True)
call("numpy.pad", f32(3), (1, 2), "constant", constant_values=7)
call("numpy.pad", f32(2, 3), ((1, 1), (2, 0)), "constant", constant_values=((1, 2), (3, 4)))
for mode in ("edge", "reflect", "symmetric", "wrap", "maximum", "minimum", "mean"):
    call("numpy.pad", f32(3), 2, mode, grad=mode not in ("reflect", "symmetric"))
    call("numpy.pad", f32(2, 3), ((1, 0), (1, 2)), mode)
for mode in ("reflect", "symmetric", "wrap"):
    call("numpy.pad", f32(3), (5, 4), mode)
for mode in ("reflect", "symmetric"):
    call("numpy.pad", f32(2, 3), ((1, 1), (2, 1)), mode, reflect_type="odd")
    call("numpy.pad", f32(4), (9, 7), mode, reflect_type="odd")
call("numpy.pad", f32(3), 2, "linear_ramp", end_values=9, grad=True)
call("numpy.pad", f32(2, 3), ((1, 2), (3, 1)), "linear_ramp", end_values=((1, 2), (3, 4)))
call("numpy.pad", f32(4), 2, "mean", stat_length=2)
call("numpy.pad", f32(4), 2, "maximum", stat_length=((1, 2),))
call("numpy.pad", f32(5), 2, "median", ref=lambda x, n, mode: np.pad(x, n, mode))
call("numpy.pad", f32(2, 4), 2, "median", ref=lambda x, n, mode: np.pad(x, n, mode))
call("numpy.pad", f32(3), 2, "empty", shape_only=True)
call("numpy.pad", i32(2, 3), 1, "maximum")
call("numpy.pad", [1, 2], 1)
call("numpy.pad", f32(3), 2, "foo")
call("numpy.pad", f32(3), ((1, 1), (1, 1)))
call("numpy.pad", f32(3), 1.5)

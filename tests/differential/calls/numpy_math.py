"""Calls of mindspore.numpy that compute with elements, and compare them."""

import math

from differential.calllib import at, b1, call, f16, f32, f64, i8, i32, i64, of, u8

# ---- of one element -------------------------------------------------------------------------------------------------------

_TRIGONOMETRIC = (
    *("arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh"),
    *("cos", "cosh", "sin", "sinh", "tan", "tanh"),
)
for name in _TRIGONOMETRIC:
    low, high = {"arccosh": (1.1, 4.0)}.get(name, (-0.9, 0.9))
    call(f"numpy.{name}", f32(2, 3, low=low, high=high), grad=True)
    call(f"numpy.{name}", f16(3, low=low, high=high))
    call(f"numpy.{name}", f64(3, low=low, high=high))
    call(f"numpy.{name}", of([1, 1], "int32"))
    call(f"numpy.{name}", of([1], "int8"))
    call(f"numpy.{name}", of(True, "bool"))
    call(f"numpy.{name}", of([1, 1], "int64"), dtype=at("float16"))
    call(f"numpy.{name}", "a")
_POSITIVE = ("log", "log10", "log1p", "log2", "sqrt", "reciprocal")
_FLOATING = ("deg2rad", "exp", "exp2", "expm1", "rad2deg", "radians", "rint", "sign", "square")
for name in (*_POSITIVE, *_FLOATING, "abs", "absolute", "fabs", "negative", "positive", "trunc"):
    low = 0.1 if name in _POSITIVE else -2.0
    call(f"numpy.{name}", f32(2, 3, low=low, high=2.5), grad=name not in ("rint", "trunc"))
    call(f"numpy.{name}", f16(3, low=low, high=2.5), tol=1e-2)
    call(f"numpy.{name}", f64(3, low=low, high=2.5))
    call(f"numpy.{name}", f32())
    call(f"numpy.{name}", "a")
for name in ("ceil", "floor", "fix", "cbrt"):
    call(f"numpy.{name}", f32(2, 3, low=-5, high=5))
    call(f"numpy.{name}", of([-1.5, 1.5, 2.0]))
    call(f"numpy.{name}", f32(0, 2))
    call(f"numpy.{name}", "a")
for name in ("abs", "fabs", "negative", "square", "positive", "sqrt", "trunc", "fix", "sign"):
    call(f"numpy.{name}", i32(4, low=0))
    call(f"numpy.{name}", u8(3))
for name in (
    "ceil",
    "exp",
    "log",
    "floor",
    "sqrt",
    "square",
    "rint",
    "reciprocal",
    "sign",
    "trunc",
):
    call(f"numpy.{name}", [1.5, 2.5])
    call(f"numpy.{name}", 0.5)
call("numpy.ceil", f32(3), at("int32"))
call("numpy.reciprocal", of([1, 2, -1, -3], "int32"))
call("numpy.invert", i32(2, 3))
call("numpy.invert", 5)
call("numpy.invert", u8(3))
call("numpy.invert", f32(2))
call("numpy.bitwise_not", i64(3))
call("numpy.bitwise_not", [1, 2])
call("numpy.bitwise_not", i8(2, 2))
call("numpy.bitwise_not", f32(2))
call("numpy.cbrt", f32(2, 3, low=0.5), tol=1e-4)
call("numpy.cbrt", [-8.0, 27.0])
call("numpy.clip", f32(2, 3), -0.5, 0.5, grad=True)
call("numpy.clip", f32(2, 3), None, 0.25)
call("numpy.clip", f32(2, 3), of([-1.0, 0, 0.5]), of([0.0, 1, 1]))
call("numpy.clip", [1, 2, 3], 0, 2)
call("numpy.clip", i32(5), -2, 2)
call("numpy.clip", f32(2), None, None)
call("numpy.round", f32(2, 3))
call("numpy.round", f32(2, 3), 2)
call("numpy.round", of([0.5, 1.5, -2.5]))
call("numpy.round", f32(2), "a")
call("numpy.around", [0.37, 1.64], 1)
call("numpy.around", i32(3))
call("numpy.around", f64(3), 3)
call("numpy.around", f32(3), -1)

# ---- of two elements ------------------------------------------------------------------------------------------------------
_ANY = ("add", "subtract", "multiply", "divide", "true_divide", "maximum", "minimum", "hypot")
for name in (*_ANY, "power", "arctan2", "logaddexp", "logaddexp2", "float_power"):
    call(f"numpy.{name}", f32(2, 3, low=0.3), f32(2, 3, low=0.3, seed=1), grad=True)
    call(f"numpy.{name}", f32(3, low=0.3), f32(2, 1, low=0.3, seed=1))
    call(f"numpy.{name}", f16(3, low=0.3), f32(3, low=0.3), tol=1e-3)
    call(f"numpy.{name}", f32(2, low=0.3), f32(2, low=0.3, seed=1), at("float16"))
    call(f"numpy.{name}", f32(2), f32(3))
    call(f"numpy.{name}", "a", f32(3))
for name in ("add", "subtract", "divide", "power", "maximum", "hypot"):
    call(f"numpy.{name}", f32(3, low=0.3), 2)
    call(f"numpy.{name}", 1.5, f32(3, low=0.3))
    call(f"numpy.{name}", 3, 2)
    call(f"numpy.{name}", [1, 2], [[3], [1]])
    call(f"numpy.{name}", i32(3, low=1), i64(3, low=1, high=4))
for name in ("floor_divide", "mod", "remainder", "fmod", "divmod", "heaviside"):
    call(f"numpy.{name}", f32(2, 3), f32(2, 3, low=0.3))
    call(f"numpy.{name}", i32(5), 3)
    call(f"numpy.{name}", f32(5), -0.7)
    call(f"numpy.{name}", i32(4), i64(4, low=1))
    call(f"numpy.{name}", f32(2), f32(3))
    call(f"numpy.{name}", "a", f32(3))
for name in ("remainder", "fmod"):
    call(f"numpy.{name}", f32(3, low=1.0, high=3.0), f32(3, low=0.3, high=0.9), grad=True)
call("numpy.heaviside", of([-1.0, 0, 1]), 0.5)
for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    call(f"numpy.{name}", i32(2, 3), i32(3, seed=1))
    call(f"numpy.{name}", i32(3), 1)
    call(f"numpy.{name}", [True, False], [True, True])
    call(f"numpy.{name}", i32(3), i64(3))
    call(f"numpy.{name}", f32(3), 1)
call("numpy.copysign", f32(3), -1)
call("numpy.copysign", i32(4), f32(4))
call("numpy.copysign", f32(2, 3), f32(3, seed=1))
call("numpy.copysign", "a", 1)
for name in ("gcd", "lcm"):
    call(f"numpy.{name}", of([12, 18, 0, -6], "int32"), of([8, 27, 5, 4], "int32"))
    call(f"numpy.{name}", [12, 20], 8)
    call(f"numpy.{name}", i64(2, 3), i64(3, low=1))
    call(f"numpy.{name}", i32(2), i32(3))

# ---- comparisons ----------------------------------------------------------------------------------------------------------
for name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"):
    call(f"numpy.{name}", i32(2, 5, low=0, high=3), i32(5, low=0, high=3, seed=1))
    call(f"numpy.{name}", f32(2, 3), f32(1, 3))
    call(f"numpy.{name}", f32(3), f16(3), dtype=at("int32"))
    call(f"numpy.{name}", f32(2), f32(3))
for name in ("equal", "greater", "greater_equal", "less"):
    call(f"numpy.{name}", f32(3), 0.5)
    call(f"numpy.{name}", [1, 2], [2, 1])
for name in ("logical_and", "logical_or", "logical_xor"):
    call(f"numpy.{name}", b1(2, 3), b1(3, seed=1))
    call(f"numpy.{name}", i32(3, low=0, high=2), f32(3))
    call(f"numpy.{name}", b1(3), b1(3, seed=1), at("float32"))
    call(f"numpy.{name}", b1(2), b1(3))
call("numpy.logical_not", b1(3))
call("numpy.logical_not", f32(3))
call("numpy.logical_not", [0, 1])
call("numpy.logical_not", "a")
_SPECIAL = of([1.0, math.inf, -math.inf, math.nan])
for name in ("isfinite", "isinf", "isnan", "isneginf", "isposinf", "signbit"):
    call(f"numpy.{name}", _SPECIAL)
    call(f"numpy.{name}", f16(2, 3))
    call(f"numpy.{name}", of([[1.0, -1.0]], "float64"))
    call(f"numpy.{name}", i32(3))
    call(f"numpy.{name}", "a")
call("numpy.isfinite", _SPECIAL, at("float32"))
call("numpy.isscalar", 3)
call("numpy.isscalar", "a")
call("numpy.isscalar", None)
call("numpy.isscalar", f32())
call("numpy.isscalar", [1])
call("numpy.isclose", [1.0, 2], [1.0, 2.1])
call("numpy.isclose", _SPECIAL, _SPECIAL, equal_nan=True)
call("numpy.isclose", _SPECIAL, _SPECIAL)
call("numpy.isclose", f32(2, 3), f32(3), rtol=1)
call("numpy.isclose", [1, 2], [1, 3])
call("numpy.isclose", f32(3), f32(3, seed=1), atol=1.0)
call("numpy.isclose", f32(3), "a")
call("numpy.array_equal", [1, 2], [1, 2])
call("numpy.array_equal", [1, 2], [1, 2, 3])
call("numpy.array_equal", _SPECIAL, _SPECIAL)
call("numpy.array_equal", _SPECIAL, _SPECIAL, equal_nan=True)
call("numpy.array_equal", [1, 2], "a")
call("numpy.array_equiv", [1, 1], [[1, 1], [1, 1]])
call("numpy.array_equiv", [1, 2], [1, 2, 3])
call("numpy.array_equiv", f32(3), f32(3))
call("numpy.array_equiv", f32(3), "a")
call("numpy.sometrue", [0, 1])
call("numpy.sometrue", f32(2, 3), 0, True)
call("numpy.sometrue", b1(2, 3), 1)
call("numpy.sometrue", b1(2, 3), 5)

"""Rows of arithmetic and of mathematical functions."""

import numpy as np
from rowlib import args, bf16, c64, f16, f32, i8, i32, row, u8
from scipy import special

PAIRS = [args(f32(2, 3), f32(2, 3)), args(f32(4, 1, 3), f32(2, 1))]
INTS = args(i32(3, 4), i32(4))
BAD_SHAPES = args(f32(2, 3), f32(2, 4), says="must broadcast, but got [2, 3] and [2, 4]")


def ints(f):
    """A reference of integers, where a zero divisor and overflow are silent."""

    def ref(x, y):
        with np.errstate(all="ignore"):
            return f(x, y)

    return ref


def divide_integers(x, y):
    if x.dtype.kind == "f" or x.dtype.kind == "c":
        return x / y
    quotient = np.abs(x.astype(np.int64)) // np.where(y == 0, 1, np.abs(y.astype(np.int64)))
    sign = np.sign(x.astype(np.int64)) * np.sign(y.astype(np.int64))
    return np.where(y == 0, 0, quotient * sign).astype(x.dtype)


def truncated_remainder(x, y):
    return np.fmod(x, y)


def power(x, y):
    if x.dtype.kind in "fc":
        return np.power(x, y)
    return np.trunc(np.float64(x) ** np.float64(y)).astype(np.int64)


EXTREME = args(i32([-(2**31), 7, -7, 2**31 - 1]), i32([-1, 0, 0, 2]))
NARROW = args(i8([-128, 127, -7]), i8([-1, 2, 3]))

row(
    "Add",
    ref=np.add,
    good=[*PAIRS, INTS, args(c64(3), c64(3)), NARROW, args(u8([250]), u8([10]))],
    bad=[BAD_SHAPES],
)
row(
    "Sub",
    ref=np.subtract,
    good=[*PAIRS, INTS, args(c64(3), c64(3)), NARROW, args(u8([3]), u8([10]))],
    bad=[BAD_SHAPES],
)
row("Mul", ref=np.multiply, good=[*PAIRS, INTS, args(c64(3), c64(3)), NARROW], bad=[BAD_SHAPES])
row(
    "Div",
    ref=np.divide,
    good=[
        args(f32(2, 3), f32(2, 3, low=0.5, high=2)),
        args(f32(4, 1), f32(3, low=-2, high=-0.5)),
        args(c64(3), c64(3)),
    ],
    bad=[BAD_SHAPES],
)
row(
    "RealDiv",
    ref=divide_integers,
    good=[
        args(f32(2, 3), f32(2, 3, low=0.5, high=2)),
        args(f32(4, 1), f32(3, low=-2, high=-0.5)),
        args(i32([9, 7, -7, 2]), i32([-2, 0, 2, 3])),
    ],
    bad=[BAD_SHAPES],
)
row(
    "DivNoNan",
    ref=lambda x, y: np.where(y == 0, 0, x / np.where(y == 0, 1, y)),
    good=[
        args(f32(2, 3), f32(2, 3, low=0.5, high=2)),
        args(f32([1, 0, 2]), f32([0, 0, 4]), kink=True),
    ],
    bad=[BAD_SHAPES],
)
row(
    "FloorDiv",
    ref=ints(np.floor_divide),
    good=[args(f32(2, 3, low=3, high=9), f32([0.75, -1.3, 2.6])), INTS, EXTREME, NARROW],
    bad=[BAD_SHAPES],
)
row(
    "TruncateDiv",
    ref=lambda x, y: np.trunc(x / y) if x.dtype.kind == "f" else divide_integers(x, y),
    good=[args(f32(2, 3, low=3, high=9), f32([0.75, -1.3, 2.6])), INTS],
    bad=[BAD_SHAPES],
)
for name in ("Mod", "TruncateMod"):
    row(
        name,
        ref=ints(truncated_remainder),
        tol={f16: 1e-2, bf16: 3e-2},
        good=[
            args(f32(2, 3, low=3, high=9), f32([0.75, -1.3, 2.6])),
            INTS,
            NARROW,
            args(i32([5, -(2**31)]), i32([0, -1])),
        ],
        bad=[BAD_SHAPES],
    )
row(
    "FloorMod",
    ref=ints(np.mod),
    good=[args(f32(2, 3, low=3, high=9), f32([0.75, -1.3, 2.6])), INTS, EXTREME],
    bad=[BAD_SHAPES],
    tol={f16: 1e-2, bf16: 3e-2},
)
row(
    "Pow",
    ref=power,
    bad=[BAD_SHAPES],
    tol={f16: 1e-2, bf16: 5e-2},
    good=[
        args(f32(2, 3, low=0.5, high=2), f32(2, 3)),
        args(f32(3, low=0.3, high=2), f32([2.0])),
        args(f32(3, low=0.3, high=2), f32([0.5])),
        args(f32(3, low=0.3, high=2), f32([-1.0])),
        args(f32(3), f32([3.0])),
        args(c64(3), c64([3.0])),
        args(c64(3) + 3, c64([-2.0])),
        args(c64(3) + 3, c64(3)),
        args(i32([2, -3, 1, -1, 0]), i32([5, 3, -2, -3, 0])),
    ],
)
row(
    "SquaredDifference",
    ref=lambda x, y: (x - y) * (x - y),
    good=[*PAIRS, args(i32(4), i32(4))],
    bad=[BAD_SHAPES],
)
row("Hypot", ref=np.hypot, good=PAIRS, bad=[BAD_SHAPES])
row("Atan2", ref=np.arctan2, good=PAIRS, bad=[BAD_SHAPES])
row(
    "Xlogy",
    ref=special.xlogy,
    good=[
        args(f32(2, 3), f32(2, 3, low=0.5, high=2)),
        args(f32([0.0]), f32([3.0]), kink=True),
        args(c64([0, 1 - 2j]), c64([0, -1 + 0.5j])),
    ],
    bad=[BAD_SHAPES],
    tol={bf16: 3e-2},
)
row("Maximum", ref=np.maximum, good=[*PAIRS, INTS], bad=[BAD_SHAPES])
row("Minimum", ref=np.minimum, good=[*PAIRS, INTS], bad=[BAD_SHAPES])
row(
    "GreaterShare",
    ref=lambda x, y: np.where(x > y, 1.0, np.where(x == y, 0.5, 0.0)),
    good=[*PAIRS, args(f32([1, 2]), f32([1, 1]), kink=True)],
    bad=[BAD_SHAPES],
)
row(
    "Lerp",
    ref=lambda x, y, w: x + w * (y - x),
    good=[args(f32(2, 3), f32(2, 3), f32(3)), args(f32(3), f32(2, 3), f32())],
    bad=[args(f32(2), f32(3), f32(2), says="must broadcast")],
)


def unary(name, ref, low=-2.0, high=2.0, extra=(), **options):
    samples = [args(f32(2, 3, low=low, high=high)), args(f32(5, low=low, high=high)), *extra]
    row(
        name,
        ref=ref,
        good=samples,
        bad=[args(f32(2), f32(2), says="but got 2 positional arguments")],
        **options,
    )


def sign(x):
    """NumPy's, of complex numbers that since NumPy 2."""
    return x / np.abs(x) if x.dtype.kind == "c" else np.sign(x)


INT_CASE = (args(i32(3, 4)),)
COMPLEX_CASE = (args(c64([0.5 - 1.5j, -2 + 0.25j, 1e-3 + 2e-3j])),)
unary("Neg", np.negative, extra=(*INT_CASE, args(c64(3)), args(i8([-128, 1]))))
unary("Abs", np.abs, extra=(*INT_CASE, args(c64(3)), args(i8([-128, 1]))))
unary("Sign", sign, extra=(*INT_CASE, *COMPLEX_CASE, args(f32([0.0, -0.0]), kink=True)))
unary("Square", np.square, extra=(*INT_CASE, args(c64(3))))
unary("Floor", np.floor, extra=(args(i32(4)),))
unary("Ceil", np.ceil, extra=(args(i32(4)),))
unary("Trunc", np.trunc, extra=(args(i32(4)),))
unary(
    "Round",
    np.round,
    extra=(
        args(i32(4)),
        args(f32([0.5, 1.5, 2.5, -0.5]), kink=True),
    ),
)
unary("Exp", np.exp, extra=(args(c64(3)), args(f32([-200.0, 200.0]))), tol={f16: 1e-2, bf16: 3e-2})
unary("Expm1", np.expm1, extra=COMPLEX_CASE, tol={f16: 1e-2, bf16: 3e-2})
unary("Log", np.log, 0.2, 3, extra=(args(c64(3)),))
unary("Log1p", np.log1p, -0.5, 3, extra=COMPLEX_CASE)
unary("Sqrt", np.sqrt, 0.2, 3, extra=(args(c64(3)),))
unary("Rsqrt", lambda x: 1 / np.sqrt(x), 0.2, 3)
unary("Reciprocal", lambda x: 1 / x, 0.3, 3, tol={bf16: 3e-2})
unary("Erf", special.erf)
unary("Erfc", special.erfc)
unary(
    "Lgamma",
    special.gammaln,
    0.4,
    5,
    extra=(args(f32([-1.5, -0.3, 20.0])),),
    tol={f32: 1e-4},
)
unary(
    "Digamma",
    special.digamma,
    0.4,
    5,
    extra=(args(f32([-1.5, -0.3, 20.0])),),
    tol={f32: 1e-4, f16: 1e-2, bf16: 5e-2},
)


def polygamma(x, n):
    """By the recurrence where SciPy has no values: below 0."""
    x, total = x.astype(np.float64), 0.0
    for _ in range(5):
        total = total - (-1) ** n * special.gamma(n + 1) * np.where(x < 0, x, np.inf) ** -(n + 1.0)
        x = np.where(x < 0, x + 1, x)
    return special.polygamma(n, x) + total


row(
    "Polygamma",
    ref=lambda x, n: polygamma(x, n).astype(x.dtype),
    good=[args(f32(2, 3, low=0.3, high=8.0), n=n) for n in (1, 2, 3, 5)]
    + [args(f32([-1.5, -0.3, 20.0, -3.6]), n=n) for n in (1, 2)],
    bad=[
        args(f32(2), n=0, says="'n' must be in [1, 20], but got 0"),
        args(f32(2), n=21, says="'n' must be in [1, 20], but got 21"),
    ],
    tol={f32: 1e-4, f16: 2e-2, bf16: 1e-1},
)
unary("Sin", np.sin, extra=(args(f32([1e4, 1e7])), args(c64(3))))
unary("Cos", np.cos, extra=(args(c64(3)),))
unary("Tan", np.tan, -1.2, 1.2, extra=COMPLEX_CASE, tol={bf16: 5e-2, f16: 5e-3})
unary("Asin", np.arcsin, -0.8, 0.8, extra=COMPLEX_CASE)
unary("ACos", np.arccos, -0.8, 0.8, extra=COMPLEX_CASE)
unary("Atan", np.arctan, extra=COMPLEX_CASE)
unary("Sinh", np.sinh, extra=(args(c64(3)),), tol={bf16: 4e-2, f16: 1e-2})
unary("Cosh", np.cosh, extra=(args(c64(3)),), tol={bf16: 4e-2, f16: 1e-2})
unary("Tanh", np.tanh, extra=COMPLEX_CASE)
unary("Asinh", np.arcsinh, extra=COMPLEX_CASE)
unary("Acosh", np.arccosh, 1.2, 3, extra=COMPLEX_CASE)
unary("Atanh", np.arctanh, -0.8, 0.8, extra=COMPLEX_CASE)
row(
    "TanhGrad",
    ref=lambda y, dy: dy * (1 - y * y),
    good=[args(f32(2, 3, low=-0.9, high=0.9), f32(2, 3))],
    bad=[args(f32(2), f32(3), says="must broadcast")],
)
unary("RootOfSquares", np.sqrt, 0.2, 3)
row(
    "RootOfSquaresGrad",
    ref=lambda y, dy: np.where(y == 0, 0, dy / 2 / np.where(y == 0, 1, y)),
    good=[args(f32(2, 3, low=0.5, high=2), f32(2, 3)), args(f32([0.0, 2.0]), f32(2), kink=True)],
    bad=[args(f32(2), f32(3), says="must broadcast")],
)
row(
    "Real",
    ref=np.real,
    good=[args(c64(2, 3)), args(f32(3))],
    bad=[args(c64(2), c64(2), says="but got 2 positional arguments")],
)
row(
    "Imag",
    ref=np.imag,
    good=[args(c64(2, 3)), args(f32(3))],
    bad=[args(c64(2), c64(2), says="but got 2 positional arguments")],
)
row(
    "Conj",
    ref=np.conj,
    good=[args(c64(2, 3)), args(f32(3))],
    bad=[args(c64(2), c64(2), says="but got 2 positional arguments")],
)

row(
    "Heaviside",
    ref=np.heaviside,
    good=[args(f32(2, 3), f32(3)), args(f32([0, 1, -1]), f32([7.0]))],
    bad=[BAD_SHAPES],
    grad=False,
)

"""Arithmetic: functions of one element and of two, each a face of the op that computes it."""

from __future__ import annotations

import sys
from collections.abc import Callable

from mindspore import ops
from mindspore._core import Tensor
from mindspore.common._checked import check_functions
from mindspore.common._kinds import Count
from mindspore.numpy._calculus import (
    cumprod,
    cumsum,
    diff,
    ediff1d,
    gradient,
    interp,
    nancumsum,
    trapz,
    unwrap,
)
from mindspore.numpy._histograms import (
    bincount,
    digitize,
    histogram,
    histogram2d,
    histogramdd,
    searchsorted,
)
from mindspore.numpy._polynomials import (
    convolve,
    correlate,
    polyadd,
    polyder,
    polyint,
    polymul,
    polysub,
    polyval,
)
from mindspore.numpy._products import (
    cross,
    dot,
    inner,
    kron,
    matmul,
    matrix_power,
    multi_dot,
    norm,
    outer,
    tensordot,
)
from mindspore.numpy._statistics import (
    amax,
    amin,
    argmax,
    argmin,
    average,
    corrcoef,
    count_nonzero,
    cov,
    mean,
    nanmax,
    nanmean,
    nanmin,
    nanstd,
    nansum,
    nanvar,
    ptp,
    std,
    sum,
    var,
)
from mindspore.numpy.dtypes import Dtype, float32, promoted
from mindspore.numpy.utils import (
    Array,
    Operand,
    as_tensor,
    binary,
    cast,
    floating,
    floating_short,
    is_inexact,
    of_one_type,
    operands,
    require_integers,
    unary,
)
from mindspore.ops._bind import bound

# ---- of one element -------------------------------------------------------------------------------------------------------
arcsin = unary("arcsin", bound.asin, floating_short)
arcsinh = unary("arcsinh", bound.asinh, floating_short)
arccosh = unary("arccosh", bound.acosh, floating_short)
arctan = unary("arctan", bound.atan, floating_short)
arctanh = unary("arctanh", bound.atanh, floating_short)
cos = unary("cos", bound.cos, floating_short)
cosh = unary("cosh", bound.cosh, floating_short)
sin = unary("sin", bound.sin, floating_short)
sinh = unary("sinh", bound.sinh, floating_short)
tan = unary("tan", bound.tan, floating_short)
tanh = unary("tanh", bound.tanh, floating_short)

ceil = unary("ceil", bound.ceil, floating)
deg2rad = unary("deg2rad", ops.deg2rad, floating)
exp = unary("exp", bound.exp)
exp2 = unary("exp2", ops.exp2)
expm1 = unary("expm1", bound.expm1)
floor = unary("floor", bound.floor, floating)
log = unary("log", bound.log)
log10 = unary("log10", ops.log10)
log1p = unary("log1p", bound.log1p)
log2 = unary("log2", ops.log2)
rad2deg = unary("rad2deg", ops.rad2deg, floating)
rint = unary("rint", ops.round, floating)
sign = unary("sign", bound.sign, floating)
sqrt = unary("sqrt", bound.sqrt)
trunc = unary("trunc", bound.trunc, floating)

absolute = unary("absolute", bound.abs)
invert = unary("invert", bound.invert)
square = unary("square", bound.square)
radians, abs, fabs, bitwise_not = deg2rad, absolute, absolute, invert


def arccos(input: Array, dtype: Dtype = None) -> Tensor:
    """The angle in [0, pi] of this cosine."""
    return cast(bound.acos(floating_short(input)), dtype)


def cbrt(x: Array, dtype: Dtype = None) -> Tensor:
    """The cube root, which of a negative number is negative."""
    x = floating(x)
    zero = x == 0
    root = bound.sign(x) * bound.pow(ops.where(zero, 1.0, bound.abs(x)), 1 / 3)
    at_zero = bound.sqrt(ops.where(zero, x, 1.0))  # 0 as well, and as steep there
    return cast(ops.where(zero, at_zero, root), dtype)


def fix(x: Array) -> Tensor:
    """The number without what follows the point."""
    return bound.trunc(floating(x))


def negative(a: Array, dtype: Dtype = None) -> Tensor:
    """The number with the other sign."""
    return cast(bound.neg(a), dtype)


def positive(a: Array, dtype: Dtype = None) -> Tensor:
    """The number itself."""
    return cast(ops.positive(a), dtype)


def reciprocal(x: Array, dtype: Dtype = None) -> Tensor:
    """`1 / x`; of integers, the integer next to it towards 0."""
    return cast(bound.reciprocal(x) if is_inexact(x) else bound.truncate_div(1, x), dtype)


def around(a: Array, decimals: Count = 0) -> Tensor:
    """The nearest number with so many decimals; halves go to the even one."""
    return ops.round(a, decimals=decimals)


def clip(x: Array, xmin: Operand | None, xmax: Operand | None, dtype: Dtype = None) -> Tensor:
    """The array cut to [xmin, xmax], of which one may be missing; where xmin is above xmax, xmax."""
    if xmin is None and xmax is None:
        raise ValueError("For 'clip', 'xmin' or 'xmax' must be given, but got None for both.")
    bounds = [None if v is None else operands(x, v)[1] for v in (xmin, xmax)]
    kinds = [as_tensor(v).dtype for v in (xmin, xmax) if v is not None]
    return cast(ops.clamp(cast(x, promoted(x.dtype, *kinds)), *bounds), dtype)


# ---- of two elements ------------------------------------------------------------------------------------------------------
add = binary("add", bound.add)
subtract = binary("subtract", bound.sub)
multiply = binary("multiply", bound.mul)
divide = binary("divide", ops.div)
true_divide = binary("true_divide", ops.div)
floor_divide = binary("floor_divide", bound.floor_divide)
fmod = binary("fmod", bound.fmod)
mod = binary("mod", bound.floor_mod)
remainder = binary("remainder", bound.floor_mod)
power = binary("power", bound.pow)
maximum = binary("maximum", bound.maximum)
minimum = binary("minimum", bound.minimum)
heaviside = binary("heaviside", bound.heaviside)
hypot = binary("hypot", bound.hypot)
arctan2 = binary("arctan2", bound.atan2, floating_short)
bitwise_and = binary("bitwise_and", bound.bitwise_and)
bitwise_or = binary("bitwise_or", bound.bitwise_or)
bitwise_xor = binary("bitwise_xor", bound.bitwise_xor)


def _float_power(x: Tensor, y: Tensor) -> Tensor:
    """`x ** y` in Float32, or in Float64 where one of them is that."""
    dtype = promoted(x.dtype, y.dtype, float32)
    return bound.pow(cast(x, dtype), cast(y, dtype))


def _copysign(x: Tensor, y: Tensor) -> Tensor:
    """The magnitude of the first, in its dtype, with the sign of the second."""
    size = bound.abs(x)
    return cast(ops.where(ops.signbit(y), bound.neg(size), size), x.dtype)


def _of_floats(op: Callable) -> Callable:
    """An op of two tensors in the dtype that holds both; of integers, in Float32."""
    function = lambda x, y: op(*map(floating, of_one_type([x, y])))  # noqa: E731
    function.__doc__ = op.__doc__
    return function


logaddexp = binary("logaddexp", _of_floats(ops.logaddexp), as_tensor)
logaddexp2 = binary("logaddexp2", _of_floats(ops.logaddexp2), as_tensor)
float_power = binary("float_power", _float_power, as_tensor)
copysign = binary("copysign", _copysign, as_tensor)


def divmod(x1: Operand, x2: Operand, dtype: Dtype = None) -> tuple[Tensor, Tensor]:
    """The quotient rounded down, and what remains."""
    return floor_divide(x1, x2, dtype), remainder(x1, x2, dtype)


def _of_integers(name: str, op: Callable) -> Callable:
    def function(x: Tensor, y: Tensor) -> Tensor:
        first, second = of_one_type([x, y])
        require_integers(name, "x1' and 'x2", first)
        return op(first, second)

    function.__doc__ = op.__doc__
    return function


gcd = binary("gcd", _of_integers("gcd", ops.gcd), as_tensor)
lcm = binary("lcm", _of_integers("lcm", ops.lcm), as_tensor)

__all__ = [
    "abs",
    "absolute",
    "add",
    "amax",
    "amin",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "around",
    "average",
    "bincount",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clip",
    "convolve",
    "copysign",
    "corrcoef",
    "correlate",
    "cos",
    "cosh",
    "count_nonzero",
    "cov",
    "cross",
    "cumprod",
    "cumsum",
    "deg2rad",
    "diff",
    "digitize",
    "divide",
    "divmod",
    "dot",
    "ediff1d",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fix",
    "float_power",
    "floor",
    "floor_divide",
    "fmod",
    "gcd",
    "gradient",
    "heaviside",
    "histogram",
    "histogram2d",
    "histogramdd",
    "hypot",
    "inner",
    "interp",
    "invert",
    "kron",
    "lcm",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "matmul",
    "matrix_power",
    "maximum",
    "mean",
    "minimum",
    "mod",
    "multi_dot",
    "multiply",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanstd",
    "nansum",
    "nanvar",
    "negative",
    "norm",
    "outer",
    "polyadd",
    "polyder",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "positive",
    "power",
    "ptp",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "rint",
    "searchsorted",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "std",
    "subtract",
    "sum",
    "tan",
    "tanh",
    "tensordot",
    "trapz",
    "true_divide",
    "trunc",
    "unwrap",
    "var",
]
check_functions(sys.modules[__name__], __all__)

"""Special functions of two and more operands, and what small functions are made of several others."""

from __future__ import annotations

import math
from typing import Any

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._kinds import Layers, Number, Real
from mindspore.common._size import broadcast_shapes
from mindspore.common.dtype import dtype_to_nptype
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.math_func import (
    addcdiv,
    addcmul,
    fmax,
    fmin,
    logit,
    nan_to_num,
    sinc,
    where,
)

_broadcast, _cast = raw("BroadcastTo"), raw("Cast")


def _pointwise(name: str, op: Any, *operands: Tensor | Number) -> Tensor:
    """An op whose operands must have one shape and one dtype, of those that broadcast and are promoted."""
    like: Any = next((x for x in operands if isinstance(x, Tensor)), Tensor(operands[0]))
    tensors = [x if isinstance(x, Tensor) else Tensor(x, like.dtype) for x in operands]
    shape = broadcast_shapes(name, *(tuple(x.shape) for x in tensors))
    return op(*(x if tuple(x.shape) == shape else _broadcast(x, shape=shape) for x in tensors))


def igamma(input: Tensor, other: Tensor) -> Tensor:
    """The regularised lower incomplete gamma function P(input, other)."""
    return _pointwise("igamma", raw("Igamma"), input, other)


def igammac(input: Tensor, other: Tensor) -> Tensor:
    """The regularised upper incomplete gamma function 1 - P(input, other)."""
    return _pointwise("igammac", raw("Igammac"), input, other)


def zeta(input: Tensor | Real, other: Tensor | Real) -> Tensor:
    """Hurwitz' zeta function: the sum of (k + other) ** -input over all k >= 0."""
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = Tensor(input, _core.float32)
    return _pointwise("zeta", raw("Zeta"), input, other)


def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """The number next to the first in the direction of the second."""
    return _pointwise("nextafter", raw("NextAfter"), input, other)


def gcd(input: Tensor | int, other: Tensor | int) -> Tensor:
    """The greatest common divisor of integers."""
    return _pointwise("gcd", raw("Gcd"), input, other)


def lcm(input: Tensor | int, other: Tensor | int) -> Tensor:
    """The least common multiple of integers."""
    return _pointwise("lcm", raw("Lcm"), input, other)


def _betainc(a: Tensor, b: Tensor, x: Tensor) -> Tensor:
    """The regularised incomplete beta function I_x(a, b)."""
    return _pointwise("Betainc", raw("Betainc"), a, b, x)


def mvlgamma(input: Tensor, p: Layers) -> Tensor:
    """The logarithm of the gamma function of p dimensions."""
    parts = [bound.lgamma(input - j / 2) for j in range(p)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total + p * (p - 1) / 4 * math.log(math.pi)


def xdivy(x: Tensor | Number, y: Tensor | Number) -> Any:
    """`x / y`, and 0 where x is."""
    if not isinstance(x, Tensor):
        x = Tensor(x, y.dtype if isinstance(y, Tensor) else None)
    zero = bound.equal(x, 0)
    safe = where(zero, 1, y)
    return where(zero, safe * 0, x / safe)


def population_count(input_x: Tensor) -> Tensor:
    """How many bits of each integer are set."""
    bits = _bits(input_x)
    total = None
    for place in range(bits):
        bit = bound.bitwise_and(bound.bitwise_right_shift(input_x, place), Tensor(1, input_x.dtype))
        total = bit if total is None else total + bit
    return _cast(total, dtype=_core.uint8)


def _bits(x: Tensor) -> int:
    kind = dtype_to_nptype(x.dtype)
    if not str(x.dtype).startswith(("Int", "UInt")):
        raise TypeError(
            f"For 'population_count', 'input_x' must be of integers, but got {x.dtype}."
        )
    return kind().itemsize * 8


_EPSILON = {"Float16": 2.0**-10, "BFloat16": 2.0**-7, "Float32": 2.0**-23, "Float64": 2.0**-52}


def eps(x: Tensor) -> Tensor:
    """The distance from 1 to the next number of the dtype, in the shape of a tensor."""
    small = _EPSILON.get(str(x.dtype))
    if small is None:
        raise TypeError(f"For 'eps', the dtype of 'x' must be a float, but got {x.dtype}.")
    return raw("Fill")(dtype=x.dtype, shape=x.shape, value=small)


def _mul_no_nan(x: Tensor | Number, y: Tensor | Number) -> Tensor:
    """`x * y`, and 0 where y is, whatever x is."""
    zero = bound.equal(y, 0) if isinstance(y, Tensor) else Tensor(y == 0)
    return where(zero, 0, x) * y


def _lerp(start: Tensor, end: Tensor, weight: Tensor | Real) -> Tensor:
    """`start + weight * (end - start)`."""
    return start + weight * (end - start)


def _logit(x: Tensor, eps: Real) -> Tensor:
    """`log(x / (1 - x))`, after cutting x to [eps, 1 - eps] where eps is not negative."""
    return logit(x, None if eps < 0 else eps)


def _addcdiv(input_data: Tensor, x1: Tensor, x2: Tensor, value: Tensor | Number) -> Tensor:
    """`input_data + value * x1 / x2`."""
    return addcdiv(input_data, x1, x2, value)


def _addcmul(input_data: Tensor, x1: Tensor, x2: Tensor, value: Tensor | Number) -> Tensor:
    """`input_data + value * x1 * x2`."""
    return addcmul(input_data, x1, x2, value)


FACES = {
    "Igamma()(a@input, x@other)": "igamma",
    "Igammac()(a@input, x@other)": "igammac",
    "Zeta()(x@input, q@other)": "zeta",
    "NextAfter()(x1@input, x2@other)": "nextafter",
    "Gcd()(x1@input, x2@other)": "gcd",
    "Lcm()(x1@input, x2@other)": "lcm",
    "Betainc()(a, b, x)": _betainc,
    "Mvlgamma(p)(x@input)": "mvlgamma",
    "Xdivy()(x, y)": "xdivy",
    "PopulationCount()(input_x)": "population_count",
    "Eps()(x)": "eps",
    "MulNoNan()(x, y)": _mul_no_nan,
    "LerpScalar()(start, end, weight)": _lerp,
    "Addcdiv()(input_data, x1, x2, value)": _addcdiv,
    "Addcmul()(input_data, x1, x2, value)": _addcmul,
    "Fmax()(x1@input, x2@other)": fmax,
    "Fmin()(x1@input, x2@other)": fmin,
    "Logit(eps=-1.0)(x)": _logit,
    "NanToNum(nan=None, posinf=None, neginf=None)(x@input)": nan_to_num,
    "Sinc()(x@input)": sinc,
}
METHODS = ("gcd", "igamma", "igammac", "lcm", "mvlgamma", "nextafter", "xdivy")
__all__ = [
    "eps",
    "gcd",
    "igamma",
    "igammac",
    "lcm",
    "mvlgamma",
    "nextafter",
    "population_count",
    "xdivy",
    "zeta",
]

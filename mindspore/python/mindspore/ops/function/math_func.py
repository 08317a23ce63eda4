"""Mathematical functions composed of other ops, or with more to say than inputs and attributes."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common._dtypes import COMPLEX, INTEGERS, floating
from mindspore.common._kinds import Number, Real, within
from mindspore.common.dtype import dtype_to_nptype
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.cast_func import _in_float32, is_complex, is_floating_point

_select = raw("Select")
_round = raw("Round")
_div = raw("Div")
_clip, _multiply_add, _divide_add = raw("Clip"), raw("MultiplyAdd"), raw("DivideAdd")

_LARGEST = {
    "Float16": 65504.0,
    "BFloat16": 3.3895313892515355e38,
    "Float32": 3.4028234663852886e38,
    "Float64": 1.7976931348623157e308,
}


def _of_common_dtype(x: Any, y: Any) -> tuple[Any, Any]:
    """Numbers as tensors of the dtype that they and the other operand promote to."""
    if isinstance(x, Tensor) == isinstance(y, Tensor):
        return x, y
    tensor, number = (x, y) if isinstance(x, Tensor) else (y, x)
    if not isinstance(number, (bool, int, float)):
        return x, y
    dtype = _core.promote(tensor.dtype, False, _core.dtype_of(type(number)), True)
    made = Tensor(number, dtype)
    return (x, made) if tensor is x else (made, y)


def where(condition: Tensor, input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """`input` where the condition holds, elsewhere `other`; all three broadcast."""
    x, y = _of_common_dtype(input, other)
    if isinstance(condition, Tensor) and condition.dtype != _core.bool:
        condition = bound.not_equal(condition, 0)
    return _select(condition, x, y)


def select(condition: Tensor, input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """`input` where the condition holds, elsewhere `other`."""
    x, y = _of_common_dtype(input, other)
    return _select(condition, x, y)


def div(
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    rounding_mode: Literal["floor", "trunc"] | None = None,
) -> Tensor:
    """`input / other`; `rounding_mode` 'floor' or 'trunc' rounds the quotient down or to zero."""
    if rounding_mode is None:
        return _div(input, other)
    if rounding_mode == "floor":
        return bound.floor_divide(input, other)
    return bound.truncate_div(input, other)


def divide(
    input: Tensor | Number,
    other: Tensor | Number,
    *,
    rounding_mode: Literal["floor", "trunc"] | None = None,
) -> Tensor:
    """The same as `div`."""
    return div(input, other, rounding_mode=rounding_mode)


def subtract(
    input: Tensor | Number, other: Tensor | Number, *, alpha: Number | Tensor = 1
) -> Tensor:
    """`input - alpha * other`."""
    plain = not isinstance(alpha, Tensor) and alpha == 1
    return bound.sub(input, other if plain else bound.mul(other, alpha))


def _are_numbers(*values: Any) -> bool:
    """Whether no value is a tensor, a truth value or anything but a number."""
    return all(type(value) in (int, float) for value in values)


def _are_floats(*values: Any) -> bool:
    """Whether all values are tensors of one floating dtype."""
    return all(isinstance(value, Tensor) for value in values) and (
        is_floating_point(values[0]) and all(v.dtype is values[0].dtype for v in values)
    )


def _promoted(*tensors: Tensor) -> list[Tensor]:
    """The tensors in the dtype that all of them promote to."""
    dtypes = [t.dtype for t in tensors]
    dtype = functools.reduce(lambda a, b: _core.promote(a, False, b, False), dtypes)
    return [t if t.dtype == dtype else bound.cast(t, dtype) for t in tensors]


@functools.cache
def _limits(dtype: Any) -> tuple[Any, Any]:
    """The least and the greatest number of a dtype."""
    kind: Any = np.dtype(dtype_to_nptype(dtype))
    if kind.kind not in "iu":
        return -math.inf, math.inf
    return int(np.iinfo(kind).min), int(np.iinfo(kind).max)


def clamp(
    input: Tensor, min: Tensor | Real | None = None, max: Tensor | Real | None = None
) -> Tensor:
    """`input` cut to [min, max]; where min is above max the result is max. The gradient passes where the input is in the
    range, the bounds included."""
    if min is None and max is None:
        raise ValueError("For 'clamp', 'min' or 'max' must be given, but got None for both.")
    if input.dtype is not _core.bool:
        lowest, highest = _limits(input.dtype)
        return _clip(input, lowest if min is None else min, highest if max is None else max)
    if min is not None:
        input = bound.maximum(input, min)
    if max is not None:
        input = bound.minimum(input, max)
    return input


def clip(
    input: Tensor, min: Tensor | Real | None = None, max: Tensor | Real | None = None
) -> Tensor:
    """The same as `clamp`."""
    return clamp(input, min, max)


def clip_by_value(
    x: Tensor | Sequence[Tensor],
    clip_value_min: Tensor | Real | None = None,
    clip_value_max: Tensor | Real | None = None,
) -> Any:
    """A tensor, or each of a tuple or list of tensors, cut to the given range."""
    if clip_value_min is None and clip_value_max is None:
        raise ValueError(
            "For 'clip_by_value', 'clip_value_min' or 'clip_value_max' must be given, "
            "but got None for both."
        )
    if isinstance(x, Tensor):
        return clamp(x, clip_value_min, clip_value_max)
    made = [clamp(item, clip_value_min, clip_value_max) for item in x]
    return made if isinstance(x, list) else tuple(made)


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Tensor | Number = 1) -> Tensor:
    """`input + value * tensor1 * tensor2`."""
    if _are_numbers(value) and _are_floats(input, tensor1, tensor2):
        return _multiply_add(input, tensor1, tensor2, value)
    input, tensor1, tensor2 = _promoted(input, tensor1, tensor2)
    return bound.add(input, bound.mul(bound.mul(tensor1, tensor2), value))


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, value: Tensor | Number = 1) -> Tensor:
    """`input + value * tensor1 / tensor2`."""
    if _are_numbers(value) and _are_floats(input, tensor1, tensor2):
        return _divide_add(input, tensor1, tensor2, value)
    input, tensor1, tensor2 = _promoted(input, tensor1, tensor2)
    return bound.add(input, bound.mul(_div(tensor1, tensor2), value))


def round(input: Tensor, *, decimals: Annotated[int, within(-300, 300, "both")] = 0) -> Tensor:
    """The nearest number with so many decimals; halves go to the even one."""
    if decimals == 0:
        return _round(input)
    if input.dtype in INTEGERS:
        return input if decimals > 0 else _round_integers(input, -decimals)
    scale, x = 10.0 ** abs(decimals), floating(input)
    if decimals > 0:
        return bound.cast(_div(_round(bound.mul(x, scale)), scale), input.dtype)
    return bound.cast(bound.mul(_round(_div(x, scale)), scale), input.dtype)


def _round_integers(input: Tensor, digits: int) -> Tensor:
    """Multiples of a power of ten by integer arithmetic: Float32 has not all of the numbers."""
    unit = 10**digits
    if unit > 2**63 - 1:  # no integer but zero is a multiple of it
        return raw("ZerosLike")(input)
    x = input if input.dtype == _core.uint64 else bound.cast(input, _core.int64)
    multiple = bound.floor_divide(x, unit)
    rest = x - multiple * unit
    odd = bound.bitwise_and(multiple, 1)
    up = bound.logical_or(
        bound.greater(rest, unit // 2),
        bound.logical_and(bound.equal(rest, unit // 2), bound.equal(odd, 1)),
    )
    return bound.cast((multiple + bound.cast(up, x.dtype)) * unit, input.dtype)


def exp2(input: Tensor) -> Tensor:
    """2 to the power of `input`."""
    return bound.pow(2.0, input)


def log2(input: Tensor) -> Tensor:
    """The logarithm to base 2."""
    return bound.mul(bound.log(input), 1 / math.log(2))


def log10(input: Tensor) -> Tensor:
    """The logarithm to base 10."""
    return bound.mul(bound.log(input), 1 / math.log(10))


def logaddexp(input: Tensor, other: Tensor) -> Tensor:
    """`log(exp(input) + exp(other))` without overflow."""
    peak = bound.maximum(input, other)
    distance = bound.abs(bound.sub(input, other))
    same = bound.eq(input, other)  # also equal infinities, whose distance is nan
    tail = bound.log1p(bound.exp(bound.neg(where(same, 0.0, distance))))
    return bound.add(peak, tail)


def logaddexp2(input: Tensor, other: Tensor) -> Tensor:
    """`log2(2 ** input + 2 ** other)` without overflow."""
    base = math.log(2)
    input, other = _promoted(input, other)
    return bound.mul(logaddexp(bound.mul(input, base), bound.mul(other, base)), 1 / base)


def float_power(input: Tensor | Number, exponent: Tensor | Number) -> Tensor:
    """`input ** exponent` computed in Float64."""
    if isinstance(input, Tensor):
        input = bound.cast(input, _core.float64)
    if isinstance(exponent, Tensor):
        exponent = bound.cast(exponent, _core.float64)
    return bound.pow(input, exponent)


def ldexp(x: Tensor, other: Tensor | Number) -> Tensor:
    """`x * 2 ** other`."""
    return bound.mul(x, bound.pow(2.0, other))


def frac(x: Tensor) -> Tensor:
    """What truncation takes away."""
    return bound.sub(x, bound.trunc(x))


def deg2rad(x: Tensor) -> Tensor:
    """Degrees to radians."""
    return bound.mul(x, math.pi / 180)


def rad2deg(x: Tensor) -> Tensor:
    """Radians to degrees."""
    return bound.mul(x, 180 / math.pi)


def sinc(input: Tensor) -> Tensor:
    """`sin(pi x) / (pi x)`, and 1 at 0."""
    wide = _in_float32(input)
    zero = bound.eq(wide, 0)
    safe = where(zero, 1.0, wide)
    if is_complex(input):
        sine = bound.sin(bound.mul(safe, math.pi))
    else:  # what is left behind the nearest whole number has all digits of the sine, whose sign an odd one changes
        whole = _round(safe)
        odd = bound.sub(whole, bound.mul(_round(bound.mul(whole, 0.5)), 2.0))
        sign = bound.sub(1.0, bound.mul(bound.abs(odd), 2.0))
        sine = bound.mul(bound.sin(bound.mul(bound.sub(safe, whole), math.pi)), sign)
    result = where(zero, 1.0, _div(sine, bound.mul(safe, math.pi)))
    return bound.cast(result, input.dtype) if wide is not input else result


def logit(input: Tensor, eps: Real | Tensor | None = None) -> Tensor:
    """`log(x / (1 - x))`, after cutting x to [eps, 1 - eps] where eps is given."""
    x = input if eps is None else clamp(input, eps, 1 - eps)
    return bound.log(_div(x, bound.sub(1.0, x)))


def fmax(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The larger one; where one operand is nan, the other."""
    larger = bound.maximum(input, other)
    return where(bound.isnan(input), other, where(bound.isnan(other), input, larger))


def fmin(input: Tensor | Number, other: Tensor | Number) -> Tensor:
    """The smaller one; where one operand is nan, the other."""
    smaller = bound.minimum(input, other)
    return where(bound.isnan(input), other, where(bound.isnan(other), input, smaller))


def signbit(input: Tensor) -> Tensor:
    """Whether the number is below 0 or is -0."""
    if not is_floating_point(input):
        return bound.less(input, 0)
    # 1 / -0 is -inf.
    zero = bound.eq(input, 0)
    return bound.less(where(zero, bound.reciprocal(where(zero, input, 1.0)), input), 0)


def copysign(x: Tensor | Real, other: Tensor | Real) -> Tensor:
    """The magnitude of `x` with the sign of `other`."""
    x = x if isinstance(x, Tensor) else Tensor(float(x))
    size = bound.abs(x if is_floating_point(x) else bound.cast(x, _core.float32))
    other = other if isinstance(other, Tensor) else Tensor(float(other))
    return where(signbit(other), bound.neg(size), size)


def positive(input: Tensor) -> Tensor:
    """`input` itself."""
    return input


def sgn(input: Tensor) -> Tensor:
    """The sign; of a complex number, the number of magnitude 1 in its direction."""
    if not is_complex(input):
        return bound.sign(input)
    return raw("DivNoNan")(input, bound.cast(bound.abs(input), input.dtype))


def isposinf(input: Tensor) -> Tensor:
    """Whether the number is inf."""
    return bound.eq(input, math.inf)


def isneginf(input: Tensor) -> Tensor:
    """Whether the number is -inf."""
    return bound.eq(input, -math.inf)


def isreal(input: Tensor) -> Tensor:
    """Whether the imaginary part is 0."""
    return bound.eq(bound.imag(input), 0)


def angle(input: Tensor) -> Tensor:
    """The angle of a complex number; of a real one, 0 or pi."""
    return bound.atan2(bound.imag(input), bound.real(input))


def nan_to_num(
    input: Tensor,
    nan: Real | None = None,
    posinf: Real | None = None,
    neginf: Real | None = None,
) -> Tensor:
    """nan as `nan` (0), infinities as `posinf` and `neginf` (the extremes of the dtype); of complex numbers, in both parts."""
    if input.dtype in COMPLEX:
        parts = (bound.real(input), bound.imag(input))
        return raw("Complex")(*[nan_to_num(part, nan, posinf, neginf) for part in parts])
    largest = _LARGEST.get(str(input.dtype))
    if largest is None:
        return raw("Identity")(input)
    x = where(bound.isnan(input), 0.0 if nan is None else float(nan), input)
    x = where(isposinf(x), largest if posinf is None else float(posinf), x)
    return where(isneginf(x), -largest if neginf is None else float(neginf), x)


def _where_method(self: Tensor, condition: Tensor, y: Tensor | Number) -> Tensor:
    """This tensor where the condition holds, elsewhere `y`."""
    return where(condition, self, y)


def _select_method(self: Tensor, condition: Tensor, y: Tensor | Number) -> Tensor:
    """This tensor where the condition holds, elsewhere `y`."""
    return select(condition, self, y)


def _round_method(self: Tensor, decimals: int = 0) -> Tensor:
    """The nearest number with so many decimals; halves go to the even one."""
    return round(self, decimals=decimals)


_OTHER_METHODS = {"where": _where_method, "select": _select_method, "round": _round_method}
for _name, _method in _OTHER_METHODS.items():
    _method.__name__ = _name

__all__ = [
    "addcdiv",
    "addcmul",
    "angle",
    "clamp",
    "clip",
    "clip_by_value",
    "copysign",
    "deg2rad",
    "div",
    "divide",
    "exp2",
    "float_power",
    "fmax",
    "fmin",
    "frac",
    "isneginf",
    "isposinf",
    "isreal",
    "ldexp",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logit",
    "nan_to_num",
    "positive",
    "rad2deg",
    "round",
    "select",
    "sgn",
    "signbit",
    "sinc",
    "subtract",
    "where",
]

_NOT_METHODS = ("clip_by_value", "exp2", *_OTHER_METHODS)
METHODS = [name for name in __all__ if name not in _NOT_METHODS] + [*_OTHER_METHODS.values()]

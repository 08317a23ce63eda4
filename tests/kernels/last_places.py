"""What elementwise functions are in truth, where they are looked at, and how far a result is from it in units of its last place."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import ml_dtypes
import numpy as np
from scipy import special

from mindspore import Tensor, mint, ops
from mindspore.common import dtype as mstype

FLOATS = {
    "Float32": (mstype.float32, np.float32),
    "Float16": (mstype.float16, np.float16),
    "BFloat16": (mstype.bfloat16, ml_dtypes.bfloat16),
}


class Function(NamedTuple):
    """`call` is ours, `truth` that of Float64; `limit` is how many units of the last place of Float32 lie between them. The unit is
    that of the result, or of `term` where that is larger: what the result is a difference of, or the factor of a product."""

    call: Callable
    truth: Callable
    limit: float = 4
    term: Callable | None = None


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(0, x)


def _sinc(x: np.ndarray) -> np.ndarray:
    whole = np.round(x)
    sine = np.sin(np.pi * (x - whole)) * np.where(whole % 2 == 0, 1, -1)
    return np.where(x == 0, 1, sine / np.where(x == 0, 1, np.pi * x))


def _elu(x: np.ndarray, scale: float = 1, alpha: float = 1) -> np.ndarray:
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


def _lgamma(x: np.ndarray) -> np.ndarray:
    return np.where(np.isinf(x), np.inf, special.gammaln(x))


def _gelu_tanh(x: np.ndarray) -> np.ndarray:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _cut(x: np.ndarray) -> np.ndarray:
    return np.clip(x + 3, 0, 6) / 6


def _of_small(x: np.ndarray) -> np.ndarray:
    """x magnifies what a factor that is subnormal lacks."""
    return np.abs(x) * 2.0**-126


_SELU = (1.0507009873554805, 1.6732632423543772)
# By the names of the ops, then those of functions that are made of several.
UNARY = {
    "Exp": Function(ops.exp, np.exp, 2),
    "Expm1": Function(ops.expm1, np.expm1, 2),
    "Log": Function(ops.log, np.log, 2),
    "Log1p": Function(ops.log1p, np.log1p, 2),
    "Sqrt": Function(ops.sqrt, np.sqrt, 0.5),
    "Rsqrt": Function(ops.rsqrt, lambda x: 1 / np.sqrt(x), 2),
    "Reciprocal": Function(ops.reciprocal, lambda x: 1 / x, 0.5),
    "Sin": Function(ops.sin, np.sin, 2),
    "Cos": Function(ops.cos, np.cos, 2),
    "Tan": Function(ops.tan, np.tan, 2),
    "Asin": Function(ops.asin, np.arcsin, 2),
    "ACos": Function(ops.acos, np.arccos, 2),
    "Atan": Function(ops.atan, np.arctan, 2),
    "Sinh": Function(ops.sinh, np.sinh, 2),
    "Cosh": Function(ops.cosh, np.cosh, 2),
    "Tanh": Function(ops.tanh, np.tanh, 2),
    "Asinh": Function(ops.asinh, np.arcsinh),
    "Acosh": Function(ops.acosh, np.arccosh),
    "Atanh": Function(ops.atanh, np.arctanh),
    "Erf": Function(ops.erf, special.erf, 2),
    "Erfc": Function(ops.erfc, special.erfc),
    "Erfinv": Function(ops.erfinv, special.erfinv, 2),
    "Lgamma": Function(ops.lgamma, _lgamma, 2),
    "Digamma": Function(ops.digamma, special.digamma, 2, lambda x: np.minimum(np.abs(x), 1)),
    "Sigmoid": Function(ops.sigmoid, special.expit, 2),
    "Softplus": Function(ops.softplus, _softplus),
    "LogSigmoid": Function(ops.logsigmoid, lambda x: -_softplus(-x)),
    "GeLU": Function(ops.gelu, lambda x: x * special.ndtr(x), 4, np.abs),
    "FastGeLU": Function(ops.fast_gelu, lambda x: x * special.expit(1.702 * x), 4, np.abs),
    "SiLU": Function(ops.silu, lambda x: x * special.expit(x), 4, _of_small),
    "Mish": Function(ops.mish, lambda x: x * np.tanh(_softplus(x)), 4, _of_small),
    "Elu": Function(ops.elu, _elu),
    "SeLU": Function(ops.selu, lambda x: _elu(x, *_SELU)),
    "CeLU": Function(ops.celu, _elu),
    "Softsign": Function(ops.softsign, lambda x: x / (1 + np.abs(x))),
    "HSwish": Function(ops.hardswish, lambda x: x * _cut(x)),
    "HSigmoid": Function(ops.hardsigmoid, _cut),
    "Square": Function(ops.square, np.square, 0.5),
    "Floor": Function(ops.floor, np.floor, 0),
    "Ceil": Function(ops.ceil, np.ceil, 0),
    "Round": Function(ops.round, np.round, 0),
    "Trunc": Function(ops.trunc, np.trunc, 0),
    "Abs": Function(ops.abs, np.abs, 0),
    "Neg": Function(ops.neg, np.negative, 0),
    "Sign": Function(ops.sign, np.sign, 0),
    "ReLU": Function(ops.relu, lambda x: np.maximum(x, 0), 0),
    "ReLU6": Function(ops.relu6, lambda x: np.clip(x, 0, 6), 0),
    "exp2": Function(mint.exp2, np.exp2, 2),
    "log2": Function(ops.log2, np.log2, 2),
    "log10": Function(ops.log10, np.log10, 2),
    "sinc": Function(ops.sinc, _sinc),
    "gelu, tanh": Function(lambda x: ops.gelu(x, approximate="tanh"), _gelu_tanh, 4, np.abs),
    "tanhshrink": Function(ops.tanhshrink, lambda x: x - np.tanh(x), 4, np.abs),
    "logit": Function(ops.logit, special.logit, 4, lambda x: np.abs(np.log(x))),
    "frac": Function(mint.frac, lambda x: x - np.trunc(x), 0),
    "rad2deg": Function(ops.rad2deg, np.rad2deg),
    "deg2rad": Function(ops.deg2rad, np.deg2rad),
}


def _larger(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.maximum(np.abs(x), np.abs(y))


def _floor_mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(y == 0, 0, x / np.where(y == 0, 1, y))


BINARY = {
    "Add": Function(ops.add, np.add, 0.5),
    "Sub": Function(ops.sub, np.subtract, 0.5),
    "Mul": Function(ops.mul, np.multiply, 0.5),
    "Div": Function(ops.div, np.divide, 0.5),
    "RealDiv": Function(ops.RealDiv(), np.divide, 0.5),
    "DivNoNan": Function(ops.DivNoNan(), _quotient, 0.5),
    "Pow": Function(ops.pow, np.power, 2),
    "Atan2": Function(ops.atan2, np.arctan2, 2),
    "Hypot": Function(ops.hypot, np.hypot),
    "Xlogy": Function(ops.xlogy, special.xlogy),
    "SquaredDifference": Function(ops.SquaredDifference(), lambda x, y: (x - y) ** 2),
    "FloorMod": Function(ops.floor_mod, _floor_mod),
    "Mod": Function(ops.Mod(), np.fmod, 0),
    "TruncateMod": Function(ops.TruncateMod(), np.fmod, 0),
    "Maximum": Function(ops.maximum, np.maximum, 0),
    "Minimum": Function(ops.minimum, np.minimum, 0),
    "Heaviside": Function(ops.heaviside, np.heaviside, 0),
    "logaddexp": Function(ops.logaddexp, np.logaddexp, 4, _larger),
    "logaddexp2": Function(ops.logaddexp2, np.logaddexp2, 4, _larger),
}

_CENTRES = (
    *(0, 0.25, 0.5, 0.6744, 1, 1.4616321, 2, np.e, 3, 4, 6, 9, 10, 16),
    *(87.33655, 88.72284, 103.97208, 709, 1e-45, 1e-38, 1.17549435e-38, 1e-30, 1e30, 3.4e38),
    *(k * np.pi / 2 for k in (*range(1, 200), 1e3, 1e4, 12345, 1e6, 7e7)),
)


def points() -> np.ndarray:
    """Float32 of all magnitudes; all neighbours of places where functions change, of zeros and of limits; and what is special."""
    random = np.random.default_rng(0)
    anywhere = random.integers(0, 2**32, 1 << 17, np.uint32).view(np.float32)
    ends = np.array([0, -0.0, np.inf, -np.inf, np.nan], np.float32)
    centres = np.array([*_CENTRES, *(-c for c in _CENTRES)], np.float32)
    bits = centres.view(np.int32)[:, None] + np.arange(-12, 13, dtype=np.int32)
    even = [np.linspace(-s, s, 20001, dtype=np.float32) for s in (1, 10, 100)]
    return np.concatenate([ends, anywhere, bits.view(np.float32).ravel(), *even])


def numbers(dtype: str) -> np.ndarray:
    """Where functions of one argument are looked at: all numbers there are of a half type."""
    if dtype == "Float32":
        return points()
    return np.arange(2**16, dtype=np.uint16).view(FLOATS[dtype][1])


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Where functions of two are looked at: pairs of all magnitudes, of usual ones, and of special ones."""
    random, size = np.random.default_rng(1), 1 << 16
    ends = np.array([0, -0.0, 1, -1, 2, 0.5, np.inf, -np.inf, np.nan, 1e-40, 3e38], np.float32)
    grid = np.meshgrid(ends, ends)
    parts = []
    for i in range(2):
        anywhere = random.integers(0, 2**32, size, np.uint32).view(np.float32)
        anywhere[np.isnan(anywhere)] = np.nan  # quiet ones
        usual = random.standard_normal(2 * size).astype(np.float32) * np.float32(10)
        usual[:size] = np.abs(usual[:size])
        parts.append(np.concatenate([grid[i].ravel(), anywhere, usual]).astype(FLOATS[dtype][1]))
    return parts[0], parts[1]


def tensor(values: np.ndarray, dtype: str) -> Tensor:
    """The values as a tensor."""
    return Tensor(values.astype(np.float32)).astype(FLOATS[dtype][0])


def distances(got: Tensor, truth: np.ndarray, term: np.ndarray, dtype: str) -> np.ndarray:
    """Units of the last place between results and the truth; infinite where one is special and not the other."""
    info = ml_dtypes.finfo(FLOATS[dtype][1])
    most, least, step = (float(n) for n in (info.max, info.smallest_normal, info.eps))
    found = got.astype(mstype.float64).asnumpy()
    size = np.maximum(np.abs(truth), np.nan_to_num(term, nan=0.0))
    unit = np.exp2(np.floor(np.log2(np.clip(size, least, most)))) * step
    # Beyond the largest number there is infinity, one step away.
    over = most + most * step / 2
    near = np.where(np.abs(truth) > over, np.sign(truth) * over, truth)
    near_found = np.where(np.isinf(found), np.sign(found) * over, found)
    apart = np.abs(near_found - near) / unit
    special_ones = np.isnan(found) | np.isnan(truth) | np.isinf(truth)
    same = (found == truth) | (np.isnan(found) & np.isnan(truth))
    return np.where(special_ones, np.where(same, 0, np.inf), apart)

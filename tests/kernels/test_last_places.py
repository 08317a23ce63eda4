"""Elementwise functions against Float64, in units of the last place of the result, in both modes: Float32 within 4 (the usual ones 2),
half types, which compute in Float32, within one. Subnormal numbers, infinities, neighbours of zeros and of limits are among the places."""

from __future__ import annotations

import numpy as np
import pytest
from last_places import BINARY, UNARY, Function, distances, numbers, pairs, tensor

import mindspore as ms
from mindspore import _core

# Functions that are made of several ops round each of their results in half types.
_STEPS = {
    **dict.fromkeys(("log2", "log10", "logit", "logaddexp", "deg2rad", "rad2deg"), 2.0),
    "logaddexp2": 3.0,
}
_HALF = 1.0
# What gives other dtypes than floats, moves numbers, or has tests of its own (tests/api/test_special_values.py).
_ELSEWHERE = {
    *("Cast", "Select", "Real", "Imag", "Conj", "Complex", "Lerp", "Polygamma"),
    *(f"Bessel{kind}" for kind in "I0 I0e I1 I1e J0 J1 K0 K0e K1 K1e Y0 Y1".split()),
    *("ApproximateEqual", "Equal", "Greater", "GreaterEqual", "IsClose", "IsFinite", "IsInf"),
    *("IsNan", "Less", "LessEqual", "NotEqual", "LogicalAnd", "LogicalNot", "LogicalOr", "LogicalXor"),
    *("HShrink", "SoftShrink", "LeakyReLU", "FloorDiv", "TruncateDiv"),
    "SigmoidCrossEntropyWithLogits",
}  # fmt: skip


def check(name: str, function: Function, inputs: tuple[np.ndarray, ...], dtype: str) -> None:
    """Says where the largest error is if it is beyond the limit."""
    with np.errstate(all="ignore"):
        wide = [x.astype(np.float64) for x in inputs]
        truth = function.truth(*wide)
        term = np.zeros_like(truth) if function.term is None else function.term(*wide)
        limit = function.limit if dtype == "Float32" else _STEPS.get(name, _HALF)
        tensors = [tensor(x, dtype) for x in inputs]
        for mode, call in (("eager", function.call), ("graph", ms.jit(function.call))):
            apart = distances(call(*tensors), truth, term, dtype)
            at = int(np.argmax(apart))
            where = ", ".join(f"{x[at]:.9g}" for x in wide)
            assert apart[at] <= limit * 1.01, (
                f"{name}({where}) of {dtype}, {mode}: {apart[at]:.3g} units from {truth[at]:.9g}"
            )


@pytest.mark.parametrize("dtype", ["Float32", "Float16", "BFloat16"])
@pytest.mark.parametrize("name", UNARY)
def test_of_one(name: str, dtype: str) -> None:
    check(name, UNARY[name], (numbers(dtype),), dtype)


@pytest.mark.parametrize("dtype", ["Float32", "Float16", "BFloat16"])
@pytest.mark.parametrize("name", BINARY)
def test_of_two(name: str, dtype: str) -> None:
    check(name, BINARY[name], pairs(dtype), dtype)


def test_every_elementwise_op_is_looked_at() -> None:
    floats = {
        op["name"]
        for op in _core.registry()
        if op["scalar"] and not op["internal"] and "Float32" in op["inputs"][0][1]
    }
    assert floats - _ELSEWHERE - {*UNARY, *BINARY} == {"DivideAdd"} & floats


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_odd_functions_keep_the_sign_of_zero(dtype: str) -> None:
    """Where the slope at 0 is positive."""
    zeros = ms.Tensor(np.array([0.0, -0.0], dtype))
    names = "sin tan tanh asin atan sinh asinh atanh erf expm1 log1p elu selu celu gelu silu mish softsign hardswish"
    for name in names.split():
        for call in (getattr(ms.ops, name), ms.jit(getattr(ms.ops, name))):
            got = call(zeros).asnumpy()
            assert (got == 0).all() and np.signbit(got).tolist() == [False, True], name

"""The promotion table of 2.x, whole: pairs of tensors, and tensors with Python numbers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import mindspore
from mindspore import Tensor, _core, ops

# As MindSpore 2 gives it for mul; one row per left operand, in the order of the first line.
TABLE = """
           bool     int8     int16    int32    int64    uint8    float16  bfloat16 float32  float64
bool       bool     int8     int16    int32    int64    uint8    float16  bfloat16 float32  float64
int8       int8     int8     int16    int32    int64    int16    float16  bfloat16 float32  float64
int16      int16    int16    int16    int32    int64    int16    float16  bfloat16 float32  float64
int32      int32    int32    int32    int32    int64    int32    float16  bfloat16 float32  float64
int64      int64    int64    int64    int64    int64    int64    float16  bfloat16 float32  float64
uint8      uint8    int16    int16    int32    int64    uint8    float16  bfloat16 float32  float64
float16    float16  float16  float16  float16  float16  float16  float16  float32  float32  float64
bfloat16   bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 float32  bfloat16 float32  float64
float32    float32  float32  float32  float32  float32  float32  float32  float32  float32  float64
float64    float64  float64  float64  float64  float64  float64  float64  float64  float64  float64
"""
NAMES = TABLE.split("\n")[1].split()
PAIRS = {
    (line.split()[0], name): wanted
    for line in TABLE.strip().split("\n")[1:]
    for name, wanted in zip(NAMES, line.split()[1:])
}
# With a Python bool, int and float.
NUMBERS = {
    "bool": ("bool", "int64", "float32"),
    **{n: (n, n, "float32") for n in ("int8", "int16", "int32", "int64", "uint8")},
    **{n: (n, n, n) for n in ("float16", "bfloat16", "float32", "float64")},
}
WIDE = ("uint16", "uint32", "uint64", "complex64", "complex128")


def dtype(name: str):
    return getattr(_core, name)


def one(name: str) -> Tensor:
    return ops.cast(Tensor(np.ones(2, np.float32)), dtype(name))


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_tensors(left: str, right: str) -> None:
    wanted = dtype(PAIRS[left, right])
    assert ops.mul(one(left), one(right)).dtype == wanted
    assert mindspore.jit(lambda x, y: x * y)(one(left), one(right)).dtype == wanted


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str) -> None:
    for number, wanted in zip((True, 2, 2.5), NUMBERS[name]):
        assert ops.mul(one(name), number).dtype == dtype(wanted), number
        assert (number * one(name)).dtype == dtype(wanted), number

        def times(x, number=number):
            return x * number

        assert mindspore.jit(times)(one(name)).dtype == dtype(wanted), number


@pytest.mark.parametrize("name", ("bool", "int8", "int32", "uint8"))
def test_true_division_of_integers_is_float32(name: str) -> None:
    assert (one(name) / one(name)).dtype == mindspore.float32
    assert (one(name) / 2).dtype == mindspore.float32


def expected(a: str, b: str) -> str:
    """Types beyond the table: integers as NumPy, Float32 where none fits; complex over all."""
    if "complex" in a + b:
        return "complex128" if {"complex128", "float64"} & {a, b} else "complex64"
    floats = [n for n in (a, b) if "float" in n]
    if floats:
        return floats[0]
    result = np.promote_types(a, b).name
    return "float32" if result == "float64" else result


def test_the_rest_of_the_lattice() -> None:
    for a, b in itertools.product(WIDE, [*NAMES, *WIDE]):
        wanted = dtype(expected(a, b))
        assert _core.promote(dtype(a), False, dtype(b), False) == wanted, (a, b)
        assert _core.promote(dtype(b), False, dtype(a), False) == wanted, (b, a)

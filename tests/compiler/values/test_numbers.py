"""Python numbers that a tensor decides: in compiled code they yield to tensors' dtypes as Python's do, and leave it as Python
numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, context, jit, ops


def chosen_number(x):
    scale = 0.5 if x.sum() > 1 else 1.5
    return x * scale, scale


def converted(x):
    return x * float(x.sum()), x + int(x.sum()), int(x.sum()), bool(x.sum() > 100), float(x[0])


def among_themselves(x):
    n = int(x.sum())
    return x * (n % 2 + 0.5), x * (n / 3), x * -n, x * abs(n), x * max(n, 2), n**2, n // 2


def counted(x):
    rounds = 0
    while x.sum() < 100:
        x = x * 2
        rounds += 1
    return x, rounds, x * rounds


def logic(x):
    return (x.sum() > 1 and x.sum() < 5), (x.sum() or 3), not x.sum()


def range_of_a_number(x):
    total = 0
    for k in range(int(x.sum())):
        total = total + k
    return total, x, x * total


def made_into_a_tensor(x):
    count = 1 if x.sum() > 1 else 2
    return Tensor(count), {"count": count, "list": [count, x]}


def printed(x):
    rounds = 0
    while x.sum() < 100:
        x = x * 2
        rounds += 1
    print(f"{rounds:03d}", rounds)
    return x


CASES = [
    chosen_number,
    converted,
    among_themselves,
    counted,
    logic,
    range_of_a_number,
    made_into_a_tensor,
    printed,
]


def described(value):
    if isinstance(value, Tensor):
        return str(value.dtype), value.asnumpy().tolist()
    if isinstance(value, (tuple, list)):
        return [type(value).__name__, *map(described, value)]
    if isinstance(value, dict):
        return {k: described(v) for k, v in value.items()}
    return type(value).__name__, value


@pytest.mark.parametrize("dtype", [ms.float32, ms.float16, ms.float64, ms.int32])
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.__name__)
def test_compiled_equals_eager(case, dtype, capsys):
    x = Tensor(np.array([1, 2]), dtype)
    expected = described(case(x)), capsys.readouterr().out
    compiled = described(jit(case, fullgraph=True)(x)), capsys.readouterr().out
    assert compiled == expected


def test_a_number_taken_from_a_tensor_has_no_gradient():
    def scaled(x):
        return (x * float(x.sum())).sum()

    x = Tensor(np.array([1, 2], np.float32))
    expected = ms.grad(scaled)(x).asnumpy().tolist()
    context.set_context(mode=context.GRAPH_MODE)
    try:
        assert ms.grad(scaled)(x).asnumpy().tolist() == expected == [3, 3]
    finally:
        context.set_context(mode=context.PYNATIVE_MODE)


# ---- numbers that a tensor decides ------------------------------------------------------------------------------------
def chosen(x):
    a = 0.1 if x[0] > 1 else 0.3
    return a * 3, x.astype(ms.float64) * a, x.astype(ms.float16) * a, x * a


def of_two_kinds(x):
    a = 3 if x[0] > 1 else 0.1
    return x.astype(ms.int32) * a if x[0] > 1 else (x * a).astype(ms.int32)


def of_a_tensor(x):
    a = float(x[1])
    while a < 100:
        a = a * 1.1
    return a, int(x[2]) / 3


def counted(x):
    a, n = 0.1, 0
    while x.sum() * n < 20:
        a = a * 1.1 + n
        n += 1
    return a, n, n / 3, a // 0.7, a % 0.7


def given_to_ops(x):
    a = 0.3 if x[0] > 1 else 0.7
    return ops.sin(a), ops.add(a, 0.1), Tensor(a)


def number_or_tensor(x):
    a = 0.1 if x[0] > 1 else x[1]
    return x.astype(ms.float64) * a


def summed_from_a_number(x):
    total, i = 0.1, Tensor(0)
    while i < 3:
        total = total + x[i].astype(ms.float64)
        i = i + 1
    return total


CHOSEN = [
    chosen,
    of_two_kinds,
    of_a_tensor,
    counted,
    given_to_ops,
    number_or_tensor,
    summed_from_a_number,
]


@pytest.mark.filterwarnings("ignore::mindspore.compile.program.errors.RunsEagerly")
@pytest.mark.parametrize("start", [0.5, 1.5])
@pytest.mark.parametrize("function", CHOSEN, ids=lambda f: f.__name__)
def test_floats_keep_their_digits(function: Callable, start: float) -> None:
    """A Python number that a tensor decides has the digits, and the type, that it has in eager code."""
    x = Tensor(np.array([start, 1.7, 3.1], np.float32))
    assert plain(jit(function)(x)) == plain(function(x))


def plain(value: Any) -> Any:
    """Numbers as they are, tensors as dtype and numbers."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, Tensor):
        return str(value.dtype), value.asnumpy().tolist()
    return type(value), value


# ---- numbers and tensors in nested loops --------------------------------------------------------------------------------
def doubled_then_summed(x):
    t, i = 0.1, 0
    while x[0] * i < 3:
        j = 0
        while x[0] * j < 2:
            t = t + x[2] if j > 0 else t * 2
            j += 1
        i += 1
    return x * t


def inner_sum(x):
    t, i = 0, Tensor(0)
    while i < 3:
        s = 0.0
        while s < i:
            s = s + 0.7
            t = t + s
        t = t + x[0]
        i = i + 1
    return t


def scaled_or_shifted(x):
    t, i = 1, Tensor(0)
    while i < 3:
        t = t * 0.1 if x[0] * i > 1 else t + x[1]
        k = 0
        while k < i:
            t, k = t + k, k + 1
        i = i + 1
    return x.astype(ms.float64) * t


def replaced_by_a_tensor(x):
    s, i = 0.3, Tensor(0)
    while i < 2:
        j = Tensor(0)
        while j < 2:
            s = float(x[0]) * 0.1 if x[j] > 1 else x[j]
            j = j + 1
        i = i + 1
    return x.astype(ms.float64) * s


MIXED = [doubled_then_summed, inner_sum, scaled_or_shifted, replaced_by_a_tensor]


@pytest.mark.parametrize("start", [0.6, 1.5, 3.0])
@pytest.mark.parametrize("function", MIXED, ids=lambda f: f.__name__)
def test_numbers_and_tensors_in_nested_loops(function: Callable, start: float) -> None:
    """A variable that is a number in some rounds and a tensor in others compiles, and is exact."""
    x = Tensor(np.array([start, 1.7, 3.1], np.float32))
    assert plain(jit(function, fullgraph=True)(x)) == plain(function(x))

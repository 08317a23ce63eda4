"""Python numbers that a tensor decides: in compiled code they yield to tensors' dtypes as Python's do, and leave it as Python
numbers."""

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, context, jit


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

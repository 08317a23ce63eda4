"""Numbers that a tensor takes out of a list are numbers of Python, as eagerly: they have no dtype of their own and all digits.
Likewise what `in` and chains of comparisons give, and numbers where a method wants one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, ops
from mindspore.compile.program.errors import RunsEagerly

WEIGHTS = [0.1, 0.2, 0.3]


class Below:
    """Contains the numbers below a limit."""

    def __init__(self, limit):
        self.limit = limit

    def __contains__(self, item):
        return self.limit > item


def numbers_of_lists(x, n):
    counts, scales = [1, 2, 3], (1.5, 2.5, 3.5)
    y = ops.cast(x, ms.int8) * counts[n]
    return y, ops.cast(x, ms.float16) * scales[n], counts[n], scales[n] * 3, counts[n] / 2


def numbers_of_numbers(x, n):
    k = [1, 0, 2][n]
    return (
        [k, 7, 8][k],
        [k, 9, [2, 1, 0][n]][n],
        [True, False, True][n] and 5,
        [0.1, 0.3, 0.7][k] * 3,
    )


def numbers_that_decide_sizes(x, n):
    rows = [1, 3, 1][n]
    total = x * 0
    for i in range(rows):
        total = total + x * i
    return x.reshape((rows, -1)), total


def numbers_beyond_int64(x, n):
    return [2**70, 3, 2**71][n], [1, 2.5, "three"][n]


def numbers_in_a_loop(x, n):
    total = x * 0
    while n < 3:
        total = total + x * WEIGHTS[n]
        n = n + 1
    return total


def members(x, n):
    return n in (1, 2), n not in [3], 3 in x, 7 not in x, 1 in Below(x[0]), 9 not in Below(n)


def members_in_conditions(x, n):
    total = x * 0
    while n in (1, 2, 3) and total.sum() < 100:
        total = total + x * n
        n = n + 1
    return total * (n in (4, 5)), (n in (4, 5)) + 1, n in (4, 5) and x


def members_of_nothing(x, n):
    return n in x[:0], 3 in x[3:], n not in x[:0]


def chains(x, n):
    table = [5, 6, 7]
    return 0 < x[:1] < 5, 0 < x[1:2] < 5, 3 <= n < table[n * 5], 2 < 1 < n, 0 < n <= 2 < x[0]


def chain_with_effects(x, n):
    def shown(value):
        print("seen", value)
        return value

    return shown(n) < shown(1) < shown(5), shown(0) < shown(n) < shown(9)


COMPILED = [
    numbers_of_lists,
    numbers_of_numbers,
    numbers_that_decide_sizes,
    numbers_beyond_int64,
    numbers_in_a_loop,
    members,
    members_in_conditions,
    members_of_nothing,
    chains,
    chain_with_effects,
]


def axis_of_a_number(x, n):
    return ops.stack([x, x]).sum(int(n) - 1), ops.stack([x, x]).sum(-[1, 2, 1][n])


def sizes_of_a_number(x, n):
    count = 1 if n > 0 else 3
    return (
        x.reshape(count * 3, -1),
        ops.stack([x, x]).reshape((-1, int(n) * 3)),
        x.transpose((count - 1,)),
    )


def inside_a_branch(x, n):
    if x.sum() > 0:
        x = ops.stack([x, x]).sum(int(n) - 1)
    return x


IN_PARTS = [axis_of_a_number, sizes_of_a_number, inside_a_branch]


def plain(value: Any) -> Any:
    """A result as it can be compared: types, dtypes and all digits."""
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    if isinstance(value, Tensor):
        return str(value.dtype), tuple(value.shape), value.asnumpy().tolist()
    return type(value), repr(value)


def values(function: Callable) -> list:
    """Of two calls, with different choices, and a gradient."""
    x = Tensor(np.array([3.0, -1.0, 2.0], np.float32))
    found = [plain(function(x, Tensor(n, ms.int32))) for n in (1, 2)]
    total = lambda v, n: sum((ops.cast(t, ms.float32).sum() for t in tensors(function(v, n))), v[0])
    return [*found, plain(ms.grad(total)(x, Tensor(1, ms.int32)))]


def tensors(value: Any) -> list:
    return [v for v in value if isinstance(v, Tensor)] if isinstance(value, tuple) else [value]


@pytest.mark.parametrize("function", COMPILED, ids=lambda f: f.__name__)
def test_compiled_whole_as_eager(function, capsys):
    eager, shown = values(function), capsys.readouterr().out
    assert values(jit(function, fullgraph=True)) == eager
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("function", IN_PARTS, ids=lambda f: f.__name__)
def test_numbers_that_methods_want(function):
    with pytest.warns(RunsEagerly, match="needs the value of a number or string"):
        assert values(jit(function)) == values(function)


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_out_of_range(index):
    with pytest.raises(IndexError, match="list index out of range"):
        jit(lambda n: WEIGHTS[n], fullgraph=True)(Tensor(index, ms.int32))

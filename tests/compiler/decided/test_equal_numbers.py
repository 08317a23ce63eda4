"""Numbers that are equal, but not the same, on the ways of a branch or loop: 0.0 and -0.0 divide differently, and 1 is not 1.0."""

from __future__ import annotations

import types

import pytest

from mindspore import Tensor, jit


def in_a_branch(x, n):
    y = 0.0 if n > 0 else -0.0
    return x / y


def in_a_list(x, n):
    items = [0.0, 1.0]
    if n > 0:
        items[0] = -0.0
    return x / items[0]


def in_a_tuple(x, n):
    pair = (0.0, 1) if n > 0 else (-0.0, 1)
    return x / pair[0]


def in_a_loop(x, n):
    y = 0.0
    for _ in range(n):
        y = -0.0
    return x / y


def in_an_object(x, n):
    holder = types.SimpleNamespace(y=0.0)
    if n > 0:
        holder.y = -0.0
    return x / holder.y


def in_a_recursion(x, n, y=0.0):
    return x / y if n <= 0 else in_a_recursion(x, n - 1, -y)


def of_a_complex_number(x, n):
    z = complex(1, 0.0) if n > 0 else complex(1, -0.0)
    return x / z.imag


def of_a_range(x, n):
    span = range(0) if n > 0 else range(5, 5)
    return x * span.start


def in_a_set(x, n):
    items = {1}
    if n > 0:
        items.clear()
        items.add(1.0)
    for item in items:
        x = x * 2 + item
    return x


def as_key(x, n):
    table = {1: x}
    if n > 0:
        table.clear()
        table[1.0] = x
    for key in table:
        x = x * (2 if isinstance(key, float) else 3)
    return x


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "function",
    [
        *(in_a_branch, in_a_list, in_a_tuple, in_a_loop, in_an_object, in_a_recursion),
        *(of_a_complex_number, of_a_range, in_a_set, as_key),
    ],
)
def test_equal_numbers_that_differ(function):
    compiled = jit(function)
    for n in (0, 1, 2):
        expected = function(Tensor([1.0, 2.0]), Tensor(n))
        value = compiled(Tensor([1.0, 2.0]), Tensor(n))
        assert str(value.asnumpy()) == str(expected.asnumpy())

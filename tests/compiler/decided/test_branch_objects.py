"""Objects of Python, numbers among the arguments, and exceptions that meet branches, loops and recursion a tensor decides."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from collections.abc import Callable

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, ops


def outcome(function: Callable, *args: object) -> object:
    """What a program gives as lists, or the name of what it raises."""
    try:
        return np.round(function(*args).asnumpy(), 4).tolist()
    except Exception as error:
        return type(error).__name__


@dataclasses.dataclass
class DC:
    a: object
    b: int = 1


def text(x):
    if x[0] > 0:
        msg = f"a {x.sum() * 2}"
    else:
        msg = "b"
    print(msg)
    return x


def replaced(x):
    p = DC(x)
    if x[0] > 0:
        p = dataclasses.replace(p, a=x * 2, b=5)
    return p.a * p.b


def slice_of_a_branch(x):
    if x[0] > 0:
        s = slice(0, 2)
    else:
        s = slice(1, 3)
    return x[s]


def range_of_a_branch(x):
    n = ops.cast(x[0], ms.int32)
    if x[0] > 0:
        r = range(n + 1)
    else:
        r = range(2)
    y = x
    for i in r:
        y = y + i
    return y


def copied(x):
    p = DC(x)
    if x[0] > 0:
        p = copy.copy(p)
        p.a = x * 3
    return p.a


def iterator(x):
    if x[0] > 0:
        it = iter([x * 2, x * 3])
    else:
        it = iter([x, x])
    return next(it)


def mapped(x):
    vals = [x, x * 2]
    if x[0] > 0:
        m = (v * 3 for v in vals)
    else:
        m = (v + 1 for v in vals)
    return sum(m)


def array(x):
    if x[0] > 0:
        y = np.array([1.0, 2.0, 3.0], np.float32)
    else:
        y = np.array([1.0, 2.0, 4.0], np.float32)
    return x * Tensor(y)


def updated_dict(x):
    d = {"a": x, "b": 1}
    if x[0] > 0:
        d.update(a=x * 2)
    else:
        d["b"] = 3
    e = {**d, "c": x}
    return e["a"] * e["b"] + e["c"]


OBJECTS = [
    text,
    replaced,
    slice_of_a_branch,
    range_of_a_branch,
    copied,
    iterator,
    mapped,
    array,
    updated_dict,
]


@pytest.mark.parametrize("function", OBJECTS, ids=lambda f: f.__name__)
def test_objects(function: Callable) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some run eagerly
        for values in ([1.5, 2, 3.0], [-0.5, 2, 1.0]):
            x = Tensor(np.array(values, np.float32))
            assert outcome(jit(function), x) == outcome(function, x)


def shape_in_a_branch(x, n):
    if x.sum() > 0:
        return x * n
    return x.reshape(n, -1).sum() * x


def number_after_a_branch(x, n):
    if x.sum() > 0:
        k = n
    else:
        k = n + 1
    return x * k


def number_ends_a_loop(x, n):
    y = x
    i = 0
    while i < n:
        y = y * 1.1
        i += 1
        if y.sum() > 8:
            break
    return y * n


def number_in_recursion(x, n):
    def go(v, k):
        if v.sum() > 50:
            return v * k
        return go(v + abs(n) + 1, k + 1)

    return go(x, n)


def number_in_a_choice(x, n):
    return x * (n if x[0] > 0 else 2 * n)


NUMBERS = [
    shape_in_a_branch,
    number_after_a_branch,
    number_ends_a_loop,
    number_in_recursion,
    number_in_a_choice,
]


@pytest.mark.parametrize("function", NUMBERS, ids=lambda f: f.__name__)
def test_numbers_that_change_from_call_to_call(function: Callable) -> None:
    compiled = jit(function, fullgraph=True)
    for n in (1, 2, 4, 1, 3, 6, 2.0, 4.0, 1.5):
        if isinstance(n, float) and function in (shape_in_a_branch, number_in_recursion):
            continue
        for values in ([1.5, 2, 3.0, 1] * 3, [-0.5, -2, -1.0, 0] * 3):
            x = Tensor(np.array(values, np.float32))
            assert outcome(compiled, x, n) == outcome(function, x, n)


def value_error(x):
    raise ValueError("a")


def key_error(x):
    raise KeyError("b")


def both_functions_raise(x):
    return (value_error if x.sum() > 0 else key_error)(x)


def loop_raises(x):
    while x.sum() > 0:
        if x[0] > 1:
            raise ValueError("p")
        raise KeyError("q")
    return x


def both_ways_raise(x):
    if x[0] > 0:
        if x[1] > 0:
            raise ValueError("p")
        raise KeyError("q")
    return x * 2


def recursion_raises(x):
    def go(v, n):
        if n < 0:
            raise ValueError("neg")
        if n == 0:
            return v
        return go(v * 2, n - 1)

    return go(x, ops.cast(x[0], ms.int32))


def raises_at_the_end(x):
    for i in range(3):
        if x[i] > 5:
            return x
        elif x[i] > 4:
            raise ValueError("mid")
    raise ValueError("end")


EXCEPTIONS = [
    both_functions_raise,
    loop_raises,
    both_ways_raise,
    recursion_raises,
    raises_at_the_end,
]


@pytest.mark.parametrize("function", EXCEPTIONS, ids=lambda f: f.__name__)
def test_exceptions(function: Callable) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for values in ([1.5, 2], [0.5, 2], [-1, -2.0], [1, -3], [5.5, 1], [4.5, 1]):
            x = Tensor(np.array([*values, 6.0], np.float32))
            assert outcome(jit(function), x) == outcome(function, x)

"""Everything that a tensor may decide inside everything else: recursion, loops, branches, closures, exits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from both_modes import POINTS, check

import mindspore as ms
from mindspore import grad, ops

PROGRAMS: list[Any] = []


def program(function: Any) -> Any:
    """Adds to the programs that must give the same in both modes."""
    PROGRAMS.append(function)
    return function


class Pt:
    def __init__(self, a):
        self.a = a
        self.n = 0


@program
def rec_in_branch_in_loop(x):
    def dig(y, n):
        if n <= 0:
            return y
        if y.sum() > 5:
            return dig(y * 0.5, n - 1) + x
        return dig(y * 1.5 + 0.1, n - 1)

    s = x
    i = 0
    while i < 3:
        if s[0] > 0:
            s = dig(s, ops.cast(ops.abs(x[2]), ms.int32) + i)
        else:
            s = s + dig(s, i)
        i += 1
    return s


@program
def rec_with_inner_loop(x):
    def go(y, n):
        if n <= 0:
            return y
        i = 0
        while i < n:
            y = y * 0.9 + 0.1
            i += 1
            if y.sum() > 4:
                break
        return go(y, n - 1) * 1.1

    return go(x, ops.cast(ops.abs(x[2]), ms.int32) + 1)


@program
def rec_choice_fn(x):
    def go(f, y, n):
        if n <= 0:
            return f(y)
        return go(f, y * 1.1, n - 1)

    f = ops.sin if x[0] > 1 else ops.cos
    return go(f, x, ops.cast(ops.abs(x[2]), ms.int32))


@program
def rec_list_arg(x):
    def go(v, n):
        if n <= 0:
            return v[0] + v[1]
        return go([v[1], v[0] * 0.5], n - 1)

    return go([x, x * 2], ops.cast(ops.abs(x[2]), ms.int32))


@program
def rec_dict_ret(x):
    def go(n):
        if n <= 0:
            return {"a": x, "b": 0}
        d = go(n - 1)
        return {"a": d["a"] * 1.1, "b": d["b"] + 1}

    d = go(ops.cast(ops.abs(x[2]), ms.int32))
    return d["a"] * d["b"]


@program
def rec_early(x):
    def go(y, n):
        if n <= 0:
            return y
        for k in range(3):
            if y[k] > 2:
                return go(y - 1, n - 1)
        z = go(y + 0.3, n - 1)
        if z.sum() > 1:
            return z * 2
        return z

    return go(x, ops.cast(ops.abs(x[2]) + 3, ms.int32))


@program
def rec_grad_inside(x):
    def go(y, n):
        if n <= 0:
            return (y * y).sum()
        return go(y * y * 0.1, n - 1)

    return grad(go)(x, ops.cast(ops.abs(x[2]), ms.int32)) * x


@program
def choice_in_tuple_loop(x):
    state = (ops.sin, x, 0)
    i = 0
    while i < 4:
        f, v, k = state
        v = f(v)
        if v.sum() > 0:
            state = (ops.cos, v, k + 1)
        else:
            state = (ops.sin, v + 1, k)
        i += 1
    return state[1] * state[2]


@program
def none_in_loop(x):
    best = None
    i = 0
    while i < 4:
        v = x * (i - 1.5)
        if best is None or v.sum() > best.sum():
            best = v
        i += 1
    return best


@program
def none_unrolled(x):
    best = None
    for i in range(4):
        v = x * (i - 1.5)
        if best is None or v[0] > best[0]:
            best = v
    if best is not None and not best[1] > 0:
        return best * 2
    return best


@program
def deque_like(x):
    d = {}
    for i in range(3):
        if x[i] > 0:
            d[i] = x * i
        else:
            d[i] = x
    s = x
    for k, v in d.items():
        s = s + v * k
    return s


@program
def raise_else(x):
    y = x
    for i in range(3):
        if x[i] > 100:
            raise ValueError("no")
        if x[i] > 2:
            y = y * 2
            continue
        y = y + 1
    return y


@program
def try_arm(x):
    try:
        y = x * 2
        if x[0] > 0:
            y = y + 1
    finally:
        z = y * 3
    return z


@program
def while_cond_fn(x):
    def test(s):
        return s.sum() < 10 and s[0] < 4

    s = x
    n = 0
    while test(s) and n < 20:
        s = s * 1.3 + 0.5
        n += 1
    return s * n


@program
def nested_closures(x):
    def outer(a):
        def mid(b):
            def inner(c):
                return a * b + c

            if b.sum() > 1:
                return inner
            return lambda c: inner(c) * 2

        return mid

    return outer(x)(x + 1)(x * 2)


@program
def closure_list(x):
    fs = []
    for i in range(3):
        if x[i] > 0:
            fs.append(lambda v, i=i: v * (i + 1))
        else:
            fs.append(lambda v: v - 1)
    y = x
    for f in fs:
        y = f(y)
    return y


@program
def dict_dispatch(x):
    table = {"s": (ops.sin, 1.0), "c": (ops.cos, 2.0)}
    f, k = table["s" if x[0] > 1 else "c"]
    return f(x) * k


@program
def list_lens(x):
    if x[0] > 1:
        shape = (3, 1)
    else:
        shape = (1, 3)
    return x.reshape(shape).reshape(3) * len(shape)


@program
def int_shape(x):
    k = 1 if x[0] > 1 else 2
    return x * k + ops.zeros(3)


@program
def bool_ops(x):
    a = x[0] > 0
    b = x[1] > 0
    c = a and not b
    d = a or b
    if c and d:
        return x * 2
    if not (c or d):
        return x * 3
    return x * (1 if a == b else 4)


@program
def chain(x):
    if 0 < x[0] < 1:
        return x
    if -3 <= x[1] < 0 < x[2]:
        return x * 2
    return x * 3


@program
def unpack_swap(x):
    a, b = x, x * 2
    i = 0
    while i < 3:
        a, b = b, a * 0.5
        if a.sum() > b.sum():
            a, b = b, a
        i += 1
    return a - b


@program
def attr_obj_loop(x):
    p = Pt(x)
    i = 0
    while i < 3:
        p.a = p.a * 1.1
        if p.a.sum() > 3:
            p.n = p.n + 1
        i += 1
    return p.a + p.n


@program
def ret_none_or(x):
    def find(v):
        for i in range(3):
            if v[i] < 0:
                return v[i]
        return None

    r = find(x)
    if r is None:
        return x
    return x * r


@program
def aug_list(x):
    items = [x]
    if x[0] > 0:
        items += [x * 2]
    else:
        items += [x * 3]
    return items[0] + items[1]


@program
def set_elem(x):
    y = x * 1
    if x[0] > 0:
        y[0] = 5.0
    else:
        y[1:] = 1.0
    i = 0
    while i < 2:
        y[2] = y[2] + i
        i += 1
    return y


@program
def tuple_index_values(x):
    t = (1.0, 2.5, 3.0)
    i = ops.cast(ops.abs(x[2]), ms.int32) % 3
    return x * t[i]


@program
def nested_break_two(x):
    s = x
    for _i in range(4):
        for _j in range(4):
            if s.sum() > 6:
                break
            s = s + 0.5
        else:
            continue
        if s[0] > 3:
            break
        s = s - 2
    else:
        s = s * 10
    return s


@program
def while_true_nested(x):
    s = x
    i = 0
    while True:
        i += 1
        while True:
            s = s + 0.25
            if s.sum() > i * 3:
                break
            if s[0] > 30:
                return s
        if i >= x[2]:
            break
    return s * i


@program
def break_python_and_tensor(x):
    s = x
    for i in range(10):
        if i == 5:
            break
        if s.sum() > 5:
            s = s - 4
            continue
        s = s + 1
    return s


@program
def cond_assert(x):
    y = x
    if x[0] > 0:
        assert x[2] > -100
        y = y * 2
    return y


@program
def map_filter(x):
    return sum(v if v.sum() > 0 else -v for v in [x, x - 5, x * 2])


@program
def ifexp_nest(x):
    return x * 2 if x[0] > 1 else x * 3 if x[1] > 0 else x * 4 if x[2] > 2 else x * 5


@program
def listcomp_if(x):
    return sum([v * 2 if v[0] > 0 else v for v in (x, -x, x + 1)])


@program
def partial_choice(x):
    f = functools.partial(ops.mul, x) if x[0] > 1 else functools.partial(ops.add, x * 2)
    return f(x)


@program
def bound_methods(x):
    f = x.sum if x[0] > 1 else x.mean
    return x * f()


@program
def kw_choice(x):
    def g(v, *, k=1, f=None):
        return v * k if f is None else f(v)

    kw = {"k": 2} if x[0] > 1 else {"f": ops.sin}
    return g(x, **kw)


@pytest.mark.parametrize("point", POINTS, ids=["a", "b", "c", "d"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled_equals_eager(function: Callable, point: list) -> None:
    check(function, point)

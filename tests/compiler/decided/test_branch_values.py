"""Values of every kind that branches and loops leave differently: objects, enums, sets, strings, structures, functions."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any

import pytest
from both_modes import POINTS, check

import mindspore as ms
from mindspore import Tensor, grad, ops

PROGRAMS: list[Any] = []


def program(function: Any) -> Any:
    """Adds to the programs that must give the same in both modes."""
    PROGRAMS.append(function)
    return function


@dataclasses.dataclass
class DC:
    a: object
    b: int = 1


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@program
def dclass(x):
    p = DC(x, 2) if x[0] > 1 else DC(x * 2, 3)
    q = p
    if x[1] > 0:
        q.b = 7
        q.a = q.a + 1
    return p.a * p.b


@program
def dreplace(x):
    p = DC(x)
    if x[0] > 1:
        p = dataclasses.replace(p, b=5)
    return p.a * p.b


@program
def enums(x):
    c = Color.RED if x[0] > 1 else Color.BLUE
    if c is Color.RED:
        return x * 2
    if c == Color.BLUE:
        return x * 3
    return x


@program
def sets(x):
    s = {1, 2}
    if x[0] > 1:
        t = s | {3}
    else:
        t = {3, 2, 1}
    return x * len(t)


@program
def sets2(x):
    if x[0] > 1:
        t = {1, 2, 3}
    else:
        t = {1}
    return x * len(t) + (5 if 2 in t else 0)


@program
def strfmt(x):
    mode = "a" if x[0] > 1 else "b"
    name = f"{mode}_op"
    if name == "a_op":
        return x * 2
    return x * 3


@program
def shapes_rank(x):
    y = x.reshape(3, 1) if x[0] > 1 else x
    return y.sum() * x + y.ndim + y.shape[0]


@program
def dtype_diff(x):
    y = x if x[0] > 1 else ops.cast(x, ms.int32)
    return y * 1.5


@program
def dtype_diff2(x):
    y = x.sum() if x[0] > 1 else ops.cast(x.sum(), ms.int32)
    return x * y


@program
def early_in_with(x):
    def f(v):
        while True:
            v = v + 1
            for k in range(2):
                if v[k] > 4:
                    return v * k
                if v.sum() > 9:
                    break
            else:
                continue
            return v - 1

    return f(x)


@program
def nested_fn_state(x):
    count = 0
    total = x * 0

    def step(v):
        nonlocal count, total
        if v.sum() > 0:
            count += 1
            total = total + v
        return v * 0.5

    i = 0
    v = x
    while i < 3:
        v = step(v)
        v = v + 1
        i += 1
    return total * count


@program
def list_in_loop(x):
    buf = [x, x * 2, x * 3]
    i = 0
    while i < 4:
        buf[0], buf[1], buf[2] = buf[1], buf[2], buf[0] * 0.9
        if buf[0].sum() > 5:
            buf[1] = buf[1] * 0
        i += 1
    return buf[0] + buf[1] * 2 + buf[2] * 3


@program
def list_index_in_loop(x):
    buf = [x, x * 2, x * 3]
    i = Tensor(0, ms.int32)
    s = x * 0
    while i < 3:
        s = s + buf[i] * (i + 1)
        i = i + 1
    return s


@program
def fn_index_in_loop(x):
    fs = (ops.sin, ops.cos, lambda v: v * x)
    i = Tensor(0, ms.int32)
    s = x
    while i < 3:
        s = fs[i](s)
        i = i + 1
    return s


@program
def swap_fns(x):
    f, g = ops.sin, ops.cos
    i = 0
    s = x
    while i < 5:
        s = f(s) + 0.1
        f, g = g, f
        i += 1
    return s


@program
def early_ret_struct(x):
    def f(v):
        if v[0] > 1:
            return v, v * 2
        if v[1] > 0:
            return v * 3, v
        return v + 1, v - 1

    a, b = f(x)
    return a * b


@program
def ret_diff_struct(x):
    def f(v):
        if v[0] > 1:
            return v, v * 2
        return v

    r = f(x)
    if isinstance(r, tuple):
        return r[0] + r[1]
    return r * 5


@program
def gradient_of_branch_in_arm(x):
    def f(v):
        if v.sum() > 0:
            return (v * v).sum()
        return (v * v * v).sum()

    if x[0] > 1:
        return grad(f)(x)
    return grad(f)(-x) * 2


@program
def grad_choice(x):
    f = (lambda v: (v * v).sum()) if x[0] > 1 else (lambda v: (v * v * v).sum())
    return grad(f)(x)


@program
def value_and_grad_in_loop(x):
    i = 0
    w = x
    while i < 3:
        items, g = ms.value_and_grad(lambda v: (v * v * x).sum())(w)
        w = w - 0.01 * g
        if items < 0:
            break
        i += 1
    return w + i


@program
def del_name(x):
    y = x
    if x[0] > 1:
        t = x * 2
        y = t
        del t
    return y


@program
def comp_with_choice(x):
    f = ops.sin if x[0] > 1 else ops.cos
    return sum([f(v) for v in (x, x + 1)])


@program
def zip_enum(x):
    s = x
    for i, (a, b) in enumerate(zip((x, x + 1, x + 2), (1, 2, 3))):
        if a.sum() > 5:
            continue
        if b == 3:
            break
        s = s + a * b * i
    return s


@program
def while_walrus_break(x):
    s = x
    k = 0
    while (m := s.max()) < 8:
        s = s * 1.4 + 0.2
        if s[1] > 5:
            break
        k += 1
    else:
        k = k + 10
    return s * k + m


@program
def or_none(x):
    d = {"a": x}
    y = d.get("b") or x * 2
    return y if isinstance(y, Tensor) else x


@program
def and_value(x):
    y = (x[0] > 1) and x
    if isinstance(y, Tensor) and y.ndim == 1:
        return y * 2
    return x


@program
def div_guard(x):
    n = ops.cast(x[2], ms.int32)
    if n != 0 and 6 // n > 1:
        return x * 2
    return x


@program
def max_rounds_type(x):
    s = 0
    i = 0
    while i < 3:
        s = s + x
        i += 1
    return s


@program
def int_float_loop(x):
    s = 1
    i = 0
    while i < ops.abs(x[2]):
        s = s * 1.5
        i += 1
    return x * s


@program
def bool_flag_loop(x):
    done = False
    s = x
    i = 0
    while not done:
        s = s + 1
        i += 1
        if s.sum() > 8:
            done = True
    return s * i


@program
def multi_assign(x):
    a = b = [x]
    if x[0] > 1:
        a[0] = x * 4
    return b[0]


@pytest.mark.parametrize("point", POINTS, ids=["a", "b", "c", "d"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled_equals_eager(function: Callable, point: list) -> None:
    check(function, point)

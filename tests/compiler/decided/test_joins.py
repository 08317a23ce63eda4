"""What the ways of a branch leave - values of any kind, objects changed in place, exits - and what may be done with it."""

from __future__ import annotations

import collections
import linecache
from typing import Any

import numpy as np
import pytest
from both_modes import POINTS, check

import mindspore as ms
from mindspore import Tensor, _core, jit, nn, ops

CELLS = nn.CellList([nn.Dense(3, 3), nn.ReLU(), nn.Dense(3, 3)])
PROGRAMS: list[Any] = []


def program(function: Any) -> Any:
    """Adds to the programs that must give the same in both modes."""
    PROGRAMS.append(function)
    return function


@program
def none_or(x):
    y = None
    if x[0] > 0:
        y = x * 2
    if y is None:
        return x
    return y + 1


@program
def none_and(x):
    y = None
    if x[0] > 0:
        y = x * 2
    if y is not None and y.sum() > 1:
        return y * 3
    return x


@program
def shapes(x):
    if x[0] > 0:
        y = x[:2]
    else:
        y = x
    return x * y.sum() + len(y)


@program
def ret_closure(x):
    def make(a):
        k = a
        if a.sum() > 2:
            k = a * 2
            return lambda y: y * k
        k = a * 3
        return lambda y: y + k

    return make(x)(x)


@program
def lists_len(x):
    if x[0] > 0:
        items = [x, x * 2]
    else:
        items = [x]
    s = x
    for v in items:
        s = s + v
    return s


@program
def list_append_helper(x):
    def add(items):
        if x[0] > 0:
            items.append(x)
        else:
            items.append(-x)

    items = [x]
    m = items
    add(items)
    return m[1] + items[0]


@program
def nonlocal_arm(x):
    k = x

    def f():
        nonlocal k
        if x[0] > 0:
            k = k * 2
        else:
            k = k - 1

    f()
    f()
    return k


@program
def alias(x):
    a = [x, x]
    b = a
    if x[0] > 0:
        a[0] = x * 5
    return b[0] + a[1]


class Pt:
    def __init__(self, a):
        self.a = a
        self.n = 0


@program
def user_obj(x):
    p = Pt(x)
    q = p
    if x[0] > 0:
        p.a = p.a * 2
        p.n = 3
    return q.a * q.n + x


@program
def dict_arm(x):
    d = {"a": x}
    if x[0] > 0:
        d["a"] = x * 2
    else:
        d = {"a": x * 3}
    return d["a"]


@program
def nested_ret(x):
    if x[0] > 0:
        if x[2] > 2:
            return x * 7
        y = x + 1
    else:
        y = x * 2
        if x[1] > 0:
            return y
    if y.sum() > 3:
        return y * 2
    return y


@program
def ret_in_for(x):
    s = x
    for i in range(6):
        if s.sum() > 8:
            if s[0] > 4:
                return s * 10
            break
        if s[1] > 0:
            continue
        s = s * 1.5 + i
    else:
        s = s + 100
    return s + 1


@program
def many_break(x):
    s = x
    for _i in range(100):
        if s.sum() > 50:
            break
        s = s + 0.3
    return s


@program
def while_else(x):
    i = Tensor(0, ms.int32)
    s = x
    while i < 4:
        s = s + 1
        i = i + 1
        if s.sum() > 9:
            break
    else:
        s = s * 2
    return s


@program
def for_else(x):
    s = x
    for i in range(ops.cast(ops.abs(x[2]) + 1, ms.int32)):
        if s.sum() > 9:
            break
        s = s + i
    else:
        s = -s
    return s


@program
def while_true(x):
    s = x
    i = 0
    while True:
        s = s + 0.5
        i += 1
        if s.sum() > 9:
            break
    return s * i


@program
def while_true_ret(x):
    s = x
    while True:
        s = s + 0.5
        if s.sum() > 9:
            return s * 3


@program
def loop_nested_ret(x):
    s = x
    i = 0
    while s.sum() < 50:
        for _j in range(3):
            s = s + 0.7
            if s[0] > 5:
                if s[1] > 4:
                    return s * 2
                continue
            if s[2] > 7:
                break
            s = s * 1.01
        i += 1
    return s + i


@program
def nested_tensor_loops(x):
    n = ops.cast(ops.abs(x[2]), ms.int32)
    acc = [x, x * 0]
    d = {"k": x}
    for i in range(n):
        for j in range(i + 1):
            if acc[0].sum() > 30:
                break
            acc[0] = acc[0] + d["k"] * 0.1
            acc[1] = acc[1] + j
        else:
            d["k"] = d["k"] * 1.1
        if d["k"][0] > 4:
            continue
        acc[0] = acc[0] + 1
    return acc[0] + acc[1] + d["k"]


@program
def late(x):
    i = 0
    while i < ops.abs(x[2]):
        y = x * i
        i += 1
    return y


@program
def neg_range(x):
    s = x
    for i in range(ops.cast(ops.abs(x[2]) + 2, ms.int32), 0, -1):
        s = s * 0.5 + i
    return s + i


@program
def tensor_step(x):
    s = x
    st = ops.cast(x[1], ms.int32)
    for i in range(6, 0, st) if False else range(6, 0, -2):
        s = s + i
    for i in range(0, 6 * ops.sign(st), st):
        s = s * 0.9 + i
    return s


@program
def and_or(x):
    a = x[0] and x[1]
    b = x[2] or x[0]
    c = not x[1]
    return x * a + b * (1 if c else 2)


@program
def and_bool(x):
    t = (x.sum() > 0) and (x[0] > 0 or x[1] / x[0] > 1)
    return x * 2 if t else x


@program
def raise_arm(x):
    if x.sum() > 1000:
        raise ValueError("big")
    return x + 1


@program
def number_kinds(x):
    if x[0] > 0:
        k = 2
    else:
        k = True
    return x * k


@program
def namedt(x):
    NT = collections.namedtuple("NT", "a b")
    p = NT(x, 1) if x[0] > 0 else NT(x * 2, 1)
    return p.a * p.b


@program
def isinst(x):
    y = x if x[0] > 0 else 3
    if isinstance(y, int):
        return x + y
    return y * 2


@program
def cond_cells(x):
    cell = CELLS[0] if x[0] > 0 else CELLS[2]
    return cell(x.reshape(1, 3)).reshape(3)


@program
def rows(x):
    m = ops.stack([x, x * 2, x * 3, x * 4])
    s = x * 0
    for r in m:
        if r.sum() > 12:
            break
        s = s + r
    return s


@program
def str_arm(x):
    if x[0] > 0:
        act = "relu"
    else:
        act = "tanh"
    if act == "relu":
        return ops.relu(x)
    return ops.tanh(x)


@program
def walrus(x):
    s = x
    while (t := s.sum()) < 20:
        s = s * 1.2 + 1
    return s * t


@pytest.mark.parametrize("point", POINTS, ids=["a", "b", "c", "d"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_compiled_equals_eager(function: Any, point: list) -> None:
    check(function, point)


def nodes_of(lines: list[str], name: str) -> int:
    """How many nodes a program is parsed to."""
    text = "\n".join(lines) + "\n"
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope: dict[str, Any] = {}
    exec(compile(text, file, "exec"), scope)
    sizes: list[int] = []
    build = _core.compile
    try:
        _core.compile = lambda t, *options: sizes.append(t.module.size) or build(t, *options)
        x = Tensor(np.ones(3, np.float32))
        got = jit(scope[name], fullgraph=True)(x).asnumpy()
    finally:
        _core.compile = build
    np.testing.assert_allclose(got, scope[name](x).asnumpy())
    return sizes[0]


NESTED_RETURN = [
    "    if x.sum() > {i}:",
    "        if x[0] > {i}:",
    "            return x * {i}",
    "        x = x + 1",
    "    else:",
    "        if x[1] > {i}:",
    "            return x - {i}",
    "        x = x * 2",
]
LOOP_EXITS = [
    "        if x[0] > {i}:",
    "            break",
    "        if x[1] > {i}:",
    "            continue",
]


@pytest.mark.parametrize("count", [10, 40])
def test_what_follows_a_branch_is_parsed_once(count: int) -> None:
    def program_of(n: int) -> list[str]:
        body = [line.format(i=i + 5) for i in range(n) for line in NESTED_RETURN]
        return ["def many(x):", *body, "    return x"]

    assert nodes_of(program_of(2 * count), "many") < 2.6 * nodes_of(program_of(count), "many")


def test_exits_of_unrolled_loops_stay_small() -> None:
    def program_of(n: int) -> list[str]:
        exits = [line.format(i=i + 5) for i in range(n) for line in LOOP_EXITS]
        return [
            "def many(x):",
            "    for i in range(3):",
            *exits,
            "        x = x + 1",
            "    return x",
        ]

    assert nodes_of(program_of(20), "many") < 2.6 * nodes_of(program_of(10), "many")


def test_hundreds_of_rounds_with_a_break() -> None:
    lines = [
        "def many(x):",
        "    for i in range(400):",
        "        if x[0] > 350:",
        "            break",
    ]
    assert nodes_of([*lines, "        x = x + 1", "    return x"], "many") < 20_000


def test_a_variable_without_a_value_is_an_error_when_it_is_read() -> None:
    def one_branch(x: Tensor) -> Tensor:
        if x.sum() > 0:
            y = x * 2
        return y

    compiled = jit(one_branch, fullgraph=True)
    assert float(compiled(Tensor(1.0))) == 2.0
    with pytest.raises(UnboundLocalError, match=r"'y'.*one branch"):
        compiled(Tensor(-1.0))


def test_lists_of_different_lengths_run_eagerly() -> None:
    def append_once(x: Tensor) -> Tensor:
        values = [x]
        if x.sum() > 0:
            values.append(x * 2)
        return sum(values)

    with pytest.warns(UserWarning):
        assert float(jit(append_once)(Tensor(1.0))) == 3.0

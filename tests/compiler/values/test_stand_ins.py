"""Numbers and strings that a tensor decides are values of Python to the program: of Python's types, with their methods, operators
and hashes. What a graph cannot do with them runs eagerly."""

from __future__ import annotations

import numbers
import types
from collections.abc import Callable

import pytest
from both_modes import plain

import mindspore as ms
from mindspore import Tensor, context, jit


def text_float(x):
    return x * float(f"{x.sum():.1f}")


def text_int(x):
    return x * int(f"{x.sum().astype(ms.int32)}")


def text_len(x):
    return x * len(f"{x.sum()}")


def text_eq(x):
    s = f"{x.sum()}"
    return x * 2 if s == "3.0" else x * 3


def text_dict(x):
    s = f"{x.sum()}"
    return x * {"3.0": 5}.get(s, 7)


def text_in2(x):
    s = f"{x.sum()}"
    return x * 2 if s in ("3.0", "4.0") else x * 3


def text_slice(x):
    s = f"{x.sum()}"
    return x * (2 if s[0] == "3" else 4)


def text_iter(x):
    n = 0
    for _ in f"{x.sum()}":
        n += 1
    return x * n


def text_mul(x):
    return x * len(f"{x.sum()}" * 2)


def text_cmp(x):
    return x * 2 if f"{x.sum()}" < "4" else x


def text_sorted(x):
    return x * (2 if sorted([f"{x.sum()}", "4"])[0] == "4" else 3)


def text_isinstance(x):
    return x * 2 if isinstance(f"{x.sum()}", str) else x * 3


def text_type(x):
    return x * 2 if type(f"{x.sum()}") is str else x * 3


def text_hash(x):
    return x * len({f"{x.sum()}", "3.0"})


def text_max(x):
    return x * len(max(f"{x.sum()}", "10"))


def text_nested(x):
    s = f"{x.sum()}"
    return x * len(f"{s:>10}|{s!r}")


def text_branch2(x):
    s = "big" if x.sum() > 3 else "small"
    return x * {"big": 2, "small": 5}[s]


def number_float(x):
    v = float(x.sum())
    return (
        x
        * (2 if isinstance(v, float) else 3)
        * (5 if isinstance(v, Tensor) else 7)
        * (11 if type(v) is float else 13)
    )


def number_int(x):
    v = int(x.sum())
    return (
        x
        * (2 if isinstance(v, int) else 3)
        * (5 if isinstance(v, Tensor) else 7)
        * (11 if type(v) is int else 13)
        * (17 if isinstance(v, (float, str)) else 19)
    )


def number_bool(x):
    v = bool(x.sum())
    return (
        x
        * (2 if isinstance(v, bool) else 3)
        * (5 if isinstance(v, Tensor) else 7)
        * (11 if type(v) is bool else 13)
        * (17 if isinstance(v, int) else 19)
    )


def number_range(x):
    v = range(int(x.sum()))
    return x * (2 if isinstance(v, range) else 3) * (11 if type(v) is range else 13)


def number_fn(x):
    def f(a):
        return a

    g = lambda a: a
    return (
        x
        * (2 if isinstance(f, types.FunctionType) else 3)
        * (11 if type(f) is type(g) else 13)
        * (5 if callable(f) else 7)
        * (17 if isinstance(g, types.LambdaType) else 19)
    )


def number_loop(x):
    n = 0
    while x.sum() > n:
        n += 1
    return x * (2 if isinstance(n, int) else 3) * (11 if type(n) is int else 13)


def number_branch(x):
    n = 1 if x.sum() > 3 else 2
    return x * (2 if isinstance(n, int) else 3) * (11 if type(n) is int else 13) * n


def number_branch2(x):
    n = 1 if x.sum() > 3 else 2.5
    return x * (2 if isinstance(n, int) else 3) * (11 if type(n) is int else 13) * n


def number_branch3(x):
    n = x if x.sum() > 3 else None
    return x * (2 if isinstance(n, Tensor) else 3) * (11 if type(n) is type(None) else 13)


def number_branch4(x):
    n = [x] if x.sum() > 3 else (x, x)
    return x * (2 if isinstance(n, list) else 3) * (11 if type(n) is tuple else 13) * len(n)


def number_numeric(x):
    v = float(x.sum())
    return x * (2 if isinstance(v, numbers.Number) else 3)


def number_round(x):
    v = round(float(x.sum()))
    return x * v * (2 if isinstance(v, int) else 3)


def number_hasattr(x):
    v = int(x.sum())
    return x * (2 if hasattr(v, "bit_length") else 3) * (5 if hasattr(v, "asnumpy") else 7)


def number_meth(x):
    v = int(x.sum())
    return x * v.bit_length()


def number_isint(x):
    v = float(x.sum())
    return x * (2 if v.is_integer() else 3)


def number_divmod(x):
    a, b = divmod(int(x.sum()), 2)
    return x * a + b


def number_key(x):
    return x * {3: 4, 6: 5}.get(int(x.sum()), 9)


def number_int_div(x):
    v = int(x.sum())
    return x * (v / 2) + v // 2 + v % 2 + v**2 + (v << 1) + (v & 1)


def number_fmt(x):
    return x * int(f"{int(x.sum()):d}")


def number_mulstr(x):
    return x * len("a" * int(x.sum()))


def number_mullist(x):
    return x * len([1] * int(x.sum()))


def number_typename(x):
    return x * len(type(int(x.sum())).__name__) * len(type(x).__name__)


def number_class(x):
    return x * len(int(x.sum()).__class__.__name__)


PROGRAMS = (
    text_float,
    text_int,
    text_len,
    text_eq,
    text_dict,
    text_in2,
    text_slice,
    text_iter,
    text_mul,
    text_cmp,
    text_sorted,
    text_isinstance,
    text_type,
    text_hash,
    text_max,
    text_nested,
    text_branch2,
    number_float,
    number_int,
    number_bool,
    number_range,
    number_fn,
    number_loop,
    number_branch,
    number_branch2,
    number_branch3,
    number_branch4,
    number_numeric,
    number_round,
    number_hasattr,
    number_meth,
    number_isint,
    number_divmod,
    number_key,
    number_int_div,
    number_fmt,
    number_mulstr,
    number_mullist,
    number_typename,
    number_class,
)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.filterwarnings("ignore")
def test_as_in_python(program: Callable) -> None:
    results = []
    for mode in (context.PYNATIVE_MODE, context.GRAPH_MODE):
        context.set_context(mode=mode)
        run = program if mode == context.PYNATIVE_MODE else jit(program)
        gradient = ms.grad(run)
        calls = [Tensor([1.0, 2.0]), Tensor([2.0, 4.0]), Tensor([1.0, 2.0])]
        results.append([plain(run(x)) for x in calls] + [plain(gradient(x)) for x in calls[:2]])
    assert results[1] == results[0]


def test_no_attribute_of_a_tensor() -> None:
    """An AttributeError as of Python's number, in both modes."""

    def call(x):
        return int(x.sum()).asnumpy()

    for run in (call, jit(call)):
        with pytest.raises(AttributeError, match="'int' object has no attribute 'asnumpy'"):
            run(Tensor([1.0, 2.0]))


def test_a_bool_tensor_is_an_index() -> None:
    def call(x):
        return [x, x * 2][x.sum() > 3]

    for run in (call, jit(call)):
        assert plain(run(Tensor([1.0, 1.0]))) == [1.0, 1.0]
        assert plain(run(Tensor([2.0, 2.0]))) == [4.0, 4.0]

"""Integers that a type does not hold are refused, never wrapped; comparisons with them are exact; division by zero gives 0 and
is told once."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, jit, ops
from mindspore.common.initializer import initializer
from mindspore.compile.program import errors
from mindspore.ops import operations as P

I8 = Tensor([1, 2, 3], ms.int8)
U8 = Tensor([1, 2, 3], ms.uint8)
P8 = Parameter(I8, name="p")
I32 = Tensor([1, 2, 3], ms.int32)
I64 = Tensor([1, 2, 3], ms.int64)
U64 = Tensor([1, 2, 2**63], ms.uint64)
MASK = Tensor([True, False, True])
HUGE = 2**70


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["eager", "graph"], autouse=True)
def mode(request):
    ms.set_context(mode=request.param)
    errors._noted.clear()  # lines that were warned of
    return request.param


def assigned(x: Tensor, index: object, value: object) -> Tensor:
    y = x.copy()
    y[index] = value
    return y


MADE = {
    "scalar": lambda: Tensor(2**40, ms.int32),
    "list": lambda: Tensor([1, 2**40], ms.int32),
    "nested": lambda: Tensor([[1], [-129]], ms.int8),
    "array": lambda: Tensor(np.array([300]), ms.int8),
    "tensor": lambda: Tensor(Tensor([300]), ms.int8),
    "negative": lambda: Tensor(-1, ms.uint8),
    "beyond 64 bits": lambda: Tensor(2**64),
    "beyond 64 bits, typed": lambda: Tensor([HUGE], ms.uint64),
    "float": lambda: Tensor(1e20, ms.int32),
    "nan": lambda: Tensor(float("nan"), ms.int32),
    "initializer": lambda: initializer(300, (2,), ms.int8),
    "full": lambda: ops.full((2,), 300, dtype=ms.int8),
    "full_like": lambda: ops.full_like(I8, -129),
    "fill": lambda: ops.fill(ms.uint8, (2,), 256),
    "Fill": lambda: P.Fill()(ms.int8, (2,), 300),
    "arange": lambda: ops.arange(0, 300, 50, dtype=ms.int8),
    "randint": lambda: ops.randint(0, 300, (2,), dtype=ms.int8),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_what_is_made_must_fit(make: Callable) -> None:
    with pytest.raises(ValueError, match=r"For '\w+', an integer must fit U?Int\d+, which holds "):
        make()


OPERATIONS = {
    "add": lambda: I8 + 300,
    "right sub": lambda: 300 - I8,
    "mul": lambda: I8 * -200,
    "unsigned": lambda: U8 + -1,
    "wide": lambda: I32 + 2**40,
    "64 bits": lambda: I64 + 2**63,
    "beyond 64 bits": lambda: I64 * HUGE,
    "floor divide": lambda: I8 // 300,
    "and": lambda: U8 & 256,
    "maximum": lambda: ops.maximum(I8, 300),
    "clamp": lambda: ops.clamp(I8, 0, 300),
    "clip_by_value": lambda: ops.clip_by_value(I8, -300, 3),
    "masked_fill": lambda: ops.masked_fill(I8, MASK, 300),
    "method": lambda: I8.masked_fill(MASK, 300),
    "where": lambda: ops.where(MASK, I8, 300),
    "pad": lambda: ops.pad(I8, (1, 1), value=300),
    "setitem": lambda: assigned(I8, 0, 300),
    "setitem by mask": lambda: assigned(I8, MASK, 300),
    "setitem by slice": lambda: assigned(I8, slice(0, 2), 300),
    "index_fill": lambda: ops.index_fill(I8, 0, Tensor([0], ms.int32), 300),
    "assign": lambda: ops.assign(P8, 300),
    "assign_add": lambda: ops.assign_add(P8, 300),
}


@pytest.mark.parametrize("run", OPERATIONS.values(), ids=OPERATIONS)
def test_numbers_must_fit_the_tensors_they_meet(run: Callable) -> None:
    for call in (run, jit(run)):
        with pytest.raises(ValueError, match=r"For '\w+', an integer must fit U?Int\d+"):
            call()


def test_what_fits_is_taken() -> None:
    assert (U8 - 1).asnumpy().tolist() == [0, 1, 2]
    assert (U64 + (2**64 - 1 - 2**63)).asnumpy().tolist()[2] == 2**64 - 1
    assert Tensor(2**64 - 1, ms.uint64).asnumpy() == np.uint64(2**64 - 1)
    big = 2**53 + 1
    for value in (big, Tensor(big, ms.int64)):
        assert ops.full((1,), value, dtype=ms.int64).asnumpy().tolist() == [big]
        assert ops.full_like(ops.zeros(1, ms.int64), value).asnumpy().tolist() == [big]
    assert ops.full_like(I64, 2**63 - 1).asnumpy().tolist() == [2**63 - 1] * 3
    assert (Tensor([1.0]) + HUGE).asnumpy().tolist() == [float(HUGE)]
    assert Tensor([1.9, -1.9], ms.int8).asnumpy().tolist() == [1, -1]
    assert Tensor(-0.5, ms.uint8).asnumpy() == 0
    assert ops.clamp(I8, -128, 127).asnumpy().tolist() == [1, 2, 3]
    assert ops.clamp(U64, max=5).asnumpy().tolist() == [1, 2, 5]
    assert ops.clamp(I8, min=2).asnumpy().tolist() == [2, 2, 3]


def test_explicit_casts_keep_the_low_bits() -> None:
    assert Tensor([300, -1]).astype(ms.uint8).asnumpy().tolist() == [44, 255]
    assert (I8.astype(ms.int16) + 300).asnumpy().tolist() == [301, 302, 303]


COMPARISONS = [
    (lambda x, y: x == y, np.equal),
    (lambda x, y: x != y, np.not_equal),
    (lambda x, y: x < y, np.less),
    (lambda x, y: x <= y, np.less_equal),
    (lambda x, y: x > y, np.greater),
    (lambda x, y: x >= y, np.greater_equal),
]
BEYOND = (300, -129, 2**31, 2**40 + 1, -(2**40), 2**63, 2**64 - 1, 2**64, HUGE, -HUGE, -1)


@pytest.mark.parametrize("x", [I8, U8, I32, I64, U64], ids=lambda t: str(t.dtype))
def test_comparisons_are_exact(x: Tensor) -> None:
    exact = [int(v) for v in x.asnumpy()]
    for compare, _ in COMPARISONS:
        for n in BEYOND:
            assert compare(x, n).asnumpy().tolist() == [compare(v, n) for v in exact], n
            assert compare(n, x).asnumpy().tolist() == [compare(n, v) for v in exact], n


def test_a_number_that_changes_is_checked_on_each_call() -> None:
    @jit
    def add(x, n):
        return x + n

    @jit
    def same(x, n):
        return x == n

    for n in (1, 5, 100, -100):
        assert add(I8, n).asnumpy().tolist() == [1 + n, 2 + n, 3 + n]
        assert same(I8, n).asnumpy().tolist() == [v == n for v in (1, 2, 3)]
    for n in (257, 2**40, -129):  # 257 would be 1
        with pytest.raises(ValueError, match="For 'Add', an integer must fit Int8"):
            add(I8, n)
        assert same(I8, n).asnumpy().tolist() == [False] * 3


def test_a_loop_index_is_checked() -> None:
    @jit
    def last(x, limit):
        total = x
        for i in range(limit):
            total = total + i * 50
        return total

    x = Tensor([0], ms.int8)
    assert last(x, Tensor(2)).asnumpy().tolist() == [50]
    with pytest.raises(ValueError, match="For 'Add', an integer must fit Int8"):
        last(x, Tensor(4))


def test_the_gradient_passes_a_checked_number() -> None:
    def f(x, n):
        return (x.astype(ms.int32) * n).astype(ms.float32) * 2.5

    for n in (3, 4, 5):
        assert ms.grad(f)(Tensor([1.0]), n).asnumpy().tolist() == [2.0 * n]


# ---- division -----------------------------------------------------------------------------------------------------------
ZEROS = Tensor([0, 2, 0], ms.int32)
DIVISIONS = {
    "//": (lambda x, y: x // y, [0, 1, 0]),
    "%": (lambda x, y: x % y, [0, 0, 0]),
    "fmod": (lambda x, y: ops.fmod(x, y), [0, 0, 0]),
    "TruncateDiv": (lambda x, y: P.TruncateDiv()(x, y), [0, 1, 0]),
    "TruncateMod": (lambda x, y: P.TruncateMod()(x, y), [0, 0, 0]),
    "Mod": (lambda x, y: P.Mod()(x, y), [0, 0, 0]),
}


@pytest.mark.parametrize(("divide", "expected"), DIVISIONS.values(), ids=DIVISIONS)
def test_division_by_zero_gives_zero_and_warns(divide: Callable, expected: list) -> None:
    for call in (lambda x, y: divide(x, y), jit(lambda x, y: divide(x, y))):
        errors._noted.clear()
        with pytest.warns(RuntimeWarning, match="an integer is divided by zero") as caught:
            assert call(I32, ZEROS).asnumpy().tolist() == expected
        assert {w.filename for w in caught} == {__file__}


def test_each_line_warns_once() -> None:
    def halves(x, y):
        return x // y + x // y

    def others(x, y):
        return x % y

    for function in (halves, others, jit(halves), jit(others)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(3):
                function(I32, ZEROS)
        wanted = 1 if function in (halves, others) else 0  # the same line was named before
        assert len(caught) == wanted


@pytest.mark.host_device
def test_the_line_is_named() -> None:
    def f(x, y):
        z = x + 1
        return z // y

    with pytest.warns(RuntimeWarning) as caught:
        jit(f)(I32, ZEROS)
    assert caught[0].lineno == f.__code__.co_firstlineno + 2


def test_a_branch_that_is_not_taken_says_nothing() -> None:
    @jit
    def f(x, c):
        if c > 0:
            return x // Tensor([0, 0, 0], ms.int32)
        return x // 0 if c < -1 else x // 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(I32, Tensor(0)).asnumpy().tolist() == [0, 1, 1]


def test_a_warning_can_be_an_error() -> None:
    def f(x, y):
        return x // y

    for call in (f, jit(lambda x, y: x // y)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match="divided by zero"):
                call(I32, ZEROS)


def test_floats_divide_as_ever() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf((Tensor([1.0]) / 0).asnumpy()).all()
        assert np.isnan((Tensor([1.0]) % 0).asnumpy()).all()


# ---- the rest -----------------------------------------------------------------------------------------------------------
def test_one_hot_of_an_index_out_of_range_is_a_row_of_zeros() -> None:
    def f(x):
        return ops.one_hot(x, 3, 5, 0)

    for call in (f, jit(f)):
        assert call(Tensor([1, 3, -1])).asnumpy().tolist() == [[0, 5, 0], [0, 0, 0], [0, 0, 0]]


def test_median_passes_nan_on() -> None:
    x = Tensor([[1.0, float("nan"), 3.0], [4.0, 1.0, 2.0]])
    for call in (ops.median, jit(ops.median)):
        value, index = call(x, 1)
        np.testing.assert_array_equal(value.asnumpy(), [np.nan, 2.0])
        assert index.asnumpy().tolist() == [1, 2]
    assert ms.grad(lambda v: ops.median(v, 1)[0].sum())(x).asnumpy().tolist() == [
        [0, 1, 0],
        [0, 0, 1],
    ]

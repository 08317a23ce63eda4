"""`match`, with every kind of pattern, on what is known while compiling and on tensors."""

from __future__ import annotations

import enum

import pytest
from both_modes import check

from mindspore import Tensor, jit

UP = [1.5, 2.0, 3.0]
DOWN = [1.5, -5.0, 1.0]


class Kind(enum.Enum):
    A = 1
    B = 2


class Point:
    """Has positional patterns."""

    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


def classify(x, value):
    """The number of the case, and what it binds."""
    match value:
        case 1 | 2:
            return 1, None
        case int(n) if n > 10:
            return 2, n
        case True | False as flag:
            return 3, flag
        case None:
            return 4, None
        case [1, (2 | 3) as y, *rest]:
            return 5, (y, rest)
        case ("k", _) | ["j", _]:
            return 6, None
        case {"a": 1, "b": b, **more}:
            return 7, (b, more)
        case {"a": _}:
            return 8, None
        case Kind.B:
            return 9, None
        case Point(a, 3):
            return 10, a
        case Point(x=a, y=[b, c]):
            return 11, (a, b + c)
        case str() | bytes():
            return 12, None
        case float(f):
            return 13, f
        case [] | [_]:
            return 14, None
        case _:
            return 15, value


@pytest.mark.parametrize(
    "value",
    [1, 2, 3, 11, True, None, [1, 3, 5, 6], (1, 2), ["j", 0], ("k", 1), {"a": 1, "b": 2, "c": 3}]
    + [
        {"a": 2},
        Kind.A,
        Kind.B,
        Point(5, 3),
        Point(1, [2, 3]),
        "12",
        b"1",
        2.5,
        [],
        ["x"],
        [3, 4, 5],
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_pattern(value):
    seen = []

    def run(x):
        case, bound = classify(x, value)
        seen.append((case, bound))
        return x * case

    x = Tensor(UP)
    expected = classify(x, value)
    got = jit(lambda v: classify(v, value), fullgraph=True)(x)
    assert got[0] == expected[0]
    assert got[1] == expected[1] or isinstance(value, Point)


def of_a_tensor(x):
    n = (x > 0).sum()
    match n:
        case 1:
            return x
        case 2 | 3 if x.max() > 2.5:
            return x * 2
        case k:
            return x * k.astype(x.dtype)


def in_a_loop(x):
    total = x * 0
    for i in range(3):
        match i, x.sum() > 0:
            case 0, _:
                total = total + 1
            case 1, True:
                total = total + x
            case _:
                total = total * 2
    return total


def in_a_loop_of_a_tensor(x):
    i, total = 0, x * 0
    while i < x.max() + 1:
        match i:
            case 1:
                total = total + x
            case v:
                total = total + v * x
        i = i + 1
    return total


def of_a_tensor_in_a_tuple(x):
    match (x[0], x[1]):
        case (a, b) if a > b:
            return x * a
        case (a, 2.0):
            return x + a
    return -x


def of_several_tensors(x):
    match (x[0], x[1], x[2]):
        case (1.5, 2.0 | -5.0, 3.0 | 1.0):
            return x * 2
        case (1.5, -5.0, _) | (-1.0, -2.0, _):
            return x * 3
    return -x


def of_attributes(x):
    match x:
        case Tensor(ndim=1, shape=(n,)):
            return x * n
        case _:
            return x


MATCHES = [of_a_tensor, in_a_loop, in_a_loop_of_a_tensor, of_a_tensor_in_a_tuple]
MATCHES += [of_several_tensors, of_attributes]


@pytest.mark.parametrize("function", MATCHES, ids=lambda f: f.__name__)
def test_a_tensor_decides_the_case(function):
    for point in (UP, DOWN, [-1.0, -2.0, 4.0]):
        check(function, point)


def test_errors_of_patterns():
    def too_many(x):
        match Point(x, 1):
            case Point(1, 2, 3):
                return x
        return x

    for function in (too_many, jit(too_many, fullgraph=True)):
        with pytest.raises(TypeError, match=r"accepts 2 positional sub-patterns \(3 given\)"):
            function(Tensor(UP))


class Whole(int):
    """Derived from what a positional pattern takes as it is."""


def test_positional_patterns_of_what_is_derived_from_builtins() -> None:
    def function(x: Tensor) -> Tensor:
        match Whole(3):
            case Whole(n):
                return x * n
        return x

    assert jit(function, fullgraph=True)(Tensor(2.0)).item() == function(Tensor(2.0)).item() == 6


def test_one_attribute_asked_for_twice_is_refused_as_by_python() -> None:
    def function(x: Tensor) -> Tensor:
        match Point(1, 2):
            case Point(1, x=3):
                return x
        return x * 2

    for run in (function, jit(function)):
        with pytest.raises(TypeError, match="got multiple sub-patterns for attribute 'x'"):
            run(Tensor(1.0))

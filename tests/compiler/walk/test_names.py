"""Which variable a name means, and that one without a value is the error that Python makes of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mindspore import Tensor, jit

X = Tensor(np.array([1.0, 2.0, 3.0], np.float32))
v = 5.0


def assigned_later(x):
    y = x * v  # noqa: F823
    v = 1  # noqa: F841
    return y


def assigned_in_a_nested_function(x):
    w = x * 2

    def inner():
        y = w + 1  # noqa: F823
        w = y  # noqa: F841
        return y

    return inner()


def of_an_enclosing_function_later(x):
    def inner():
        return later * x

    y = inner()
    later = 3
    return y * later


def of_a_handler_that_ended(x):
    try:
        raise ValueError("a")
    except ValueError as error:  # noqa: F841
        y = x * 2
    return y, error  # noqa: F821


def of_a_loop_without_rounds(x):
    for t in ():  # noqa: B007
        pass
    return x * t


def of_an_enclosing_function(x):
    def inner():
        return later * x

    later = 3
    return inner()


def of_a_comprehension(x):
    return [v * x for v in (1, 2)][0] + v  # noqa: RUF015


def assigned_in_a_comprehension(x):
    parts = [(q := k) * x for k in (1, 2)]
    return parts[0] * q + sum((q := q + i) * x for i in range(3)) * q


def of_a_pattern(x):
    match (x, 2):
        case (a, k):
            y = a * k
        case [*rest]:
            y = rest
    return y + a + rest


def imported(x):
    import math

    return x * math.pi


PROGRAMS = [
    assigned_later,
    assigned_in_a_nested_function,
    of_an_enclosing_function_later,
    of_a_handler_that_ended,
    of_a_loop_without_rounds,
    of_an_enclosing_function,
    of_a_comprehension,
    assigned_in_a_comprehension,
    of_a_pattern,
    imported,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_names_mean_what_they_mean_to_python(program: Callable) -> None:
    def run(function: Callable) -> object:
        try:
            return function(X).asnumpy().tolist()
        except NameError as error:
            return type(error), str(error).splitlines()[0].partition(" in enclosing")[0]

    assert run(jit(program, fullgraph=True)) == run(program)

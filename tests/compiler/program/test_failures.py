"""What goes wrong in the compiler itself: the program still gives what it gives in PYNATIVE_MODE, and no failure hides."""

from __future__ import annotations

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, jit, ops
from mindspore.compile.decided import joins
from mindspore.compile.program.errors import RunsEagerly
from mindspore.compile.walk.tracer import Tracer

X = Tensor(np.array([1.5, -2.0, 3.0], np.float32))


def nested(x):
    if x[0] > 1:
        if x[1] > 0:
            y = [x * 2]
        else:
            y = [x * 3]
        return y[0]
    return x


@pytest.mark.parametrize("failure", [KeyError("k"), AssertionError(), AttributeError("a")])
def test_a_failure_in_an_arm_runs_eagerly(monkeypatch: pytest.MonkeyPatch, failure) -> None:
    """It does not become an exception of the program."""
    table: dict = {}

    def broken(self, a, b):
        if isinstance(failure, KeyError):
            return table["missing"]
        if isinstance(failure, AssertionError):
            assert table
        return self.missing

    broken.__code__ = broken.__code__.replace(co_filename=joins.__file__)
    monkeypatch.setattr(joins.Join, "_containers", broken)
    with pytest.warns(RunsEagerly, match="the compiler failed"):
        result = jit(nested)(X)
    np.testing.assert_array_equal(result.asnumpy(), nested(X).asnumpy())
    with pytest.raises(TypeError, match="the compiler failed"):
        jit(nested, fullgraph=True)(X)


def test_an_error_of_the_program_in_an_arm_is_raised_there() -> None:
    """Only where the arm is taken."""

    def function(x):
        if x[0] > 5:
            return x + None
        return x * 2

    compiled = jit(function, fullgraph=True)
    np.testing.assert_array_equal(compiled(X).asnumpy(), function(X).asnumpy())
    with pytest.raises(TypeError, match="NoneType"):
        compiled(X * 10)


class Setting:
    """An object whose comparison is code of the user."""

    compared = 0

    def __init__(self, size: int):
        self.size = size

    def __eq__(self, other: object) -> bool:
        Setting.compared += 1
        raise RuntimeError("settings cannot be compared")

    __hash__ = None


FIRST, SECOND = Setting(2), Setting(3)


def test_branches_do_not_compare_objects() -> None:
    """Which of two objects it is, a tensor decides."""

    def function(x):
        setting = FIRST if x[0] > 1 else SECOND
        return x * setting.size

    for x in (X, -X):
        result = jit(function, fullgraph=True)(x)
        np.testing.assert_array_equal(result.asnumpy(), function(x).asnumpy())
    assert Setting.compared == 0


def test_a_failure_with_open_numbers_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version in which a number is an input is an attempt; a failure in it is not passed over."""

    def function(x, scale):
        return ops.tanh(x) * scale

    compiled = jit(function)
    compiled(X, 2.0)
    original = Tracer.operate

    def broken(self, operation, a, b):
        assert not self.tentative
        return original(self, operation, a, b)

    monkeypatch.setattr(Tracer, "operate", broken)
    with pytest.raises(AssertionError):
        compiled(X, 3.0)
    monkeypatch.undo()
    assert ms.jit(function)(X, 3.0).shape == (3,)

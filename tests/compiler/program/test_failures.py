"""What goes wrong in the compiler itself: the program still gives what it gives in PYNATIVE_MODE, and no failure hides."""

from __future__ import annotations

import math

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


FAULTS = [TypeError("fault"), AttributeError("fault"), KeyError("fault"), ValueError("fault")]
PLACES = ["operate", "get_attribute", "get_item", "iterate", "special_method", "truth", "call"]


class Deaf:
    """What the program below uses of it fails while the compiler is at work, not otherwise."""

    size = 2.0


DEAF = Deaf()


def handled(x):
    try:
        y = -ops.abs(-x) * DEAF.size + [1.0, 2.0][1]
        for factor in (2.0, 3.0):
            y = y * factor
        y = y + (ops.ones_like(y) if y[0] > 100 else y)
    except (TypeError, LookupError, AttributeError, ValueError):
        return x
    return y


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("name", PLACES)
def test_no_handler_of_the_program_takes_a_failure(
    monkeypatch: pytest.MonkeyPatch, name: str, fault: Exception
) -> None:
    """The call runs eagerly, and says why."""
    expected = handled(X).asnumpy()
    original = getattr(Tracer, name)

    def broken(self, *args):
        if any(frame.stack for frame, _ in self.places):  # in the body of the function
            raise type(fault)(*fault.args)
        return original(self, *args)

    monkeypatch.setattr(Tracer, name, broken)
    with pytest.warns(RunsEagerly, match="the compiler failed"):
        result = jit(handled)(X)
    np.testing.assert_array_equal(result.asnumpy(), expected)
    with pytest.raises(TypeError, match="the compiler failed"):
        jit(handled, fullgraph=True)(X)


def test_a_failure_below_library_code_is_no_error_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Library code that the program calls, a gradient here, calls the compiler again."""

    def function(x):
        try:
            return ms.grad(lambda v: (v * v).sum())(x)
        except TypeError:
            return x

    original = Tracer.operate

    def broken(self, *args):
        if self.in_gradient:
            raise TypeError("fault")
        return original(self, *args)

    monkeypatch.setattr(Tracer, "operate", broken)
    with pytest.warns(RunsEagerly, match="the compiler failed"):
        result = jit(function)(X)
    np.testing.assert_array_equal(result.asnumpy(), function(X).asnumpy())


class Odd:
    """Its methods, which are not compiled, end at many kinds of bytecode."""

    def __init__(self, how: str):
        self.how = how

    def __bool__(self):
        return self._fail()

    def __index__(self):
        return self._fail()

    def __hash__(self):
        return self._fail()

    def __iter__(self):
        return iter(self._fail())

    def _fail(self):
        nothing: dict = {}
        if self.how == "item":
            return nothing["missing"]
        if self.how == "attribute":
            return nothing.missing
        if self.how == "operator":
            return nothing + 1
        if self.how == "name":
            return missing  # noqa: F821
        if self.how == "assert":
            assert nothing
        if self.how == "delete":
            del nothing["missing"]
        if self.how == "unpack":
            _, _ = (1,)
        return nothing()


WAYS = ["item", "attribute", "operator", "name", "assert", "delete", "unpack", "call"]
USES = {
    "bool": lambda o: 1 if o else 2,
    "not": lambda o: not o,
    "index": lambda o: [1, 2][o],
    "range": lambda o: range(o),
    "hash": lambda o: {o: 1},
    "set": lambda o: {o},
    "list": lambda o: [*o],
    "sum": lambda o: sum(o),
    "unpack": lambda o: [a + b for a, b in o],
    "match": lambda o: math.factorial(o),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("how", WAYS)
def test_errors_of_the_program_reach_its_handlers(how: str, use: str) -> None:
    """Wherever in Python they come up."""
    odd, apply = Odd(how), USES[use]
    error: type[Exception] = Exception
    try:
        apply(odd)
    except Exception as e:
        error = type(e)

    def function(x):
        try:
            apply(odd)
        except error:
            return x + 1
        return x

    compiled = jit(function, fullgraph=True)
    np.testing.assert_array_equal(compiled(X).asnumpy(), function(X).asnumpy())


class Compared:
    """What a comparison gives is the object itself."""

    def __init__(self, odd: Odd):
        self.odd = odd

    def __gt__(self, other):
        return self.odd


@pytest.mark.parametrize("how", WAYS)
def test_errors_beside_tensors_reach_handlers(how: str) -> None:
    """The truth of a comparison, where `max` meets a tensor too."""
    first, second = Compared(Odd(how)), Compared(Odd(how))

    def function(x):
        try:
            return max(first, second, x.sum())
        except Exception:
            return x + 1

    compiled = jit(function, fullgraph=True)
    np.testing.assert_array_equal(compiled(X).asnumpy(), function(X).asnumpy())

"""An exception that a program raises in compiled code is that of eager code: its type, its arguments and its attributes."""

from __future__ import annotations

from typing import Any

import pytest

from mindspore import Tensor, jit


class Told(ValueError):
    def __init__(self, value, code=1):
        super().__init__(f"bad {value}", code)
        self.value, self.code = value, code


class Named(RuntimeError):
    def __init__(self, *, code):
        super().__init__("named")
        self.code = code


class Missing(KeyError):
    def __str__(self):
        return f"missing {self.args}"


def told(x):
    if x > 0:
        raise Told(x * 2)


def named(x):
    if x > 0:
        raise Named(code=[x, 3])


def missing(x):
    if x > 0:
        raise Missing("a", x)


def several(x):
    if x > 0:
        raise ValueError("several", 3)


def several_at_once(x):
    raise OSError(2, "no such thing")


def noted(x):
    error = ValueError("noted")
    error.at, error.code = x, 7
    if x > 0:
        raise error


def caused(x):
    if x > 0:
        raise Told(5) from KeyError("why")


def facts(error: Any) -> Any:
    """What a handler may look at; where it was raised stands in the text or in a note."""
    hidden = ("_ms_", "__notes__")
    mine = {k: repr(v) for k, v in vars(error).items() if not k.startswith(hidden)}
    first = [str(a).partition("\n")[0] for a in error.args]
    return type(error), first, mine, str(error).partition("\n")[0], repr(error.__cause__)


def raised(program: Any, x: Tensor) -> Any:
    with pytest.raises(Exception) as caught:  # the types are compared
        program(x)
    return caught.value


@pytest.mark.parametrize(
    "program",
    [told, named, missing, several, several_at_once, noted, caused],
    ids=lambda p: p.__name__,
)
def test_it_is_that_of_eager_code(program):
    compiled = jit(program, fullgraph=True)
    for number in (2.0, 3.0):  # the second call runs what the first one compiled
        x = Tensor(number)
        error = raised(compiled, x)
        assert facts(error) == facts(raised(program, x))
        if hasattr(error, "add_note"):
            assert len(getattr(error, "__notes__", [])) <= 1

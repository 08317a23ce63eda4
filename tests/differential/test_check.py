"""What counts as wrong of a call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from differential import check
from differential.calllib import Call
from differential.check import problem
from differential.kinds import wrong_kind


@pytest.mark.parametrize("answer", [{"raises": "ValueError"}, {"absent": True}])
def test_what_is_wrong_inside_is_no_refusal(answer: dict[str, Any]) -> None:
    def failing(text: str) -> Call:
        def program(ms: Any) -> None:
            raise RuntimeError(text)

        return Call("ops.add", program=program)

    assert problem(failing("internal error: 'x' does not hold"), answer, compiled=False)
    assert not problem(failing("For 'add', the device is gone."), answer, compiled=False)


@pytest.mark.parametrize(
    ("error", "wrong"),
    [
        (TypeError("'int' object is not iterable"), True),
        (ValueError("too many values to unpack (expected 2)"), True),
        (KeyError("For 'abs', the key must be known, but got 'x'."), True),
        (TypeError("For 'abs', 'input' must be a Tensor, but got int."), False),
        (TypeError("abs() missing 1 required positional argument: 'input'"), False),
    ],
)
def test_a_refusal_is_ours(error: Exception, wrong: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise error

    monkeypatch.setattr(check, "result_of", refused)
    assert bool(check.problem(Call("ops.abs", (3,)), {"raises": "TypeError"}, False)) == wrong


@pytest.mark.parametrize(
    ("error", "theirs", "wrong"),
    [
        # Where both agree, or the reference does not say of which kind it is, the rule may rest.
        (ValueError("'axis' must be an int, but got str."), "ValueError", False),
        (IndexError("the index must be in [0, 3), but got 7."), "ValueError", False),
        (ValueError("'axis' must be in [0, 3), but got 7."), "RuntimeError", False),
        # Where they differ, a wrong type is a TypeError and a wrong value a ValueError.
        (TypeError("'axis' must be an int, but got str."), "ValueError", False),
        (ValueError("'axis' must be an int, but got str."), "TypeError", True),
        (ValueError("'axis' must be an int, but got str."), "RuntimeError", True),
        (ValueError("'axis' must be in [0, 3), but got 7."), "TypeError", False),
        (TypeError("'axis' must be in [0, 3), but got 7."), "ValueError", True),
        (TypeError("'axis' must be in [0, 3), but got 7."), "RuntimeError", True),
        (RuntimeError("'axis' must be in [0, 3), but got 7."), "ValueError", True),
        (
            TypeError("'axis' must be an int, or a tuple or list of ints, but got (1, 'a')."),
            "ValueError",
            False,
        ),
        (TypeError("'size' must be a tuple of 2 ints, but got (1, 2, 3)."), "ValueError", True),
        (
            TypeError(
                "the dtype of 'x' must be one of [Bool], but got Int8. Did you mean x.astype()?"
            ),
            "ValueError",
            False,
        ),
        (TypeError("'mode' must be one of 'a', 'b', but got 3."), "ValueError", False),
        (TypeError("'mode' must be one of 'a', 'b', but got 'c'."), "ValueError", True),
        (TypeError("abs() missing 1 required positional argument: 'input'"), "ValueError", False),
        (
            ValueError("one of 'size' and 'factor' must be given, but got None and None."),
            "TypeError",
            False,
        ),
        (NotImplementedError("there is no such device in this build."), "TypeError", False),
    ],
)
def test_the_kind_of_a_refusal(error: Exception, theirs: str, wrong: bool) -> None:
    named = error if "() " in error.args[0] else type(error)(f"For 'abs', {error}")
    assert bool(wrong_kind(named, theirs)) == wrong


def test_a_refusal_of_another_kind_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise ValueError("For 'abs', 'input' must be a Tensor, but got int.")

    monkeypatch.setattr(check, "result_of", refused)
    assert check.problem(Call("ops.abs", (3,)), {"raises": "TypeError"}, False)


def test_files_of_calls_are_left_nowhere() -> None:
    before = set(Path.cwd().iterdir())

    def program(ms: Any) -> str:
        Path("written_by_a_call").write_text("")
        return "done"

    assert not problem(Call("ops.add", program=program), {"value": "done"}, compiled=False)
    assert set(Path.cwd().iterdir()) == before

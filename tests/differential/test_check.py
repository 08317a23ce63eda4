"""What counts as wrong of a call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from differential import check
from differential.calllib import Call
from differential.check import problem


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


def test_files_of_calls_are_left_nowhere() -> None:
    before = set(Path.cwd().iterdir())

    def program(ms: Any) -> str:
        Path("written_by_a_call").write_text("")
        return "done"

    assert not problem(Call("ops.add", program=program), {"value": "done"}, compiled=False)
    assert set(Path.cwd().iterdir()) == before

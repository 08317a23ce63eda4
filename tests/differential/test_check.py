"""What counts as wrong of a call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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


def test_files_of_calls_are_left_nowhere() -> None:
    before = set(Path.cwd().iterdir())

    def program(ms: Any) -> str:
        Path("written_by_a_call").write_text("")
        return "done"

    assert not problem(Call("ops.add", program=program), {"value": "done"}, compiled=False)
    assert set(Path.cwd().iterdir()) == before

"""The lists of names: what is said to be absent is, and is said for a reason; the report counts every name once."""

from __future__ import annotations

import sys

import pytest

from differential import api


def test_absent_names_are_absent() -> None:
    known = api.names()
    for name, reason in api.absent().items():
        whole = name.removesuffix(".*")
        assert reason
        assert any(n == whole or (name != whole and n.startswith(f"{whole}.")) for n in known), name
        if name == whole:
            assert api.found(name) is api._MISSING, f"{name} is here by now: delete its line"


def test_the_report(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(sys, "argv", ["api"])
    assert api.main() == 0
    *_, last = capsys.readouterr().out.splitlines()
    word, present, tested, missing, absent = last.split()
    assert word == "all"
    assert int(present) + int(missing) + int(absent) == len(api.names())
    assert 0 < int(tested) < int(present)
    monkeypatch.setattr(sys, "argv", ["api", "utils"])
    api.main()
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert {state for state, _, _ in lines} <= {"missing", "untested"}
    assert all(name.startswith("mindspore.utils.") for _, name, _ in lines)

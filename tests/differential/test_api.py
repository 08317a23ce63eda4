"""The lists of names: what is said to be absent is, and is said for a reason; the report counts every name once."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from differential import api
from differential.ignored import ignored


class Made:
    """Takes arguments.

    Args:
        said: accepted; changes nothing.
    """

    def __init__(
        self, said: int, checked: int, refused: int, used: int, *, dropped: int = 0
    ) -> None:
        del dropped
        _check(checked)
        if checked < 0:
            raise ValueError(checked)
        if refused is not None:
            raise ValueError(refused)
        self.all = used, said


def _check(value: int) -> None:
    assert value


def test_arguments_that_do_nothing_are_found() -> None:
    assert ignored(Made.__init__) == ["checked", "dropped"]
    Made.__module__ = Made.__init__.__module__ = "mindspore.made"
    assert ignored(Made) == ["said", "checked", "dropped"]
    assert ignored(api.found("mindspore.mint.sort")) == ["stable"]
    assert ignored(api.found("mindspore.mint.narrow")) == []


def test_the_list_of_arguments_that_do_nothing() -> None:
    """Each has a line with its reason, and each line is about some."""
    said: dict[str, list[str]] = {}
    page = Path(__file__).parents[2] / "docs" / "ignored_arguments.md"
    found_by_code = page.read_text().partition("\n## ")[0]
    for line in found_by_code.splitlines():
        if not line.startswith("| `"):
            continue
        of, arguments, why = line.strip("| ").split(" | ")
        assert why
        for name in re.findall(r"`([^`]+)`", of):
            said[f"mindspore.{name}"] = re.findall(r"`([^`]+)`", arguments)
    assert said == api.all_ignored()


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
    *_, last, used, released = capsys.readouterr().out.splitlines()
    word, present, tested, missing, absent = last.split()
    assert word == "all"
    assert int(present) + int(missing) + int(absent) == len(api.names())
    assert 0 < int(tested) < int(present)
    pattern = (
        r"(.+): (\d+) names, \d+ .*; of (\d+) present (\d+) \(.*\) and tested (\d+) \((.*) %\)"
    )
    for title, line, least in zip(api.LISTS, (used, released), (912, 3600), strict=True):
        name, listed, wanted, here, checked, share = re.fullmatch(pattern, line).groups()  # type: ignore[union-attr]
        assert name == title and int(listed) >= least
        assert int(checked) <= int(here) <= int(wanted) < int(listed)
        assert float(share) >= 98.0
    monkeypatch.setattr(sys, "argv", ["api", "ignored"])
    assert api.main() == 0
    assert "mindspore.Model\tboost_level" in capsys.readouterr().out.splitlines()
    monkeypatch.setattr(sys, "argv", ["api", "utils"])
    api.main()
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert {state for state, _, _ in lines} <= {"missing", "untested"}
    assert all(name.startswith("mindspore.utils.") for _, name, _ in lines)

"""The lists of names: what is said to be absent is, and is said for a reason; the report counts every name once."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from differential import api, kept
from differential.calllib import Array, Call
from differential.compared import is_compared
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


def _listed(text: str) -> dict[str, list[str]]:
    """The arguments of each name in a table of the page; each line has its reason."""
    said: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("| `"):
            of, arguments, why = line.strip("| ").split(" | ")
            assert why
            for name in re.findall(r"`([^`]+)`", of):
                said[f"mindspore.{name}"] = re.findall(r"`([^`]+)`", arguments)
    return said


def test_the_lists_of_arguments_that_do_nothing() -> None:
    """Each has a line with its reason, and each line is about some."""
    page = Path(__file__).parents[2] / "docs" / "ignored_arguments.md"
    unused, idle = (_listed(part) for part in page.read_text().split("\n## "))
    found = api.all_ignored()
    assert unused == found
    stored = {name: said for name, said in api.all_kept().items() if name not in found}
    assert stored == {name: idle.get(name) for name in stored}
    for name, arguments in idle.items():  # some are found by reading alone
        assert set(arguments) <= set(inspect.signature(api.found(name)).parameters), name


class Keeper:
    """Keeps arguments."""

    def __init__(self, read: int, idle: int, checked: int) -> None:
        self.read, self.idle = read, idle
        if checked:
            self.checked = checked

    def __call__(self, more: int) -> int:
        self.never = more
        return self.read


def test_what_is_kept_and_never_read_is_found() -> None:
    for function in (Keeper, Keeper.__init__, Keeper.__call__):
        function.__module__ = "mindspore.made"
    assert kept.kept(Keeper) == {"__init__": ["idle"], "__call__": ["more"]}


NUMBER, ARRAY = {"value": 3}, {"value": [{"dtype": "Float32", "shape": [1], "values": [2.0]}]}


@pytest.mark.parametrize(
    ("options", "answer", "accepted", "counts"),
    [
        ({}, ARRAY, (), True),
        ({}, NUMBER, (), True),
        ({}, {"value": {"a": [None, "word"]}}, (), True),
        ({"torch": "abs"}, {"raises": "TypeError", "no_kernel": True}, (), True),
        ({"torch": "abs"}, {"raises": "RuntimeError"}, (), True),
        ({"ref": abs}, {}, (), True),
        ({}, {"value": [None, "a Dense", "class Cell", {}]}, (), False),
        ({}, {"raises": "TypeError", "no_kernel": True}, (), False),
        ({}, {"raises": "ValueError"}, (), False),  # a refusal is no value
        ({"torch": "abs"}, {"raises": "ValueError"}, (), False),
        ({}, {"absent": "no such name"}, (), False),
        ({}, {"crash": True}, (), False),
        ({}, {}, (), False),
        ({"shape_only": True}, ARRAY, (), False),
        ({"ref": abs, "shape_only": True}, {}, (), False),
        ({}, ARRAY, ("ops.abs",), False),
        ({"ref": abs}, {}, ("ops.abs(x)",), False),
    ],
)
def test_what_counts_as_tested(options: dict, answer: dict, accepted: tuple, counts: bool) -> None:
    one = Call("ops.abs", (Array("x", np.ones(1)),), **options)
    assert is_compared(one, answer, dict.fromkeys(accepted, "meant")) == counts


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
    printed = capsys.readouterr().out
    (last,) = re.findall(r"^all .*", printed, re.MULTILINE)
    word, present, tested, missing, absent = last.split()
    assert word == "all"
    assert int(present) + int(missing) + int(absent) == len(api.names())
    assert 0 < int(tested) < int(present)
    pattern = (
        r"(.+): (\d+) names, of them (\d+) not set aside: present (\d+) \(.*\) and tested (\d+) \((.*) %\)\n"
        r"  set aside, tests of their own kind (\d+): (.*)\n  set aside, absent for a reason (\d+): (.*)"
    )
    for title, found in zip(api.LISTS, re.findall(pattern, printed), strict=True):
        name, listed, wanted, here, checked, share, apart, rooms, gone, reasons = found
        assert name == title
        assert int(listed) == int(wanted) + int(apart) + int(gone)
        assert int(checked) <= int(here) <= int(wanted)
        assert float(share) >= 98.0
        for total, parts in ((apart, rooms), (gone, reasons)):
            assert sum(map(int, re.findall(r" (\d+)(?:, |$)", parts))) == int(total)
    monkeypatch.setattr(sys, "argv", ["api", "ignored"])
    assert api.main() == 0
    assert "mindspore.Model\tboost_level" in capsys.readouterr().out.splitlines()
    monkeypatch.setattr(sys, "argv", ["api", "utils"])
    api.main()
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert {state for state, _, _ in lines} <= {"missing", "untested"}
    assert all(name.startswith("mindspore.utils.") for _, name, _ in lines)

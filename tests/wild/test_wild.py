"""Wild arguments give results or errors of ours: a selection in every run, all of them in the slow tier. `python -m wild NAME` in
`tests` repeats what begins with NAME."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from judge import judge

from wild.cases import cases
from wild.modes import differences
from wild.runner import run_all
from wild.targets import targets


def report(findings: list[tuple[str, str]]) -> str:
    """The findings, one a line."""
    return "\n".join(f"{case}: {what}" for case, what in sorted(findings))


def test_samples_are_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the cases change one argument of is a call that works."""
    monkeypatch.chdir(tmp_path)  # some calls write files
    refused = []
    for target in targets():
        try:
            target.make()(*target.args, **target.kwargs)
        except Exception as error:
            refused.append(f"{target.name}: {error}")
    assert not refused, "\n".join(refused)


def test_verdicts() -> None:
    """What is ours, what is Python's, and what is neither."""
    assert not judge(TypeError("For 'relu', 'input' must be a Tensor, but got int."))
    assert not judge(TypeError("relu() missing 1 required positional argument: 'input'"))
    assert not judge(MemoryError("For 'Fill', 8.0 GB must fit into memory, but there are 4.0 GB."))
    for error in (
        AttributeError("'int' object has no attribute 'ndim'"),
        TypeError("unsupported operand type(s) for +: 'int' and 'str'"),
        MemoryError(),
        ValueError("cannot reshape array of size 6 into shape (4,)"),
    ):
        assert judge(error)


def test_quick_cases() -> None:
    """A few values in every place."""
    findings = run_all("quick")
    assert not findings, report(findings)


@pytest.mark.slow
def test_all_cases() -> None:
    """Every value in every place, and in all places at once."""
    findings = run_all("all")
    assert not findings, report(findings)


def test_modes_refuse_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a graph a wrong argument raises what it raises in eager code."""
    monkeypatch.chdir(tmp_path)
    found = differences(step=97)
    assert not found, report(found)


def test_drawn_cases() -> None:
    """As many of each as are asked for, the same ones every time."""
    drawn = [str(case) for case in cases("40", "ops.m")]
    assert drawn == [str(case) for case in cases("40", "ops.m")] == list(dict.fromkeys(drawn))
    counts = Counter(text.split()[0] for text in drawn)
    assert len(counts) > 30 and set(counts.values()) == {40}
    assert not run_all("40", "ops.mat")


@pytest.mark.slow
def test_modes_refuse_alike_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same of many more cases."""
    monkeypatch.chdir(tmp_path)
    found = differences(step=7)
    assert not found, report(found)


def test_every_target_has_cases() -> None:
    """No function without arguments is counted as tested."""
    names = {case.target.name for case in cases("quick")}
    plain = {target.name for target in targets() if target.args or target.names}
    assert names == plain and len(names) > 600

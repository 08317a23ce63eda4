"""The public API against the kept answers of the reference package: every call here eager and compiled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import mindspore as ms
from differential.answers import read_accepted, read_answers
from differential.calllib import Array, Call, calls_of, described, families, found, result_of
from differential.compare import difference


@pytest.fixture(autouse=True)
def _restored_mode() -> Iterator[None]:
    mode = ms.get_context("mode")
    yield
    ms.set_context(mode=mode)


def _names() -> list[tuple[str, str]]:
    return [(f, n) for f in families() for n in dict.fromkeys(c.name for c in calls_of(f))]


def _expected(listed: Call, answers: dict) -> dict:
    if listed.ref is None:
        assert listed.key in answers, (
            f"{listed.key} has no answer: run tests/differential/record.py"
        )
        return answers[listed.key]
    arrays = [a.value if isinstance(a, Array) else a for a in listed.args]
    return {"value": [described(ms, _as_ours(listed.ref(*arrays)))], "by_ref": True}


def _as_ours(value: object) -> object:
    if isinstance(value, (tuple, list)):
        return [_as_ours(v) for v in value]
    return ms.Tensor(np.asarray(value))


def _problem(listed: Call, answer: dict, compiled: bool) -> str:
    try:
        got = result_of(ms, listed, compiled)
    except Exception as error:  # compared with what the reference does
        refused = "raises" in answer or "absent" in answer or "crash" in answer
        return "" if refused else f"it raises {type(error).__name__}: {str(error)[:200]}"
    if "raises" in answer:
        return f"it must raise, as {answer['raises']} there"
    if "value" not in answer:
        return ""
    return difference(answer["value"], got, listed.tol, listed.shape_only)


@pytest.mark.parametrize(("family", "name"), _names())
def test_same_as_the_reference(family: str, name: str) -> None:
    answers, accepted = read_answers(family), read_accepted(family)
    wrong = []
    found(ms, name) if not name.startswith("Tensor.") else getattr(ms.Tensor, name.split(".", 1)[1])
    for listed in calls_of(family):
        if listed.name != name or listed.key in accepted or name in accepted:
            continue
        answer = _expected(listed, answers)
        for compiled in (False, True):
            problem = _problem(listed, answer, compiled)
            if problem:
                wrong.append(f"{listed.key}, {'compiled' if compiled else 'eager'}: {problem}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("family", families())
def test_accepted_differences_are_differences_of_calls(family: str) -> None:
    """A line about a call that is gone, or that agrees by now, is to be deleted."""
    answers, accepted = read_answers(family), read_accepted(family)
    calls = {c.key: c for c in calls_of(family)}
    gone = set(accepted) - set(calls) - {c.name for c in calls.values()}
    agree = [
        key
        for key in accepted
        if key in calls
        and not any(_problem(calls[key], _expected(calls[key], answers), c) for c in (False, True))
    ]
    assert not gone and not agree

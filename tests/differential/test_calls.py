"""The public API against the kept answers of the reference package: every call here eager and compiled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import mindspore as ms
from differential.answers import has_wild, read_accepted, read_answers
from differential.calllib import calls_of, families, found
from differential.check import MORE, MORE_TYPES, expected, problem, problems
from differential.wild import wild_calls


@pytest.fixture(autouse=True)
def _restored_mode() -> Iterator[None]:
    mode = ms.get_context("mode")
    yield
    ms.set_context(mode=mode)


# Answers that name the host's device, or that hold arrays which share its memory.
OF_THE_HOST = {
    *("nn.DynamicLossScaleUpdateCell", "amp.DynamicLossScaler"),
    *("get_current_device", "get_context", "context.get_context", "hal.is_initialized"),
}


def _names() -> list[Any]:
    names = [(f, n) for f in families() for n in dict.fromkeys(c.name for c in calls_of(f))]
    host = pytest.mark.host_device
    return [pytest.param(*n, marks=[host] if n[1] in OF_THE_HOST else []) for n in names]


@pytest.mark.parametrize(("family", "name"), _names())
def test_same_as_the_reference(family: str, name: str) -> None:
    found(ms, name)
    wrong = list(problems(family, name))
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("family", filter(has_wild, families()))
def test_wild_calls(family: str) -> None:
    wrong = list(problems(family, wild=True))
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("family", families())
def test_accepted_differences_are_differences_of_calls(family: str) -> None:
    """A line about a call that is gone, or that agrees by now, is to be deleted."""
    answers = {**read_answers(family), **read_answers(family, wild=True)}
    accepted, listed = read_accepted(family), calls_of(family)
    tame, wild = ({c.key: c for c in calls} for calls in (listed, wild_calls(listed)))
    gone = (
        set(accepted)
        - set(tame)
        - set(wild)
        - {c.name + more for c in listed for more in ("", MORE)}
        - {MORE_TYPES}
    )
    agree = [
        key
        for key in accepted
        if (key in wild and not problem(wild[key], expected(wild[key], answers), False, wild=True))
        or (
            key in tame
            and not any(problem(tame[key], expected(tame[key], answers), c) for c in (False, True))
        )
    ]
    assert not gone and not agree

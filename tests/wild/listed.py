"""Samples that the differential calls hold: of each public name the first call that the reference package takes."""

from __future__ import annotations

import functools

from differential.answers import read_accepted, read_answers
from differential.calllib import Call, calls_of, families, given

import mindspore as ms


@functools.cache
def _first_calls() -> dict[tuple[str, bool], Call]:
    """By name, and whether it is an object's of that class."""
    found: dict[tuple[str, bool], Call] = {}
    for family in families():
        answers, accepted = read_answers(family), read_accepted(family)
        for call in calls_of(family):
            taken = call.ref or "value" in answers.get(call.key, {})
            taken = taken and call.key not in accepted  # where ours may refuse
            if call.program is None and taken:
                found.setdefault((call.name, call.made is not None), call)
    return found


def is_listed(name: str, of_object: bool) -> bool:
    """Whether a list calls the function of a name, or an object of that class."""
    return (name, of_object) in _first_calls()


def listed_arguments(name: str) -> tuple[list, dict] | None:
    """What a function is called with; None where no list calls it."""
    call = _first_calls().get((name, False))
    return call and (given(ms, list(call.args)), given(ms, call.kwargs))


def listed_object(name: str) -> tuple[tuple[list, dict], tuple[list, dict]] | None:
    """What a class makes an object of, and what that is called with; None where no list has one."""
    call = _first_calls().get((name, True))
    if call is None or call.made is None:
        return None
    args, kwargs = call.made
    made = given(ms, list(args)), given(ms, kwargs)
    return made, (given(ms, list(call.args)), given(ms, call.kwargs))

"""Which calls are compared with something: what `scripts/dev api` counts as tested.

A call counts where a value, or what it does, is held against what must come of it. It does not where the reference cannot make it,
where the difference is accepted, where a shape alone is known of random numbers, or where the answer is that something came."""

from __future__ import annotations

import re
from typing import Any

from differential.answers import of_kernels, read_accepted, read_answers
from differential.calllib import Call, calls_of, families

_KIND_ALONE = re.compile(r"(a|class) \w+")  # how calllib describes what it cannot write down


def compared_names() -> set[str]:
    """The names of which a call is compared."""
    return {
        one.name
        for family in families()
        for answers, accepted in [(read_answers(family), read_accepted(family))]
        for one in calls_of(family)
        if is_compared(one, answers.get(one.key, {}), accepted)
    }


def is_compared(listed: Call, answer: dict[str, Any], accepted: dict[str, str]) -> bool:
    """Whether a value of the call must be that of the reference, of its own function, or of PyTorch."""
    if listed.shape_only or listed.name in accepted or listed.key in accepted:
        return False
    if listed.ref is not None:
        return True
    if "value" not in answer:
        return bool(listed.torch) and of_kernels(answer)
    return _says(answer["value"])


def _says(value: Any) -> bool:
    """Whether a described result says more than that one came."""
    if isinstance(value, (list, dict)):
        parts = value.values() if isinstance(value, dict) else value
        return any(map(_says, parts))
    return not (value is None or (isinstance(value, str) and _KIND_ALONE.fullmatch(value)))

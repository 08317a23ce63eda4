"""How a run of statements was left: where it ends, at a jump, or as a tensor decides."""

from __future__ import annotations

from typing import Any

# How statements were left. RETURN's value is the variable VALUE.
FALLS, BREAK, CONTINUE, RETURN = 0, 1, 2, 3
OURS = "$"  # begins names of variables that the program does not have
VALUE = OURS + "value"


class Mixed:
    """An exit that a tensor decides: `kind` is one of `kinds`."""

    def __init__(self, kind: Any, kinds: frozenset):
        self.kind, self.kinds = kind, kinds


def kinds_of(exit_: Any) -> frozenset:
    """The exits that are possible."""
    return exit_.kinds if isinstance(exit_, Mixed) else frozenset({exit_ or FALLS})


class Return:
    """The signal that a function ended."""

    def __init__(self, value: Any):
        self.value = value

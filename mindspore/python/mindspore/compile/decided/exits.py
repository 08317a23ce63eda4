"""How a run of statements is left - at its end, by a jump, or as a tensor decides - and where that leads on the stack of what is still
to run."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

from mindspore import _core, ops
from mindspore._core import Tensor
from mindspore.compile.program.errors import Unsupported
from mindspore.compile.values.values import pick

OURS = "$"  # begins names of variables that the program does not have
VALUE = OURS + "value"  # what `return` gives


class Way(enum.IntEnum):
    """The nearest first: `continue` leads less far than `break`."""

    FALLS = 0
    CONTINUE = 1
    BREAK = 2
    RETURN = 3


FALLS, CONTINUE, BREAK, RETURN = Way


class Exit:
    """How statements were left: in one of these ways. `kind` says in which, a tensor where there are several."""

    def __init__(self, ways: frozenset[Way], kind: Any):
        self.ways, self.kind = ways, kind

    @classmethod
    def by(cls, way: Way) -> Exit:
        """In this way."""
        return cls(frozenset({way}), int(way))

    @property
    def way(self) -> Way | None:
        """The only one; None where a tensor decides."""
        return next(iter(self.ways)) if len(self.ways) == 1 else None

    @property
    def nearest(self) -> Way:
        """Of the jumps among the ways, the one that leads least far."""
        return min(self.ways - {FALLS})

    def number(self) -> Tensor:
        """The kind as a tensor."""
        return self.kind if isinstance(self.kind, Tensor) else Tensor(self.kind, _core.int64)

    def leaving(self) -> Exit:
        """The same, where it is known to be a jump."""
        return Exit(self.ways - {FALLS}, self.kind)

    def arrived(self, way: Way) -> Exit:
        """The same, where this way has led: the next statement follows."""
        if way not in self.ways:
            return self
        ways = self.ways - {way} | {FALLS}
        if ways == {FALLS}:
            return Exit.by(FALLS)
        return Exit(ways, pick(ops.equal(self.kind, int(way)), int(FALLS), self.kind))


class Return:
    """The signal that a function ended."""

    def __init__(self, value: Any):
        self.value = value


# ---- the stack ----------------------------------------------------------------------------------------------------------------
# What a frame has still to do, the next item last: a tag, and what its `_step_` method in the storeys of Frame takes.
#   ("block", statements, index)              statements, from one on
#   ("for", node, items, index)               the next round of a loop that is unrolled
#   ("while", node, rounds)
#   ("yields", iterator)                      the rest of `yield from`
#   ("try", node), ("finally", statements)    what stands around the items above
#   ("with", manager), ("handled", name, error)
#   ("reraise", error), ("jump", way)         what goes on after a `finally`
#   ("leave", value)
#   ("arm", ends), ("loop",)                  barriers: what lies below belongs to a graph outside. `ends`: the function ends there
Stack = list[tuple]

LOOPS = ("for", "while")
BARRIERS = ("arm", "loop")
PROTECTED = ("try", "finally", "with")


class Landing(NamedTuple):
    """Where a way leads: of the stack, `base` items remain. `outside`: it goes on from there, in what is around a barrier or called
    the function."""

    way: Way
    base: int
    outside: bool

    def left_of(self, exit_: Exit) -> Exit:
        """What remains to be done there of an exit."""
        return exit_ if self.outside else exit_.arrived(self.way)


def barrier(stack: Stack) -> int:
    """The place of the innermost barrier, or -1."""
    return max((i for i, item in enumerate(stack) if item[0] in BARRIERS), default=-1)


def landing(stack: Stack, way: Way) -> Landing:
    """Where a jump leads."""
    outermost = barrier(stack) + 1
    for at in range(len(stack) - 1, outermost - 1, -1) if way is not RETURN else ():
        if stack[at][0] in LOOPS:
            return Landing(way, at + (way is CONTINUE), False)
    return Landing(way, outermost, True)


def is_end(stack: Stack, base: int) -> bool:
    """Whether the function ends when the stack is down to `base` items."""
    return base == 0 or stack[base - 1] == ("arm", True)


def holds(stack: Stack, base: int, *tags: str) -> bool:
    """Whether an item above `base` is one of these."""
    return any(item[0] in tags for item in stack[base:])


def check_cut(stack: Stack, base: int, *tags: str) -> None:
    """Before the stack is cut, as a tensor decides."""
    if holds(stack, base, *tags):
        raise Unsupported("a tensor decides how a 'with' or 'try' block is left")

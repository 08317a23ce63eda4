"""The cases: calls of a target with one argument, or all of them, replaced by something wild; and what may come of them."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from wild.targets import Target, targets
from wild.values import FEW, TENSORS, VALUES

OF_EACH = 24  # quick cases of a target at most


class Case(NamedTuple):
    """A call of a target with `value` for one of its arguments; all of them where `place` is None."""

    target: Target
    place: int | str | None
    value: str

    def __str__(self) -> str:
        where = "every argument" if self.place is None else f"argument {self.place}"
        return f"{self.target.name} with {self.value} for {where}"

    def arguments(self) -> tuple[list, dict]:
        """What it is called with."""
        args, kwargs = list(self.target.args), dict(self.target.kwargs)
        make = VALUES[self.value]
        if self.place is None:
            return [make() for _ in args], kwargs
        if isinstance(self.place, int):
            args[self.place] = make()
        else:
            kwargs[self.place] = make()
        return args, kwargs


def cases(quick: bool, only: str = "") -> Iterator[Case]:
    """Every target, or those whose names begin so, with every value in every place; the quick ones are some of a few values."""
    for target in targets(only):
        found = list(_of(target, FEW if quick else list(VALUES)))
        if quick and len(found) > OF_EACH:
            drawn = random.Random(zlib.crc32(target.name.encode()))
            found = drawn.sample(found, OF_EACH)
        yield from found
        if not quick and len(target.args) > 1:
            for value in VALUES:
                yield Case(target, None, value)


def _of(target: Target, chosen: Sequence[str]) -> Iterator[Case]:
    for place in (*range(len(target.args)), *target.names):
        bound = place == 0 and target.name.startswith("Tensor.")
        for value in chosen:
            if not bound or value in TENSORS:
                yield Case(target, place, value)


_PYTHONS_OWN = re.compile(
    r"[\w.<>]+\(\) (missing \d+ required|takes |got an unexpected keyword|got multiple values|got some positional|base must be )"
)
_KINDS = (
    *(TypeError, ValueError, IndexError, KeyError, NotImplementedError, RuntimeError),
    BufferError,  # what an exporter of memory must raise
)


def judge(error: BaseException) -> str:
    """What is wrong with an exception; empty where nothing is."""
    text = str(error.args[0]) if error.args else ""
    ours = text.startswith("For '")
    if isinstance(error, MemoryError) and ours:
        return ""
    if isinstance(error, _KINDS) and (ours or _PYTHONS_OWN.match(text)):
        return ""
    return f"{type(error).__name__}: {text.splitlines()[0][:200] if text else '(no text)'}"


def run(case: Case) -> str:
    """Makes the call; what is wrong with what comes of it."""
    args, kwargs = case.arguments()
    call: Any = case.target.make()
    try:
        call(*args, **kwargs)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return judge(error)
    return ""

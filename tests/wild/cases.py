"""The cases: calls of a target with one argument, or all of them, replaced by something wild."""

from __future__ import annotations

import random
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from judge import judge

from mindspore import Tensor
from wild.targets import Target, targets
from wild.values import FEW, GRID, PATHS, TENSORS, VALUES

OF_EACH = 30  # quick cases of a target at most

Place = int | str  # of an argument, or its name


class Case(NamedTuple):
    """A call of a target with wild values for some of its arguments."""

    target: Target
    values: tuple[tuple[Place, str], ...]

    def __str__(self) -> str:
        given = [value for _, value in self.values]
        if len(given) == len(self.target.args) > 1 and len(set(given)) == 1:
            return f"{self.target.name} with {given[0]} for every argument"
        changes = (f"{value} for argument {place}" for place, value in self.values)
        return f"{self.target.name} with {' and '.join(changes)}"

    def arguments(self) -> tuple[list, dict]:
        """What it is called with."""
        args, kwargs = list(self.target.args), dict(self.target.kwargs)
        for place, value in self.values:
            made = _KNOWN[value]()
            if isinstance(place, int):
                args[place] = made
            else:
                kwargs[place] = made
        return args, kwargs


def cases(kind: str, only: str = "") -> Iterator[Case]:
    """The cases of every target, or of those whose names begin so. Of the kind "quick" they are some of a few values; of "all", every
    value in every place and in all places at once; of a number, so many of each, drawn with several values at a time."""
    for target in targets(only):
        drawn = random.Random(zlib.crc32(target.name.encode()))
        if kind.isdigit():
            yield from _drawn(target, drawn, int(kind))
            continue
        found = list(_of(target, FEW if kind == "quick" else list(VALUES)))
        if kind == "quick" and len(found) > OF_EACH:
            found = drawn.sample(found, OF_EACH)
        yield from found
        if target.of_files:
            yield from _of_paths(target)
        if kind == "all" and len(target.args) > 1:
            for value in VALUES:
                yield Case(target, tuple((i, value) for i in range(len(target.args))))


def _places(target: Target) -> list[Place]:
    return [*range(len(target.args)), *target.names]


# What takes long because so much is asked for: as many pieces, files or layers.
_OF_MANY = re.compile(
    r"numpy\.polyint|(ops|Tensor|mint|numpy)\.(array_|tensor_|[dhv])?(un)?split|mindrecord\.|nn\.Transformer(En|De)?(coder)?\(\)"
)
_MANY = ("1000", "10**6")


def _takes(target: Target, place: Place, value: str) -> bool:
    """Whether a value can be there at all: a method belongs to a tensor, and nobody waits for a million files."""
    if value in _MANY and _OF_MANY.match(target.name):
        return False
    bound = place == 0 and target.name.startswith("Tensor.")
    return not bound or value in TENSORS or value in GRID


def _of(target: Target, chosen: Sequence[str]) -> Iterator[Case]:
    for place in _places(target):
        for value in chosen:
            if _takes(target, place, value):
                yield Case(target, ((place, value),))


def _of_paths(target: Target) -> Iterator[Case]:
    for place in target.kwargs or target.names[:1]:
        for value in PATHS:
            yield Case(target, ((place, value),))


def _drawn(target: Target, drawn: random.Random, count: int) -> Iterator[Case]:
    """So many cases, or as many as there are. Where the sample has a tensor, most values are tensors."""
    places, known = _places(target), set()
    for _ in range(20 * count if places else 0):
        size = 1 if drawn.random() < 0.4 else drawn.randint(1, len(places))
        values = []
        for place in sorted(drawn.sample(places, size), key=str):
            of_tensor = isinstance(place, int) and isinstance(target.args[place], Tensor)
            value = drawn.choice(_GRID if drawn.random() < (0.8 if of_tensor else 0.1) else _VALUES)
            if _takes(target, place, value):
                values.append((place, value))
        if values and tuple(values) not in known:
            known.add(tuple(values))
            yield Case(target, tuple(values))
        if len(known) == count:
            return


_GRID, _VALUES = list(GRID), list(VALUES)
_KNOWN = {**VALUES, **GRID, **PATHS}


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

"""Errors that a call raises every time, as long as what led to them holds: they are found once, and each later call raises another
one like it at once."""

from __future__ import annotations

import copy
import types
from typing import Any, NoReturn

from mindspore.compile.program.errors import Unsupported, located_as
from mindspore.compile.program.marks import is_raised
from mindspore.compile.program.places import calling_place

# What may not come again, although nothing changed that a program reads.
_OF_THE_MOMENT = (ImportError, OSError, MemoryError, RecursionError)
_SIMPLE = (str, bytes, int, float, complex, bool, type(None))
_MAKING = ("__setattr__", "__new__", "__init__", "__reduce__", "__reduce_ex__", "__setstate__")


class Remembered:
    """A located error; `raise_again` raises one like it, which shows the line that calls now. `lasts`: that is what the program
    would raise. Otherwise it is the error itself, for one call."""

    def __init__(self, located: Any):
        original, places, called = located._ms_original, located._ms_places, calling_place()
        refused = isinstance(original, Unsupported)
        if refused:
            original = located.error or TypeError()
        self.text = located._ms_text
        self.places = places[:-1] if places[-1:] == called else places
        self.lasts = refused or _lasts(original)
        self.original = _copy(original) if self.lasts else None
        self.located = None if self.lasts else located

    def raise_again(self, *_: Any) -> NoReturn:
        """Raises it."""
        error = self.located
        if error is None:
            places = [*self.places, *calling_place()]
            error = located_as(_copy(self.original), self.text, places)
        raise error from error.__cause__


def _lasts(error: BaseException | None) -> bool:
    seen: list[BaseException] = []
    while error is not None:
        # A ring of causes is what only a program ties.
        if any(error is e for e in seen) or not _same_again(error):
            return False
        seen.append(error)
        error = error.__cause__
    return True


def _same_again(error: BaseException) -> bool:
    """Whether it is raised again as it was, its causes apart."""
    made = (getattr(type(error), name, None) for name in _MAKING)
    if any(isinstance(function, types.FunctionType) for function in made):
        return False  # code of the program, which may do anything
    if isinstance(error, _OF_THE_MOMENT) and not is_raised(error):
        return False
    return all(isinstance(a, _SIMPLE) for a in error.args)


def _copy(error: Any) -> Any:
    """Another one like it, without what its compilation noted."""
    copied = copy.copy(error)
    copied.__dict__.pop("_ms_expression", None)
    if hasattr(error, "__notes__"):
        copied.__notes__ = list(error.__notes__)
    if error.__cause__ is not None:
        copied.__cause__ = _copy(error.__cause__)
    return copied

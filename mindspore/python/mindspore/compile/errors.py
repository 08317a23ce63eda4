"""Errors of the front end: whatever goes wrong while a function is compiled is raised as an exception of the fitting type that
shows the user's lines, innermost first."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from typing import Any


class Unsupported(TypeError):
    """Python that a compiled function cannot contain, where it stands. The call runs eagerly instead, unless that is forbidden;
    then this is the error, or the one that it was made of."""

    def __init__(self, text: str, error: BaseException | None = None):
        super().__init__(text)
        self.error = error


class RunsEagerly(UserWarning):
    """A function, or a line of it, is not compiled: the message says which, why, and what that costs."""


_MAX_PLACES = 4
_PACKAGE = str(Path(__file__).resolve().parents[1])


def is_ours(file: str) -> bool:
    """A file of this package."""
    return file.startswith(_PACKAGE)


def calling_place() -> list[tuple[str, int, str]]:
    """The user's line that called into this package, from the Python stack."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return []
    code = frame.f_code
    return [(code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name))]


def locate(
    error: BaseException, places: list[tuple[str, int, str]], again: bool = False
) -> BaseException:
    """The error with the lines (file, line, function) that led to it; once only. It keeps the original, which handlers of
    the user are given, and the lines."""
    if getattr(error, "_ms_original", None) is not None and not again:
        return error
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    located: Any = _same_type(error, text + _places_text(places))
    located._ms_original, located._ms_places = error, places
    located.__cause__ = error.__cause__
    return located


def plain(error: Unsupported) -> BaseException:
    """What a user sees of an Unsupported that nothing can be done about."""
    return error.error or TypeError(str(error))


def places_text(places: list[tuple[str, int, str]]) -> str:
    """The lines of a failure at run time: where its node was written, and the call."""
    return _places_text(places + calling_place())


def _places_text(places: list[tuple[str, int, str]]) -> str:
    # Lines of this package tell a user nothing, unless there are no others.
    places = [p for p in places if not p[0].startswith(_PACKAGE)] or places
    text = ""
    for file, line, function in places[:_MAX_PLACES]:
        text += f"\n  {file}:{line} in {function}:   {linecache.getline(file, line).strip()[:100]}"
    if len(places) > _MAX_PLACES:
        text += f"\n  ... and {len(places) - _MAX_PLACES} more calls"
    return text


def _same_type(error: BaseException, text: str) -> BaseException:
    if isinstance(error, Unsupported):
        return Unsupported(text, error.error)
    try:
        fresh = type(error)(text)
        if isinstance(error, KeyError) or text in str(fresh):
            return fresh
    except Exception:
        pass
    for base in type(error).__mro__:
        if base.__module__ == "builtins" and base not in (BaseException, object):
            return base(text)
    return RuntimeError(text)

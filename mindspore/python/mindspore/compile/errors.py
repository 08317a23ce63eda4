"""Errors of the front end: whatever goes wrong while a function is compiled is raised as an exception of the fitting type that
shows the user's lines, innermost first."""
from __future__ import annotations

import linecache


class Unsupported(TypeError):
    """Python that a compiled function cannot contain, where it stands."""


_MAX_PLACES = 4


def locate(error: BaseException, places: list[tuple[str, int, str]]) -> BaseException:
    """The error with the lines (file, line, function) that led to it; once only."""
    if getattr(error, "_ms_located", False):
        return error
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    shown = places[:_MAX_PLACES]
    for file, line, function in shown:
        code = linecache.getline(file, line).strip()
        text += f"\n  {file}:{line} in {function}:   {code[:100]}"
    if len(places) > len(shown):
        text += f"\n  ... and {len(places) - len(shown)} more calls"
    located = _same_type(error, text)
    located._ms_located = True  # type: ignore[attr-defined]
    located.__cause__ = error.__cause__
    return located


def _same_type(error: BaseException, text: str) -> BaseException:
    if isinstance(error, Unsupported):
        return TypeError(text)
    try:
        fresh = type(error)(text)
        if isinstance(error, KeyError) or text in str(fresh):
            return fresh
    except Exception:  # noqa: BLE001  a constructor with other arguments: its nearest standard base will do
        pass
    for base in type(error).__mro__:
        if base.__module__ == "builtins" and base not in (BaseException, object):
            return base(text)
    return RuntimeError(text)

"""What the front end notes on exceptions while a program is traced, as attributes of one prefix:

_ms_of_program   whose it is (borders.py)
_ms_raised       the program raised it by a statement
_ms_expression   the innermost expression that it came from, and the frame
_ms_original, _ms_text, _ms_places   of one that shows the user's lines: what it was made of, its first words, the lines
_ms_nested       it came out of a graph inside of another
_ms_explained, _ms_hidden   what has been done for its traceback
"""

from __future__ import annotations

import contextlib
from typing import Any

PREFIX = "_ms_"


def original_of(error: BaseException | None) -> Any:
    """What an exception that shows the user's lines was made of; any other one, and None, itself."""
    return getattr(error, "_ms_original", error)


def mark(error: BaseException, name: str, value: Any) -> None:
    """Sets an attribute of a user's exception, whose class may refuse to have any set, as a frozen dataclass does."""
    with contextlib.suppress(AttributeError):  # it has no room for it
        object.__setattr__(error, name, value)


def add_note(error: BaseException, note: str) -> None:
    """What `error.add_note` does, where that may be refused."""
    notes = getattr(error, "__notes__", None)
    if notes is None:
        mark(error, "__notes__", [note])
    else:
        notes.append(note)


def note_raised(error: BaseException) -> None:
    """The program raises it here."""
    mark(error, "_ms_raised", True)


def is_raised(error: BaseException) -> bool:
    """Whether a statement of the program raised it, or a refusal stands for such a one."""
    return hasattr(error, "_ms_raised")

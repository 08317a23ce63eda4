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


def note_raised(error: BaseException) -> None:
    """The program raises it here."""
    with contextlib.suppress(AttributeError):  # a class with slots
        error._ms_raised = True  # type: ignore[attr-defined]


def is_raised(error: BaseException) -> bool:
    """Whether a statement of the program raised it, or a refusal stands for such a one."""
    return hasattr(error, "_ms_raised")

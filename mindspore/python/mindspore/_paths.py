"""Paths that users give, checked in one place: every function refuses the same ones in the same words."""

from __future__ import annotations

import os
from typing import Any


def checked(op: str, name: str, path: Any) -> str:
    """The path as a str; bytes that the locale cannot decode are in it as Python's own functions have them.

    TypeError unless it is a str or an os.PathLike; ValueError where it is empty or no system could take it.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(
            f"For '{op}', '{name}' must be a str or an os.PathLike, but got {type(path).__name__}."
        )
    text = os.fsdecode(path)
    if not text.strip() or "\0" in text:
        raise ValueError(
            f"For '{op}', '{name}' must be a path that is not empty and has no NUL, but got {text!r}."
        )
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise ValueError(
            f"For '{op}', '{name}' must be a path that the locale can encode, but got {text!r}."
        ) from error
    return text

"""Paths that users give, checked in one place: every function refuses the same ones in the same words. And the place of caches."""

from __future__ import annotations

import os
from pathlib import Path
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


def cache(variable: str, name: str) -> Path | None:
    """What a variable of the environment names, or else `name` in the user's cache folder.

    None where there is to be no cache: the variable is empty, or the user has no home. A `~` that stands for no home is
    never the name of a folder.
    """
    chosen = os.environ.get(variable)
    if chosen is not None:
        path = os.path.expanduser(chosen)
        return Path(path) if path and not path.startswith("~") else None
    folder = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(folder):  # which the specification of the variable bids to ignore
        home = os.path.expanduser("~")
        if not (os.environ.get("HOME", home) and os.path.isabs(home) and os.path.isdir(home)):
            return None
        folder = os.path.join(home, ".cache")
    return Path(folder, "mindspore", name)

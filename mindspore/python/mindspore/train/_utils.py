"""Small helpers that programs of 1.x import from here."""

from __future__ import annotations

import os
from typing import Any


def _make_directory(path: Any, arg_name: str = "path") -> str:
    """The absolute path of a folder, made if it is missing."""
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path).strip():
        raise TypeError(
            f"For '{arg_name}', a path must be a str that is not empty, but got {path!r}."
        )
    folder = os.path.abspath(os.fspath(path))
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise type(error)(
            error.errno, f"The folder cannot be made: {error.strerror}", folder
        ) from None
    return folder


make_directory = _make_directory

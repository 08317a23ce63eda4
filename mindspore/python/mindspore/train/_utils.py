"""Small helpers that programs of 1.x import from here."""

from __future__ import annotations

import errno
import os
from typing import Any

from mindspore import _paths


def _make_directory(path: Any, arg_name: str = "path", op: str = "make_directory") -> str:
    """The absolute path of a folder, made if it is missing."""
    folder = os.path.abspath(_paths.checked(op, arg_name, path))
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise NotADirectoryError(
            errno.ENOTDIR, f"For '{op}', '{arg_name}' must be a folder, but it is a file", folder
        )
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise type(error)(
            error.errno, f"For '{op}', '{arg_name}' cannot be made: {error.strerror}", folder
        ) from None
    return folder


make_directory = _make_directory

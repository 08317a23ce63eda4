"""Checks of arguments that writers, readers and converters have in common."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from mindspore import _paths
from mindspore.mindrecord.common.exceptions import (
    ParamTypeError,
    ParamValueError,
    PathNotExistsError,
)

_FORBIDDEN = set(":*?\"<>|`&;'\\")
MAX_SHARDS = 1000


def check_new_file(op: str, path: Any) -> str:
    """The path of a file to be written; its name has nothing that MindSpore refuses."""
    try:
        text = _paths.checked(op, "file_name", path)
    except ValueError as error:
        raise ParamValueError(str(error)) from None
    except TypeError as error:
        raise ParamTypeError(str(error)) from None
    bad = sorted(_FORBIDDEN & set(os.path.basename(text)))
    if bad or not os.path.basename(text):
        raise ParamValueError(
            f"For '{op}', 'file_name' must end in a name without any of {' '.join(sorted(_FORBIDDEN))}, "
            f"but got {text!r}."
        )
    return text


def check_files(op: str, name: str, files: Any) -> list[str]:
    """Paths of files that are there: one, or a list of them."""
    given = files if isinstance(files, (list, tuple)) else [files]
    if not given:
        raise ParamValueError(f"For '{op}', '{name}' must name a file, but got none.")
    paths = []
    for path in given:
        try:
            text = _paths.checked(op, name, path)
        except ValueError as error:
            raise ParamValueError(str(error)) from None
        except TypeError as error:
            raise ParamTypeError(str(error)) from None
        if not os.path.isfile(text):
            raise PathNotExistsError(f"For '{op}', '{name}' must exist, but there is no '{text}'.")
        paths.append(text)
    return paths


def check_int(op: str, name: str, value: Any, low: int, high: int) -> int:
    """An int in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParamTypeError(f"For '{op}', {name} must be an int, but got {type(value).__name__}.")
    if not low <= value <= high:
        raise ParamValueError(f"For '{op}', {name} must be in [{low}, {high}], but got {value}.")
    return value


def check_texts(op: str, name: str, values: Any) -> list[str]:
    """A list of str."""
    if not isinstance(values, list):
        raise ParamTypeError(f"For '{op}', {name} must be a list, but got {type(values).__name__}.")
    for value in values:
        if not isinstance(value, str):
            raise ParamTypeError(f"For '{op}', {name} must hold str, but got {value!r}.")
    return values


def check_known(op: str, name: str, values: Sequence[str], known: Sequence[str]) -> None:
    """Each of the names is a known one."""
    for value in values:
        if value not in known:
            raise ParamValueError(
                f"For '{op}', {name} must be among {list(known)}, but got {value!r}."
            )

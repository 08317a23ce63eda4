"""What tells one pipeline from another: a digest of sources, files, operations and the user's functions in them.

Two pipelines with one digest give the same rows. Where that cannot be known, a digest is like no other.
"""

from __future__ import annotations

import enum
import hashlib
import itertools
import os
import pickle
import secrets
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindspore import _paths
from mindspore.dataset.core.recorded import Recorded
from mindspore.dataset.core.user_code import is_library

# Arguments that say which rows are read, or by how many workers, and never what a row is.
_CHOOSING = {"sampler", "num_samples", "shuffle", "num_shards", "shard_id", "batch_sampler"}
_WORKING = {"num_parallel_workers", "cache", "python_multiprocessing", "max_rowsize", "offload"}
_MOST_ENTRIES = 4096  # of a folder that are looked at
_DEEP = 32
_HERE = os.path.dirname(os.path.abspath(_paths.__file__))


def digest(*parts: Any) -> str:
    """One for all of the parts."""
    sums = hashlib.blake2b(digest_size=16)
    for part in parts:
        for text in _texts(part, set(), 0):
            sums.update(len(text).to_bytes(8, "little"))
            sums.update(text)
    return sums.hexdigest()


def source_digest(dataset: Any) -> str:
    """What the rows of a source are, by their numbers; which of them are read does not matter."""
    return _dataset_digest(dataset, _CHOOSING | _WORKING)


def pipeline_digest(dataset: Any) -> str:
    """What the rows of a pipeline are, one after the other."""
    return _dataset_digest(dataset, _WORKING)


def _dataset_digest(dataset: Any, without: set[str]) -> str:
    if dataset._arguments is None:
        return secrets.token_hex(16)
    name, arguments = dataset._arguments
    kept = {key: value for key, value in arguments.items() if key not in without}
    below = getattr(dataset, "_made_of", None)
    under = "" if below is None else _dataset_digest(below, without)
    files = [fact for value in kept.values() for fact in _facts_of_files(value)]
    return digest(name, kept, files, getattr(dataset, "_length", None), under)


def _texts(value: Any, seen: set[int], depth: int) -> Iterator[bytes]:
    """What a value is, as bytes."""
    kind = type(value)
    yield f"{kind.__module__}.{kind.__qualname__}".encode()
    if value is None or kind in (bool, int, float, complex):
        yield repr(value).encode()
    elif kind in (str, bytes) or isinstance(value, os.PathLike):
        yield os.fsencode(value)
    elif isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind != "O":
        array = np.ascontiguousarray(value)
        yield f"{array.dtype.str}{array.shape}".encode()
        plain = array.size and array.dtype.kind in "biufc"
        content: Any = array.reshape(-1).view(np.uint8) if plain else array.tobytes()
        yield hashlib.blake2b(content).digest()
    elif isinstance(value, enum.Enum):
        yield value.name.encode()
    elif id(value) in seen or depth > _DEEP:
        yield b"again"
    else:
        seen.add(id(value))
        yield from _parts(value, seen, depth + 1)


def _parts(value: Any, seen: set[int], depth: int) -> Iterator[bytes]:
    from mindspore.dataset.engine.datasets import Dataset

    if isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(key, seen, depth)
            yield from _texts(item, seen, depth)
    elif isinstance(value, (list, tuple)):
        if len(value) > 64 and all(type(item) in (int, float, str) for item in value):
            yield hashlib.blake2b(pickle.dumps(value, 4)).digest()
            return
        for item in value:
            yield from _texts(item, seen, depth)
    elif isinstance(value, types.FunctionType):
        yield from _function(value, seen, depth)
    elif isinstance(value, types.MethodType):
        yield from _texts(value.__func__, seen, depth)
        yield from _texts(value.__self__, seen, depth)
    elif isinstance(value, type) or isinstance(value, types.BuiltinFunctionType):
        yield f"{value.__module__}.{value.__qualname__}".encode()
    elif isinstance(value, types.ModuleType):
        yield value.__name__.encode()
    elif isinstance(value, Dataset):
        yield pipeline_digest(value).encode()
    elif isinstance(value, Recorded) and value._arguments is not None:
        yield from _texts(value._arguments, seen, depth)
    else:
        yield from _object(value, seen, depth)


def _function(value: types.FunctionType, seen: set[int], depth: int) -> Iterator[bytes]:
    yield f"{value.__module__}.{value.__qualname__}".encode()
    if _of_package(value.__code__.co_filename):
        return
    yield from _code(value.__code__, seen, depth)
    yield from _texts(list(value.__defaults__ or ()), seen, depth)
    for cell in value.__closure__ or ():
        try:
            yield from _texts(cell.cell_contents, seen, depth)
        except ValueError:
            yield b"empty"
    # What the names mean that are the user's own: helpers, and settings.
    for name in value.__code__.co_names:
        if name in value.__globals__:
            yield from _texts(value.__globals__[name], seen, depth)


def _of_package(filename: str) -> bool:
    """Whether its name tells what a function does, as of libraries."""
    return is_library(filename) or os.path.abspath(filename).startswith(_HERE + os.sep)


def _code(code: types.CodeType, seen: set[int], depth: int) -> Iterator[bytes]:
    yield code.co_code
    yield repr(code.co_names).encode()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code(constant, seen, depth)
        else:
            yield repr(constant).encode()


def _object(value: Any, seen: set[int], depth: int) -> Iterator[bytes]:
    """The methods of its classes that are the user's, and what it holds."""
    for kind in type(value).__mro__[:-1]:
        for name, member in vars(kind).items():
            if isinstance(member, types.FunctionType) and not _of_package(
                member.__code__.co_filename
            ):
                yield name.encode()
                yield from _code(member.__code__, seen, depth)
    held = getattr(value, "__dict__", None)
    if held is not None:
        yield from _texts({k: v for k, v in held.items() if k != "_chain"}, seen, depth)
        return
    try:
        yield pickle.dumps(value, 4)
    except Exception:
        yield secrets.token_bytes(16)  # nobody can tell what it is: nothing is shared


def _facts_of_files(path: Any) -> Iterator[str]:
    """Sizes and times of the files that an argument names, or of a folder and what lies in it."""
    if isinstance(path, (list, tuple)):
        for one in path:
            yield from _facts_of_files(one)
    if not isinstance(path, (str, os.PathLike)):
        return
    try:
        found = os.stat(path)
        yield f"{found.st_size} {found.st_mtime_ns} {found.st_ino}"
        with os.scandir(os.fsdecode(path)) as entries:
            some = itertools.islice(entries, _MOST_ENTRIES)
            yield repr(sorted((entry.name, entry.stat().st_mtime_ns) for entry in some))
    except (OSError, ValueError):
        return


__all__ = ["digest", "pipeline_digest", "source_digest"]

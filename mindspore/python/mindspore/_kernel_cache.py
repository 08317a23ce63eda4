"""Machine code on disk, shared by processes: one file for each key, written whole or not at all.

The folder belongs to the user and to nobody else, or it is not used: what lies in it is run. A file holds a digest of its
contents; one that does not fit is removed, and its kernel compiled again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
from pathlib import Path

from mindspore import _paths

_DIGEST = 32
_MOST_FILES = 4096


class KernelCache:
    """The folder of `MS_KERNEL_CACHE`, or one in the user's cache folder. Never raises: it may be of no use."""

    def __init__(self) -> None:
        self.folder = _usable_folder()
        self._pruned = False

    def read(self, key: str) -> bytes | None:
        """The contents of a key, if they are there and whole."""
        if self.folder is None:
            return None
        path = self.folder / f"{key}.o"
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:
                if os.fstat(file.fileno()).st_uid != os.geteuid():
                    return None
                data = file.read()
        except OSError:
            return None
        contents = data[_DIGEST:]
        if hashlib.sha256(contents).digest() == data[:_DIGEST]:
            return contents
        with contextlib.suppress(OSError):
            path.unlink()
        return None

    def write(self, key: str, contents: bytes) -> None:
        """Keeps contents; of several processes that write a key, one wins."""
        if self.folder is None:
            return
        self._prune()
        try:
            descriptor, name = tempfile.mkstemp(dir=self.folder, prefix=".new-")
        except OSError:
            return
        try:
            with open(descriptor, "wb") as file:
                file.write(hashlib.sha256(contents).digest() + contents)
            os.replace(name, self.folder / f"{key}.o")
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)

    def _prune(self) -> None:
        """Once in a process: of too many files the older half goes."""
        if self._pruned or self.folder is None:
            return
        self._pruned = True
        with contextlib.suppress(OSError):
            files = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(self.folder)]
            for _, path in sorted(files)[: len(files) // 2 if len(files) > _MOST_FILES else 0]:
                os.unlink(path)


def _usable_folder() -> Path | None:
    folder = _paths.cache("MS_KERNEL_CACHE", "kernels")
    if folder is None:
        return None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        status = folder.lstat()
    except (OSError, RuntimeError):
        return None
    private = status.st_uid == os.geteuid() and status.st_mode & 0o077 == 0
    return folder if stat.S_ISDIR(status.st_mode) and private else None

"""The file of a SummaryRecord: it holds whole records, whatever happens, and what could not be written is told."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mindspore import log

_named: set[Path] = set()  # by this process: a file is made late


def fresh_path(folder: Path, kind: str, suffix: str) -> Path:
    """Where a new file of records goes: its name has the second, or the first one after it that is free."""
    second, rest = int(time.time()), f"{os.getpid()}.{socket.gethostname()}{suffix}"
    while (path := folder / f"{kind}.summary.{second}.{rest}") in _named or path.exists():
        second += 1
    _named.add(path)
    return path


class RecordFile:
    """A file that grows by records. One that cannot be written whole is taken back, so that those behind it can be read; the first
    error in a row is raised or logged, and the end says how many records are missing.

    Args:
        path: where it is; it is made with the first record.
        most: bytes that it may have, if there is a limit.
        raises: whether each error is raised.
        head: makes its first bytes.
    """

    def __init__(self, path: Path, most: int | None, raises: bool, head: Callable[[], bytes]):
        self._path, self._most, self._raises, self._head = path, most, raises, head
        self._file: Any = None
        self._size = 0  # of whole records
        self._failing = self._full = False
        self._missing = 0

    def attempt(self, write: Callable[[], bool]) -> bool:
        """Run a write; whether it did. An OSError is told as the file tells its errors."""
        try:
            done = write()
        except OSError as error:
            self._missing += 1
            if self._raises:
                raise
            if not self._failing:
                log.error(f"SummaryRecord: {error} Records are left out until this has changed.")
            self._failing = True
            return False
        self._failing &= not done
        return done

    def append(self, data: bytes) -> bool:
        """Write a record; whether the limit lets it in."""
        if self._size == 0:
            data = self._head() + data
        if self._most is not None and self._size + len(data) > self._most:
            if not self._full:
                log.warning(
                    f"SummaryRecord: '{self._path}' would exceed 'max_file_size' ({self._most} bytes); records that do are left out."
                )
            self._full = True
            self._missing += 1
            return False
        try:
            self._write(data)
        except OSError as error:
            self._take_back()
            raise named(error, self._path) from error
        self._size += len(data)
        return True

    def _write(self, data: bytes) -> None:
        if self._file is None:  # without a buffer: an error is that of the record at hand
            self._file = open(self._path, "wb", buffering=0)
        rest = memoryview(data)
        while rest:
            rest = rest[self._file.write(rest) :]

    def _take_back(self) -> None:
        try:
            if self._file is not None:
                self._file.seek(self._size)
                self._file.truncate()
        except OSError:  # no error of its own: the record is lost already
            pass

    def close(self) -> None:
        """End the file."""
        if self._file is not None:
            file, self._file = self._file, None
            self.attempt(lambda: file.close() is None)
        if self._missing and not self._raises:
            log.warning(
                f"SummaryRecord: {self._missing} records of '{self._path}' are missing or incomplete."
            )


def named(error: OSError, path: Path) -> OSError:
    """The error, naming the file, in the words of other files that are written."""
    number = error.errno or 0
    made = type(error)(f"Cannot write '{path}': {os.strerror(number)} (errno {number}).")
    made.errno = number
    return made


__all__ = ["RecordFile", "fresh_path", "named"]

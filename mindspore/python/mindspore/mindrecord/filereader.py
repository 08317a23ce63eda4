"""Reading MindRecord files row by row."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.mindrecord.common.checks import check_files, check_int, check_known, check_texts
from mindspore.mindrecord.common.exceptions import MRMFetchDataError, ParamTypeError

_ROWS_AT_ONCE = 64


def select_rows(reader: Any, where: Any, op: str) -> np.ndarray:
    """The numbers of the rows for which an SQL condition holds."""
    if not isinstance(where, str):
        raise ParamTypeError(f"For '{op}', where must be a str, but got {type(where).__name__}.")
    rows, rebuilt = reader.select(where)
    for path in rebuilt:
        warnings.warn(
            f"The index of the MindRecord file '{path}' is missing or belongs to another one; the "
            "rows themselves were searched.",
            stacklevel=4,
        )
    return np.asarray(rows, np.int64)


class FileReader:
    """Reads the rows of a file and of its shards, or of the files of a list, in their order.

    `columns` names the fields that are wanted; `where` is an SQL condition over the index fields, such as
    "label = 3", which is decided before any row is read. `num_consumer` is kept for programs that set it.
    """

    def __init__(
        self,
        file_name: str | list[str],
        num_consumer: int = 4,
        columns: list[str] | None = None,
        operator: Any = None,
        *,
        where: str | None = None,
    ) -> None:
        paths = check_files("FileReader", "file_name", file_name)
        check_int("FileReader", "num_consumer", num_consumer, 1, max(4, os.cpu_count() or 1))
        self._reader = _core.mindrecord.Reader(paths, not isinstance(file_name, (list, tuple)))
        # Blobs come after the other fields, as they do in the file.
        fields = sorted(enumerate(self._reader.fields), key=lambda item: item[1][3])
        names = [] if columns is None else check_texts("FileReader", "columns", columns)
        if names:
            check_known("FileReader", "columns", names, [field[0] for _, field in fields])
            fields = [item for item in fields if item[1][0] in names]
        self._places = [place for place, _ in fields]
        self._names = [field[0] for _, field in fields]
        self._rows = (
            np.arange(self._reader.rows)
            if where is None
            else select_rows(self._reader, where, "FileReader")
        )

    def _opened(self) -> Any:
        if self._reader is None:
            raise MRMFetchDataError("For 'FileReader', the reader must not be closed.")
        return self._reader

    def get_next(self) -> Iterator[dict[str, Any]]:
        """The rows, as dicts."""
        self._opened()
        for start in range(0, len(self._rows), _ROWS_AT_ONCE):
            chosen = self._rows[start : start + _ROWS_AT_ONCE]
            for row in self._opened().read(chosen, self._places):
                yield dict(zip(self._names, row))

    def close(self) -> None:
        """Let go of the files."""
        self._reader = None

    def len(self) -> int:
        """How many rows there are."""
        self._opened()
        return len(self._rows)

    def schema(self) -> dict[str, Any]:
        """The fields, with their types and shapes."""
        return dict(json.loads(self._opened().schema))

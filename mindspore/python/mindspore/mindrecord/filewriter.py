"""Writing MindRecord files."""

from __future__ import annotations

import json
import os
from typing import Any

from mindspore import _core
from mindspore.mindrecord.common.checks import (
    MAX_SHARDS,
    check_files,
    check_int,
    check_new_file,
    check_texts,
)
from mindspore.mindrecord.common.exceptions import (
    MRMAddSchemaError,
    MRMDefineIndexError,
    MRMGetMetaError,
    MRMInvalidSchemaError,
    MRMOpenError,
    ParamTypeError,
    ParamValueError,
)

# Limits of the format.
_MIN_HEADER, _MAX_HEADER = 16 << 10, 128 << 20
_MIN_PAGE, _MAX_PAGE = 32 << 10, 256 << 20


class FileWriter:
    """Writes rows to a MindRecord file, or to `shard_num` files NAME0, NAME1, ... that share them.

    Nothing has its name before `commit`: a file that is replaced (`overwrite=True`) stays as it was until then. Each
    file gets a database NAME.db beside it, the index.
    """

    def __init__(self, file_name: str, shard_num: int = 1, overwrite: bool = False) -> None:
        self._path = check_new_file("FileWriter", file_name)
        self._shard_num = check_int("FileWriter", "shard_num", shard_num, 1, MAX_SHARDS)
        if not isinstance(overwrite, bool):
            raise ParamTypeError(
                f"For 'FileWriter', overwrite must be a bool, but got {type(overwrite).__name__}."
            )
        width = len(str(shard_num - 1))
        self._paths = (
            [self._path]
            if shard_num == 1
            else [f"{self._path}{number:0{width}d}" for number in range(shard_num)]
        )
        self._overwrite = overwrite
        self._schema: dict[str, Any] = {}
        self._description = ""
        self._index: list[str] = []
        self._header_size = 16 << 20
        self._page_size = 32 << 20
        self._packed = False
        self._writer: Any = None
        self._done = False

    @classmethod
    def open_for_append(cls, file_name: str) -> FileWriter:
        """A writer that puts rows behind those of a file and of its shards.

        The old rows are copied: there must be room for them, and until `commit` nothing of the old files changes.
        """
        [path] = check_files("open_for_append", "file_name", file_name)
        writer = cls(path)
        paths = _core.mindrecord.Reader([path], True).paths
        writer._writer = _core.mindrecord.Writer(paths)
        return writer

    def add_schema(self, content: dict[str, Any], desc: str | None = None) -> None:
        """Say what rows are made of: {name: {"type": ..., "shape": [...]}}.

        Types are int32, int64, float32, float64, string and bytes; numbers with a shape are arrays, one dimension of
        which may be -1.
        """
        if self._schema or self._writer is not None:
            raise MRMAddSchemaError("For 'add_schema', there must be one schema, and it is there.")
        if not isinstance(content, dict):
            raise MRMInvalidSchemaError(
                f"For 'add_schema', the schema must be a dict, but got {type(content).__name__}."
            )
        if desc is not None and not isinstance(desc, str):
            raise ParamTypeError(
                f"For 'add_schema', desc must be a str, but got {type(desc).__name__}."
            )
        try:
            self._schema = json.loads(_core.mindrecord.check_schema(json.dumps(content)))
        except (TypeError, ValueError, RecursionError) as error:
            raise MRMInvalidSchemaError(str(error)) from None
        self._description = desc or ""

    def add_index(self, index_fields: list[str]) -> None:
        """Say which fields the index holds; without this, all that are neither bytes nor arrays."""
        names = check_texts("add_index", "index_fields", index_fields)
        if not names:
            raise ParamTypeError("For 'add_index', index_fields must name a field, but got none.")
        if not self._schema:
            raise MRMGetMetaError("For 'add_index', there must be a schema: call add_schema first.")
        for name in names:
            if name not in self._schema:
                raise MRMDefineIndexError(
                    f"For 'add_index', index_fields must be among {list(self._schema)}, but got {name!r}."
                )
            if _is_blob(self._schema[name]):
                raise MRMDefineIndexError(
                    f"For 'add_index', an index field must be a number or a string, but {name!r} is "
                    f"{self._schema[name]}."
                )
            if name in self._index or names.count(name) > 1:
                raise MRMDefineIndexError(f"For 'add_index', {name!r} must be there once.")
        self._index += names

    def set_header_size(self, header_size: int) -> None:
        """Bytes that are kept for the head of each file."""
        self._header_size = self._size(
            "set_header_size", "header_size", header_size, _MIN_HEADER, _MAX_HEADER
        )

    def set_page_size(self, page_size: int) -> None:
        """Bytes of a page; a row's blobs, and a row's other fields, must fit into one."""
        self._page_size = self._size("set_page_size", "page_size", page_size, _MIN_PAGE, _MAX_PAGE)

    def set_compression(self, name: str | None) -> None:
        """Compress the bytes and arrays of each row by themselves ("zstd"), or not (None, as by default).

        Rows are read as before, also at random. MindSpore 2.10 refuses such files.
        """
        if name not in (None, "zstd"):
            raise ParamValueError(
                f"For 'set_compression', name must be 'zstd' or None, but got {name!r}."
            )
        if self._writer is not None:
            raise MRMOpenError(
                "For 'set_compression', it must be called before the first row is written."
            )
        if name is not None:
            _core.mindrecord.require_zstd()
        self._packed = name is not None

    def _size(self, op: str, name: str, value: int, low: int, high: int) -> int:
        check_int(op, name, value, low, high)
        if value % 4 != 0:
            raise ParamValueError(f"For '{op}', {name} must be a multiple of 4, but got {value}.")
        if self._writer is not None:
            raise MRMOpenError(f"For '{op}', it must be called before the first row is written.")
        return value

    def write_raw_data(self, raw_data: list[dict[str, Any]], parallel_writer: bool = False) -> None:
        """Write rows: dicts with a value for each field. With `parallel_writer` the shards are written at once.

        A value that its field cannot hold is an error that names row, field and type; then none of these rows is
        written.
        """
        if not isinstance(raw_data, list):
            raise ParamTypeError(
                f"For 'write_raw_data', raw_data must be a list, but got {type(raw_data).__name__}."
            )
        if not isinstance(parallel_writer, bool):
            raise ParamTypeError(
                "For 'write_raw_data', parallel_writer must be a bool, but got "
                f"{type(parallel_writer).__name__}."
            )
        self._opened("write_raw_data").write(raw_data, parallel_writer)

    def commit(self) -> None:
        """Give the files their names: what was written is on the disk, whatever happens afterwards."""
        self._opened("commit").commit()
        self._done = True

    def _opened(self, op: str) -> Any:
        if self._done:
            raise MRMOpenError(
                f"For '{op}', the files are committed: open_for_append makes a writer for more rows."
            )
        if self._writer is not None:
            return self._writer
        if not self._schema:
            raise MRMGetMetaError(f"For '{op}', there must be a schema: call add_schema first.")
        taken = [p for base in self._paths for p in (base, base + ".db") if os.path.lexists(p)]
        if taken and not self._overwrite:
            raise MRMOpenError(
                f"For 'FileWriter', the file must not exist unless overwrite=True, but there is '{taken[0]}'."
            )
        index = self._index or [n for n, field in self._schema.items() if not _is_blob(field)]
        self._writer = _core.mindrecord.Writer(
            self._paths,
            json.dumps(self._schema),
            self._description,
            index,
            self._header_size,
            self._page_size,
            self._packed,
        )
        return self._writer


def _is_blob(field: dict[str, Any]) -> bool:
    return "shape" in field or field["type"] == "bytes"

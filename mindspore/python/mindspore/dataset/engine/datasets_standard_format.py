"""Files of widely used formats: TFRecord, CSV, lines of text."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_int, check_names, check_type
from mindspore.dataset.engine.samplers import Shuffle
from mindspore.dataset.engine.schema import Schema, schema_of
from mindspore.dataset.engine.source_files import PieceDataset, choice, listed_files

engine = _core.dataset


class TextFileDataset(PieceDataset):
    """Lines of text files that are not empty: column text."""

    def __init__(
        self,
        dataset_files: str | Sequence[str],
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        self.dataset_files = listed_files(type(self).__name__, dataset_files)
        pieces = engine.Pieces("lines", self.dataset_files)
        options = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id)
        super().__init__(["text"], pieces, lambda order: engine.line_rows(order, pieces), options)


class CSVDataset(PieceDataset):
    """Records of CSV files. Fields may be quoted, and then hold delimiters, line ends and doubled quotes.

    `column_defaults` gives the types: an int for int32, a float for float32, a str for text; without it all are text.
    Without `column_names` the first record of each file has the names.
    """

    def __init__(
        self,
        dataset_files: str | Sequence[str],
        field_delim: str = ",",
        column_defaults: Sequence[Any] | None = None,
        column_names: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        self.dataset_files = listed_files(op, dataset_files)
        check_type(op, "field_delim", field_delim, str)
        if len(field_delim) != 1 or field_delim in '"\r\n' or not field_delim.isascii():
            raise ValueError(
                f"For '{op}', field_delim must be one character of ASCII, neither a quote nor a line end, but got "
                f"{field_delim!r}."
            )
        kinds = _csv_kinds(op, column_defaults)
        names = (
            _csv_heads(op, self.dataset_files, field_delim)
            if column_names is None
            else check_names(op, "column_names", column_names)
        )
        if kinds is None:
            kinds = "s" * len(names)
        if len(kinds) != len(names):
            raise ValueError(
                f"For '{op}', column_defaults must have {len(names)} entries, one for each column, but got "
                f"{len(kinds)}."
            )
        found = "headed records" if column_names is None else "records"
        pieces = engine.Pieces(found, self.dataset_files)
        options = (num_samples, num_parallel_workers, shuffle, num_shards, shard_id)
        super().__init__(
            names, pieces, lambda order: engine.csv_rows(order, pieces, field_delim, kinds), options
        )


def _csv_kinds(op: str, defaults: Any) -> str | None:
    if defaults is None:
        return None
    check_type(op, "column_defaults", defaults, (list, tuple))
    letters = {int: "i", float: "f", str: "s"}
    for value in defaults:
        if type(value) not in letters:
            raise TypeError(
                f"For '{op}', column_defaults must hold int, float or str, but got {value!r}."
            )
    return "".join(letters[type(value)] for value in defaults)


def _csv_heads(op: str, files: Sequence[str], delimiter: str) -> list[str]:
    """The names that the first records have; those of all files must be the same."""
    found: list[str] = []
    for path in files:
        pieces = engine.Pieces("records", [path])
        if not pieces.counts[0]:
            raise ValueError(f"For '{op}', the file '{path}' must begin with the names of columns.")
        heads = engine.split_record(pieces.text(0), delimiter, pieces.where(0))
        if found and heads != found:
            raise ValueError(
                f"For '{op}', the files must have the same columns, but '{path}' has {heads} and not {found}."
            )
        found = check_names(op, "column_names", heads)
    return found


class TFRecordDataset(PieceDataset):
    """Examples of TFRecord files. The checksums of all that is read are checked.

    Columns are those of the schema, or else the features of the first record in the order of their names: integers as
    int64, floats as float32, bytes as uint8, each with one axis.
    """

    def __init__(
        self,
        dataset_files: str | Sequence[str],
        schema: str | Schema | None = None,
        columns_list: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = False,
        cache: Any = None,
        compression_type: str | None = None,
    ) -> None:
        op = type(self).__name__
        check_type(op, "shard_equal_rows", shard_equal_rows, bool)
        self.dataset_files = files = listed_files(op, dataset_files)
        compression = choice(op, "compression_type", compression_type, ["", "GZIP", "ZLIB"], "")
        described = schema_of(op, schema)
        shards, shard = num_shards, shard_id
        if num_shards is not None and shard_id is not None and not shard_equal_rows:
            files = _shard_of_files(op, files, num_shards, shard_id)
            shards = shard = None
        given = (
            [(path, _decompressed(path, compression)) for path in files] if compression else files
        )
        pieces = engine.Pieces("examples", given)
        columns = _example_columns(op, pieces, described, columns_list)
        if described is not None and described.num_rows and num_samples is None:
            num_samples = described.num_rows
        options = (num_samples, num_parallel_workers, shuffle, shards, shard)
        super().__init__(
            [column[0] for column in columns],
            pieces,
            lambda order: engine.example_rows(order, pieces, columns),
            options,
        )
        self.num_shards = num_shards


def _shard_of_files(op: str, files: list[str], num_shards: Any, shard_id: Any) -> list[str]:
    check_int(op, "num_shards", num_shards, 1)
    check_int(op, "shard_id", shard_id, 0, num_shards - 1)
    if len(files) < num_shards:
        raise RuntimeError(
            f"For '{op}', there must be at least num_shards={num_shards} files unless shard_equal_rows=True, but got "
            f"{len(files)}."
        )
    return files[shard_id::num_shards]


def _decompressed(path: str, kind: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            content = stream.read()
        return gzip.decompress(content) if kind == "GZIP" else zlib.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise RuntimeError(f"The TFRecord file '{path}' must be {kind}, but got {error}.") from None


def _example_columns(op: str, pieces: Any, schema: Schema | None, listed: Any) -> list[Any]:
    columns: dict[str, tuple[str, Any, Any]]
    names = None
    if listed is not None:
        check_type(op, "columns_list", listed, (list, tuple))
        names = check_names(op, "columns_list", listed) or None
    if schema is None:
        there = pieces.feature_names(0) if sum(pieces.counts) else []
        columns = {name: (name, None, None) for name in there}
    else:
        columns = {
            c["name"]: (
                c["name"],
                "string" if c["type"] == "string" else np.dtype(c["type"]),
                c.get("shape"),
            )
            for c in schema.columns
        }
    for name in names or ():
        if name not in columns:
            raise ValueError(
                f"For '{op}', columns_list must be among {list(columns)}, but got '{name}'."
            )
    return [columns[name] for name in names or columns]

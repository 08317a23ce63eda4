"""CSV to MindRecord."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterator
from typing import Any

from mindspore.mindrecord.common.checks import (
    MAX_SHARDS,
    check_files,
    check_int,
    check_known,
    check_new_file,
    check_texts,
)
from mindspore.mindrecord.tools.converter import Converter, write_rows

_INT64 = range(-(1 << 63), 1 << 63)


class CsvToMR(Converter):
    """Writes a CSV file with a line of names: columns of integers become int64, of numbers float64, others string."""

    def __init__(
        self,
        source: str,
        destination: str,
        columns_list: list[str] | None = None,
        partition_number: int = 1,
    ) -> None:
        [self._source] = check_files("CsvToMR", "source", source)
        self._destination = check_new_file("CsvToMR", destination)
        self._columns = (
            None if columns_list is None else check_texts("CsvToMR", "columns_list", columns_list)
        )
        self._partitions = check_int("CsvToMR", "partition_number", partition_number, 1, MAX_SHARDS)

    def run(self) -> None:
        """Write the files. The source is read twice: for the types, and for the rows."""
        names = self._names()
        kinds = dict.fromkeys(names, 0)
        for row in self._lines():
            for name in names:
                while not _fits(kinds[name], row[name]):
                    kinds[name] += 1
        schema = {name: {"type": _KINDS[kind][0]} for name, kind in kinds.items()}
        rows = (
            {name: _KINDS[kinds[name]][1](row[name]) for name in names} for row in self._lines()
        )
        write_rows(self._destination, schema, "csv_schema", names, rows, self._partitions)

    def _names(self) -> list[str]:
        with self._opened() as reader:
            known = next(reader, None)
        if not known or len(set(known)) != len(known) or not all(known):
            raise ValueError(
                f"For 'CsvToMR', '{self._source}' must start with a line of distinct names, but got {known}."
            )
        names = known if self._columns is None else self._columns
        check_known("CsvToMR", "columns_list", names, known)
        return names

    @contextlib.contextmanager
    def _opened(self) -> Iterator[Any]:
        try:
            with open(self._source, newline="", encoding="utf-8-sig") as stream:
                yield csv.reader(stream, strict=True)
        except (UnicodeDecodeError, csv.Error) as error:
            why = f"For 'CsvToMR', '{self._source}' must be lines of values in UTF-8, but got {error}."
            raise ValueError(why) from None

    def _lines(self) -> Iterator[dict[str, Any]]:
        with self._opened() as reader:
            names = next(reader)
            for line in reader:
                if line and len(line) != len(names):
                    raise ValueError(
                        f"For 'CsvToMR', line {reader.line_num} of '{self._source}' must have {len(names)} values, but "
                        f"got {len(line)}."
                    )
                if line:
                    yield dict(zip(names, line))


def _integer(text: str) -> int:
    value = int(text)
    if value not in _INT64 or "_" in text:
        raise ValueError
    return value


def _real(text: str) -> float:
    if "_" in text:
        raise ValueError
    return float(text)


_KINDS: list[tuple[str, Callable[[str], Any]]] = [
    ("int64", _integer),
    ("float64", _real),
    ("string", str),
]


def _fits(kind: int, text: str) -> bool:
    try:
        _KINDS[kind][1](text)
    except ValueError:
        return False
    return True

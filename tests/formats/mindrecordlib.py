"""Small MindRecord files, and how they are written and read."""

from __future__ import annotations

from pathlib import Path

from mindspore.mindrecord import FileReader, FileWriter

SCHEMA = {"label": {"type": "int32"}, "name": {"type": "string"}, "data": {"type": "bytes"}}


def rows(count: int, first: int = 0) -> list[dict]:
    return [
        {"label": n % 4, "name": f"row {n}", "data": bytes([n % 256]) * (n % 50)}
        for n in range(first, first + count)
    ]


def small_writer(path: Path, shards: int = 1, schema: dict = SCHEMA) -> FileWriter:
    writer = FileWriter(str(path), shards, overwrite=True)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.add_schema(schema, "small")
    return writer


def written(path: Path, count: int = 20, shards: int = 1) -> str:
    writer = small_writer(path, shards)
    writer.write_raw_data(rows(count))
    writer.commit()
    return str(path) if shards == 1 else f"{path}0"


def read(path, **options) -> list[dict]:
    return list(FileReader(str(path), **options).get_next())

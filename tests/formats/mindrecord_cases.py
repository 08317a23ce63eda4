"""Rows of MindRecord files that tests write here, and that MindSpore 2.10 wrote to golden/mindrecord_2_10.zip.

With the Python of an environment that has mindspore==2.10.0, `python tests/formats/mindrecord_cases.py` writes that archive anew: the
files, and what 2.10's own readers make of them. With arguments it prints what they make of these files (JSON).
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parent / "golden" / "mindrecord_2_10.zip"
HEADER, PAGE = 1 << 14, 1 << 15


@dataclass
class Case:
    """What one set of files holds."""

    schema: dict[str, Any]
    batches: list[list[dict[str, Any]]]  # one for each call of write_raw_data
    index: list[str] = field(default_factory=list)
    shards: int = 1
    appended: list[dict[str, Any]] = field(default_factory=list)

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [row for batch in [*self.batches, self.appended] for row in batch]


def _all_types() -> Case:
    schema = {
        "i32": {"type": "int32"},
        "i64": {"type": "int64"},
        "f32": {"type": "float32"},
        "f64": {"type": "float64"},
        "s": {"type": "string"},
        "b": {"type": "bytes"},
        "ai32": {"type": "int32", "shape": [-1]},
        "ai64": {"type": "int64", "shape": [2, 2]},
        "af32": {"type": "float32", "shape": [3]},
        "af64": {"type": "float64", "shape": [2, -1]},
    }
    integers = [0, -5, 127, 128, -129, 65535, 2**31 - 1, -(2**31)]
    rows = [
        {
            "i32": value,
            "i64": value * 2**30,
            "f32": number / 4,
            "f64": number / 3,
            "s": "grüße" * (number * 10),
            "b": bytes(range(number)),
            "ai32": np.array(integers[: number + 1], np.int32),
            "ai64": np.array([[value, 2**31 + number], [-(2**40), 300]], np.int64),
            "af32": np.array([number, 0.5, -1e30], np.float32),
            "af64": np.arange(2 * number + 2).reshape(2, -1) / 7,
        }
        for number, value in enumerate(integers)
    ]
    return Case(schema, [rows], ["i32", "f32", "s"])


def _many_pages() -> Case:
    schema = {"label": {"type": "int32"}, "text": {"type": "string"}, "data": {"type": "bytes"}}

    def batch(first: int) -> list[dict[str, Any]]:
        return [
            {"label": n % 3, "text": f"{n:04d}" * 600, "data": bytes([n]) * 5000}
            for n in range(first, first + 10)
        ]

    return Case(schema, [batch(0)], ["label"], appended=batch(10))


def _shards() -> Case:
    schema = {
        "label": {"type": "int64"},
        "name": {"type": "string"},
        "values": {"type": "float32", "shape": [4]},
    }
    rows = [
        {"label": n // 2, "name": f"row {n}", "values": np.arange(n, n + 4, dtype=np.float32)}
        for n in range(10)
    ]
    return Case(schema, [rows], shards=4)


def _no_blob() -> Case:
    schema = {"a": {"type": "int64"}, "f": {"type": "float64"}}
    return Case(schema, [[{"a": n, "f": n / 8} for n in range(5)]])


def _packed() -> Case:
    values = [[1], [-128, 128], [300, -2, 5], [70000, -32769, 1, 2, 3], [-(2**31)] * 9]
    rows = [{"x": np.array(v, np.int32)} for v in values]
    return Case({"x": {"type": "int32", "shape": [-1]}}, [rows])


CASES = {
    "types": _all_types(),
    "pages": _many_pages(),
    "shards": _shards(),
    "no_blob": _no_blob(),
    "packed": _packed(),
}


def write(case: Case, path: Path) -> list[Path]:
    """Write a case with the mindspore that is there; the paths of its files."""
    from mindspore.mindrecord import FileWriter

    writer = FileWriter(str(path), case.shards, overwrite=True)
    writer.set_header_size(HEADER)
    writer.set_page_size(PAGE)
    writer.add_schema(case.schema, "a case")
    if case.index:
        writer.add_index(case.index)
    for batch in case.batches:
        writer.write_raw_data(batch)
    writer.commit()
    paths = [path] if case.shards == 1 else [Path(f"{path}{n}") for n in range(case.shards)]
    if case.appended:
        writer = FileWriter.open_for_append(str(paths[0]))
        writer.write_raw_data(case.appended)
        writer.commit()
    return paths


def plain(value: Any) -> Any:
    """A value as JSON can have it; type and shape stay to be seen."""
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, np.ndarray) and value.dtype.kind not in "SU":
        content = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": content, "dtype": str(value.dtype), "shape": list(value.shape)}
    if isinstance(value, np.ndarray):
        return {
            "texts": [plain(v) for v in value.reshape(-1).tolist()],
            "shape": list(value.shape),
        }
    return value


def answers(path: Path) -> dict[str, Any]:
    """What the readers of the mindspore that is there make of a file."""
    from mindspore.dataset import MindDataset
    from mindspore.mindrecord import FileReader

    reader = FileReader(str(path))
    rows = [{name: plain(value) for name, value in row.items()} for row in reader.get_next()]
    found = {"rows": rows, "len": reader.len(), "schema": reader.schema()}
    reader.close()
    data = MindDataset(str(path), shuffle=False)
    columns = [
        {name: plain(value) for name, value in row.items()}
        for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)
    ]
    return {**found, "columns": columns, "names": data.get_col_names()}


def unpack(folder: Path) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """The golden files: name of the case, first file, answers of 2.10."""
    with zipfile.ZipFile(GOLDEN) as archive:
        archive.extractall(folder)
    for name, case in CASES.items():
        first = folder / f"{name}.mindrecord{'' if case.shards == 1 else 0}"
        yield name, first, json.loads((folder / f"{name}.json").read_text())


def _record() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(GOLDEN, "w", zipfile.ZIP_LZMA) as archive:
            for name, case in CASES.items():
                paths = write(case, Path(folder, f"{name}.mindrecord"))
                text = json.dumps(answers(paths[0]))
                archive.writestr(f"{name}.json", text)
                for path in [p for base in paths for p in (base, Path(f"{base}.db"))]:
                    archive.write(path, path.name)


if __name__ == "__main__":
    if len(sys.argv) == 1:
        _record()
    else:
        print(json.dumps([answers(Path(path)) for path in sys.argv[1:]]))

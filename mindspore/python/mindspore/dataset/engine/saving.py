"""Rows of a pipeline into files: MindRecord, TFRecord."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore import _core, _paths
from mindspore.dataset.core.validator_helpers import check_int, check_type

if TYPE_CHECKING:
    from mindspore.dataset.engine.datasets import Dataset

_OP = "save"
_HEADER_SIZE, _PAGE_SIZE = 16 << 20, 32 << 20  # of FileWriter, too
_ROWS_AT_ONCE = 256
# What the types of columns become: MindRecord has these alone.
_KINDS = {
    "bool": "int32", "int8": "int32", "uint8": "int32", "int16": "int32", "uint16": "int32", "int32": "int32",
    "uint32": "int64", "int64": "int64", "uint64": "int64", "float16": "float32", "float32": "float32",
    "float64": "float64",
}  # fmt: skip


def save(dataset: Dataset, file_name: Any, num_files: Any, file_type: Any) -> None:
    """Writes an epoch; a file of a failure is not left."""
    check_int(_OP, "num_files", num_files, 1, 1000)
    check_type(_OP, "file_type", file_type, str)
    if file_type not in ("mindrecord", "tfrecord"):
        raise ValueError(
            f"For '{_OP}', file_type must be 'mindrecord' or 'tfrecord', but got '{file_type}'."
        )
    path = _paths.checked(_OP, "file_name", file_name)
    paths = [path] if num_files == 1 else [f"{path}{number}" for number in range(num_files)]
    for name in paths:
        if os.path.exists(name):
            raise RuntimeError(f"For '{_OP}', the file must be new, but '{name}' is there already.")
    names = dataset.get_col_names()
    if file_type == "mindrecord":
        _save_mindrecord(dataset, names, paths)
    else:
        _save_tfrecord(dataset, names, paths)


def _field(name: str, value: np.ndarray) -> dict[str, Any]:
    """What a field is, by the first row."""
    if value.dtype.kind in "US":
        if value.ndim == 0 or (value.dtype.kind == "S" and value.size == 1):
            return {"type": "string" if value.dtype.kind == "U" else "bytes"}
        raise TypeError(
            f"For '{_OP}', the column '{name}' must hold one text, but got {value.size}."
        )
    kind = _KINDS.get(str(value.dtype))
    if kind is None:
        raise TypeError(
            f"For '{_OP}', the column '{name}' must hold numbers or text, but got {value.dtype}."
        )
    return {"type": kind} if value.ndim == 0 else {"type": kind, "shape": [-1, *value.shape[1:]]}


def _plain(name: str, field: dict[str, Any], value: np.ndarray) -> Any:
    """A value as the writer takes it; one that the field cannot hold is an error."""
    if field["type"] in ("string", "bytes"):
        return value.item()
    cast = value.astype(field["type"])
    if value.dtype.kind in "iu" and (cast != value).any():
        raise ValueError(
            f"For '{_OP}', the column '{name}' must fit {field['type']}, but does not."
        )
    return cast if "shape" in field else cast.item()


def _save_mindrecord(dataset: Dataset, names: Sequence[str], paths: list[str]) -> None:
    writer, fields, rows = None, {}, []
    for row in dataset._rows():
        arrays = [np.asarray(value) for value in row]
        if writer is None:
            fields = {name: _field(name, value) for name, value in zip(names, arrays)}
            schema = json.dumps(fields)
            writer = _core.mindrecord.Writer(
                paths, schema, "", [], _HEADER_SIZE, _PAGE_SIZE, packed=False
            )
        rows.append({n: _plain(n, fields[n], value) for n, value in zip(names, arrays)})
        if len(rows) == _ROWS_AT_ONCE:
            writer.write(rows, False)
            rows = []
    if writer is None:
        raise RuntimeError(f"For '{_OP}', the dataset must have rows, but has none.")
    if rows:
        writer.write(rows, False)
    writer.commit()


def _varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def _bytes_field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _feature(name: str, value: np.ndarray) -> bytes:
    """A tf.train.Feature: text and UInt8 as bytes, floats as float32, integers as int64."""
    flat = value.ravel()
    if value.dtype.kind in "US":
        texts = [text if isinstance(text, bytes) else text.encode() for text in flat.tolist()]
        return _bytes_field(1, b"".join(_bytes_field(1, text) for text in texts))
    if value.dtype == np.uint8:
        return _bytes_field(1, _bytes_field(1, flat.tobytes()))
    if value.dtype.kind == "f":
        return _bytes_field(2, _bytes_field(1, flat.astype("<f4").tobytes()))
    if value.dtype.kind in "iub":
        return _bytes_field(3, _bytes_field(1, b"".join(_varint(int(n)) for n in flat)))
    raise TypeError(
        f"For '{_OP}', the column '{name}' must hold numbers or text, but got {value.dtype}."
    )


def _record(names: Sequence[str], row: Sequence[Any]) -> bytes:
    entries = [
        _bytes_field(1, _bytes_field(1, n.encode()) + _bytes_field(2, _feature(n, np.asarray(v))))
        for n, v in zip(names, row)
    ]
    content = _bytes_field(1, b"".join(entries))
    head = struct.pack("<Q", len(content))
    sums = [struct.pack("<I", _core.dataset.masked_sum(part)) for part in (head, content)]
    return head + sums[0] + content + sums[1]


def _save_tfrecord(dataset: Dataset, names: Sequence[str], paths: list[str]) -> None:
    hidden = [f"{path}.part" for path in paths]
    try:
        streams = []
        try:
            for path in hidden:
                streams.append(open(path, "wb"))
            count = 0
            for count, row in enumerate(dataset._rows(), 1):
                streams[(count - 1) % len(streams)].write(_record(names, row))
            if count == 0:
                raise RuntimeError(f"For '{_OP}', the dataset must have rows, but has none.")
        finally:
            for stream in streams:
                stream.close()
        for path, final in zip(hidden, paths):
            os.replace(path, final)
    finally:
        for path in hidden:
            if os.path.exists(path):
                os.unlink(path)

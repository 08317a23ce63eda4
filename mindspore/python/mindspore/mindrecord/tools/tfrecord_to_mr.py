"""TFRecord to MindRecord, without TensorFlow: its framing and the messages of tf.train.Example are read here."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from mindspore import _core
from mindspore.mindrecord.common.checks import check_files, check_known, check_new_file, check_texts
from mindspore.mindrecord.common.exceptions import ParamTypeError, ParamValueError
from mindspore.mindrecord.tools.converter import Converter, Schema, write_rows

_MASK = 0xA282EAD8
_TYPES = {"int64": "int64", "float32": "float32", "string": "string", "bytes": "bytes"}
_CODES = {1: "bytes", 2: "float32", 3: "int64"}  # of the lists of a Feature


class TFRecordToMR(Converter):
    """Writes the examples of a TFRecord file.

    `feature_dict` maps names to features with a shape and a dtype, such as tf.io.FixedLenFeature; a shape of [] or [1]
    is a single value. Texts are fields of type string, those of `bytes_fields` bytes.
    """

    def __init__(
        self,
        source: str,
        destination: str,
        feature_dict: dict[str, Any],
        bytes_fields: list[str] | None = None,
    ) -> None:
        [self._source] = check_files("TFRecordToMR", "source", source)
        self._destination = check_new_file("TFRecordToMR", destination)
        if not isinstance(feature_dict, dict) or not feature_dict:
            raise ParamTypeError("For 'TFRecordToMR', feature_dict must be a dict with a feature.")
        listed = check_texts("TFRecordToMR", "bytes_fields", bytes_fields or [])
        check_known("TFRecordToMR", "bytes_fields", listed, list(feature_dict))
        self._schema: Schema = {
            name: _field(name, feature, name in listed) for name, feature in feature_dict.items()
        }

    def run(self) -> None:
        """Write the file."""
        rows = self.tfrecord_iterator()
        write_rows(self._destination, self._schema, "TFRecord to MindRecord", [], rows)

    def tfrecord_iterator(self) -> Iterator[dict[str, Any]]:
        """The examples, as rows of the schema."""
        for number, record in enumerate(_records(self._source)):
            try:
                features = _features(record)
            except (struct.error, ValueError, IndexError, KeyError, TypeError, AttributeError):
                raise ValueError(
                    f"For 'TFRecordToMR', record {number} of '{self._source}' must be a tf.train.Example."
                ) from None
            yield {
                name: _value(self._source, number, name, field, features)
                for name, field in self._schema.items()
            }


def _field(name: str, feature: Any, as_bytes: bool) -> dict[str, Any]:
    kind = getattr(feature, "dtype", None)
    kind = getattr(kind, "name", kind)
    shape = getattr(feature, "shape", None)
    if not isinstance(kind, str) or kind not in _TYPES or not isinstance(shape, (list, tuple)):
        raise ParamValueError(
            f"For 'TFRecordToMR', feature_dict must have features with a shape and a dtype of int64, float32 or string, "
            f"but got {feature!r:.80} for {name!r}."
        )
    field: dict[str, Any] = {"type": "bytes" if as_bytes else _TYPES[kind]}
    if list(shape) not in ([], [1]):
        if kind == "string":
            raise ParamValueError(
                f"For 'TFRecordToMR', a text must be a single value, but {name!r} has shape {shape}."
            )
        field["shape"] = list(shape)
    return field


def _records(path: str) -> Iterator[bytes]:
    """The records of a file, each checked against its sums."""
    with open(path, "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        while head := stream.read(8):
            length = struct.unpack("<Q", head)[0] if len(head) == 8 else size
            if length > size or not _sum_holds(head, stream):
                raise ValueError(f"The TFRecord file '{path}' is damaged before {stream.tell()}.")
            record = stream.read(length)
            if len(record) != length or not _sum_holds(record, stream):
                raise ValueError(f"The TFRecord file '{path}' is damaged before {stream.tell()}.")
            yield record


def _sum_holds(content: bytes, stream: BinaryIO) -> bool:
    crc = _core.io.crc32c(content)
    masked = ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF
    return stream.read(4) == struct.pack("<I", masked)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError


def _message(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a protobuf message: numbers, or the bytes of what has a length."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if wire == 2:
            length, at = _varint(data, at)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise ValueError
        if length > len(data) - at:
            raise ValueError
        yield key >> 3, data[at : at + length]
        at += length


def _features(record: bytes) -> dict[str, tuple[str, list[Any]]]:
    """The features of an Example: names, and lists of one type."""
    found: dict[str, tuple[str, list[Any]]] = {}
    for _, features in _message(record):
        for _, entry in _message(features):
            name, feature = "", b""
            for number, value in _message(entry):
                if number == 1:
                    name = value.decode()
                elif number == 2:
                    feature = value
            for code, items in _message(feature):
                found[name] = _CODES[code], _items(code, items)
    return found


def _items(code: int, data: bytes) -> list[Any]:
    """The items of a list, packed or one by one."""
    values: list[Any] = []
    for _, value in _message(data):
        if code == 1:
            values.append(value)
        elif code == 2:
            values += struct.unpack(f"<{len(value) // 4}f", value)
        elif isinstance(value, int):
            values.append(_signed(value))
        else:
            at = 0
            while at < len(value):
                number, at = _varint(value, at)
                values.append(_signed(number))
    return values


def _signed(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _value(
    path: str, number: int, name: str, field: dict[str, Any], features: dict[str, Any]
) -> Any:
    wanted = "bytes" if field["type"] == "string" else field["type"]
    kind, values = features.get(name, ("none", []))
    if kind != wanted or ("shape" not in field and len(values) != 1):
        raise ValueError(
            f"For 'TFRecordToMR', record {number} of '{path}' must have {field} for {name!r}, but has "
            f"{len(values)} values of type {kind}."
        )
    if "shape" in field:
        return np.array(values, field["type"])
    if field["type"] == "string":
        try:
            return values[0].decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"For 'TFRecordToMR', record {number} of '{path}' must have a text for {name!r}, but {error}. "
                "Use bytes_fields."
            ) from None
    return values[0]

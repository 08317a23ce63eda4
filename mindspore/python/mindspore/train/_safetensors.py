"""The safetensors format: a JSON head with offsets, then the raw tensors.

Read with every size checked against the file before memory is taken.
"""

from __future__ import annotations

import json
import os
import struct
from typing import Any

import numpy as np

from mindspore import _core

_MAX_HEAD = 100_000_000
_CODES = {
    "BOOL": "Bool", "I8": "Int8", "I16": "Int16", "I32": "Int32", "I64": "Int64", "U8": "UInt8",
    "U16": "UInt16", "U32": "UInt32", "U64": "UInt64", "F16": "Float16", "BF16": "BFloat16",
    "F32": "Float32", "F64": "Float64", "C64": "Complex64",
}  # fmt: skip
_NAMES = {name: code for code, name in _CODES.items()}
_CRC_KEY = "mindspore_crc32c"


def _storage(dtype: str) -> np.dtype:
    return np.dtype("uint16" if dtype == "BFloat16" else dtype.lower())


def write(
    path: str, entries: list[tuple[str, str, list[int], np.ndarray]], notes: dict[str, str]
) -> None:
    """Write tensors, and `notes` (text) as metadata, with a checksum of the tensor bytes."""
    head: dict[str, Any] = {}
    offset = 0
    parts = []
    for name, dtype, dims, array in entries:
        if dtype not in _NAMES:
            raise ValueError(
                f"For 'save_checkpoint', safetensors files cannot hold '{name}' of type {dtype}."
            )
        size = array.nbytes
        head[name] = {
            "dtype": _NAMES[dtype],
            "shape": dims,
            "data_offsets": [offset, offset + size],
        }
        offset += size
        parts.append(array.tobytes())
    data = b"".join(parts)
    head["__metadata__"] = {**notes, _CRC_KEY: f"{_core.io.crc32c(data):08x}"}
    text = json.dumps(head, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    _core.io.write_file(path, struct.pack("<Q", len(text)) + text + data)


def read(path: str) -> tuple[list[tuple[str, str, list[int], np.ndarray]], dict[str, str]]:
    """Tensors and text notes of a file. Damage is a ValueError that names it."""
    size = os.path.getsize(path)
    with open(path, "rb") as stream:
        start = stream.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else size
        if length > min(size - 8, _MAX_HEAD):
            raise ValueError(
                f"The file '{path}' is damaged: its head is longer than the file or the limit."
            )
        try:
            head = json.loads(stream.read(length))
        except ValueError as error:
            raise ValueError(
                f"The file '{path}' is damaged: its head is no JSON text ({error})."
            ) from None
        data = np.fromfile(stream, np.uint8)
    if not isinstance(head, dict):
        raise ValueError(f"The file '{path}' is damaged: its head is no JSON object.")
    notes = head.pop("__metadata__", {})
    if not isinstance(notes, dict) or not all(isinstance(v, str) for v in notes.values()):
        raise ValueError(f"The file '{path}' is damaged: its metadata must be text.")
    crc = notes.pop(_CRC_KEY, None)
    if crc is not None and crc != f"{_core.io.crc32c(data):08x}":
        raise ValueError(f"The file '{path}' is damaged: the checksum of its tensors does not fit.")
    return _tensors(path, head, data), notes


def _tensors(path: str, head: dict[str, Any], data: np.ndarray) -> list[Any]:
    found = []
    end = 0
    for name, info in sorted(head.items(), key=lambda item: _offsets(path, *item)):
        begin, stop = _offsets(path, name, info)
        dtype, dims = _CODES.get(info.get("dtype")), info.get("shape")
        if dtype is None or not isinstance(dims, list) or not all(_is_size(d) for d in dims):
            raise ValueError(f"The file '{path}' is damaged: '{name}' has no valid type or shape.")
        count = 1
        for dim in dims:
            count *= dim
        # No holes and no overlaps: every byte belongs to one tensor.
        if begin != end or stop > len(data) or stop - begin != count * _storage(dtype).itemsize:
            raise ValueError(f"The file '{path}' is damaged: the bytes of '{name}' do not fit.")
        end = stop
        array = data[begin:stop].view(_storage(dtype)) if begin % 8 == 0 else (
            np.frombuffer(data[begin:stop].tobytes(), _storage(dtype)))  # fmt: skip
        if dtype == "Bool" and count and int(data[begin:stop].max()) > 1:
            raise ValueError(
                f"The file '{path}' is damaged: '{name}' has a bool that is neither 0 nor 1."
            )
        found.append((name, dtype, dims, array.reshape(dims)))
    if end != len(data):
        raise ValueError(
            f"The file '{path}' is damaged: {len(data) - end} bytes belong to no tensor."
        )
    return found


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _offsets(path: str, name: str, info: Any) -> tuple[int, int]:
    offsets = info.get("data_offsets") if isinstance(info, dict) else None
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(_is_size(o) for o in offsets):
        raise ValueError(f"The file '{path}' is damaged: '{name}' has no valid offsets.")
    return offsets[0], offsets[1]

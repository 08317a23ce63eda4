"""Messages of protocol buffers, field by field, and the records of files that hold them."""

from __future__ import annotations

import struct

import numpy as np

from mindspore import _core

# What follows the number of a field, by the kind of its value.
_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5


def _varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def integer(field: int, value: int) -> bytes:
    """A field that holds an integer, of any width."""
    return _varint(field << 3 | _VARINT) + _varint(value)


def double(field: int, value: float) -> bytes:
    """A field of 64 bits."""
    return _varint(field << 3 | _DOUBLE) + struct.pack("<d", value)


def single(field: int, value: float) -> bytes:
    """A field of 32 bits; what is beyond their range is infinite."""
    with np.errstate(over="ignore"):
        return _varint(field << 3 | _FLOAT) + np.array(value, "<f4").tobytes()


def message(field: int, value: bytes) -> bytes:
    """A field that holds bytes, a text or another message."""
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


def text(field: int, value: str) -> bytes:
    """A field that holds a text."""
    return message(field, value.encode(errors="replace"))


def record(content: bytes) -> bytes:
    """A message as the file holds it."""
    length = struct.pack("<Q", len(content))
    return length + _sum(length) + content + _sum(content)


def _sum(data: bytes) -> bytes:
    crc = _core.io.crc32c(data)
    return struct.pack("<I", (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF)

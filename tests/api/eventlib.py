"""Reads event files, knowing nothing of the writer."""

from __future__ import annotations

import struct


def fields(data: bytes) -> dict[int, list]:
    """The fields of a message of protocol buffers."""
    found: dict[int, list] = {}
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value: object = varint()
        elif kind == 2:
            size = varint()
            value = data[at : at + size]
            at += size
        else:
            size, code = (8, "<d") if kind == 1 else (4, "<f")
            value = struct.unpack(code, data[at : at + size])[0]
            at += size
        found.setdefault(key >> 3, []).append(value)
    return found


def events(folder) -> list[dict[int, list]]:
    (path,) = folder.glob("*tfevents*summary*")
    data, found = path.read_bytes(), []
    while data:
        (size,) = struct.unpack("<Q", data[:8])
        found.append(fields(data[12 : 12 + size]))
        assert len(data) >= 16 + size
        data = data[16 + size :]
    assert found[0][3] == [b"brain.Event:2"]
    return found[1:]


def values(event) -> dict[str, dict]:
    parts = [fields(v) for v in fields(event[5][0])[1]]
    return {p[1][0].decode(): p for p in parts}

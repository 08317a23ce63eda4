"""Files of summary events: records of a length, a sum over it, a message and a sum over that. Messages are those of the format
MindSpore.Event:1, written here field by field."""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor

# ---- protocol buffers: (field, value) by the kind of the value
_VARINT, _DOUBLE, _BYTES, _FLOAT = 0, 1, 2, 5


def _varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _integer(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value)


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | _DOUBLE) + struct.pack("<d", value)


def _float(field: int, value: float) -> bytes:
    return _varint(field << 3 | _FLOAT) + struct.pack("<f", value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(len(value)) + value


def record(message: bytes) -> bytes:
    """A message as the file holds it."""
    length = struct.pack("<Q", len(message))
    return length + _sum(length) + message + _sum(message)


def _sum(data: bytes) -> bytes:
    crc = _core.io.crc32c(data)
    return struct.pack("<I", (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF)


def version(time: float) -> bytes:
    """The first event of a file."""
    return _double(1, time) + _bytes(3, b"MindSpore.Event:1")


def event(time: float, step: int, values: list[tuple[str, str, Any]]) -> bytes:
    """Values of a step, each (kind, name, value)."""
    parts = [_bytes(1, _bytes(1, name.encode()) + _ENCODERS[k](v)) for k, name, v in values]
    return _double(1, time) + _integer(2, step) + _bytes(5, b"".join(parts))


def _array(value: Any) -> np.ndarray:
    if isinstance(value, Tensor):
        value = value.asnumpy()
    return np.asarray(value)


def _scalar(value: Any) -> bytes:
    return _float(3, float(_array(value).reshape(-1)[0]))


_DTYPES = {"bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7}
_DTYPES.update(uint32=8, uint64=9, float16=10, float32=11, float64=12)


def _tensor(value: Any) -> bytes:
    array = _array(value)
    sizes = b"".join(_integer(1, n) for n in array.shape)
    kept = array.astype("<f4")  # the message holds numbers of this type
    return _bytes(8, sizes + _integer(2, _DTYPES["float32"]) + _bytes(3, kept.tobytes()))


_MOST_BUCKETS = 90


def _histogram(value: Any) -> bytes:
    array = _array(value).astype(np.float64).reshape(-1)
    finite = array[np.isfinite(array)]
    low, high = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    buckets = min(max(1, math.ceil(math.sqrt(finite.size))), _MOST_BUCKETS)
    if low == high:
        low, high, buckets = low - 0.5, high + 0.5, 1
    counts, edges = np.histogram(finite, buckets, (low, high))
    parts = [
        _bytes(1, _double(1, left) + _double(2, right - left) + _integer(3, int(count)))
        for count, left, right in zip(counts, edges, edges[1:])
    ]
    parts += [_integer(2, int(np.isnan(array).sum()))]
    parts += [
        _integer(3 + i, int((array == sign * np.inf).sum())) for i, sign in enumerate((1, -1))
    ]
    extremes = (finite.max(), finite.min()) if finite.size else (0.0, 0.0)
    numbers = (*extremes, finite.sum())
    parts += [_double(5 + i, float(number)) for i, number in enumerate(numbers)]
    return _bytes(9, b"".join([*parts, _integer(8, array.size)]))


def _image(value: Any) -> bytes:
    """The first image of a batch [N, C, H, W]; what exceeds [0, 255] is scaled into it."""
    image = _array(value)[0].astype(np.float64)
    image = np.nan_to_num(image, posinf=255.0, neginf=0.0)
    low, high = image.min(), image.max()
    if low < 0 or high > 255:
        image = (image - low) / max(high - low, 1e-12) * 255
    elif high <= 1:
        image = image * 255
    channels, height, width = image.shape
    pixels = np.transpose(image, (1, 2, 0)).astype(np.uint8)
    head = _integer(1, height) + _integer(2, width) + _integer(3, channels)
    return _bytes(4, head + _bytes(4, _png(pixels)))


def _png(pixels: np.ndarray) -> bytes:
    height, width, channels = pixels.shape
    color = {1: 0, 3: 2, 4: 6}[channels]

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, color, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


_ENCODERS = {"scalar": _scalar, "tensor": _tensor, "histogram": _histogram, "image": _image}

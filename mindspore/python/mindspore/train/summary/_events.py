"""Files of summary events: records of a length, a sum over it, a message and a sum over that. The messages, written here field by
field, are those that TensorBoard reads and those that MindSpore's own reader does: where the two keep a value in different
fields, both are written."""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any

import numpy as np

from mindspore._core import Tensor
from mindspore.train.summary._wire import double, integer, message, single


def version(time: float) -> bytes:
    """The first event of a file."""
    return double(1, time) + message(3, b"brain.Event:2")


def event(time: float, step: int, values: list[tuple[str, str, Any]]) -> bytes:
    """Values of a step, each (kind, name, value)."""
    parts = [message(1, message(1, name.encode()) + _ENCODERS[k](v)) for k, name, v in values]
    return double(1, time) + integer(2, step) + message(5, b"".join(parts))


def _array(value: Any) -> np.ndarray:
    if isinstance(value, Tensor):
        value = value.asnumpy()
    return np.asarray(value)


def _scalar(value: Any) -> bytes:
    number = float(_array(value).reshape(-1)[0])
    return single(2, number) + single(3, number)


_DTYPES = {"bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7}
_DTYPES.update(uint32=8, uint64=9, float16=10, float32=11, float64=12)


def _tensor(value: Any) -> bytes:
    array = _array(value)
    sizes = b"".join(integer(1, n) for n in array.shape)
    kept = array.astype("<f4")  # the message holds numbers of this type
    return message(8, sizes + integer(2, _DTYPES["float32"]) + message(3, kept.tobytes()))


_MOST_BUCKETS = 90


def _histogram(value: Any) -> bytes:
    array = _array(value).reshape(-1)
    if array.dtype.kind != "f" or array.itemsize < 4:
        array = array.astype(np.float64)
    finite = array[mask] if not (mask := np.isfinite(array)).all() else array
    low, high = _extremes(finite)
    buckets = min(max(1, math.ceil(math.sqrt(finite.size))), _MOST_BUCKETS)
    if not high - low > 0 or not math.isfinite(high - low):
        low, high, buckets = low - 0.5, high + 0.5, 1
    counts = _counted(finite, low, high, buckets)
    edges = np.array([low, high]) if buckets == 1 else np.linspace(low, high, buckets + 1)
    return _tensorboard_histogram(finite, counts, edges) + _own_histogram(
        array, finite, counts, edges
    )


def _counted(finite: np.ndarray, low: float, high: float, buckets: int) -> np.ndarray:
    """How many values fall into each bucket; several times as quick as np.histogram."""
    if buckets == 1:
        return np.array([finite.size])
    parts = np.subtract(finite, low, dtype=np.float64) / (high - low)  # of the range
    places = (parts * buckets).astype(np.intp)
    return np.bincount(np.clip(places, 0, buckets - 1), minlength=buckets)


def _extremes(finite: np.ndarray) -> tuple[float, float]:
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)


def _tensorboard_histogram(finite: np.ndarray, counts: np.ndarray, edges: np.ndarray) -> bytes:
    with np.errstate(over="ignore"):
        squares = float(np.square(finite, dtype=np.float64).sum())
        total = float(finite.sum(dtype=np.float64))
    numbers = (*_extremes(finite), float(finite.size), total, squares)
    parts = [double(1 + i, number) for i, number in enumerate(numbers)]
    parts += [
        message(6, edges[1:].astype("<f8").tobytes()),
        message(7, counts.astype("<f8").tobytes()),
    ]
    return message(5, b"".join(parts))


def _own_histogram(
    array: np.ndarray, finite: np.ndarray, counts: np.ndarray, edges: np.ndarray
) -> bytes:
    # Field by field this would take most of the time of a record: 1 and 2 are doubles, 3 is an integer.
    parts = [
        message(
            1, struct.pack("<BdBd", 1 << 3 | 1, left, 2 << 3 | 1, right - left) + integer(3, count)
        )
        for count, left, right in zip(counts.tolist(), edges.tolist(), edges[1:].tolist())
    ]
    parts += [integer(2, int(np.isnan(array).sum()))]
    parts += [integer(3 + i, int((array == sign * np.inf).sum())) for i, sign in enumerate((1, -1))]
    low, high = _extremes(finite)
    parts += [
        double(5 + i, number)
        for i, number in enumerate((high, low, float(finite.sum(dtype=np.float64))))
    ]
    return message(9, b"".join([*parts, integer(8, array.size)]))


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
    head = integer(1, height) + integer(2, width) + integer(3, channels)
    return message(4, head + message(4, _png(pixels)))


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

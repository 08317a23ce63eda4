"""Files of summary events: records of a length, a sum over it, a message and a sum over that. The messages, written here field by
field, are those that TensorBoard reads and those that MindSpore's own reader does: where the two keep a value in different
fields, both are written."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from mindspore._core import Tensor
from mindspore.common import _png
from mindspore.train.summary._wire import double, integer, message, single, text


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


def _numbers(value: Any) -> bytes:
    """The fields of a tensor, which holds numbers of 32 bits."""
    array = _array(value)
    sizes = b"".join(integer(1, n) for n in array.shape)
    kept = array.astype("<f4").tobytes()
    return sizes + integer(2, _DTYPES["float32"]) + message(3, kept)


def _tensor(value: Any) -> bytes:
    return message(8, _numbers(value))


def _points(numbers: tuple[Any, Any, Any]) -> bytes:
    """Their x, y and height."""
    return b"".join(message(1 + i, _numbers(values)) for i, values in enumerate(numbers))


def _landscape(drawn: dict[str, Any]) -> bytes:
    parts = [message(1, _points(drawn["grid"]))]
    if "path" in drawn:
        numbers = b"".join(integer(1, number) for number in drawn["numbers"])
        parts.append(message(2, numbers + message(2, _points(drawn["path"]))))
    about = text(1, drawn["kind"]) + text(2, drawn["unit"]) + integer(3, drawn["steps"])
    parts += [message(3, about), message(4, _points(drawn["end"]))]
    return message(10, b"".join(parts))


_MOST_BUCKETS = 90


class _Totals:
    """What both histograms say of all values, each found once: the passes over the values are what a record takes."""

    def __init__(self, array: np.ndarray) -> None:
        self.size = array.size
        self.positive = self.negative = self.nan = 0
        if not (mask := np.isfinite(array)).all():
            self.nan = int(np.isnan(array).sum())
            self.positive, self.negative = (int((array == s * np.inf).sum()) for s in (1, -1))
            array = array[mask]
        self.finite = array
        self.low, self.high = (float(array.min()), float(array.max())) if array.size else (0.0, 0.0)
        self.sum = float(array.sum(dtype=np.float64))


def _histogram(value: Any) -> bytes:
    array = _array(value).reshape(-1)
    if array.dtype.kind != "f" or array.itemsize < 4:
        array = array.astype(np.float64)
    totals = _Totals(array)
    low, high, finite = totals.low, totals.high, totals.finite
    buckets = min(max(1, math.ceil(math.sqrt(finite.size))), _MOST_BUCKETS)
    if not high - low > 0 or not math.isfinite(high - low):
        low, high, buckets = low - 0.5, high + 0.5, 1
    counts = _counted(finite, low, high, buckets)
    edges = np.array([low, high]) if buckets == 1 else np.linspace(low, high, buckets + 1)
    return _tensorboard_histogram(totals, counts, edges) + _own_histogram(totals, counts, edges)


def _counted(finite: np.ndarray, low: float, high: float, buckets: int) -> np.ndarray:
    """How many values fall into each bucket; several times as quick as np.histogram."""
    if buckets == 1:
        return np.array([finite.size])
    parts = np.subtract(finite, low, dtype=np.float64)
    parts /= high - low  # of the range
    parts *= buckets
    places = parts.astype(np.intp)  # none is negative
    return np.bincount(np.minimum(places, buckets - 1, out=places), minlength=buckets)


def _tensorboard_histogram(totals: _Totals, counts: np.ndarray, edges: np.ndarray) -> bytes:
    with np.errstate(over="ignore"):
        squares = float(np.square(totals.finite, dtype=np.float64).sum())
    numbers = (totals.low, totals.high, float(totals.finite.size), totals.sum, squares)
    parts = [double(1 + i, number) for i, number in enumerate(numbers)]
    parts += [
        message(6, edges[1:].astype("<f8").tobytes()),
        message(7, counts.astype("<f8").tobytes()),
    ]
    return message(5, b"".join(parts))


def _own_histogram(totals: _Totals, counts: np.ndarray, edges: np.ndarray) -> bytes:
    # Field by field this would take most of the time of a record: 1 and 2 are doubles, 3 is an integer.
    parts = [
        message(
            1, struct.pack("<BdBd", 1 << 3 | 1, left, 2 << 3 | 1, right - left) + integer(3, count)
        )
        for count, left, right in zip(counts.tolist(), edges.tolist(), edges[1:].tolist())
    ]
    whole = (totals.nan, totals.positive, totals.negative)
    parts += [integer(2 + i, number) for i, number in enumerate(whole)]
    numbers = (totals.high, totals.low, totals.sum)
    parts += [double(5 + i, number) for i, number in enumerate(numbers)]
    return message(9, b"".join([*parts, integer(8, totals.size)]))


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
    return message(4, head + message(4, _png.encoded(pixels)))


_ENCODERS = {
    "scalar": _scalar,
    "tensor": _tensor,
    "histogram": _histogram,
    "image": _image,
    "landscape": _landscape,
}

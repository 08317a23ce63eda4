"""Rows as the cache keeps them: the type, shape and bytes of each column, nothing that could run."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.dataset.engine.values import Row

_ALIGNED = 16  # where columns begin, so that arrays can be looked at in place
_KINDS = "biufcUS"


def encoded(row: Sequence[Any]) -> list[Any]:
    """A row as bytes, in parts that lie where they lay."""
    head = bytearray(struct.pack("<I", len(row)))
    arrays = []
    for value in row:
        array = np.asarray(value)
        if isinstance(value, dict) or array.dtype.kind not in _KINDS:
            kind = "dict" if isinstance(value, dict) else str(array.dtype)
            raise TypeError(
                f"For 'DatasetCache', columns must hold numbers or text, but got {kind}."
            )
        name = array.dtype.str.encode()
        head += struct.pack(f"<BB{array.ndim}q", len(name), array.ndim, *array.shape) + name
        arrays.append(array)
    parts: list[Any] = [bytes(head) + bytes(-len(head) % _ALIGNED)]
    for array in arrays:
        plain = array.dtype.kind not in "US" and array.size
        parts.append(
            np.ascontiguousarray(array).reshape(-1).view(np.uint8) if plain else array.tobytes()
        )
        parts.append(bytes(-array.nbytes % _ALIGNED))
    return parts


def decoded(content: Any) -> Row:
    """The inverse; the arrays lie in `content`."""
    (count,) = struct.unpack_from("<I", content)
    place, facts = 4, []
    for _ in range(count):
        length, ndim = struct.unpack_from("<BB", content, place)
        shape = struct.unpack_from(f"<{ndim}q", content, place + 2)
        place += 2 + 8 * ndim
        facts.append((np.dtype(bytes(content[place : place + length]).decode()), shape))
        place += length
    values = []
    for dtype, shape in facts:
        place += -place % _ALIGNED
        values.append(np.ndarray(shape, dtype, content, place))
        place += values[-1].nbytes
    return tuple(values)

"""Arrays as PNG files, without a library."""

from __future__ import annotations

import struct
import zlib

import numpy as np

_COLORS = {1: 0, 3: 2, 4: 6}  # kinds of pixels by their channels


def encoded(pixels: np.ndarray) -> bytes:
    """Bytes of height × width × 1, 3 or 4 as a file."""
    height, width, channels = pixels.shape

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    lines = b"".join(b"\0" + line.tobytes() for line in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, _COLORS[channels], 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts

"""What small files are made of: tables of numbers, pictures, sounds; and the register of what is written into a folder."""

from __future__ import annotations

import struct
import wave
import zlib
from collections.abc import Callable
from pathlib import Path

SAMPLES: dict[str, Callable[[Path], None]] = {}


def sample(function: Callable[[Path], None]) -> Callable[[Path], None]:
    """Makes a function known by its name."""
    SAMPLES[function.__name__] = function
    return function


def put(path: Path, content: str | bytes) -> None:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def png(number: int, gray: bool = False) -> bytes:
    """A picture of 2×3 that no other number has."""
    pixel = [(number * 37 + i * 11) % 256 for i in range(6 if gray else 18)]
    width = 3 if gray else 9
    rows = b"".join(b"\0" + bytes(pixel[i : i + width]) for i in range(0, len(pixel), width))

    def chunk(kind: bytes, content: bytes) -> bytes:
        sum_of = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", sum_of)

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 0 if gray else 2, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + head + body


def idx(shape: tuple[int, ...], content: bytes, kind: int = 8) -> bytes:
    """An IDX file."""
    return struct.pack(f">BBBB{len(shape)}I", 0, 0, kind, len(shape), *shape) + content


def sound(path: Path, number: int, rate: int = 8000, channels: int = 1) -> None:
    """A WAV file of four samples."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = [(number + 1) * 1000 * (-1) ** i + i for i in range(4 * channels)]
    with wave.open(str(path), "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        out.writeframes(struct.pack(f"<{len(values)}h", *values))


def gray_images(count: int, size: int = 28) -> bytes:
    """The pixels of some images."""
    return b"".join(bytes((n * 31 + i) % 256 for i in range(size * size)) for n in range(count))


def sphere(count: int, order: str = "01") -> bytes:
    """A SPHERE file of some samples, at 16 kHz."""
    head = (
        f"NIST_1A\n   1024\nsample_count -i {count}\nsample_rate -i 16000\nchannel_count -i 1\nsample_n_bytes -i 2\n"
        f"sample_byte_format -s2 {order}\nsample_sig_bits -i 16\nsample_coding -s3 pcm\nend_head\n"
    )
    samples = [i * 37 % 20000 - 10000 for i in range(count)]
    form = "<" if order == "01" else ">"
    return head.encode().ljust(1024, b"\0") + struct.pack(f"{form}{count}h", *samples)

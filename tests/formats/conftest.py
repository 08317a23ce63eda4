"""What the tests of file formats share: small contents and ways to damage a file."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

GOLDEN = Path(__file__).parent / "golden"


def entries() -> list:
    """Tensors of several types and shapes, a scalar, an empty one, a text."""
    text = np.frombuffer("größer".encode("utf-32-le"), np.uint8)
    return [
        ("layer.weight", "Float32", [4, 3], np.linspace(-1, 1, 12, dtype=np.float32)),
        ("scalar", "Float64", [], np.array(np.pi)),
        ("count", "Int64", [2], np.array([-1, 2**40])),
        ("mask", "Bool", [3], np.array([True, False, True])),
        ("brain", "BFloat16", [2], np.array([0x3FC0, 0xC020], np.uint16)),
        ("empty", "Float32", [0, 3], np.zeros((0, 3), np.float32)),
        ("note", "str", [0], text),
    ]


def as_values(tensors: list) -> dict:
    """Comparable contents: name -> (type, shape, bytes)."""
    return {name: (dtype, list(dims), array.tobytes()) for name, dtype, dims, array in tensors}


def expected() -> dict:
    return {name: (dtype, dims, array.tobytes()) for name, dtype, dims, array in entries()}


def mutants(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Damaged copies of a file: cut, flipped, overwritten, moved, lengthened, spliced."""
    rng = random.Random(seed)
    size = len(content)
    for _ in range(count):
        data = bytearray(content)
        kind = rng.randrange(9)
        at = rng.randrange(size)
        span = rng.randint(1, min(64, size))
        if kind == 0:
            del data[at:]
        elif kind == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            data[at % 40] ^= 1 << rng.randrange(8)
        elif kind == 3:
            data[at : at + span] = b"\xff" * min(span, size - at)
        elif kind == 4:
            data[at : at + span] = b"\0" * min(span, size - at)
        elif kind == 5:
            del data[at : at + span]
        elif kind == 6:
            other = rng.randrange(size)
            data[at : at + span], data[other : other + span] = (
                data[other : other + span],
                data[at : at + span],
            )
        elif kind == 7:
            data += rng.randbytes(span)
        else:
            data[at:at] = rng.choice([b"\xff" * 9 + b"\x01", b"\x80" * 30, content[at:]])
        if bytes(data) != content:
            yield bytes(data)


@pytest.fixture
def golden() -> Path:
    """The folder of files that other versions wrote."""
    return GOLDEN

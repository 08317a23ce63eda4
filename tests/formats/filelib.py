"""What the tests of file formats share: small contents and ways to damage a file."""

from __future__ import annotations

import itertools
import os
import random
import resource
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor


def entries() -> list:
    """Tensors of several types and shapes, a scalar, an empty one, a text."""
    return [
        ("layer.weight", Tensor(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3))),
        ("scalar", Tensor(np.array(np.pi))),
        ("count", Tensor(np.array([-1, 2**40]))),
        ("mask", Tensor(np.array([True, False, True]))),
        ("brain", Tensor(np.array([1.5, -2.5], np.float32)).astype(ms.bfloat16)),
        ("empty", Tensor(np.zeros((0, 3), np.float32))),
        ("note", "größer".encode("utf-32-le")),
    ]


def first_layout() -> list:
    """What the golden files "first_layout" hold, which an earlier release wrote."""
    return [
        ("matrix", Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))),
        ("brain", Tensor(np.array([1.5, -2.5], np.float32)).astype(ms.bfloat16)),
        ("scalar", Tensor(np.array(3.5, np.float32))),
        ("flag", Tensor(np.array([True, False]))),
        ("double", Tensor(np.array([np.pi]))),
        ("empty", Tensor(np.zeros((0, 3), np.float32))),
        ("epoch", Tensor(np.array(3))),
        ("note", "größer".encode("utf-32-le")),
    ]


def as_values(items: list) -> dict:
    """Comparable contents: name -> (type, shape, bytes)."""
    return {
        name: ("str", [], value)
        if isinstance(value, bytes)
        else (str(value.dtype), list(value.shape), value.asnumpy().tobytes())
        for name, value in items
    }


def expected() -> dict:
    return as_values(entries())


def overwrite(path: Path, content: bytes) -> None:
    """Write in place: some file systems flush each file that is emptied and written anew."""
    path.touch()
    with open(path, "r+b") as file:
        file.write(content)
        file.truncate()


def flips(path: Path, content: bytes, places: Iterable[tuple[int, int]]) -> Iterator[None]:
    """One after the other, the file has each (byte, bit) of the content flipped."""
    path.write_bytes(content)
    with open(path, "r+b", buffering=0) as file:
        for position, bit in places:
            os.pwrite(file.fileno(), bytes([content[position] ^ 1 << bit]), position)
            yield
            os.pwrite(file.fileno(), content[position : position + 1], position)


def all_bits(content: bytes) -> Iterator[tuple[int, int]]:
    """(byte, bit) of each bit."""
    return itertools.product(range(len(content)), range(8))


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


def refuses(load: Callable[[Path], object], path: Path, content: bytes, says: str) -> None:
    """A file with hostile content is refused by name, and takes no memory."""
    path.write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=says) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024

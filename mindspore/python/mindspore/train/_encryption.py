"""Encrypted checkpoints in MindSpore's layout, docs/formats/checkpoint.md. The ciphers are those of the package `cryptography`."""

from __future__ import annotations

import importlib.util
import os
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

from mindspore import _core
from mindspore.train._tensors import Entry

# Each mode's mark at the beginning of a block, as it stands in the file.
_MARKS = {"AES-GCM": b"\xd8\x5e\x3a\x7f", "AES-CBC": b"\xd9\x5e\x3a\x7f", "SM4-CBC": b"\xda\x5e\x3a\x7f"}  # fmt: skip
_MARK_BYTES, _TAG_BYTES, _VECTOR_BYTES = 4, 16, 16
_NONCE_BYTES = 12  # of the vector, which AES-GCM uses; the rest means nothing
_BLOCK_BYTES = 64 << 20  # of a checkpoint, encrypted at once
_TRAILER = b"crc_num"  # behind an encrypted file with crc_check=True; it sums nothing there
_TRAILER_BYTES = 17


def check_key(op: str, prefix: str, key: Any, mode: Any, format: Any) -> None:
    """Raise unless key and mode can be used; `prefix` is "enc" or "dec"."""
    if key is None:
        return
    if not isinstance(key, bytes):
        raise TypeError(
            f"For '{op}', '{prefix}_key' must be bytes or None, but got {type(key).__name__}."
        )
    if mode not in _MARKS:
        raise ValueError(
            f"For '{op}', '{prefix}_mode' must be one of {list(_MARKS)}, but got {mode!r}."
        )
    sizes = (16,) if mode == "SM4-CBC" else (16, 24, 32)
    if len(key) not in sizes:
        raise ValueError(
            f"For '{op}', '{prefix}_key' must have {' or '.join(map(str, sizes))} bytes, but got {len(key)}."
        )
    if format == "safetensors":
        raise ValueError(
            f"For '{op}', '{prefix}_key' must be None where 'format' is 'safetensors', which has no encryption."
        )
    if importlib.util.find_spec("cryptography") is None:
        raise ImportError(
            f"For '{op}', '{prefix}_key' needs the package 'cryptography': pip install mindspore[encryption]"
        )


def _cipher(key: bytes, mode: str, vector: bytes, tag: bytes | None = None) -> Any:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if mode == "AES-GCM":
        return Cipher(algorithms.AES(key), modes.GCM(vector[:_NONCE_BYTES], tag))
    if mode == "AES-CBC":
        return Cipher(algorithms.AES(key), modes.CBC(vector))
    return Cipher(algorithms.SM4(key), modes.CBC(vector))


def write(path: str, entries: list[Entry], key: bytes, mode: str) -> None:
    """Write a checkpoint; nothing of it reaches the disk in plain."""
    with _core.io.Writer(path) as file:
        _core.io.checkpoint_blocks(
            entries, _BLOCK_BYTES, lambda block: file.write(_encrypted(block, key, mode))
        )
        file.commit()


def _encrypted(block: bytes, key: bytes, mode: str) -> bytes:
    vector = os.urandom(_VECTOR_BYTES)
    encryptor = _cipher(key, mode, vector).encryptor()
    if mode != "AES-GCM":
        block += bytes([16 - len(block) % 16]) * (16 - len(block) % 16)
    text = encryptor.update(block) + encryptor.finalize()
    tag = encryptor.tag if mode == "AES-GCM" else b""
    sizes = struct.pack("<II", 8 + len(vector) + len(text), len(vector))
    return b"".join([_MARKS[mode], tag, sizes, vector, struct.pack("<I", len(text)), text])


def is_encrypted(path: str) -> bool:
    """Whether a file begins as an encrypted one does."""
    with open(path, "rb") as file:
        return file.read(_MARK_BYTES) in _MARKS.values()


def read(path: str, key: bytes, mode: str, choose: Any) -> tuple[list[Entry], bool]:
    """What a file holds of the names for which `choose` is true, and whether a checksum or a tag covered it.

    The plain bytes are in memory alone, and go with the end of the call.
    """
    fd = os.memfd_create("checkpoint")
    try:
        with open(path, "rb") as file:
            for block in _decrypted(file, path, key, mode):
                rest = memoryview(block)
                while rest:
                    rest = rest[os.write(fd, rest) :]
        try:
            entries, checked = _core.io.load_checkpoint(f"/proc/self/fd/{fd}", choose)
        except ValueError as error:
            text = str(error).replace(f"/proc/self/fd/{fd}", path)
            raise ValueError(text + " Is the key the right one?") from None
        return entries, checked or mode == "AES-GCM"
    finally:
        os.close(fd)


def _decrypted(file: BinaryIO, path: str, key: bytes, mode: str) -> Iterator[bytes]:
    rest = os.fstat(file.fileno()).st_size
    if rest == 0:
        raise _damage(path, "it is empty")
    while rest > 0:
        mark = _take(file, path, min(rest, _MARK_BYTES))
        if mark == _TRAILER[:_MARK_BYTES] and rest == _TRAILER_BYTES:
            return
        if mark != _MARKS[mode]:
            raise ValueError(
                f"For 'load_checkpoint', '{path}' must be encrypted with {mode}, but it is not, or it is damaged."
            )
        tag = _take(file, path, _TAG_BYTES) if mode == "AES-GCM" else b""
        size, vector_size = struct.unpack("<II", _take(file, path, 8))
        taken = _MARK_BYTES + len(tag) + 4 + size
        if vector_size != _VECTOR_BYTES or taken > rest or size < 8 + vector_size:
            raise _damage(path, "the sizes in it do not fit")
        vector = _take(file, path, vector_size)
        (length,) = struct.unpack("<I", _take(file, path, 4))
        if length != size - 8 - vector_size:
            raise _damage(path, "the sizes in it do not fit")
        yield _plain(_take(file, path, length), path, key, mode, vector, tag)
        rest -= taken


def _take(file: BinaryIO, path: str, count: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        raise _damage(path, "it ends too early")
    return data


def _plain(text: bytes, path: str, key: bytes, mode: str, vector: bytes, tag: bytes) -> bytes:
    from cryptography.exceptions import InvalidTag

    decryptor = _cipher(key, mode, vector, tag or None).decryptor()
    try:
        block = decryptor.update(text) + decryptor.finalize()
    except (InvalidTag, ValueError):
        block = b""
    if mode == "AES-GCM":
        if len(block) != len(text) or not text:
            raise _unfit(path)
        return block
    padding = block[-1] if block else 0
    if not 1 <= padding <= 16 or block[-padding:] != bytes([padding]) * padding:
        raise _unfit(path)
    return block[:-padding]


def _unfit(path: str) -> ValueError:
    return ValueError(
        f"For 'load_checkpoint', 'dec_key' must be the key of '{path}', but it does not fit, or the file is damaged."
    )


def _damage(path: str, what: str) -> ValueError:
    return ValueError(f"The encrypted checkpoint '{path}' is damaged: {what}.")


__all__ = ["check_key", "is_encrypted", "read", "write"]

"""The safetensors format: a JSON head with offsets, then the raw tensors; docs/formats/safetensors.md.

Read with every size checked against the file before memory is taken. Checksums are in the head: of the tensors,
and of the head itself, so that every byte of a file from here is under one.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore.common.tensor import Tensor
from mindspore.train._tensors import Entry, text_entry

_MAX_HEAD = 100_000_000
_CODES = {
    "BOOL": "Bool", "I8": "Int8", "I16": "Int16", "I32": "Int32", "I64": "Int64", "U8": "UInt8",
    "U16": "UInt16", "U32": "UInt32", "U64": "UInt64", "F16": "Float16", "BF16": "BFloat16",
    "F32": "Float32", "F64": "Float64", "C64": "Complex64",
}  # fmt: skip
_NAMES = {name: code for code, name in _CODES.items()}
_ITEM_BYTES = {code: int(re.sub(r"\D", "", code) or 8) // 8 for code in _CODES}
_METADATA = "__metadata__"
_DATA_KEY, _HEAD_KEY = "mindspore_crc32c", "mindspore_crc32c_head"

# A head from here begins so. The first of these bytes alone say that the rest must be there too: where one bit of
# the second key is damaged, the head is no valid one of the first layout, which had only the first key.
_SEAL_START = f'{{"{_METADATA}":{{"{_DATA_KEY}":"'
_SEAL = _SEAL_START + f'%08x","{_HEAD_KEY}":"%08x"'
_SEAL_PATTERN = re.compile(re.escape(_SEAL).replace("%08x", "([0-9a-f]{8})").encode())


def write(path: str, entries: list[Entry]) -> None:
    """Write tensors, and texts as metadata."""
    rest = _head_after_seal(entries)
    with _core.io.Writer(path) as file:
        file.write(_head(rest, 0, 0))
        crc = 0
        for _, value in entries:
            if isinstance(value, Tensor):
                crc = file.write_tensor(value, crc)
        file.patch(0, _head(rest, crc, _core.io.crc32c(_head(rest, crc, 0))))
        file.commit()


def _head(rest: bytes, data_crc: int, head_crc: int) -> bytes:
    """The head with its length. Its own sum is that of the head in which this sum is 0."""
    text = (_SEAL % (data_crc, head_crc)).encode() + rest
    return struct.pack("<Q", len(text)) + text


def _head_after_seal(entries: list[Entry]) -> bytes:
    """The further metadata, where each tensor is, and spaces up to a multiple of 8 bytes."""
    op = "save_checkpoint"
    notes: dict[str, str] = {}
    places: dict[str, Any] = {}
    offset = 0
    for name, value in entries:
        if name in places or name in notes:
            raise ValueError(f"For '{op}', every name may occur once, but got '{name}' twice.")
        if name in (_METADATA, _DATA_KEY, _HEAD_KEY):
            raise ValueError(f"For '{op}', safetensors files use the name '{name}' themselves.")
        if not isinstance(value, Tensor):
            notes[name] = value.decode("utf-32-le")
            continue
        code = _NAMES.get(str(value.dtype))
        if code is None:
            raise ValueError(
                f"For '{op}', safetensors files cannot hold '{name}' of type {value.dtype}."
            )
        end = offset + value.size * _ITEM_BYTES[code]
        places[name] = {"dtype": code, "shape": [*value.shape], "data_offsets": [offset, end]}
        offset = end
    rest = "".join("," + _json({key: note})[1:-1] for key, note in notes.items())
    rest += "}" + "".join("," + _json({key: place})[1:-1] for key, place in places.items()) + "}"
    text = rest.encode()
    size = len(_SEAL % (0, 0)) + len(text)
    if size > _MAX_HEAD:
        raise ValueError(
            f"For '{op}', the names, shapes and texts of a safetensors file must fit into {_MAX_HEAD} bytes, "
            f"but got {size}."
        )
    return text + b" " * (-size % 8)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read(path: str, choose: Callable[[str], bool] | None) -> tuple[list[Entry], bool]:
    """What a file holds of the names for which `choose` is true, and whether a checksum covered it.

    Damage is a ValueError that names the file. The rest is read for its checksum alone.
    """
    file = _core.io.Reader(path)
    start = file.read(8)
    (length,) = struct.unpack("<Q", start)
    if length > min(file.remaining, _MAX_HEAD):
        raise _damage(path, "its head is longer than the file or the limit")
    text = file.read(length)
    sealed = _check_seal(path, start, text)
    head, notes = _parse(path, text)
    crc = notes.pop(_DATA_KEY, None)
    if notes.pop(_HEAD_KEY, None) is not None and not sealed:
        raise _damage(path, "the checksum of its head is not where it must be")
    places = _places(path, head, file.remaining)
    entries: list[Entry] = []
    for name, dtype, dims in places:
        wanted = choose is None or choose(name)
        tensor = file.read_tensor(name, dtype, dims, wanted)
        if wanted:
            entries.append((name, tensor))
    if crc is None:
        return entries, False  # metadata of other programs are no texts that were saved here
    if crc != f"{file.crc:08x}":
        raise _damage(path, "the checksum of its tensors does not fit")
    entries += [text_entry(*note) for note in notes.items() if choose is None or choose(note[0])]
    return entries, True


def _damage(path: str, what: str) -> ValueError:
    return ValueError(f"The file '{path}' is damaged: {what}.")


def _check_seal(path: str, start: bytes, text: bytes) -> bool:
    """Whether the head has a sum of its own, which must be right."""
    seal = _SEAL_PATTERN.match(text)
    if seal is None:
        if text.startswith(_SEAL_START.encode()):
            raise _damage(path, "the checksum of its head is not where it must be")
        return False
    first, last = seal.span(2)
    if _core.io.crc32c(start + text[:first] + b"0" * 8 + text[last:]) != int(seal[2], 16):
        raise _damage(path, "the checksum of its head does not fit")
    return True


def _parse(path: str, text: bytes) -> tuple[dict[str, Any], dict[str, str]]:
    """The tensors of a head, and its metadata."""
    try:
        head = json.loads(text, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise _damage(path, f"its head is no JSON text ({error})") from None
    if not isinstance(head, dict):
        raise _damage(path, "its head is no JSON object")
    notes = head.pop(_METADATA, {})
    if not isinstance(notes, dict) or not all(isinstance(v, str) for v in notes.values()):
        raise _damage(path, "its metadata must be text")
    try:
        "".join([*head, *notes, *notes.values()]).encode()
    except UnicodeEncodeError:  # JSON can spell what is no text
        raise _damage(path, "its head has half a character") from None
    return head, notes


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _places(path: str, head: dict[str, Any], size: int) -> list[tuple[str, str, list[int]]]:
    """(name, type, shape) in the order of the file, where all of its bytes belong to one tensor each."""
    found = []
    end = 0
    rows = [(*_offsets(path, name, info), name, info) for name, info in head.items()]
    for begin, stop, name, info in sorted(rows, key=lambda row: row[:2]):
        code, dims = info.get("dtype"), info.get("shape")
        if not isinstance(code, str) or not isinstance(dims, list) or not all(map(_is_size, dims)):
            raise _damage(path, f"'{name}' has no valid type or shape")
        if code not in _CODES:
            raise ValueError(
                f"The file '{path}' cannot be loaded: '{name}' has the type {code!r}, which there is not here."
            )
        count = _ITEM_BYTES[code]
        for dim in dims:
            count *= dim
        if begin != end or stop > size or stop - begin != count:
            raise _damage(path, f"the bytes of '{name}' do not fit")
        end = stop
        found.append((name, _CODES[code], dims))
    if end != size:
        raise _damage(path, f"{size - end} bytes belong to no tensor")
    return found


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _offsets(path: str, name: str, info: Any) -> tuple[int, int]:
    offsets = info.get("data_offsets") if isinstance(info, dict) else None
    if isinstance(offsets, list) and len(offsets) == 2:
        begin, end = offsets
        if _is_size(begin) and _is_size(end):
            return begin, end
    raise _damage(path, f"'{name}' has no valid offsets")

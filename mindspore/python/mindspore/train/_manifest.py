"""A checkpoint that several processes write together, each its rows of the parameters, into files of one folder; docs/formats/slices.md.
The manifest comes last: a folder without one is no checkpoint."""

from __future__ import annotations

import json
import math
import os
import secrets
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.common import _boxes, _groups, _planning
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.train import _together
from mindspore.train._tensors import Entry, loaded, text_entry

SUFFIX = ".slices"
_NAME = "manifest.json"
_FORMAT = "mindspore slices 1"
_ID = "mindspore.save_id"
_SEAL = '{"crc32c": "%08x", '


def is_complete(folder: str) -> bool:
    """Whether a folder is a checkpoint."""
    return os.path.isfile(os.path.join(folder, _NAME))


def remove(folder: str) -> None:
    """Removes a checkpoint: first of all it is none any more."""
    os.remove(os.path.join(folder, _NAME))
    shutil.rmtree(folder)


def _boxes_of(number: int, value: Any, size: int) -> dict[int, _boxes.Box]:
    """Which box of a value each process writes: its rows, or one of them all of it."""
    shape = tuple(value.shape) if isinstance(value, Tensor) else ()
    held = _planning.slice_of(value) if isinstance(value, Parameter) else None
    if held is not None:
        return _boxes_in_slices(held, shape, size)
    if not shape or shape[0] < size:
        return {number % size: tuple((0, n) for n in shape)}
    ends = [rank * shape[0] // size for rank in range(size + 1)]
    rest = tuple((0, n) for n in shape[1:])
    return {rank: ((ends[rank], ends[rank + 1]), *rest) for rank in range(size)}


def _boxes_in_slices(
    held: dict[str, Any], shape: tuple[int, ...], size: int
) -> dict[int, _boxes.Box]:
    """Of a Parameter that lies in slices: each slice is written by the first process that has it."""
    boxes: dict[int, _boxes.Box] = {}
    for rank in set(range(size)) & set(_planning.holders(held)):
        extents = _core.layout_box(held["layout"], shape, held["mesh"], rank)
        box = tuple((begin, begin + count) for begin, count in extents)
        if box not in boxes.values() and all(end > begin for begin, end in box):
            boxes[rank] = box
    return boxes


def write(folder: str, entries: list[Entry], notes: list[Entry]) -> None:
    """Write what all processes have alike, and notes of the first one. All of them call it, and it succeeds in all or in none."""
    rank, size = _groups.world_rank(), _groups.world_size()
    save_id = _core.share_text(secrets.token_hex(8))
    path = os.path.join(folder, f"slices_{rank}.ckpt")

    def write_own() -> int:
        os.makedirs(folder, exist_ok=True)
        own = _own(entries, rank, size) + (notes if rank == 0 else [])
        own.append(text_entry(_ID, save_id))
        _core.io.save_checkpoint(path, own, False)
        return os.path.getsize(path)

    def begin() -> None:
        if rank == 0 and is_complete(folder):
            os.remove(os.path.join(folder, _NAME))

    _in_all(begin)
    sizes = _in_all(write_own)

    def commit() -> None:
        if rank == 0:
            _boxes.write_text(os.path.join(folder, _NAME), _text(entries, notes, save_id, sizes))

    _in_all(commit)


def _in_all(act: Callable[[], Any]) -> list[Any]:
    """What all processes got from an action; an error of one is one of all."""
    failed: OSError | None = None
    result = None
    try:
        result = act()
    except OSError as error:
        failed = error
    everywhere = _together.gather_objects((result, None if failed is None else str(failed)))
    if failed is not None:
        raise failed
    for rank, (_, text) in enumerate(everywhere):
        if text is not None:
            raise OSError(f"For 'save_checkpoint', rank {rank} cannot write its part: {text}")
    return [value for value, _ in everywhere]


def _own(entries: list[Entry], rank: int, size: int) -> list[Entry]:
    """What a process writes."""
    own: list[Entry] = []
    for number, (name, value) in enumerate(entries):
        boxes = _boxes_of(number, value, size)
        if rank in boxes:
            own.append((name, _piece(value, boxes, rank)))  # type: ignore[misc]
    return own


def _piece(value: Any, boxes: dict[int, _boxes.Box], rank: int) -> Any:
    if isinstance(value, Parameter) and _planning.slice_of(value) is not None:
        return _planning.local_value(value)
    cut = isinstance(value, Tensor) and len(boxes) > 1
    return value[slice(*boxes[rank][0])] if cut else value


def _text(entries: list[Entry], notes: list[Entry], save_id: str, sizes: list[int]) -> str:
    parameters = {}
    for number, (name, value) in enumerate(entries):
        shape = tuple(value.shape) if isinstance(value, Tensor) else ()
        parameters[name] = {"shape": shape, "slices": _boxes_of(number, value, len(sizes))}
    for name, value in notes:
        shape = tuple(value.shape) if isinstance(value, Tensor) else ()
        parameters[name] = {"shape": shape, "slices": {0: [(0, n) for n in shape]}}
    head = {"format": _FORMAT, "id": save_id, "bytes": sizes, "parameters": parameters}
    text = json.dumps(head)[1:]
    return _SEAL % _core.io.crc32c(text.encode()) + text


def _head(folder: str) -> dict[str, Any]:
    """The manifest, whose sum must be right."""
    with open(os.path.join(folder, _NAME), "rb") as file:
        data = file.read()
    start = len(_SEAL % 0)
    if data[:start] != (_SEAL % _core.io.crc32c(data[start:])).encode():
        raise ValueError(f"The manifest of the checkpoint '{folder}' is damaged.")
    head: dict[str, Any] = json.loads(data)
    if head["format"] != _FORMAT:
        raise ValueError(
            f"The manifest of the checkpoint '{folder}' has the format {head['format']!r}, unknown here."
        )
    return head


def read(folder: str) -> dict[str, Any]:
    """The whole parameters of a checkpoint, whatever number of processes reads it."""
    try:
        head = _head(folder)
        wanted = {name: dict(entry) for name, entry in head["parameters"].items()}
        files = [_read_file(folder, r, size, head["id"]) for r, size in enumerate(head["bytes"])]
        return {name: _whole(name, entry, files) for name, entry in wanted.items()}
    except FileNotFoundError as error:
        raise ValueError(f"The checkpoint '{folder}' is not whole: {error}.") from None
    except (AttributeError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise ValueError(
            f"The manifest of the checkpoint '{folder}' is damaged: {error!r}."
        ) from None


def _read_file(folder: str, rank: int, size: int, save_id: str) -> dict[str, Any]:
    path = os.path.join(folder, f"slices_{rank}.ckpt")
    if os.path.getsize(path) != size:
        raise ValueError(f"The file '{path}' is damaged: it must have {size} bytes.")
    entries, _ = _core.io.load_checkpoint(path, None)
    found = {entry[0]: loaded(entry, path) for entry in entries}
    if found.get(_ID) != save_id:
        raise ValueError(f"The file '{path}' is of another save than its manifest.")
    return found


def _whole(name: str, entry: dict[str, Any], files: list[dict[str, Any]]) -> Any:
    held = [(files[int(rank)][name], box) for rank, box in entry["slices"].items()]
    first = held[0][0]
    if not isinstance(first, Parameter):
        return first
    parts = []
    for value, box in held:
        ends = tuple((int(begin), int(end)) for begin, end in box)
        if tuple(value.shape) != tuple(end - begin for begin, end in ends):
            raise ValueError(f"The part of '{name}' must be {ends}, but has {tuple(value.shape)}.")
        parts.append((ends, value.asnumpy))
    shape = tuple((0, int(n)) for n in entry["shape"])
    if sum(value.size for value, _ in held) != math.prod(end for _, end in shape):
        raise ValueError(f"The parts of '{name}' must make up the shape {entry['shape']}.")
    whole = _boxes.assembled(f"The parameter '{name}'", shape, parts, first.asnumpy().dtype)
    return Parameter(Tensor(np.ascontiguousarray(whole), first.dtype), name=name)


__all__ = ["SUFFIX", "is_complete", "read", "remove", "write"]

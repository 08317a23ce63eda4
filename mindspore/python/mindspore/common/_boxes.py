"""Parts of tensors by global index: which box of a whole tensor each process has, and boxes put together from others. Everything that
merges, cuts anew or moves checkpoints of several processes is a call of `assembled`."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindspore import _core, _paths

Box = tuple[tuple[int, int], ...]  # (begin, end) on each axis
_FORMAT = "mindspore layouts 1"


Axes = tuple[int | tuple[int, ...], ...]


class Layout(NamedTuple):
    """How a tensor is cut among processes.

    Args:
        dev_matrix: the processes, row by row, as an array of this shape.
        tensor_map: for each axis of the tensor, the axis of the array along which it is cut, counted from the last, 0; -1: it is
            whole; a tuple: it is cut along several, one after the other.
        shape: of the whole tensor; None: as many parts of one size as there are.
    """

    dev_matrix: tuple[int, ...]
    tensor_map: Axes
    shape: tuple[int, ...] | None = None

    def _along(self) -> list[list[int]]:
        """The axes of the array, counted from the first, that cut each axis of the tensor."""
        last = len(self.dev_matrix) - 1
        several = [axes if isinstance(axes, tuple) else (axes,) for axes in self.tensor_map]
        return [[last - axis for axis in axes if axis >= 0] for axes in several]

    def cuts(self) -> list[int]:
        """Into how many parts each axis is cut."""
        return [math.prod(self.dev_matrix[a] for a in axes) for axes in self._along()]

    def box(self, rank: int, shape: Sequence[int]) -> Box:
        """What a process has of a tensor of this whole shape: the last parts are shorter where it cannot be cut evenly."""
        place = np.unravel_index(rank, self.dev_matrix)
        box = []
        for axes, size in zip(self._along(), shape, strict=True):
            begin, end = 0, int(size)
            for axis in axes:
                piece = -(-(end - begin) // self.dev_matrix[axis])
                first = min(begin + int(place[axis]) * piece, end)
                begin, end = first, min(first + piece, end)
            box.append((begin, end))
        return tuple(box)

    def whole(self, part: Sequence[int]) -> tuple[int, ...]:
        """The shape of the whole tensor of which a process has a part of this shape."""
        if self.shape is not None:
            return self.shape
        return tuple(size * count for size, count in zip(part, self.cuts(), strict=True))

    @property
    def ranks(self) -> int:
        """How many processes there are."""
        return math.prod(self.dev_matrix)


def layout_of(op: str, name: str, given: Any) -> Layout:
    """The layout of a parameter from what has `dev_matrix` and `tensor_map`, as an attribute or a key."""
    take = given.get if isinstance(given, dict) else lambda key: getattr(given, key, None)
    matrix: Any = take("dev_matrix")
    axes: Any = take("tensor_map")
    several = axes
    if isinstance(axes, (list, tuple)):
        axes = [tuple(a) if isinstance(a, (list, tuple)) else a for a in axes]
        several = [n for a in axes for n in (a if isinstance(a, tuple) else (a,))]
    shape: Any = take("shape")
    for what, value, low in (
        ("dev_matrix", matrix, 1),
        ("tensor_map", several, -1),
        ("shape", shape if shape is not None else (), 0),
    ):
        numbers = list(value) if isinstance(value, (list, tuple)) else [None]
        if not all(type(n) is int and n >= low for n in numbers):
            raise ValueError(
                f"For '{op}', the layout of '{name}' must have '{what}', a list of ints of at least {low}, but got {value!r}."
            )
    cut = [axis for axis in several if axis >= 0]
    if len(set(cut)) < len(cut) or any(axis >= len(matrix) for axis in cut):
        raise ValueError(
            f"For '{op}', 'tensor_map' of '{name}' must have different axes of 'dev_matrix' {list(matrix)}, but got {list(axes)}."
        )
    return Layout(tuple(matrix), tuple(axes), None if shape is None else tuple(shape))


def read_layouts(op: str, path: Any) -> dict[str, Layout]:
    """The layouts in a file that `write_layouts` made, by name; none where there is no file: all is whole."""
    if path is None:
        return {}
    path = _paths.checked(op, "strategy_file", path)
    if not os.path.isfile(path):
        raise ValueError(f"For '{op}', the file of layouts must exist, but there is no '{path}'.")
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        known = found["format"] == _FORMAT
        entries = dict(found["parameters"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"For '{op}', '{path}' must be a file of layouts of this package, but it is damaged or another's: {error}."
        ) from None
    if not known:
        raise ValueError(f"For '{op}', '{path}' has the format {found['format']!r}, unknown here.")
    return {name: layout_of(op, name, entry) for name, entry in entries.items()}


def write_layouts(path: str, layouts: dict[str, Layout]) -> None:
    """Write layouts as JSON text."""
    entries = {
        name: {k: v for k, v in layout._asdict().items() if v is not None}
        for name, layout in layouts.items()
    }
    write_text(path, json.dumps({"format": _FORMAT, "parameters": entries}))


def write_text(path: str, text: str) -> None:
    """Write a file that is there as a whole or not."""
    with _core.io.Writer(path) as file:
        file.write(text.encode())
        file.commit()


def assembled(
    what: str, box: Box, parts: Iterable[tuple[Box, Callable[[], np.ndarray]]], dtype: Any
) -> np.ndarray:
    """A box of a tensor, from parts that are read only where they lie in it. All of it must be covered."""
    result = np.empty([end - begin for begin, end in box], dtype)
    missing = np.ones(result.shape, bool)
    for held, read in parts:
        common = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(box, held, strict=True)]
        if any(begin >= end for begin, end in common):
            continue
        target = tuple(slice(b - o, e - o) for (b, e), (o, _) in zip(common, box, strict=True))
        if not missing[target].any():
            continue
        source = tuple(slice(b - o, e - o) for (b, e), (o, _) in zip(common, held, strict=True))
        result[target] = read()[source]
        missing[target] = False
    if missing.any():
        first = [int(i) + box[axis][0] for axis, i in enumerate(np.argwhere(missing)[0])]
        raise ValueError(f"{what} is not whole: nobody has its element {first}.")
    return result


__all__ = [
    "Box",
    "Layout",
    "assembled",
    "layout_of",
    "read_layouts",
    "write_layouts",
    "write_text",
]

"""dataset.preview(): some rows and how the values of each column are spread, as a text and as a picture."""

from __future__ import annotations

import collections
import itertools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mindspore import _paths
from mindspore.common import _png
from mindspore.dataset.core.validator_helpers import check_int
from mindspore.dataset.engine.drawing import FAINT, Canvas
from mindspore.dataset.engine.values import Row

if TYPE_CHECKING:
    from mindspore.dataset.engine.datasets import Dataset

_OP = "preview"
_BINS = 16
_CLASSES = 64  # different integers at most that count as labels
_MOST_VALUES = 1 << 14  # of a value of a column that are counted
_BLOCKS = " ▁▂▃▄▅▆▇█"
_TILE, _GAP, _CHART, _TITLE = 96, 8, 256, 18
_MAGIC = (b"\xff\xd8\xff", b"\x89PNG", b"BM", b"GIF8")


class Column:
    """A column of some rows: what it holds, and how it is spread."""

    def __init__(self, name: str, values: Sequence[Any]) -> None:
        self.name = name
        self.values = [np.asarray(value) for value in values]
        first = self.values[0]
        self.shapes = {value.shape for value in self.values}
        shape = str(list(first.shape)) if len(self.shapes) == 1 else self._ranges()
        self.kind = self._kind(first)
        words = "text" if first.dtype.kind == "U" else str(first.dtype)
        self.head = f"{name}: {words if first.dtype.kind != 'S' else 'bytes'} {shape}, {self.kind}"
        self.bars, self.facts = self._spread()

    def _ranges(self) -> str:
        if len({len(shape) for shape in self.shapes}) > 1:
            return "of several ranks"
        parts = [f"{min(e)}..{max(e)}" if min(e) < max(e) else str(e[0]) for e in zip(*self.shapes)]
        return f"[{', '.join(parts)}]"

    def _kind(self, first: np.ndarray) -> str:
        if first.dtype.kind == "O":
            return "objects"
        if first.dtype.kind in "US" or (first.dtype == np.uint8 and first.ndim == 1):
            if _content(first).startswith(_MAGIC):
                return "files of pictures"
            if first.dtype.kind in "US":
                return "texts"
        if first.size == 1 and first.dtype.kind in "iub":
            some = {int(value.reshape(-1)[0]) for value in self.values if value.size == 1}
            return "labels" if len(some) <= _CLASSES else "numbers"
        return "pictures" if pixels_of(first) is not None else "numbers"

    def _spread(self) -> tuple[list[float], str]:
        """Heights of bars, and the facts in words."""
        if self.kind == "labels":
            counts = collections.Counter(int(value.reshape(-1)[0]) for value in self.values)
            bars = [float(counts[label]) for label in sorted(counts)]
            few = ", ".join(f"{label}: {counts[label]}" for label in sorted(counts)[:10])
            return bars, f"{len(counts)} classes ({few}{', ...' if len(counts) > 10 else ''})"
        if self.kind in ("texts", "files of pictures"):
            sizes = np.array([float(_length(value)) for value in self.values])
            what = "characters" if self.kind == "texts" else "bytes"
            return _bins(
                sizes
            ), f"{sizes.min():g} to {sizes.max():g} {what}, {sizes.mean():.4g} on average"
        if self.kind == "objects":
            return [], "no numbers"
        some = [value.reshape(-1)[:: max(value.size // _MOST_VALUES, 1)] for value in self.values]
        flat = np.concatenate(some)
        numbers = (np.abs(flat) if flat.dtype.kind == "c" else flat).astype(np.float64)
        finite = numbers[np.isfinite(numbers)]
        if not finite.size:
            return [], "no finite numbers"
        lost = (
            f", {numbers.size - finite.size} nan or infinite" if finite.size < numbers.size else ""
        )
        facts = f"{finite.min():.5g} to {finite.max():.5g}, mean {finite.mean():.4g}, deviation {finite.std():.4g}{lost}"
        return _bins(finite), facts

    def shown(self, place: int) -> str:
        """A value in a few characters."""
        value = self.values[place]
        if self.kind == "texts":
            text = value.reshape(-1)[0] if value.size else ""
            return repr(text.decode(errors="replace") if isinstance(text, bytes) else str(text))[
                :28
            ]
        if value.size == 1 and value.dtype.kind != "O":
            return f"{value.reshape(-1)[0]:.5g}" if value.dtype.kind in "fiu" else str(value.item())
        return "x".join(map(str, value.shape))


def _content(value: np.ndarray) -> bytes:
    """The bytes of a file in a column."""
    if value.dtype.kind == "S" and value.size == 1:
        return bytes(value.item())
    return value.tobytes() if value.dtype == np.uint8 and value.ndim == 1 else b""


def _length(value: np.ndarray) -> int:
    if value.dtype.kind == "U":
        return sum(len(text) for text in value.reshape(-1))
    return len(_content(value)) if value.size == 1 or value.dtype == np.uint8 else value.nbytes


def _bins(values: np.ndarray) -> list[float]:
    return [float(count) for count in np.histogram(values, _BINS)[0]]


def pixels_of(value: np.ndarray) -> np.ndarray | None:
    """An array as a picture in bytes, channels last or first; None where it is none."""
    if value.dtype.kind not in "biuf" or value.ndim not in (2, 3) or value.size == 0:
        return None
    if value.ndim == 2:
        value = value[..., None]
    elif value.shape[-1] not in (1, 3, 4) and value.shape[0] in (1, 3, 4):
        value = value.transpose(1, 2, 0)
    if value.shape[-1] not in (1, 3, 4) or min(value.shape[:2]) < 4:
        return None
    value = value[..., :3]
    if value.dtype != np.uint8:
        numbers = np.nan_to_num(value.astype(np.float64))
        low, high = numbers.min(), numbers.max()
        value = ((numbers - low) / max(high - low, 1e-12) * 255).astype(np.uint8)
    return np.repeat(value, 3, -1) if value.shape[-1] == 1 else value


class Preview:
    """Some rows of a dataset: print it, save() it as a picture, or let a notebook show it."""

    def __init__(self, columns: Sequence[Column], count: int, looked: int) -> None:
        self._columns, self._count, self._looked = list(columns), count, looked

    def __str__(self) -> str:
        lines = [f"{self._looked} rows looked at"]
        for column in self._columns:
            most = max(column.bars, default=0) or 1
            blocks = "".join(
                _BLOCKS[-(-int(8 * bar) // int(most)) if bar else 0] for bar in column.bars
            )
            lines += [column.head, f"  {column.facts}"]
            lines += [f"  |{blocks}|"] if blocks else []
            lines.append("  " + "  ".join(column.shown(i) for i in range(self._count)))
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def pixels(self) -> np.ndarray:
        """The picture: a line for each column, with some values on the left and their spread on the right."""
        width = self._count * (_TILE + _GAP) + _CHART + 2 * _GAP
        band = _TITLE + _TILE + 3 * _GAP
        canvas = Canvas(band * len(self._columns) + _GAP, max(width, 720))
        for number, column in enumerate(self._columns):
            top = number * band + _GAP
            canvas.write(top, _GAP, f"{column.head} - {column.facts}"[: max(width, 720) // 8 - 2])
            for place in range(self._count):
                left = _GAP + place * (_TILE + _GAP)
                _draw(canvas, top + _TITLE, left, column, place)
            left = _GAP + self._count * (_TILE + _GAP)
            canvas.bars(top + _TITLE, left, _TILE, _CHART, column.bars)
            canvas.fill(top + _TITLE + _TILE + _GAP, _GAP, 1, width, FAINT)
        return canvas.pixels

    def png(self) -> bytes:
        """The picture as a file."""
        return _png.encoded(self.pixels)

    _repr_png_ = png

    def save(self, file_name: str) -> None:
        """Writes the picture into a file."""
        path = _paths.checked(_OP, "file_name", file_name)
        hidden = f"{path}.part"
        try:
            with open(hidden, "wb") as out:
                out.write(self.png())
            os.replace(hidden, path)
        finally:
            if os.path.exists(hidden):
                os.unlink(hidden)


def _draw(canvas: Canvas, top: int, left: int, column: Column, place: int) -> None:
    value = column.values[place]
    if column.kind == "files of pictures":
        value = _decoded(_content(value))
    pixels = pixels_of(value) if column.kind in ("pictures", "files of pictures") else None
    if pixels is not None:
        canvas.picture(top, left, _TILE, pixels)
    elif column.kind == "numbers" and value.size > 1 and value.dtype.kind in "biuf":
        canvas.line(top, left, _TILE, value.reshape(-1))
    else:
        text = column.shown(place)
        for line in range(4):
            canvas.write(top + 4 + 18 * line, left, text[12 * line : 12 * line + 12])


def _decoded(content: bytes) -> np.ndarray:
    """A file of a picture as an array; one that is damaged as a grey one."""
    from mindspore.dataset.vision import Decode

    try:
        return np.asarray(Decode()(np.frombuffer(content, np.uint8)))
    except (RuntimeError, ValueError, TypeError):
        return np.full((8, 8, 3), 128, np.uint8)


def _singles(dataset: Dataset) -> Any:
    """The rows of an epoch; those of batches one by one."""
    from mindspore.dataset.engine.datasets import BatchDataset

    batched = any(isinstance(part, BatchDataset) for part in dataset._ancestry())
    for row in dataset._rows():
        if not batched:
            yield tuple(row)
            continue
        counts = [len(value) if np.ndim(value) else 1 for value in row]
        for i in range(min(counts)):
            yield tuple(value[i] if np.ndim(value) else value for value in row)


def previewed(dataset: Dataset, n: Any, rows: Any) -> Preview:
    """What Dataset.preview() gives."""
    check_int(_OP, "n", n, 1, 64)
    check_int(_OP, "rows", rows, 1, 1 << 20)
    found: list[Row] = list(itertools.islice(_singles(dataset), max(n, rows)))
    if not found:
        raise RuntimeError(f"For '{_OP}', the dataset must have rows, but has none.")
    names = dataset.get_col_names()
    columns = [Column(name, [row[i] for row in found]) for i, name in enumerate(names)]
    return Preview(columns, min(n, len(found)), len(found))


__all__ = ["Preview", "previewed"]

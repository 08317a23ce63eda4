"""dataset.doctor(): rows that are damaged, copies of others, in the test data too, unlike their class, or labelled strangely."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_int, check_type
from mindspore.dataset.engine import judging
from mindspore.dataset.engine.samplers import Draw
from mindspore.dataset.engine.values import Row

if TYPE_CHECKING:
    from mindspore.dataset.engine.datasets import Dataset

_OP = "doctor"
_LABELS = ("label", "labels", "fine_label", "target", "class", "category", "sentiment", "y")
_ASIDE = ("coarse_label", "filename", "id", "_meta-filename")  # tells nothing of what a row is
_MAGIC = (b"\xff\xd8\xff", b"\x89PNG", b"BM", b"GIF8", b"II*\0", b"MM\0*")
_PROBED = 8  # rows that tell whether a column holds files of pictures
_SIDE = 8  # of what is kept of a picture


class Finding(NamedTuple):
    """Something wrong: of which kind, in which rows (numbers of the source's), in words."""

    kind: str
    rows: list[int]
    text: str


class Report:
    """What doctor() found; as a text, it says it."""

    def __init__(self, rows: int, total: int | None, findings: Sequence[Finding], seconds: float):
        self.rows, self.total = rows, total
        self.findings = list(findings)
        self.seconds = seconds

    def of(self, kind: str) -> Finding | None:
        """The finding of a kind, if there is one."""
        return next((finding for finding in self.findings if finding.kind == kind), None)

    def __str__(self) -> str:
        part = f" of {self.total}" if self.total not in (None, self.rows) else ""
        head = f"{self.rows}{part} rows looked at in {self.seconds:.1f} s: "
        if not self.findings:
            return head + "nothing found"
        return "\n".join([head, *(f"- {f.kind}: {f.text}" for f in self.findings)])

    __repr__ = __str__


class Facts:
    """What is kept of the rows that were looked at, by their numbers."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.digests: list[bytes] = []
        self.labels: list[Any] = []
        self.looks: list[np.ndarray | None] = []  # what a row looks like, small
        self.endless: list[int] = []  # rows with nan or infinity
        self.damaged: dict[int, str] = {}
        self.cut_short = False


class Rows:
    """The rows that the doctor looks at: those of the source where nothing between chooses among them."""

    def __init__(self, dataset: Dataset, sample: Any) -> None:
        found = _below(dataset)
        self.columns = found._columns
        self.total: int | None = None
        self.source: Any = None
        numbers = _numbers_of(found)
        if numbers is not None:
            self.source = found
            self.total = len(numbers)
            count = _sampled(sample, len(numbers))
            if count < len(numbers):
                rng = np.random.default_rng(0)
                numbers = np.sort(rng.choice(numbers, count, replace=False))
            self.numbers: Any = numbers
            chosen = numbers
            order = _core.dataset.function_order(lambda *_: chosen, len(chosen), False)
            self.node = self.source._make(order)
        else:
            self.numbers, self.node = None, found._node
            step = 1
            if sample is not None:
                self.total = dataset_size = int(found._node.count())
                step = max(dataset_size // max(_sampled(sample, dataset_size), 1), 1)
                self.node = _core.dataset.stride(self.node, 0, step)
            self.step = step
        self.pools = found._all_pools()

    def number(self, place: int) -> int:
        """Which row the one at a place is."""
        return place * self.step if self.numbers is None else int(self.numbers[place])

    def probe(self) -> list[Row]:
        """The first rows that can be read."""
        some = itertools.islice(self._read(0), _PROBED)
        return [row for row in some if not isinstance(row, Exception)]

    def decode(self, column: int) -> None:
        """Lets the engine decode a column of pictures."""
        from mindspore.dataset.engine.mapping import Mapping, map_calls
        from mindspore.dataset.vision import Decode

        name = self.columns[column]
        mapping = Mapping(self.columns, [name], [name])
        calls, _ = map_calls([Decode()], 1, [name], 0)
        self.node = _core.dataset.map(self.node, calls, mapping.take, mapping.place)

    def read(self, workers: int) -> Iterator[tuple[int, Row | Exception]]:
        """Each row with its number, or what went wrong with it."""
        for place, row in enumerate(self._read(workers)):
            yield self.number(place), row

    def _read(self, workers: int) -> Iterator[Row | Exception]:
        for pool in self.pools:
            pool.start()
        pipeline = _core.dataset.Pipeline(
            self.node, 0, True, workers, 16, _core.dataset.queue_bytes()
        )
        place = 0
        try:
            pipeline.begin(0, 0)
            while True:
                try:
                    row = pipeline.next(True)
                    if row is None:
                        return
                except Exception as error:
                    yield error
                    if self.numbers is None:
                        return  # what comes one after the other ends here
                    pipeline.begin(0, place + 1)
                else:
                    yield tuple(row)
                place += 1
        finally:
            pipeline.close()


def _below(dataset: Dataset) -> Dataset:
    """The dataset under all that changes rows and chooses none."""
    from mindspore.dataset.engine import datasets as kinds

    through = (
        kinds.MapDataset, kinds.BatchDataset, kinds.ProjectDataset, kinds.RenameDataset, kinds.ShuffleDataset,
        kinds.RepeatDataset,
    )  # fmt: skip
    while isinstance(dataset, through):
        (dataset,) = dataset.children
    return dataset


def _numbers_of(dataset: Any) -> np.ndarray | None:
    """The numbers of the rows that a source gives in an epoch, in order."""
    if not hasattr(dataset, "_sampler"):
        return None
    order = dataset._sampler.order(dataset._length, Draw(0, True, 0, 0, dataset._labels))
    return np.unique(np.asarray(list(order), np.int64))


def _sampled(sample: Any, rows: int) -> int:
    if sample is None:
        return rows
    check_type(_OP, "sample", sample, (int, float))
    if isinstance(sample, int):
        return min(check_int(_OP, "sample", sample, 1), rows)
    if not 0.0 < sample <= 1.0:
        raise ValueError(
            f"For '{_OP}', sample must be a number of rows, or a part of them in (0, 1], but got {sample}."
        )
    return max(round(rows * sample), min(rows, 1))


def _label_of(columns: Sequence[str], some: Sequence[Row], label: Any) -> int | None:
    """Which column is the label: the one that is named, one with a usual name, the last integer."""
    if label is not None:
        check_type(_OP, "label", label, str)
        if label not in columns:
            raise ValueError(
                f"For '{_OP}', label must be among {list(columns)}, but got '{label}'."
            )
        return columns.index(label)
    if not some:
        return None
    scalar = [i for i, value in enumerate(some[0]) if np.size(value) == 1 and np.ndim(value) <= 1]
    for name in _LABELS:
        if name in columns and columns.index(name) in scalar:
            return columns.index(name)
    whole = [i for i in scalar if np.asarray(some[0][i]).dtype.kind in "iu"]
    return whole[-1] if whole and len(columns) > 1 else None


def _holds_pictures(values: Sequence[Any]) -> bool:
    """Whether a column holds files of pictures; some may be damaged."""
    heads = [_bytes_of(value)[:4] for value in values]
    return sum(head.startswith(_MAGIC) for head in heads) * 2 > len(heads)


def _bytes_of(value: Any) -> bytes:
    array = np.asarray(value)
    if array.dtype.kind == "S" and array.size == 1:
        return bytes(array.item())
    return array.tobytes() if array.dtype == np.uint8 and array.ndim == 1 else b""


def _look(value: Any) -> np.ndarray | None:
    """A few numbers that say what an array looks like: every so-manieth one of a picture."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or array.size < 16:
        return None
    if array.ndim == 3 and array.shape[0] in (1, 3, 4) and array.shape[2] not in (1, 3, 4):
        array = array[0]
    elif array.ndim == 3:
        array = array[..., array.shape[2] // 2]
    if array.ndim != 2:
        array = array.reshape(1, -1)
    steps = [max(size // _SIDE, 1) for size in array.shape]
    small = array[:: steps[0], :: steps[1]][: _SIDE * _SIDE, : _SIDE * _SIDE]
    return small.astype(np.float32).ravel()


def _digest(row: Row, content: Sequence[int]) -> bytes:
    sums = hashlib.blake2b(digest_size=16)
    for i in content:
        array = np.asarray(row[i])
        sums.update(f"{array.dtype.str}{array.shape}".encode())
        plain = array.flags.c_contiguous and array.dtype.kind in "biufc" and array.size
        seen: Any = array.reshape(-1).view(np.uint8) if plain else _plain(array)
        sums.update(seen)
    return sums.digest()


def _plain(array: np.ndarray) -> bytes:
    return repr(array.tolist()).encode() if array.dtype == object else array.tobytes()


def facts_of(rows: Rows, label: Any, workers: int) -> tuple[Facts, bool]:
    """What the rows are like, and whether they have labels."""
    some = rows.probe()
    place = _label_of(rows.columns, some, label)
    for column in range(len(rows.columns)):
        if some and column != place and _holds_pictures([row[column] for row in some]):
            rows.decode(column)
    content = [i for i, c in enumerate(rows.columns) if i != place and c not in _ASIDE]
    content = content or list(range(len(rows.columns)))
    facts = Facts()
    for number, row in rows.read(workers):
        if isinstance(row, Exception):
            facts.damaged[number] = _reason(row, rows.source, number)
            facts.cut_short = rows.numbers is None
            continue
        facts.numbers.append(number)
        facts.digests.append(_digest(row, content))
        facts.labels.append(None if place is None else np.asarray(row[place]).reshape(-1)[0])
        facts.looks.append(
            next((k for k in (_look(row[i]) for i in content) if k is not None), None)
        )
        values = [np.asarray(row[i]) for i in content]
        if not all(np.isfinite(v).all() for v in values if v.dtype.kind == "f"):
            facts.endless.append(number)
    return facts, place is not None


def _reason(error: Exception, source: Any, number: int) -> str:
    """What went wrong, and in which file if the source knows."""
    text = str(error).split("\n")[0]
    file_of = getattr(source, "_file_of", None)
    file = "" if file_of is None else file_of(number)
    return f"'{file}': {text}" if file and file not in text else text


def examined(dataset: Dataset, test: Any, sample: Any, label: Any, workers: int) -> Report:
    """What Dataset.doctor() gives."""
    from mindspore.dataset.engine.datasets import Dataset

    if test is not None:
        check_type(_OP, "test", test, Dataset)
    begun = time.perf_counter()
    rows = Rows(dataset, sample)
    facts, labelled = facts_of(rows, label, workers)
    found: list[Finding] = []

    def tell(kind: str, result: tuple[list[int], str] | None) -> None:
        if result is not None:
            found.append(Finding(kind, *result))

    tell("unreadable", judging.damage(facts))
    tell("not finite", judging.endless(facts))
    tell("duplicates", judging.copies(facts))
    if labelled:
        classes = rows.source.num_classes() if rows.source is not None else None
        labels = judging.Labels(facts, classes, whole=sample is None)
        tell("contradictions", judging.contradictions(facts))
        tell("labels", labels.outliers())
        tell("imbalance", labels.imbalance())
    tell("unlike", judging.unlike(facts))
    if test is not None:
        others, _ = facts_of(Rows(test, sample), label, workers)
        tell("leaks", judging.leaks(facts, others))
    return Report(
        len(facts.numbers) + len(facts.damaged), rows.total, found, time.perf_counter() - begun
    )


__all__ = ["Finding", "Report", "examined"]

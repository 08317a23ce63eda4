"""Datasets whose rows a DatasetCache keeps: by their numbers where they have any, else one after the other."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.engine.cache_client import CachedRows, DatasetCache
from mindspore.dataset.engine.identity import digest, pipeline_digest, source_digest
from mindspore.dataset.engine.values import Row
from mindspore.dataset.engine.watched import child_rows
from mindspore.dataset.transforms.native import spec_of, whole

if TYPE_CHECKING:
    from mindspore.dataset.engine.datasets import Dataset, MappableDataset

_ROWS_AT_ONCE = 16  # of a stream
_BYTES_AT_ONCE = 1 << 23


def checked_cache(op: str, cache: Any) -> DatasetCache | None:
    """The argument `cache` of a source or an operation."""
    if cache is not None:
        check_type(op, "cache", cache, DatasetCache)
    return cache  # type: ignore[no-any-return]


class _Numbered:
    """Rows by their numbers: those that the cache has, and others made and put there."""

    op = "DatasetCache"

    def __init__(
        self, kept: CachedRows, make: Callable[[Any], Any], length: int, alone: bool
    ) -> None:
        """`make` gives the node for an order of the engine; `alone`: for the user's functions, which run one at a time."""
        self._kept, self._make, self._length = kept, make, length
        self._node: Any = None
        self._alone = threading.Lock() if alone else contextlib.nullcontext()
        self._idle: list[Any] = []  # pipelines over the node, which nobody uses now

    def __call__(self, rows: list[Row], keys: list[int], numbers: list[int]) -> list[Row]:
        """The row at each number."""
        found = self._kept.get(numbers)
        missing = sorted({n for n, row in zip(numbers, found) if row is None})
        if not missing:
            return found  # type: ignore[return-value]
        made = dict(zip(missing, self._made(missing)))
        self._kept.put(list(made), list(made.values()))
        return [made[n] if row is None else row for n, row in zip(numbers, found)]

    def _made(self, numbers: list[int]) -> list[Row]:
        with self._alone:
            if self._node is None:
                order = _core.dataset.regular_order(self._length, 0, 1, self._length, False, False)
                self._node = self._make(order)
            try:
                pipeline = self._idle.pop()
            except IndexError:
                pipeline = _core.dataset.Pipeline(self._node, 0, True, 0, 1, 0)
            rows: list[Row] = []
            for place, number in enumerate(numbers):
                if place == 0 or number != numbers[place - 1] + 1:
                    pipeline.begin(0, number)
                rows.append(tuple(pipeline.next(True)))
            self._idle.append(pipeline)
            return rows


class _Streamed:
    """Rows in their order: from the cache when a whole epoch is there, else made and put there."""

    def __init__(self, kept: CachedRows, node: Any) -> None:
        self._kept, self._node = kept, node

    def open(self, key: int, epoch: int) -> Iterator[Row]:
        """The rows of an epoch."""
        count = self._kept.count()
        return self._made() if count is None else self._read(count)

    def _read(self, count: int) -> Iterator[Row]:
        for start in range(0, count, _ROWS_AT_ONCE):
            for row in self._kept.get(range(start, min(start + _ROWS_AT_ONCE, count))):
                if row is None:
                    raise RuntimeError("For 'DatasetCache', the rows must stay, but some are gone.")
                yield row

    def _made(self) -> Iterator[Row]:
        number, size = 0, 0
        waiting: list[Row] = []
        for row in child_rows(self._node, 0, 0):
            waiting.append(row)
            size += sum(getattr(value, "nbytes", 0) for value in row)
            if len(waiting) == _ROWS_AT_ONCE or size > _BYTES_AT_ONCE:
                self._kept.put(range(number, number + len(waiting)), waiting)
                number, waiting, size = number + len(waiting), [], 0
            yield row
        if waiting:
            self._kept.put(range(number, number + len(waiting)), waiting)
        self._kept.whole(number + len(waiting))


def source_node(
    source: MappableDataset, cache: DatasetCache, make: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """What makes the node of a source for an order, with a cache between."""
    return _numbered(
        cache, source_digest(source), make, source._length, len(source._columns), False
    )


def _numbered(
    cache: DatasetCache,
    name: str,
    make: Callable[[Any], Any],
    length: int,
    columns: int,
    alone: bool,
) -> Callable[[Any], Any]:
    rows = _Numbered(cache._rows(name), make, length, alone)
    call = _core.dataset.Call(rows, True)
    return lambda order: _core.dataset.loaded(order, call, columns)


def map_node(mapped: Dataset, cache: DatasetCache, arguments: Sequence[Any]) -> Any:
    """The node of what map() gives, with a cache behind it; `arguments` are what makes it what it is."""
    for operation in arguments[0]:
        _require_steady(operation)
    chain = _chain_of(mapped)
    if chain is None:
        if mapped._node.shuffles():
            raise RuntimeError(
                "For 'map', cache must stand where rows come in one order in every epoch, but they are shuffled below. Shuffle behind "
                "the cache, or let the source shuffle."
            )
        name = digest("stream", pipeline_digest(mapped.children[0]), arguments)
        return _core.dataset.stream(
            _Streamed(cache._rows(name), mapped._node).open, mapped._node.size
        )
    source, over, alone = chain
    name = digest("numbers", source_digest(mapped.children[0]), arguments)
    make = (
        source._make
    )  # not the source: it knows what stands on it, and would live as long as the node
    made = _numbered(
        cache, name, lambda order: over(make(order)), source._length, len(mapped._columns), alone
    )
    return made(source._sampler.engine_order(source._length, source._labels))


def _chain_of(dataset: Dataset) -> tuple[Any, Callable[[Any], Any], bool] | None:
    """The source whose rows a pipeline changes one by one, what makes the pipeline over another node of it, and whether
    functions of the user's are in it.
    """
    steps: list[Callable[[Any], Any]] = []
    alone = dataset._alone
    while dataset._over is not None:
        steps.insert(0, dataset._over)
        (dataset,) = dataset.children
        alone = alone or dataset._alone

    def over(node: Any) -> Any:
        for step in steps:
            node = step(node)
        return node

    numbered = hasattr(dataset, "_sampler")  # a source that comes as a stream has none
    return (dataset, over, alone) if numbered else None


def _require_steady(operation: Any) -> None:
    """What a cache keeps would be the first draw for ever."""
    parts = [operation, *getattr(operation, "transforms", ())]
    for part in parts:
        own = type(part).__module__.startswith("mindspore.dataset.")
        drawn = own and any(whole(spec)[2] or whole(spec)[3] < 1 for spec in spec_of(part) or ())
        if (
            drawn
            or getattr(part, "random", False)
            or (own and type(part).__name__.startswith("Random"))
        ):
            raise RuntimeError(
                f"For 'map', cache must stand before operations that draw, but '{type(part).__name__}' does. Put it into a map behind."
            )


__all__ = ["checked_cache", "map_node", "source_node"]

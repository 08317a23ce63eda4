"""Nodes that change the rows of one or more child nodes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mindspore.dataset.core.random import set_row
from mindspore.dataset.core.user_code import describe, failure
from mindspore.dataset.engine.node import Node, Row, Run, to_array


class MapNode(Node):
    """Applies a chain of operations to some columns of every row."""

    def __init__(
        self,
        child: Node,
        operations: Sequence[Callable[..., Any]],
        inputs: Sequence[str],
        outputs: Sequence[str],
    ) -> None:
        kept = [c for c in child.columns if c not in inputs]
        for name in inputs:
            _known("map", "input_columns", name, child.columns)
        for name in outputs:
            if name in kept:
                raise ValueError(
                    f"For 'map', output_columns must be new names, but got '{name}' again."
                )
        if len(inputs) == len(outputs):
            renamed = dict(zip(inputs, outputs, strict=True))
            columns = [renamed.get(c, c) for c in child.columns]
        else:
            columns = [*outputs, *kept]
        super().__init__([child], columns)
        self.operations = list(operations)
        self.outputs = list(outputs)
        self._take = [child.columns.index(c) for c in inputs]
        self._place = [
            (True, outputs.index(c)) if c in outputs else (False, child.columns.index(c))
            for c in columns
        ]

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        key = run.key(self, epoch)
        for number, row in enumerate(self.children[0].rows(run, epoch)):
            set_row(*key, number)
            values = self._apply([row[i] for i in self._take], number)
            yield tuple(values[i] if new else row[i] for new, i in self._place)

    def _apply(self, values: list[Any], number: int) -> list[Any]:
        for operation in self.operations:
            try:
                result = operation(*values)
            except Exception as error:
                raise failure("map", f"{describe(operation)} (row {number})", error) from error
            values = list(result) if isinstance(result, tuple) else [result]
        if len(values) != len(self.outputs):
            raise ValueError(
                f"For 'map', {describe(self.operations[-1])} must return {len(self.outputs)} "
                f"columns ({', '.join(self.outputs)}), but got {len(values)}."
            )
        try:
            return [to_array(v) for v in values]
        except TypeError as error:
            raise TypeError(f"For 'map', {describe(self.operations[-1])}: {error}.") from None


class FilterNode(Node):
    """Keeps the rows for which the predicate holds."""

    def __init__(self, child: Node, predicate: Callable[..., Any], inputs: Sequence[str]) -> None:
        super().__init__([child], child.columns)
        for name in inputs:
            _known("filter", "input_columns", name, child.columns)
        self.predicate = predicate
        self._take = [child.columns.index(c) for c in inputs]

    def size(self) -> int | None:
        return None

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        for number, row in enumerate(self.children[0].rows(run, epoch)):
            try:
                keep = bool(self.predicate(*(row[i] for i in self._take)))
            except Exception as error:
                raise failure(
                    "filter", f"{describe(self.predicate)} (row {number})", error
                ) from error
            if keep:
                yield row


class ShuffleNode(Node):
    """Hands out rows at random from a buffer that is refilled in order."""

    def __init__(self, child: Node, buffer_size: int) -> None:
        super().__init__([child], child.columns)
        self.buffer_size = buffer_size

    def shuffles(self) -> bool:
        return True

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        rng = run.rng(self, epoch)
        rows = self.children[0].rows(run, epoch)
        buffer = list(itertools.islice(rows, self.buffer_size))
        for row in rows:
            slot = int(rng.integers(len(buffer)))
            yield buffer[slot]
            buffer[slot] = row
        for slot in rng.permutation(len(buffer)):
            yield buffer[slot]


class RepeatNode(Node):
    """Several epochs of the child as one; `count` None: without end."""

    def __init__(self, child: Node, count: int | None) -> None:
        super().__init__([child], child.columns)
        self.repeats = count

    def size(self) -> int | None:
        size = self.children[0].size()
        return None if size is None else size * (self.repeats or 1)

    def count(self) -> int:
        return self.children[0].count() * (self.repeats or 1)

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        for inner in _inner_epochs(self.repeats, epoch):
            empty = True
            for row in self.children[0].rows(run, inner):
                empty = False
                yield row
            if empty:
                return

    def gather(self, run: Run, epoch: int, size: int) -> Iterator[tuple[int, Row]] | None:
        return None


def _inner_epochs(repeats: int | None, epoch: int) -> Iterator[int]:
    if repeats is None:
        # An endless epoch is never followed by another one.
        return itertools.count(epoch)
    return iter(range(epoch * repeats, (epoch + 1) * repeats))


class WindowNode(Node):
    """Rows `start` to `stop` (None: all further ones) of every epoch of the child."""

    def __init__(self, child: Node, start: int, stop: int | None) -> None:
        super().__init__([child], child.columns)
        self.start, self.stop = start, stop

    def size(self) -> int | None:
        size = self.children[0].size()
        if size is None:
            return None
        end = size if self.stop is None else min(size, self.stop)
        return max(end - self.start, 0)

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        return itertools.islice(self.children[0].rows(run, epoch), self.start, self.stop)


class ZipNode(Node):
    """Rows of several children side by side, as long as all have one."""

    def __init__(self, children: Sequence[Node]) -> None:
        columns = [c for child in children for c in child.columns]
        twice = sorted({c for c in columns if columns.count(c) > 1})
        if twice:
            raise ValueError(
                f"For 'zip', the datasets must have different column names, but got {twice} twice. "
                "Use rename() on one of them."
            )
        super().__init__(children, columns)

    def size(self) -> int | None:
        sizes = [child.size() for child in self.children]
        known = [size for size in sizes if size is not None]
        return min(known) if len(known) == len(sizes) else None

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        for parts in zip(*(child.rows(run, epoch) for child in self.children)):
            yield tuple(itertools.chain.from_iterable(parts))


class ConcatNode(Node):
    """The rows of one child after those of another."""

    def __init__(self, children: Sequence[Node]) -> None:
        super().__init__(children, children[0].columns)
        for child in children[1:]:
            if child.columns != self.columns:
                raise ValueError(
                    "For 'concat', the datasets must have the same columns, but got "
                    f"{self.columns} and {child.columns}."
                )

    def size(self) -> int | None:
        sizes = [child.size() for child in self.children]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        return itertools.chain.from_iterable(child.rows(run, epoch) for child in self.children)


class ProjectNode(Node):
    """Some columns of the child, in another order, under other names."""

    def __init__(self, child: Node, picked: Sequence[str], columns: Sequence[str]) -> None:
        super().__init__([child], columns)
        self._picked = [child.columns.index(c) for c in picked]

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        for row in self.children[0].rows(run, epoch):
            yield tuple(row[i] for i in self._picked)

    def gather(self, run: Run, epoch: int, size: int) -> Iterator[tuple[int, Row]] | None:
        batches = self.children[0].gather(run, epoch, size)
        if batches is None:
            return None
        return ((n, tuple(columns[i] for i in self._picked)) for n, columns in batches)


class FlatMapNode(Node):
    """The rows of the datasets that a function makes of every row."""

    def __init__(self, child: Node, function: Callable[..., Node], columns: Sequence[str]) -> None:
        super().__init__([child], columns)
        self.function = function

    def size(self) -> int | None:
        return None

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        for row in self.children[0].rows(run, epoch):
            inner = self.function(row)
            yield from inner.rows(Run(inner), epoch)


def _known(op: str, argument: str, name: str, columns: Sequence[str]) -> None:
    if name not in columns:
        raise ValueError(f"For '{op}', {argument} must be among {list(columns)}, but got '{name}'.")


def rename(child: Node, old: Sequence[str], new: Sequence[str]) -> Node:
    """The same rows under other column names."""
    for name in old:
        _known("rename", "input_columns", name, child.columns)
    renamed = dict(zip(old, new, strict=True))
    columns = [renamed.get(c, c) for c in child.columns]
    if len(set(columns)) != len(columns):
        raise ValueError(f"For 'rename', the new names must not occur already, but got {columns}.")
    return ProjectNode(child, child.columns, columns)


def project(child: Node, columns: Sequence[str]) -> Node:
    """Only the given columns, in the given order."""
    for name in columns:
        _known("project", "columns", name, child.columns)
    return ProjectNode(child, columns, columns)

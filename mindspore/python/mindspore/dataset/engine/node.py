"""The engine under the datasets: a tree of nodes that hand rows upward, one call of `rows` per
epoch.

A row is a tuple of NumPy arrays, one for each name in `columns`. Nodes know nothing of the public
Dataset classes; those only build nodes.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mindspore.dataset import config
from mindspore.dataset.core.random import make_rng

Row = tuple[Any, ...]


class Run:
    """One iterator's pass over a tree: the seed, and a number for each node to draw by."""

    def __init__(self, root: Node) -> None:
        seed = config._explicit_seed()
        self.seeded = seed is not None
        self.seed = secrets.randbits(32) if seed is None else seed
        self._numbers: dict[int, int] = {}
        self._number(root)

    def _number(self, node: Node) -> None:
        for child in node.children:
            self._number(child)
        self._numbers.setdefault(id(node), len(self._numbers))

    def key(self, node: Node, epoch: int) -> tuple[int, int, int]:
        """What the draws of a node in an epoch depend on."""
        return self.seed, self._numbers[id(node)], epoch

    def rng(self, node: Node, epoch: int) -> np.random.Generator:
        """The generator of a node for one epoch."""
        return make_rng(*self.key(node, epoch))


class Node:
    """Base of all nodes. `columns` are known before any row is read."""

    def __init__(self, children: Sequence[Node], columns: Sequence[str]) -> None:
        self.children = list(children)
        self.columns = list(columns)

    def rows(self, run: Run, epoch: int) -> Iterator[Row]:
        """The rows of one epoch."""
        raise NotImplementedError

    def shuffles(self) -> bool:
        """Whether rows come in an order that chance decides."""
        return any(child.shuffles() for child in self.children)

    def size(self) -> int | None:
        """Rows in an epoch, or None when only reading tells."""
        return self.children[0].size() if self.children else None

    def count(self) -> int:
        """Rows in an epoch, read through if need be."""
        size = self.size()
        if size is None:
            size = sum(1 for _ in self.rows(Run(self), 0))
        return size

    def gather(self, run: Run, epoch: int, size: int) -> Iterator[tuple[int, Row]] | None:
        """Whole batches of up to `size` rows as (rows, columns), where that is cheaper than row by
        row.
        """
        return None

    def close(self) -> None:
        """Releases what the node holds open."""
        for child in self.children:
            child.close()


def to_array(value: Any) -> Any:
    """A column value as the pipeline carries it: an array, or a dict passed through."""
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, dict):
        return value
    if isinstance(value, bytes):
        return np.array(value, dtype=np.bytes_)
    to_numpy = getattr(value, "asnumpy", None)
    array = to_numpy() if to_numpy is not None else np.asarray(value)
    if array.dtype == object:
        raise TypeError(
            "a column must be a number, a string, a NumPy array or a Tensor, but got "
            f"{type(value).__name__}"
            + (" with parts of different shapes" if isinstance(value, (list, tuple)) else "")
        )
    return array


def as_row(value: Any) -> Row:
    """What a user's source gave for one row."""
    if isinstance(value, tuple):
        return tuple(to_array(v) for v in value)
    return (to_array(value),)

"""A graph in memory: nodes and edges by number, with their types, and the features of both.

Outside, nodes and edges have the ids of the user's; in here they are numbers in the order in which they came, so that all that is known of
them is an array. Everything is asked for many at once. Neighbors of a type are compressed rows, made when that type is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

NOBODY = -1  # stands for a node or an edge that is not there
MOST = 1 << 28  # ids in one answer


class Feature:
    """The values of one feature: a row of numbers for those that have it, zeros for all others."""

    def __init__(self, count: int, places: np.ndarray, values: np.ndarray) -> None:
        self.places = np.full(count + 1, len(values), np.int64)  # the last: of nobody
        self.places[places] = np.arange(len(values))
        nothing = np.zeros((1, *values.shape[1:]), values.dtype)
        self.values = np.concatenate([values, nothing])

    def of(self, numbers: np.ndarray) -> np.ndarray:
        """The rows of these, of any shape."""
        found: np.ndarray = self.values[self.places[numbers]]
        return found


class Items:
    """Nodes, or edges: ids, types, features."""

    def __init__(
        self, what: str, ids: np.ndarray, kinds: Sequence[Any] | np.ndarray, said: str
    ) -> None:
        self.what = what
        self.ids = np.asarray(ids)
        low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
        if self.ids.size and not (low <= self.ids.min() and self.ids.max() <= high):
            wrong = self.ids[(self.ids < low) | (self.ids > high)][0]
            raise ValueError(f"{said}, ids of {what}s must fit int32, but got {wrong}.")
        self.ids = self.ids.astype(np.int32)
        self._order = np.argsort(self.ids, kind="stable")
        self._sorted = self.ids[self._order]
        again = self._sorted[1:][self._sorted[1:] == self._sorted[:-1]]
        if again.size:
            raise ValueError(f"{said}, ids of {what}s must be unique, but got {again[0]} twice.")
        if NOBODY in self._sorted:
            raise ValueError(f"{said}, no {what} may have the id {NOBODY}, which stands for none.")
        names, numbers = np.unique(np.asarray(kinds), return_inverse=True)
        self.kinds: list[Any] = names.tolist()
        self.kind_of = numbers.reshape(-1)
        self.features: dict[Any, Feature] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def numbers(self, op: str, ids: np.ndarray, nobody: bool = False) -> np.ndarray:
        """The numbers of ids; of NOBODY, where that may be, one behind the last."""
        asked = np.asarray(ids)
        count = len(self)
        places = np.searchsorted(self._sorted, asked)
        found = np.full(asked.shape, count, np.int64)
        if count:
            places = np.minimum(places, count - 1)
            found = np.where(self._sorted[places] == asked, self._order[places], count)
        missing = found == count
        if nobody:
            missing = missing & (asked != NOBODY)
        if missing.any():
            raise ValueError(
                f"For '{op}', the ids must be those of {self.what}s of the graph, but got {asked[missing].flat[0]}."
            )
        return found

    def kind(self, op: str, argument: str, kind: Any) -> int:
        """The number of a type."""
        if kind not in self.kinds:
            raise ValueError(
                f"For '{op}', {argument} must be one of {self.kinds}, but got {kind!r}."
            )
        return self.kinds.index(kind)

    def of_kind(self, number: int) -> np.ndarray:
        """The numbers of all of a type."""
        return np.flatnonzero(self.kind_of == number)

    def counts(self) -> list[int]:
        """How many there are of each type."""
        return np.bincount(self.kind_of, minlength=len(self.kinds)).tolist()

    def values(self, op: str, ids: np.ndarray, names: Iterable[Any]) -> list[np.ndarray]:
        """Features by their names."""
        numbers = self.numbers(op, ids, nobody=True)
        return [self._feature(op, name).of(numbers) for name in names]

    def _feature(self, op: str, name: Any) -> Feature:
        if name not in self.features:
            raise ValueError(
                f"For '{op}', feature_types must be among {list(self.features)}, but got {name!r}."
            )
        return self.features[name]


class Rows(NamedTuple):
    """Compressed rows: the neighbors of one type of every node, in the order of their edges."""

    starts: np.ndarray
    targets: np.ndarray
    edges: np.ndarray

    def degrees(self, nodes: np.ndarray) -> np.ndarray:
        """How many neighbors each has."""
        counts: np.ndarray = self.starts[nodes + 1] - self.starts[nodes]
        return counts

    def spread(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The neighbors of some nodes, one after the other: whose they are, which of them, and where they stand here."""
        counts = self.degrees(nodes)
        owner = np.repeat(np.arange(len(nodes)), counts)
        which = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return owner, which, np.repeat(self.starts[nodes], counts) + which


class GraphStore:
    """Nodes, edges from one to another, and features of the whole."""

    def __init__(
        self,
        nodes: Items,
        edges: Items,
        ends: np.ndarray,
        weights: np.ndarray | None = None,
        features: dict[str, np.ndarray] | None = None,
    ) -> None:
        self.nodes, self.edges = nodes, edges
        self.ends = ends  # numbers of nodes, (edges, 2)
        self.weights = weights
        self.features = features or {}
        self._rows: dict[int, Rows] = {}
        self._pairs: tuple[np.ndarray, np.ndarray] | None = None
        self._sums: dict[int, np.ndarray] = {}

    def rows(self, kind: int) -> Rows:
        """The neighbors of one type."""
        rows = self._rows.get(kind)
        if rows is None:
            edges = np.flatnonzero(self.nodes.kind_of[self.ends[:, 1]] == kind)
            edges = edges[np.argsort(self.ends[edges, 0], kind="stable")]
            counts = np.bincount(self.ends[edges, 0], minlength=len(self.nodes))
            starts = np.concatenate([[0], np.cumsum(counts)])
            rows = self._rows[kind] = Rows(starts, self.ends[edges, 1], edges)
        return rows

    def summed(self, kind: int) -> np.ndarray:
        """Sums of the weights of the edges of `rows`, from the first to before each; the largest of each row counts as 1."""
        sums = self._sums.get(kind)
        if sums is None:
            rows = self.rows(kind)
            weights = np.ones(len(rows.edges)) if self.weights is None else self.weights[rows.edges]
            sums = self._sums[kind] = summed_by_row(weights, rows.starts)
        return sums

    def between(self, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """The first edge from each source to each target by its number, or NOBODY."""
        count = len(self.nodes)
        if self._pairs is None:
            keys = self.ends[:, 0] * count + self.ends[:, 1]
            order = np.argsort(keys, kind="stable")
            self._pairs = keys[order], order
        keys, order = self._pairs
        asked = sources * count + targets
        if not len(keys):
            return np.full(asked.shape, NOBODY, np.int64)
        places = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        return np.where(keys[places] == asked, order[places], NOBODY)

    # What is asked from outside speaks of ids; `op` is who asks, for errors.

    def ends_of(self, op: str, edges: np.ndarray) -> np.ndarray:
        """The ids of both nodes of edges."""
        found: np.ndarray = self.nodes.ids[self.ends[self.edges.numbers(op, edges)]]
        return found

    def edges_of(self, op: str, pairs: np.ndarray) -> np.ndarray:
        """The id of an edge from the first to the second of each pair, NOBODY where there is none."""
        numbers = self.nodes.numbers(op, pairs)
        found = self.between(numbers[:, 0], numbers[:, 1])
        ids = np.append(self.edges.ids, np.int32(NOBODY))
        return ids[found]

    def neighbors(self, op: str, nodes: np.ndarray, kind: Any, form: str) -> list[np.ndarray]:
        """All neighbors of a type, as a table filled up with NOBODY, as pairs, or as compressed rows."""
        rows = self.rows(self.nodes.kind(op, "neighbor_type", kind))
        numbers = self.nodes.numbers(op, nodes)
        owner, which, places = rows.spread(numbers)
        found = self.nodes.ids[rows.targets[places]]
        counts = rows.degrees(numbers)
        if form == "CSR":
            return [(np.cumsum(counts) - counts).astype(np.int32), found]
        given = self.nodes.ids[numbers]
        if form == "COO":
            return [np.stack([given[owner], found], axis=1)]
        width = 1 + int(counts.max(initial=0))
        if len(numbers) * width > MOST:
            raise ValueError(
                f"For '{op}', the table of OutputFormat.NORMAL must have at most {MOST} entries, but got {len(numbers)} "
                f"times {width}. Use OutputFormat.CSR."
            )
        table = np.full((len(numbers), width), NOBODY, np.int32)
        table[:, 0] = given
        table[owner, 1 + which] = found
        return [table]

    def graph_values(self, op: str, names: Iterable[str]) -> list[np.ndarray]:
        """Features of the whole graph."""
        for name in names:
            if name not in self.features:
                raise ValueError(
                    f"For '{op}', feature_types must be among {list(self.features)}, but got {name!r}."
                )
        return [self.features[name] for name in names]


def joined(
    nodes: Items, edges: Items, sources: np.ndarray, targets: np.ndarray, said: str
) -> np.ndarray:
    """The ends of edges as numbers of nodes."""
    try:
        ends = [nodes.numbers("", np.asarray(side)) for side in (sources, targets)]
    except ValueError:
        both = np.concatenate([sources, targets])
        wrong = both[~np.isin(both, nodes.ids)][0]
        raise ValueError(
            f"{said}, both ends of an edge must be nodes of the graph, but got {wrong}."
        ) from None
    return np.stack(ends, axis=1) if len(edges) else np.zeros((0, 2), np.int64)


def summed_by_row(weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Sums of weights from the first to before each. Each row is divided by its largest, so that no row vanishes beside another."""
    degrees = np.diff(starts)
    tops = np.ones(len(degrees))
    full = degrees > 0
    tops[full] = np.maximum.reduceat(weights, starts[:-1][full])
    scaled = weights / np.repeat(np.where(tops > 0, tops, 1.0), degrees)
    return np.concatenate([[0.0], np.cumsum(scaled, dtype=np.float64)])


def checked_weights(weights: np.ndarray, said: str) -> np.ndarray:
    """Weights of edges, by which they are drawn."""
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    if wrong.size:
        raise ValueError(
            f"{said}, weights of edges must be finite and not negative, but got {wrong[0]}."
        )
    return weights.astype(np.float64)

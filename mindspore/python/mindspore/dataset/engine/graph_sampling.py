"""Draws from a graph: neighbors, nodes that are none, walks. Each is one pass over all nodes that are asked about.

All that is drawn comes from a generator of its own, made from the 64 bits that are given: the same bits, the same answer, whatever
was drawn before and by whom.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.dataset.core.random import make_rng
from mindspore.dataset.engine.graph_store import NOBODY, GraphStore, Rows, summed_by_row

_AT_ONCE = 1 << 22  # neighbors that a step of a walk looks at together


def _generator(seed: int) -> np.random.Generator:
    return make_rng(seed, seed >> 32)


def ranks(rng: np.random.Generator, counts: np.ndarray, wanted: int) -> np.ndarray:
    """For each count `wanted` numbers below it, in rounds: none comes again before all others came. NOBODY where it is 0."""
    result = np.full((len(counts), wanted), NOBODY, np.int64)
    few = np.flatnonzero((counts > 0) & (counts < 2 * wanted))
    if few.size:
        result[few] = _shuffled(rng, counts[few], wanted)
    many = np.flatnonzero(counts >= 2 * wanted)
    if many.size:
        result[many] = _distinct(rng, counts[many], wanted)
    return result


def _shuffled(rng: np.random.Generator, counts: np.ndarray, wanted: int) -> np.ndarray:
    """Whole rounds, as many as are needed: each is a random order of all numbers."""
    rounds = -(-wanted // counts)
    sizes = counts * rounds
    owner = np.repeat(np.arange(len(counts)), sizes)
    starts = np.cumsum(sizes) - sizes
    which = np.arange(len(owner)) - starts[owner]
    order = np.lexsort((rng.random(len(owner)), which // counts[owner], owner))
    drawn = which[order] % counts[owner]
    picked: np.ndarray = drawn[starts[:, None] + np.arange(wanted)]
    return picked


def _distinct(rng: np.random.Generator, counts: np.ndarray, wanted: int) -> np.ndarray:
    """A few numbers of many, all different, by Floyd's algorithm; then in a random order."""
    drawn = np.empty((len(counts), wanted), np.int64)
    for i in range(wanted):
        last = counts - wanted + i
        number = rng.integers(0, last + 1)
        taken = (drawn[:, :i] == number[:, None]).any(axis=1)
        drawn[:, i] = np.where(taken, last, number)
    return np.take_along_axis(drawn, np.argsort(rng.random(drawn.shape), axis=1), axis=1)


class Sampler:
    """The draws of one graph; `op` is who asks, for errors."""

    def __init__(self, store: GraphStore) -> None:
        self.store = store
        self._ids = np.append(store.nodes.ids, np.int32(NOBODY))

    def neighbors(
        self,
        op: str,
        seed: int,
        nodes: np.ndarray,
        numbers: Sequence[int],
        kinds: Sequence[Any],
        weighted: bool,
    ) -> np.ndarray:
        """Neighbors, then neighbors of those, as many times as there are numbers: a row for each node."""
        rng = _generator(seed)
        steps = [self.store.nodes.kind(op, "neighbor_types", kind) for kind in kinds]
        reached = self.store.nodes.numbers(op, nodes)
        parts = [reached[:, None]]
        for count, kind in zip(numbers, steps, strict=True):
            # One behind the last node stands for none, which has no neighbors.
            drawn = self._step(op, rng, reached.reshape(-1), count, kind, weighted)
            reached = drawn.reshape(len(nodes), -1)
            parts.append(reached)
        found: np.ndarray = self._ids[np.concatenate(parts, axis=1)]
        return found

    def _step(
        self,
        op: str,
        rng: np.random.Generator,
        nodes: np.ndarray,
        wanted: int,
        kind: int,
        weighted: bool,
    ) -> np.ndarray:
        rows, nobody = self.store.rows(kind), len(self.store.nodes)
        there = np.flatnonzero(nodes < nobody)
        there = there[rows.degrees(nodes[there]) > 0]
        result = np.full((len(nodes), wanted), nobody, np.int64)
        if there.size:
            known = nodes[there]
            if weighted:
                places = self._weighted(op, rng, known, wanted, kind)
            else:
                places = rows.starts[known][:, None] + ranks(rng, rows.degrees(known), wanted)
            result[there] = rows.targets[places]
        return result

    def _weighted(
        self, op: str, rng: np.random.Generator, nodes: np.ndarray, wanted: int, kind: int
    ) -> np.ndarray:
        """Places among the neighbors, each as likely as its edge weighs, with replacement."""
        rows, sums = self.store.rows(kind), self.store.summed(kind)
        low, high = sums[rows.starts[nodes]], sums[rows.starts[nodes + 1]]
        empty = np.flatnonzero(high <= low)
        if empty.size:
            raise ValueError(
                f"For '{op}', an edge from each node to its neighbors must weigh more than 0, but got none from node "
                f"{self.store.nodes.ids[nodes[empty[0]]]}."
            )
        below = np.nextafter(high, low)  # so that rounding never reaches the next node
        values = np.minimum(
            low[:, None] + rng.random((len(nodes), wanted)) * (high - low)[:, None], below[:, None]
        )
        places = np.searchsorted(sums, values, side="right") - 1
        first, end = rows.starts[nodes][:, None], rows.starts[nodes + 1][:, None]
        return np.clip(places, first, end - 1)

    def strangers(
        self, op: str, seed: int, nodes: np.ndarray, wanted: int, kind: Any
    ) -> np.ndarray:
        """Nodes of a type that are no neighbors of each node, nor it itself."""
        rng = _generator(seed)
        number = self.store.nodes.kind(op, "neg_neighbor_type", kind)
        rows, given = self.store.rows(number), self.store.nodes.numbers(op, nodes)
        all_of_kind = self.store.nodes.of_kind(number)
        owner, _, places = rows.spread(given)
        itself = np.flatnonzero(self.store.nodes.kind_of[given] == number)
        owner = np.concatenate([owner, itself])
        barred = np.searchsorted(all_of_kind, np.concatenate([rows.targets[places], given[itself]]))
        # Each node's barred ones once, sorted: a drawn rank skips those at or below it.
        total = len(all_of_kind)
        keys = np.unique(owner * total + barred)
        owner, barred = keys // total, keys % total
        starts = np.searchsorted(owner, np.arange(len(given) + 1))
        passed = owner * (total + 1) + barred - (np.arange(len(keys)) - starts[owner])
        drawn = ranks(rng, total - np.diff(starts), wanted)
        there = drawn >= 0
        asked = np.where(there, drawn, 0) + np.arange(len(given))[:, None] * (total + 1)
        skipped = np.searchsorted(passed, asked, side="right") - starts[:-1, None]
        found = np.append(all_of_kind, len(self.store.nodes))[
            np.where(there, drawn + skipped, total)
        ]
        table: np.ndarray = np.concatenate([self._ids[given][:, None], self._ids[found]], axis=1)
        return table

    def walks(
        self,
        op: str,
        seed: int,
        nodes: np.ndarray,
        path: Sequence[Any],
        home: float,
        away: float,
        default: int,
    ) -> np.ndarray:
        """Random walks of node2vec along a path of types; `default` from where one cannot go on."""
        rng = _generator(seed)
        steps = [self.store.nodes.kind(op, "meta_path", kind) for kind in path]
        start = self.store.nodes.numbers(op, nodes)
        table = np.full((len(start), 1 + len(steps)), default, np.int32)
        table[:, 0] = self.store.nodes.ids[start]
        walking, here, before = np.arange(len(start)), start, start
        for i, kind in enumerate(steps):
            rows = self.store.rows(kind)
            going = np.flatnonzero(rows.degrees(here) > 0)
            walking, here, before = walking[going], here[going], before[going]
            if not walking.size:
                break
            if i == 0 or home == away == 1.0:
                reached = rows.targets[
                    rows.starts[here] + rng.integers(0, rows.degrees(here), dtype=np.int64)
                ]
            else:
                reached = self._stepped(rng, rows, here, before, home, away)
            table[walking, i + 1] = self.store.nodes.ids[reached]
            here, before = reached, here
        return table

    def _stepped(
        self,
        rng: np.random.Generator,
        rows: Rows,
        here: np.ndarray,
        before: np.ndarray,
        home: float,
        away: float,
    ) -> np.ndarray:
        """The next node: back with weight 1/home, on to a neighbor of the last with 1, farther away with 1/away."""
        draws, reached = rng.random(len(here)), np.empty(len(here), np.int64)
        ends = np.cumsum(rows.degrees(here))
        start = 0
        while start < len(here):
            done = ends[start - 1] if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, done + _AT_ONCE, side="right")))
            owner, _, places = rows.spread(here[start:stop])
            targets = rows.targets[places]
            last = before[start:stop][owner]
            near = self.store.between(last, targets) != NOBODY
            weights = np.where(targets == last, 1 / home, np.where(near, 1.0, 1 / away))
            bounds = np.searchsorted(owner, np.arange(stop - start + 1))
            sums = summed_by_row(weights, bounds)
            low, high = sums[bounds[:-1]], sums[bounds[1:]]
            values = np.minimum(low + draws[start:stop] * (high - low), np.nextafter(high, low))
            chosen = np.searchsorted(sums, values, side="right") - 1
            reached[start:stop] = targets[np.clip(chosen, bounds[:-1], bounds[1:] - 1)]
            start = stop
        return reached

"""Positions that go from one division of a dataset to another: what counts is how many samples all shards together have given.

Shard s of n has every n-th row of one order, from row s on. When each shard has given k rows, the first k * n rows of that order are
gone, whatever comes next: m shards go on behind them, each with its own rows among those that are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from mindspore.dataset.core.validator_helpers import check_int
from mindspore.dataset.engine.samplers import (
    DistributedSampler,
    RandomSampler,
    SequentialSampler,
    Shuffle,
)

if TYPE_CHECKING:
    from mindspore.dataset.engine.datasets import Dataset
    from mindspore.dataset.engine.iterators import Position

_LARGEST = (1 << 63) - 1


class Division(NamedTuple):
    """A pipeline of which each row, or batch, is one of a shard of the source."""

    rows: int  # of all shards
    shards: int
    shard: int
    batch: int
    common: bool  # the order is that of all shards, even where no seed is set
    shuffled: bool
    whole: bool = False  # batches: a last one with fewer rows is left out

    @property
    def own(self) -> int:
        """Rows of this shard: as many as all others have."""
        return -(-self.rows // self.shards)

    def samples(self, step: int) -> int:
        """What all shards together have given when this one has given so many rows or batches."""
        return min(min(step * self.batch, self.own) * self.shards, self.rows)


def division_of(dataset: Dataset) -> Division | None:
    """How a pipeline is divided; None where its rows are not one by one, or batch by batch, those of its source."""
    from mindspore.dataset.engine import datasets as kinds

    batch, whole, node = 1, False, dataset
    while not isinstance(node, kinds.MappableDataset):
        if isinstance(node, kinds.BatchDataset):
            size = getattr(node, "batch_size", None)
            if batch != 1 or not isinstance(size, int):
                return None
            batch, whole = size, node.drop_remainder
        elif type(node) not in (kinds.MapDataset, kinds.ProjectDataset, kinds.RenameDataset):
            return None
        node = node.children[0]
    sampler: Any = getattr(node, "_sampler", None)
    if sampler is None:  # an order of its own
        return None
    if sampler.child_sampler is not None or sampler.num_samples is not None:
        return None
    if type(sampler) is DistributedSampler and sampler.offset <= 0:
        facts = (sampler.num_shards, sampler.shard_id, batch, True, sampler.shuffle, whole)
        return Division(node._length, *facts)
    if type(sampler) is SequentialSampler and not sampler.start_index:
        return Division(node._length, 1, 0, batch, False, False, whole)
    everywhere = getattr(sampler, "shuffle", None) is Shuffle.GLOBAL
    if type(sampler) is RandomSampler and not sampler.replacement and everywhere:
        return Division(node._length, 1, 0, batch, False, True, whole)
    return None


def described(position: Position, dataset: Dataset) -> dict[str, Any]:
    """A position as `state()` gives it, with what other divisions need to know."""
    state: dict[str, Any] = position.state()
    state["sources"] = shards_of(dataset)
    division = division_of(dataset)
    if division is not None:
        given = position.given if position.cut else division.samples(position.step)
        state.update(shards=division.shards, samples=given, rows=division.rows)
        state.update(common=division.common, batch=division.batch, cut=position.cut)
    return state


def place(position: Position, state: dict[str, Any], dataset: Dataset) -> None:
    """Moves a position that was read from a state of another division to where this one goes on."""
    division = division_of(dataset)
    if division is None or "shards" not in state:
        _require_alike(state, dataset)  # the steps are all that is known
        return
    for name in ("shards", "samples", "rows", "batch", "cut"):
        check_int("restore", name, state.get(name), 0, _LARGEST)
    if state["rows"] != division.rows:
        raise ValueError(
            f"For 'restore', the dataset must have the {state['rows']} rows that the position is of, but it has {division.rows}."
        )
    samples = state["samples"]
    here = (division.shards, division.batch)
    if (state["shards"], state["batch"]) == here and not state["cut"]:
        return
    if samples and division.shuffled and not position.seeded and not _same_order(state, division):
        raise ValueError(
            f"For 'restore', a position of {state['shards']} shards can go to {division.shards} without repeating rows only where both "
            "have one order, but no seed was set. Use set_seed, or num_shards=1 in place of no shards."
        )
    own = min(max(-(-(samples - division.shard) // division.shards), 0), division.own)
    position.given = samples
    position.step, position.cut = divmod(own, division.batch)
    if own == division.own:
        position.step, position.cut = -(-own // division.batch), 0
    if division.whole and position.step >= division.own // division.batch:
        # What is left fills no batch: nothing more comes in this epoch.
        position.step, position.cut = division.own // division.batch, 0


def shards_of(dataset: Dataset) -> list[int]:
    """Into how many shards each source of a pipeline is divided."""
    if dataset.children:
        return [count for child in dataset.children for count in shards_of(child)]
    sampler: Any = getattr(dataset, "_sampler", None)
    while sampler is not None and not isinstance(sampler, DistributedSampler):
        sampler = sampler.child_sampler
    return [getattr(dataset if sampler is None else sampler, "num_shards", None) or 1]


def _require_alike(state: dict[str, Any], dataset: Dataset) -> None:
    here, there = shards_of(dataset), state.get("sources", shards_of(dataset))
    if here == there or not (state["epoch"] or state["step"]):
        return
    raise ValueError(
        f"For 'restore', a position goes to another number of shards only where rows or batches come one by one from one source, through "
        f"map, project, rename and one batch; this pipeline must have its sources in {there} shards, as it had, but they are in {here}."
    )


def _same_order(state: dict[str, Any], division: Division) -> bool:
    return bool(state.get("common")) and division.common


def without_first(row: Any, count: int) -> Any:
    """The columns of a batch without their first rows, which were given before."""
    if isinstance(row, dict):
        return {key: without_first(value, count) for key, value in row.items()}
    if isinstance(row, list):
        return [without_first(value, count) for value in row]
    return row[count:]


__all__ = ["Division", "described", "division_of", "place", "shards_of", "without_first"]

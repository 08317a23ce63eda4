"""The batches of a dataset as this process gets them. Where several processes train together and the source is not divided, all go
through the same batches and each makes every so many-th: in step k the process of rank r has batch k * processes + r, where those that compute stages of a
pipeline for the same rows count as one. So nothing
depends on how many there are but who computes what, and a place in the data is how many batches all have been given."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Iterator
from typing import Any

from mindspore import _core, log
from mindspore.common import _groups, _planning
from mindspore.common.tensor import Tensor
from mindspore.dataset.engine import iterators, sharing
from mindspore.dataset.engine.datasets import Dataset
from mindspore.train import _together


class Feed:
    """A dataset of a Model, with what DatasetHelper asks of one.

    Args:
        op: the function that is given it.
        dataset: the dataset.
        aware: whether the script divides data by itself, so that what it has not divided is meant for this process.
        counts: whether its batches are to be counted though filters, functions and sources must be asked for that; else they are
            when an epoch of them has been given, or somebody needs the number.
    """

    def __init__(self, op: str, dataset: Any, aware: bool = False, counts: bool = True) -> None:
        self.op, self.dataset = op, dataset
        # One shard alone: the data of this process, whatever the others do.
        mine = sharing.is_own(dataset) or (aware and not sharing.is_divided(dataset))
        self.joint = _groups.have_the_same() and not mine
        self.divides = False
        # All processes are given the whole of each batch, which the compiler divides.
        self._same = _planning.on() and not _planning.gives_parts()
        self._position: dict[str, Any] | None = None
        self._whole: int | None = None
        self._leaves_uncounted = not (counts or self.joint) and _must_be_asked(dataset)
        if self._leaves_uncounted:
            return
        self.whole = own = int(dataset.get_dataset_size())
        if self.joint:
            facts = _together.gather_objects((own, sharing.is_divided(dataset)))
            self.whole = max(size for size, _ in facts)
            divided = any(divided for _, divided in facts)
            if self._same and (divided or len({size for size, _ in facts}) > 1):
                raise ValueError(
                    f"For '{op}', each process must be given the whole of each batch, as 'full_batch' and 'dataset_strategy' say, but "
                    "the source of the dataset is divided."
                )
            if self.whole and not divided and not self._same:
                self.divides = self._is_the_same(own)
            empty = [rank for rank, (size, _) in enumerate(facts) if not size]
            if self.whole and empty:
                raise ValueError(
                    f"For '{op}', each process must have a batch, but rank {', '.join(map(str, empty))} has none."
                )

    @property
    def whole(self) -> int:
        """The batches of an epoch, of all processes."""
        if self._whole is None:
            self._whole = int(self.dataset.get_dataset_size())
        return self._whole

    @whole.setter
    def whole(self, batches: int) -> None:
        self._whole = batches

    @property
    def counted(self) -> bool:
        """Whether the batches of an epoch have been counted, or given."""
        return self._whole is not None

    @property
    def divided_by_user(self) -> bool:
        """Whether the processes have parts that nobody made here."""
        return self.joint and not self.divides and not self._same

    def _is_the_same(self, own: int) -> bool:
        """Whether all processes have the same rows, of which each can take its part."""
        row = None
        if isinstance(self.dataset, Dataset):
            row = sharing.first_row(self.dataset, self._place())
        seen = _together.gather_objects((own, sharing.fingerprint(row)))
        if len(set(seen)) == 1:
            return True
        if _groups.world_rank() == 0:
            log.warning(
                f"For '{self.op}', the processes read different samples though the source of the dataset has no 'num_shards': each is "
                "taken to have its part of them. A source that draws an order of its own needs set_seed."
            )
        return False

    def _place(self) -> dict[str, Any]:
        """Where the next iterator begins: the same in all processes."""
        if self._position is None:
            self._position = json.loads(
                _core.share_text(json.dumps(iterators.Position.begin().state()))
            )
        return self._position

    def steps_after(self, given: int) -> int:
        """How many steps are left of an epoch of which so many batches have been given."""
        left = max(self.whole - given, 0)
        return -(-left // _planning.data_place()[1]) if self.divides else left

    def given_after(self, given: int, steps: int = 1) -> int:
        """How many batches of the epoch have been given when so many more steps are done."""
        if not self.divides:
            return given + steps
        return min(given + steps * _planning.data_place()[1], self.whole)

    def place_of(self, state: dict[str, Any]) -> tuple[int, int] | None:
        """Where a position in an epoch of another run is here: how many batches lie before it, and how many samples of the next
        one; None where the batches are others.
        """
        uncounted = state["batches"] is None and not self.divided_by_user
        if state["batches"] == self.whole or uncounted:
            return state["step"], 0
        here, there = self.batching, state.get("batching")
        if here is None or there is None or here[1] != there[1]:
            return None
        return divmod(state["samples"], here[0])

    @functools.cached_property
    def batching(self) -> list[int] | None:
        """How many samples all batches have but the last, and how many there are, where that is known."""
        return None if self._leaves_uncounted else sharing.batching(self.dataset)

    def check_given(self, steps: int, before: int = 0) -> None:
        """At the end of an epoch that nobody cut short: an error where none of the counted batches behind the first ones came. Now they
        are counted, if they were not."""
        if not self.counted:
            self.whole = steps
        counted = self.get_dataset_size()
        if steps >= counted:
            return
        rule = (
            "batches are counted before they are given, and what filters, functions and sources answer must depend on the row alone, "
            "not on what they were asked before."
        )
        if steps == before:
            raise RuntimeError(
                f"For '{self.op}', the dataset had {counted - before} batches when they were counted, but then gave none: {rule}"
            )
        log.warn_once(
            "fewer batches",
            f"For '{self.op}', the dataset had {counted} batches when they were counted, but then gave {steps}: {rule}",
        )

    def stand_in(self) -> list[Any]:
        """A batch for a process that never had one."""
        row = None
        if isinstance(self.dataset, Dataset):
            row = sharing.first_row(self.dataset, iterators.Position(0, True).state())
        if row is None:
            raise RuntimeError(
                f"For '{self.op}', each process must have a batch, but rank {_groups.world_rank()} has none."
            )
        return [Tensor(value) for value in row]

    # What DatasetHelper and positions ask of a dataset

    def get_dataset_size(self) -> int:
        """Steps of an epoch."""
        return self.steps_after(0)

    def create_tuple_iterator(self, num_epochs: int = -1, **options: Any) -> Any:
        """The batches of this process."""
        if not self.divides and not (
            self._same and self.joint and isinstance(self.dataset, Dataset)
        ):
            return self.dataset.create_tuple_iterator(num_epochs=num_epochs, **options)
        if not isinstance(self.dataset, Dataset):
            return _Picked(self.dataset.create_tuple_iterator(num_epochs=num_epochs, **options))
        place, self._position = self._place(), None
        return _Divided(self.dataset, place, self.divides)

    def restore(self, state: dict[str, Any]) -> None:
        """Let the next iterator begin at a position."""
        if self.divides or (self._same and self.joint):
            self._position = dict(state)
        else:
            self.dataset.restore(state)

    def rest(self, iterator: Any, given: int, samples: int) -> Iterator[Any]:
        """The batches of an epoch after those that were given, and after so many samples of the first of them."""
        if isinstance(iterator, (_Divided, _Picked, iterators.Iterator)):
            rows = iterator.begin(given)
        else:
            rows = iter(iterator)
            for _ in range(given):
                next(rows)
        if samples and (not self.divides or _planning.data_place()[0] == 0):
            first = [column[samples:] for column in next(rows)]
            return itertools.chain([first], rows)
        return rows


def _must_be_asked(dataset: Any) -> bool:
    """Whether rows are made when batches are counted."""
    return isinstance(dataset, Dataset) and dataset._node.size() is None


class _Divided:
    """An iterator over this process's batches, epoch by epoch; or over all of them, in the order that all processes have."""

    def __init__(self, dataset: Dataset, position: dict[str, Any], divides: bool = True) -> None:
        self._dataset, self._place = dataset, dict(position)
        self._of = _planning.data_place() if divides else (0, 1)
        self._rows: Any = None

    def __iter__(self) -> Iterator[Any]:
        return self.begin(0)

    def begin(self, given: int) -> Iterator[Any]:
        """The next epoch, after so many of its batches."""
        self.stop()
        rank, size = self._of
        part = sharing.every(self._dataset, given + rank, size)
        self._dataset.parent.remove(part)
        part.restore({**self._place, "step": 0})
        self._place.pop("filters", None)
        self._rows = part.create_tuple_iterator(num_epochs=1)
        self._place["epoch"] += 1
        return iter(self._rows)

    def state(self) -> dict[str, Any]:
        """The position at the begin of the next epoch, and what filters decided in this one."""
        told = {} if self._rows is None else self._rows.state()
        return {**self._place, **{key: told[key] for key in ("filters",) if key in told}}

    def stop(self) -> None:
        """Ends the iterator."""
        rows, self._rows = self._rows, None
        if rows is not None:
            rows.stop()


class _Picked:
    """Every so many-th batch of an iterator that knows nothing of processes."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def __iter__(self) -> Iterator[Any]:
        return self.begin(0)

    def begin(self, given: int) -> Iterator[Any]:
        """An epoch, after so many of its batches."""
        rank, size = _planning.data_place()
        return itertools.islice(self._iterator, given + rank, None, size)

    def stop(self) -> None:
        """Ends the iterator."""
        stop = getattr(self._iterator, "stop", None)
        if stop is not None:
            stop()


__all__ = ["Feed"]

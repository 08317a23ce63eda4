"""What a dataset does with the pipeline that it is: iterators over its rows, where they stand, what they cost, and a look at the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindspore.dataset.engine.examining import Report, examined
from mindspore.dataset.engine.iterators import (
    DictIterator,
    Iterator,
    Position,
    TupleIterator,
    worker_count,
)
from mindspore.dataset.engine.places import described, place
from mindspore.dataset.engine.previewing import Preview, previewed
from mindspore.dataset.engine.tuning import profile_of
from mindspore.dataset.engine.workers import WorkerPool

if TYPE_CHECKING:
    from mindspore.dataset.engine.datasets import Dataset


class DatasetRuns:
    """The methods of Dataset that run it."""

    _position: Position | None = None
    _resumes_at: Position | None = None
    _last: Any = None  # a weak reference to the last iterator
    _told: Any = None  # by its queue, at the end of an epoch

    def create_dict_iterator(
        self: Any, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> DictIterator:
        """Rows as dicts."""
        return DictIterator(self, num_epochs, output_numpy, do_copy)

    def create_tuple_iterator(
        self: Any,
        columns: Any = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ) -> TupleIterator:
        """Rows as lists."""
        return TupleIterator(self, columns, num_epochs, output_numpy, do_copy)

    def __iter__(self: Any) -> Iterator:
        return iter(self.create_tuple_iterator(num_epochs=1))

    def state(self: Any) -> dict[str, Any]:
        """Where the last iterator made of this dataset stands: what restore() takes."""
        if self._position is None:
            raise RuntimeError("For 'state', an iterator must have been made of the dataset.")
        return described(self._position, self)

    def restore(self: Any, state: dict[str, Any]) -> None:
        """Let the next iterator go on where `state` was taken, also where there are more or fewer shards now."""
        position = Position.from_state(state)
        place(position, state, self)
        self._resumes_at = position

    def profile(self: Any) -> dict[str, Any]:
        """Where the time of the pipeline goes, by what all iterators of its parts have done so far.

        Returns a dict: "operators", each with its name, rows and seconds of all its workers together; "slowest", the name of the
        one with most seconds; "queue" of the last epoch: how many rows were ready on average when one was taken
        ("mean_depth", of "prefetch_size" at most, unless rows are so cheap that they come by the dozen), seconds in which the
        program waited for one, and in which workers worked.
        """
        iterator = None if self._last is None else self._last()
        pipeline = None if iterator is None else iterator._pipeline
        return profile_of(self, self._told if pipeline is None else pipeline.facts())

    def preview(self: Any, n: int = 8, rows: int = 256) -> Preview:
        """The first `n` rows, and how the values of each column are spread over `rows` of them; batches are taken apart.

        print() shows it as text, save("preview.png") writes a picture, a notebook shows that by itself.
        """
        return previewed(self, n, rows)

    def doctor(
        self: Any,
        test: Dataset | None = None,
        sample: float | None = None,
        label: str | None = None,
    ) -> Report:
        """Looks for what is wrong with the rows, and says it: `print(dataset.doctor(test=test_data))`.

        Rows that cannot be read, are copies of others, hold nan, look unlike all others of their class; contents with several labels;
        labels that hardly any row has; classes with few rows or none. What is done to rows is left out: those of the source
        are looked at, unless something between chooses among them.

        Args:
            test: Other data, in which no row of this may be.
            sample: So many rows, or this part of them, chosen at random; an epoch of a part costs that part. Default: all.
            label: The column of the labels. Default: one with a usual name, else the last integer.
        """
        return examined(self, test, sample, label, worker_count(self))

    def close_pool(self: Any) -> None:
        """End the processes of this pipeline; the next row starts others."""
        for pool in self._all_pools():
            pool.close()

    def _all_pools(self: Any) -> list[WorkerPool]:
        return [*self._pools, *(pool for child in self.children for pool in child._all_pools())]

    def _most_workers(self: Any) -> int | None:
        """The greatest number of workers that any part of the pipeline asks for."""
        asked = [self.num_parallel_workers, *(child._most_workers() for child in self.children)]
        return max((number for number in asked if number is not None), default=None)

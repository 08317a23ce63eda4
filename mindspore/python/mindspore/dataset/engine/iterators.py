"""Iterators over datasets: a `for` over one is an epoch, until `num_epochs` are done."""

from __future__ import annotations

import atexit
import secrets
import weakref
from typing import TYPE_CHECKING, Any

from mindspore import _core
from mindspore.dataset import config
from mindspore.dataset.core.draws import let_go
from mindspore.dataset.core.validator_helpers import check_int, check_names, check_type
from mindspore.dataset.engine import verdicts
from mindspore.dataset.engine.places import described, without_first
from mindspore.dataset.engine.tuning import Tuner
from mindspore.dataset.engine.values import stack_dicts
from mindspore.dataset.engine.workers import cores

if TYPE_CHECKING:
    from mindspore.dataset.engine.datasets import Dataset

_alive: weakref.WeakSet[Iterator] = weakref.WeakSet()
_STATE_VERSION = 1

_core.dataset.set_opaque_stacker(stack_dicts)


def _cleanup() -> None:
    """Ends all iterators, so that their next step is an error."""
    for iterator in list(_alive):
        iterator.stop()


# Workers must be gone before the interpreter is.
atexit.register(_cleanup)


class Position(_core.dataset.Place):
    """Where an iterator stands: the epoch, and the rows of it that were given."""

    def __init__(self, seed: int, seeded: bool, epoch: int = 0, step: int = 0) -> None:
        super().__init__()
        self.seed, self.seeded = seed, seeded
        self.epoch, self.step = epoch, step
        # Of a batch that was begun under another number of shards: its rows that were given, until the rest of it is, and the
        # samples that were given in all.
        self.cut = self.given = 0
        self.verdicts: Any = None  # of filters in the epoch, as the engine has them
        self.known: list[verdicts.Told] = []  # and those that a state tells of

    @classmethod
    def begin(cls) -> Position:
        """The first row, under the seed that the user chose or a random one."""
        seed = config._explicit_seed()
        return cls(secrets.randbits(63) if seed is None else seed, seed is not None)

    def state(self) -> dict[str, Any]:
        """Plain values, which json can hold."""
        state: dict[str, Any] = {
            "version": _STATE_VERSION,
            "seed": self.seed,
            "seeded": self.seeded,
            "epoch": self.epoch,
            "step": self.step,
        }
        if told := self.known if self.verdicts is None else self.verdicts.all():
            state["filters"] = verdicts.written(told)
        return state

    @classmethod
    def from_state(cls, state: Any) -> Position:
        """The inverse."""
        check_type("restore", "state", state, dict)
        if state.get("version") != _STATE_VERSION:
            raise ValueError(
                f"For 'restore', the state must be of version {_STATE_VERSION}, but got "
                f"{state.get('version')!r}."
            )
        largest = (1 << 63) - 1
        for name in ("seed", "epoch", "step"):
            check_int("restore", name, state.get(name), 0, largest)
        check_type("restore", "seeded", state.get("seeded"), bool)
        position = cls(state["seed"], state["seeded"], state["epoch"], state["step"])
        position.known = verdicts.read(state)
        return position


class Iterator(_core.dataset.Taker):
    """Base of the two iterators below. Rows that are ready its base gives without a step here."""

    _named = False  # columns have names in a row

    def __init__(
        self,
        dataset: Dataset,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
        watched: Dataset | None = None,
    ):
        super().__init__()
        if num_epochs != -1:
            check_int("create_iterator", "num_epochs", num_epochs, 1)
        check_type("create_iterator", "output_numpy", output_numpy, bool)
        check_type("create_iterator", "do_copy", do_copy, bool)
        self.dataset = dataset
        self.ori_dataset = dataset
        self._num_epochs = num_epochs
        self._names = tuple(dataset._columns) if self._named else None
        self._as_arrays = output_numpy
        owner = dataset if watched is None else watched
        self._restored = owner._resumes_at is not None
        self._position = owner._resumes_at or Position.begin()
        owner._position = self._position
        owner._last, self._owner = weakref.ref(self), owner
        self._pipeline: Any = self._make_pipeline(dataset)
        owner._resumes_at = None
        self._running = self._failed = False
        self._begun = 0
        _alive.add(self)

    def _make_pipeline(self, dataset: Dataset) -> Any:
        workers = worker_count(dataset)
        _core.dataset.set_worker_limit(max(workers, 1))
        place, ahead = self._position, config.get_prefetch_size()
        pipeline = _core.dataset.Pipeline(
            dataset._node, place.seed, place.seeded, workers, ahead, _core.dataset.queue_bytes()
        )
        pipeline.verdicts.set(place.known)
        tuned = config.get_enable_autotune() and workers > 0
        self._tuner = Tuner(pipeline, self._owner) if tuned else None
        return pipeline

    def __iter__(self) -> Iterator:
        # An epoch that was left with `break` goes on; only a finished one is followed by the next.
        self._begin_taking()
        try:
            if not self._running:
                self._begin_epoch()
        finally:
            self._leave()
        return self

    def begin(self, step: int) -> Iterator:
        """The next epoch, after so many of its rows, which are not made."""
        self._position.step = step
        return iter(self)

    def _begin_taking(self) -> None:
        if not self._enter():
            raise RuntimeError(
                "For 'Iterator', one thread at a time must take rows, but another takes one now. "
                "Give each an iterator of its own, or let them wait for each other by a lock."
            )

    def _begin_epoch(self) -> None:
        if self._pipeline is None:
            raise RuntimeError("For 'Iterator', the iterator was stopped and cannot be used again.")
        place = self._position
        if self._failed and self._begun != self._num_epochs:
            # After a failure, as after the end, the next step begins the next epoch.
            self._failed = False
            place.epoch, place.step, place.cut = place.epoch + 1, 0, 0
        if self._num_epochs != -1 and self._begun >= self._num_epochs:
            ended = "the last one ended with an error" if self._failed else "gave them all"
            raise RuntimeError(
                f"For 'Iterator', the iterator was made for {self._num_epochs} epochs, and {ended}. "
                "Create another one, or pass num_epochs=-1."
            )
        for pool in self.dataset._all_pools():
            pool.start()
        for waiting in self.dataset._conditions().values():
            waiting.resume(place.step)
        self._go_to(place)
        self._begun += 1
        self._running = True
        if self._tuner is not None:
            self._tuner.begun()

    def _go_to(self, place: Position) -> None:
        """Opens the pipeline behind the rows that were given. Where that fails, whoever asks next is asked to go there, too."""
        known, place.verdicts, place.known = place.known, self._pipeline.verdicts, []
        try:
            skipped = self._pipeline.begin(place.epoch, place.step)
            if skipped != place.step:
                raise RuntimeError(
                    f"For 'restore', the epoch must have the {place.step} rows that were given before, but only {skipped} of them "
                    "were found: the pipeline, its data and what its filters answer must be those of the state."
                )
        except BaseException:
            if self._restored and not self._begun:
                place.verdicts, place.known = None, known
                self._owner._resumes_at = place
                self._pipeline.verdicts.set(known)
            raise
        if self._owner._resumes_at is place:  # it failed before
            self._owner._resumes_at = None

    def _take(self) -> Any:
        """A row that must be waited for, or to which something is to be done."""
        self._begin_taking()
        try:
            return self._next()
        finally:
            self._leave()

    def _next(self) -> Any:
        if not self._running:
            self._begin_epoch()
        pipeline = self._pipeline
        if pipeline is None:
            raise RuntimeError("For 'Iterator', the iterator was stopped and cannot be used again.")
        row = self._wait(pipeline)
        if self._tuner is not None:
            self._tuner.step()
        place = self._position
        place.step += 1
        if place.cut:
            row, place.cut = without_first(row, place.cut), 0
        self._straight = self._tuner is None
        return row

    def _wait(self, pipeline: Any) -> Any:
        try:
            with let_go():
                row = pipeline.next(self._as_arrays, self._names)
        except BaseException:
            self._fail()
            raise
        if row is None:
            self._end_epoch(pipeline)
            raise StopIteration
        return row

    def _fail(self) -> None:
        """A row could not be given. The position stays, so that it can be saved."""
        self._straight, self._running, self._failed = False, False, True

    def _end_epoch(self, pipeline: Any) -> None:
        self._running = False
        self._position.epoch += 1
        self._position.step = self._position.cut = 0
        self._position.verdicts = None
        self._owner._told = pipeline.facts()
        if self._tuner is not None:
            self._tuner.ended()

    def lend(self, sink: Any, most: int, seconds: float) -> None:
        """Lets a Sink of the core take the next rows of the epoch by itself, where each of them can be taken as it is."""
        self._begin_taking()
        try:
            pipeline = self._pipeline
            if not self._running or self._position.cut or self._tuner is not None:
                return
            try:
                with let_go():
                    sink.run(pipeline, most, seconds)
            except BaseException:
                if sink.taken == sink.done:  # no row came
                    self._fail()
                raise
            finally:
                self._position.step += sink.taken
            if sink.ended:
                self._end_epoch(pipeline)
        finally:
            self._leave()

    def stop(self) -> None:
        """Ends the iterator for good."""
        pipeline, self._pipeline = self._pipeline, None
        self._running = False
        for waiting in self.dataset._conditions().values():
            waiting.end()
        if pipeline is not None:
            pipeline.close()

    def release(self) -> None:
        """Ends the iterator for good."""
        self.stop()

    def state(self) -> dict[str, Any]:
        """The position, for restore() of a dataset."""
        return described(self._position, self.ori_dataset)

    def get_dataset_size(self) -> int:
        """Rows of an epoch."""
        return self.dataset.get_dataset_size()


class DictIterator(Iterator):
    """Rows as dicts from column name to value."""

    _named = True


class TupleIterator(Iterator):
    """Rows as lists of values, of all columns or of those in `columns`."""

    def __init__(
        self,
        dataset: Dataset,
        columns: Any = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ) -> None:
        watched = dataset
        if columns is not None:
            dataset = dataset.project(check_names("create_tuple_iterator", "columns", columns))
            watched.parent.remove(dataset)  # it is no operation of the user's
        super().__init__(dataset, num_epochs, output_numpy, do_copy, watched)


def worker_count(dataset: Dataset) -> int:
    """Threads of a pipeline: what it asks for, within the processors that there are."""
    if config.get_debug_mode():
        return 0
    asked = dataset._most_workers() or config.get_num_parallel_workers()
    processes = max((pool.count for pool in dataset._all_pools()), default=0)
    return max(min(asked, cores()), processes)

"""How long the parts of a pipeline take, and numbers of workers and of rows ahead that are found while it runs."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from mindspore import log
from mindspore.common import _groups
from mindspore.dataset import config
from mindspore.dataset.engine.workers import cores

if TYPE_CHECKING:
    from mindspore.dataset.engine.datasets import Dataset

_MOST_AHEAD = 128
_LEAST_STEPS = 8  # fewer tell nothing


class Facts(NamedTuple):
    """What a queue has counted so far: see PrefetchFacts of the engine."""

    given: int = 0
    depth: int = 0
    waited: float = 0.0
    worked: float = 0.0
    workers: int = 0
    items: int = 0


class Tuner:
    """Looks at a running pipeline from time to time, and changes one number at a time where that promises more.

    Args:
        pipeline: the engine's.
        dataset: what it runs, for the file.
    """

    def __init__(self, pipeline: Any, dataset: Dataset) -> None:
        self._pipeline, self._dataset = pipeline, dataset
        self._interval = config.get_autotune_interval()
        self._steps = 0
        self._seen, self._at = Facts(), time.monotonic()
        self._rate = 0.0  # before the last change
        self._undo: tuple[int, int] | None = None
        self._tried: set[tuple[int, int]] = set()
        self.found: tuple[int, int] | None = None
        self.changes: list[str] = []

    def begun(self) -> None:
        """An epoch begins: its queue counts from zero."""
        self._seen, self._at = Facts(), time.monotonic()

    def step(self) -> None:
        """A row was given."""
        self._steps += 1
        if self._interval and self._steps % self._interval == 0:
            self._look()

    def ended(self) -> None:
        """An epoch has ended."""
        if not self._interval:
            self._look()
        if self.found is not None:
            save(self._dataset, self.found, self.changes)
        elif (told := self._pipeline.facts()) is not None:
            facts = Facts(*told)
            if facts.workers == 0:  # the system has no threads to give
                return
            why = f"as they were: fewer than {_LEAST_STEPS} rows were given"
            save(self._dataset, (facts.workers, facts.items), [why])

    def _look(self) -> None:
        told = self._pipeline.facts()
        if told is None:
            return
        facts, now = Facts(*told), time.monotonic()
        given, passed = facts.given - self._seen.given, now - self._at
        if given < _LEAST_STEPS or passed <= 0:
            return
        rate = given / passed
        here = (facts.workers, facts.items)
        self.found = here
        if self._undo is not None and rate < 0.95 * self._rate:
            self._set(self._undo, "slower")
        else:
            self._undo = None
            wish = self._wish(facts, passed, given)
            if wish is not None and wish not in self._tried:
                self._tried |= {here, wish}
                self._undo, self._rate = here, rate
                self._set(wish, f"{rate:.0f} rows a second before")
        self._seen, self._at = facts, now

    def _wish(self, facts: Facts, passed: float, given: int) -> tuple[int, int] | None:
        """Other numbers that may be better."""
        waiting = (facts.waited - self._seen.waited) / passed
        busy = (facts.worked - self._seen.worked) / (passed * max(facts.workers, 1))
        depth = (facts.depth - self._seen.depth) / given
        if waiting > 0.05:
            if self._pipeline.parallel and busy > 0.5 and facts.workers < cores():
                return facts.workers + 1, facts.items
            if busy < 0.9 and facts.items < _MOST_AHEAD:  # rows come in bursts
                return facts.workers, facts.items * 2
        elif self._pipeline.parallel and facts.workers > 1 and busy < 0.2 and depth > 1:
            return facts.workers - 1, facts.items
        return None

    def _set(self, wish: tuple[int, int], why: str) -> None:
        self._pipeline.tune(*wish)
        self.found = wish
        self._undo = None if why == "slower" else self._undo
        self.changes.append(f"num_parallel_workers {wish[0]}, prefetch_size {wish[1]}: {why}")


def save(dataset: Dataset, found: tuple[int, int], changes: list[str]) -> None:
    """Writes what was found into the file that set_enable_autotune() names; config.load() takes it."""
    prefix = config._autotune_prefix()
    if prefix is None:
        return
    path = _path(prefix, dataset)
    text = {
        "remark": "Found by automatic tuning; mindspore.dataset.config.load() takes this file.",
        "numParallelWorkers": found[0],
        "prefetchSize": found[1],
        "summary": changes,
        "operators": operators(dataset),
    }
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8") as file:
            json.dump(text, file, indent=2)
        os.replace(part, path)
    except OSError as error:
        # It is a hint for later runs, for which this one need not end.
        with contextlib.suppress(OSError):
            os.unlink(part)
        if path not in _warned:
            _warned.add(path)
            log.warning(
                "For 'set_enable_autotune', the file '%s' cannot be written: %s. What was found holds, but is not kept.",
                path,
                error,
            )


_numbers: weakref.WeakKeyDictionary[Dataset, tuple[str, int]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()
_warned: set[str] = set()


def _path(prefix: str, dataset: Dataset) -> str:
    """A file for each pipeline: the first that writes has the plain name, the next a number behind it. Those of pipelines that are gone
    are taken again, so that who makes a pipeline for each epoch does not fill the folder."""
    with _lock:
        known = _numbers.get(dataset)
        if known is None or known[0] != prefix:
            taken = set(_numbers.values())
            number = next(n for n in itertools.count() if (prefix, n) not in taken)
            known = _numbers[dataset] = (prefix, number)
    behind = f"_{known[1]}" if known[1] else ""
    return f"{prefix}_{_groups.world_rank()}{behind}.json"


def operators(dataset: Dataset) -> list[dict[str, Any]]:
    """The parts of a pipeline that do something to rows, from the sources on: their names, how many rows they have had, and
    seconds, those of all workers together."""
    found = [part for child in dataset.children for part in operators(child)]
    spent = dataset._node.spent()
    if spent is not None:
        name = type(dataset).__name__.removesuffix("Dataset") or type(dataset).__name__
        own = type(dataset).__module__.endswith("engine.datasets")
        name = name.lower() if own else type(dataset).__name__
        found.append({"name": name, "rows": spent[1], "seconds": round(spent[0], 6)})
    return found


def profile_of(dataset: Dataset, told: Any) -> dict[str, Any]:
    """What Dataset.profile() gives."""
    parts = operators(dataset)
    slowest = max(parts, key=lambda part: part["seconds"], default=None)
    queue = None
    if told is not None:
        facts = Facts(*told)
        queue = {
            "mean_depth": round(facts.depth / facts.given, 2) if facts.given else 0.0,
            "prefetch_size": facts.items,
            "num_parallel_workers": facts.workers,
            "waited": round(facts.waited, 6),
            "worked": round(facts.worked, 6),
        }
    return {
        "slowest": slowest["name"] if slowest and slowest["rows"] else None,
        "operators": parts,
        "queue": queue,
    }


__all__ = ["Tuner", "operators", "profile_of", "save"]

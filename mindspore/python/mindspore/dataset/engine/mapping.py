"""What map() hands to the engine: chains of calls, and where their results go."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindspore import _core
from mindspore.dataset import config
from mindspore.dataset.callback import DSCallback
from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.engine.calls import MapCall
from mindspore.dataset.engine.values import Row
from mindspore.dataset.engine.workers import WorkerPool, cores
from mindspore.dataset.transforms.native import chain_of, engine_of, spec_of
from mindspore.dataset.transforms.transforms import Compose


def known(op: str, argument: str, names: Sequence[str], columns: Sequence[str]) -> list[int]:
    """The places of columns; ValueError for one that is not there."""
    for name in names:
        if name not in columns:
            raise ValueError(
                f"For '{op}', {argument} must be among {list(columns)}, but got '{name}'."
            )
    return [columns.index(name) for name in names]


class Mapping:
    """Which columns go into an operation, and what the columns of its result are."""

    def __init__(
        self, columns: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]
    ) -> None:
        self.take = known("map", "input_columns", inputs, columns)
        kept = [c for c in columns if c not in inputs]
        for name in outputs:
            if name in kept:
                raise ValueError(
                    f"For 'map', output_columns must be new names, but got '{name}' again."
                )
        self.columns = renamed(columns, inputs, outputs)
        self.place = [
            (True, list(outputs).index(c)) if c in outputs else (False, list(columns).index(c))
            for c in self.columns
        ]

    def call(
        self, chain: Sequence[Callable[..., Any]], outputs: Sequence[str]
    ) -> Callable[[Row, int, int], Row]:
        """The operations as a function of a whole row, its key and its number."""
        made = MapCall([part for operation in chain for part in _parts(operation)], outputs)

        def result(row: Row, key: int, number: int) -> Row:
            (done,) = made([tuple(row[i] for i in self.take)], [key], [number])
            return tuple(done[i] if own else row[i] for own, i in self.place)

        return result


def checked_callbacks(callbacks: Any) -> list[DSCallback]:
    """The callbacks that map() is given, one or a list."""
    found = (
        list(callbacks)
        if isinstance(callbacks, (list, tuple))
        else [callbacks]
        if callbacks
        else []
    )
    for callback in found:
        check_type("map", "callbacks", callback, DSCallback)
    return found


def renamed(columns: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]) -> list[str]:
    """The columns after an operation: outputs where the inputs were if there are as many, else in
    front.
    """
    if len(inputs) == len(outputs):
        new = dict(zip(inputs, outputs, strict=True))
        return [new.get(c, c) for c in columns]
    return [*outputs, *(c for c in columns if c not in inputs)]


def python_call(function: Any, workers: int) -> tuple[Any, list[WorkerPool]]:
    """A function of rows as the engine calls it: in this process, or with `workers` in others."""
    if workers < 2:
        return _core.dataset.Call(function, False), []
    pool = WorkerPool(function, workers)
    return _core.dataset.Call(pool, True), [pool]


def map_calls(
    operations: Sequence[Callable[..., Any]], inputs: int, outputs: Sequence[str], workers: int
) -> tuple[list[Any], list[WorkerPool]]:
    """The operations as calls of the engine, and the processes that some of them use.

    Those in front that the engine knows, it does by itself; from the first other one on, all are
    Python's, which may give each other PIL images.
    """
    flat = [part for operation in operations for part in _parts(operation)]
    count = 0
    # Hooks of debug mode see each operation, so none is done by the engine then.
    while not config._debug_hooks() and count < len(flat) and _known(flat[count]):
        count += 1
    count = _before_offsets(flat, count, inputs, len(outputs))
    count = _before_pil(flat[:count], count == len(flat))
    if count == len(flat) and inputs != len(outputs) and not _gives_offsets(flat[-1]):
        count = 0
    calls = _engine_calls(flat[:count])
    if count == len(flat):
        return calls, []
    call, pools = python_call(MapCall(flat[count:], outputs), workers)
    return [*calls, call], pools


def _known(operation: Any) -> bool:
    return spec_of(operation) is not None or engine_of(operation) is not None


def _gives_offsets(operation: Any) -> bool:
    """Whether a text becomes three columns."""
    return engine_of(operation) is not None and getattr(operation, "with_offsets", False)


def _before_offsets(flat: Sequence[Any], count: int, inputs: int, outputs: int) -> int:
    """How many operations come before one with offsets, unless that is the last one of one column."""
    for number, operation in enumerate(flat[:count]):
        last = number == len(flat) - 1 and inputs == 1 and outputs == 3
        if _gives_offsets(operation) and not last:
            return number
    return count


def _engine_calls(operations: Sequence[Any]) -> list[Any]:
    """Neighbours with specs as one chain, those on text by themselves."""
    calls: list[Any] = []
    neighbours: list[Any] = []
    for operation in operations:
        if spec_of(operation) is not None:
            neighbours.append(operation)
            continue
        if neighbours:
            calls.append(chain_of(neighbours))
        neighbours = []
        calls.append(engine_of(operation))
    return [*calls, chain_of(neighbours)] if neighbours else calls


def _parts(operation: Any) -> list[Any]:
    composed = isinstance(operation, Compose)
    return [p for t in operation.transforms for p in _parts(t)] if composed else [operation]


def _before_pil(operations: Sequence[Any], whole: bool) -> int:
    """How many operations leave no PIL image to the next, which may be one of Python's unless these are
    the `whole` chain.
    """
    count, open_since = len(operations), None
    for number, operation in enumerate(operations):
        name, values = (spec_of(operation) or [("", [])])[0][:2]
        form = getattr(operation, "pil_form", None)
        if open_since is not None and form is not None and form() is not None:
            return open_since  # Pillow does it otherwise than the engine
        if name == "ToPIL" or (name == "Decode" and values[0]):
            open_since = number if open_since is None else open_since
        elif name in ("ToTensor", "ToNumpy"):
            open_since = None
    return count if whole or open_since is None else open_since


def process_count(num_parallel_workers: int | None, multiprocessing: Any) -> int:
    """Processes for the functions of an operation; 0: they run in this one."""
    if multiprocessing is not None:
        check_type("map", "python_multiprocessing", multiprocessing, bool)
    if not multiprocessing or num_parallel_workers is None or num_parallel_workers < 2:
        return 0
    return min(num_parallel_workers, max(cores(), 2))

"""data_sink: a training step that fetches its own batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore.compile import jit
from mindspore.train.dataset_helper import _check_dataset, _Feed


def data_sink(
    fn: Callable[..., Any],
    dataset: Any,
    sink_size: int = 1,
    jit_config: Any = None,
    input_signature: Any = None,
) -> Callable[[], Any]:
    """A function without arguments that calls `fn` with the next `sink_size` batches and returns
    the last result. With a `jit_config` or an `input_signature`, which are those of `jit`, `fn` is compiled.
    """
    op = "data_sink"
    if not callable(fn):
        raise TypeError(f"For '{op}', 'fn' must be callable, but got {type(fn).__name__}.")
    _check_dataset(op, "dataset", dataset)
    if isinstance(sink_size, bool) or not isinstance(sink_size, int) or sink_size < 1:
        raise ValueError(f"For '{op}', 'sink_size' must be a positive int, but got {sink_size!r}.")
    if jit_config is not None or input_signature is not None:
        fn = jit(fn, input_signature=input_signature, jit_config=jit_config)
    feed = _Feed(op, dataset.create_tuple_iterator())

    def step() -> Any:
        result = None
        for _ in range(sink_size):
            result = fn(*feed.next())
        return result

    return step

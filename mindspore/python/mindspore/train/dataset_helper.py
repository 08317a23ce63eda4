"""DatasetHelper: the batches of a dataset as inputs of a network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mindspore import nn
from mindspore.common import dtype as mstype


def _check_dataset(op: str, name: str, dataset: Any) -> None:
    """Raise TypeError unless `dataset` can be trained from."""
    for method in ("get_dataset_size", "create_tuple_iterator"):
        if not hasattr(dataset, method):
            raise TypeError(
                f"For '{op}', '{name}' must be a Dataset, but got {type(dataset).__name__}."
            )


def _check_sink_size(op: str, size: Any) -> None:
    """Raise unless it says how many steps a sink has."""
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"For '{op}', 'sink_size' must be an int, but got {size!r}.")
    if size < -1 or size == 0:
        raise ValueError(f"For '{op}', 'sink_size' must be -1 or positive, but got {size}.")


class DatasetHelper:
    """Iterates over the batches of one epoch, again and again up to `epoch_num` times.

    With `dataset_sink_mode` the same batches come one by one; it is Model that lets the runtime take them by itself.
    """

    def __init__(
        self, dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1, epoch_num: int = 1
    ) -> None:
        op = "DatasetHelper"
        _check_dataset(op, "dataset", dataset)
        if not isinstance(dataset_sink_mode, bool):
            raise TypeError(
                f"For '{op}', 'dataset_sink_mode' must be a bool, but got {dataset_sink_mode!r}."
            )
        _check_sink_size(op, sink_size)
        self.dataset = dataset
        self.dataset_sink_mode = dataset_sink_mode
        self._sink_size = sink_size
        self._size: int | None = None
        self._given: list[Any] | None = None  # the batch that a loop has
        self._iterator = dataset.create_tuple_iterator(num_epochs=epoch_num)

    def __iter__(self) -> Iterator[list[Any]]:
        try:
            for batch in self._iterator:
                self._given = batch
                yield batch
        finally:
            self._given = None

    def sink_size(self) -> int:
        """Steps of an epoch; of a sink when a sink size was given."""
        if self.dataset_sink_mode and self._sink_size > 0:
            return self._sink_size
        if self._size is None:
            self._size = int(self.dataset.get_dataset_size())
        return self._size

    def types_shapes(self) -> tuple[list[Any], list[Any]]:
        """Types and shapes of a batch."""
        types = [mstype.pytype_to_dtype(t) for t in self.dataset.output_types()]
        return types, self.dataset.output_shapes()

    def stop_send(self) -> None:
        """Stop giving batches."""
        self.release()

    def continue_send(self) -> None:
        """Nothing: batches are made when they are asked for."""

    def release(self) -> None:
        """Give up the iterator."""
        stop = getattr(self._iterator, "stop", None)
        if stop is not None:
            stop()

    def get_data_info(self) -> Any:
        """Types and shapes of a batch."""
        return self.types_shapes()


class _Fed(nn.Cell):
    """A network that takes its inputs from a helper when it is called without any: in a loop over it the batch that this has."""

    def __init__(self, network: Any, helper: DatasetHelper) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self._helper = helper
        self._feed = _Feed("connect_network_with_dataset", helper._iterator)

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        given, self._helper._given = self._helper._given, None
        return self.network(*(inputs or given or self._feed.next()), **kwargs)


class _Feed:
    """The batches of an iterable one by one, epoch after epoch."""

    def __init__(self, op: str, batches: Iterable[list[Any]]) -> None:
        self._op, self._batches = op, batches
        self._rows: Iterator[list[Any]] | None = None

    def next(self) -> list[Any]:
        """The next batch; a new epoch begins after the last."""
        for _ in range(2):
            if self._rows is None:
                self._rows = iter(self._batches)
            try:
                return next(self._rows)
            except StopIteration:
                self._rows = None
        raise ValueError(
            f"For '{self._op}', each epoch of the dataset must have a batch, but this one has none."
        )


def connect_network_with_dataset(network: Any, dataset_helper: DatasetHelper) -> Any:
    """The network, fed from the dataset where it is called without inputs."""
    if not isinstance(network, nn.Cell):
        raise TypeError(
            "For 'connect_network_with_dataset', 'network' must be a Cell, but got "
            f"{type(network).__name__}."
        )
    return _Fed(network, dataset_helper)

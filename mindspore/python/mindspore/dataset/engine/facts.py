"""What a dataset tells about itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_int, check_type


class DatasetFacts:
    """The getters of Dataset."""

    _node: Any
    _columns: list[str]
    children: list[Any]
    _init_step: int

    def get_dataset_size(self) -> int:
        """Rows (after batch: batches) of an epoch."""
        return int(self._node.count())

    def __len__(self) -> int:
        return self.get_dataset_size()

    def get_col_names(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    def _rows(self) -> Any:
        """The rows of an epoch, one after the other as they are asked for."""
        pipeline = _core.dataset.Pipeline(self._node, 0, False, 0, 1, 0)
        pipeline.begin(0, 0)
        while (row := pipeline.next(True)) is not None:
            yield row

    def _first_row(self) -> list[Any]:
        for row in self._rows():
            return list(row)
        raise RuntimeError(f"For '{type(self).__name__}', the dataset must not be empty.")

    def output_shapes(self, estimate: bool = False) -> list[list[int | None]]:
        """Shape of each column in the first row; estimate: None where rows differ."""
        check_type("output_shapes", "estimate", estimate, bool)
        shapes: list[list[int | None]] = [list(np.shape(value)) for value in self._first_row()]
        if estimate:
            for row in self._rows():
                for shape, value in zip(shapes, row, strict=True):
                    for axis, extent in enumerate(np.shape(value)):
                        if shape[axis] != extent:
                            shape[axis] = None
        return shapes

    def output_types(self) -> list[np.dtype]:
        """NumPy type of each column in the first row."""
        return [np.asarray(value).dtype for value in self._first_row()]

    def get_batch_size(self) -> int:
        """Rows that the nearest batch() joins; 1 without one."""
        for dataset in self._ancestry():
            size = getattr(dataset, "batch_size", None)
            if isinstance(size, int):
                return size
        return 1

    def get_repeat_count(self) -> int:
        """Product of the repeat() counts."""
        count = 1
        for dataset in self._ancestry():
            count *= getattr(dataset, "repeat_count", 1)
        return count

    def _ancestry(self) -> list[Any]:
        found: list[Any] = []
        current: Any = self
        while current is not None:
            found.append(current)
            current = current.children[0] if current.children else None
        return found

    def num_classes(self) -> int | None:
        """Number of classes, where the source knows it."""
        source = self._ancestry()[-1]
        return source.num_classes() if source is not self else None

    def get_class_indexing(self) -> dict[str, Any]:
        """Class names and their numbers, where the source knows them."""
        source = self._ancestry()[-1]
        return source.get_class_indexing() if source is not self else {}

    def is_shuffled(self) -> bool:
        """Whether any part of the pipeline shuffles."""
        return bool(self._node.shuffles())

    def is_sharded(self) -> bool:
        """Whether the source gives only a shard."""
        return any(getattr(d, "num_shards", None) is not None for d in self._ancestry())

    def set_init_step(self, init_step: int) -> None:
        """Where a resumed training begins."""
        self._init_step = check_int("set_init_step", "init_step", init_step, 0, 2**63 - 1)

    def get_init_step(self) -> int:
        """Where a resumed training begins."""
        return self._init_step

    def set_dynamic_columns(self, columns: Any = None) -> None:
        """Kept for programs of 1.x: shapes may always differ from row to row here."""

    def reset(self) -> None:
        """Kept for programs of 1.x: every iterator begins anew by itself."""

"""CIFAR-100 to MindRecord."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from mindspore.mindrecord.common.checks import check_known, check_new_file, check_texts
from mindspore.mindrecord.tools import cifar
from mindspore.mindrecord.tools.converter import Converter, write_rows

_LABELS = {"fine_label": b"fine_labels", "coarse_label": b"coarse_labels"}
_FIELDS = ["id", *_LABELS]
_SCHEMA = {**{name: {"type": "int64"} for name in _FIELDS}, "data": {"type": "bytes"}}
_TRAIN = ["train"]
_TEST = ["test"]


class Cifar100ToMR(Converter):
    """Writes DESTINATION and DESTINATION_test from a folder of CIFAR-100's Python version: fields id, fine_label, coarse_label (int64)
    and data (a JPEG file).
    """

    def __init__(self, source: str, destination: str) -> None:
        self._source = os.fspath(source)
        self._destination = check_new_file("Cifar100ToMR", destination)

    def transform(self, fields: list[str] | None = None) -> None:
        """Write both files; `fields` are those of the index, by default id and labels."""
        self.run(fields)

    def run(self, fields: list[str] | None = None) -> None:
        """The older name of `transform`."""
        index = _FIELDS if fields is None else check_texts("Cifar100ToMR", "fields", fields)
        check_known("Cifar100ToMR", "fields", index, _FIELDS)
        for path, names, part in (
            (self._destination, _TRAIN, "img_train"),
            (self._destination + "_test", _TEST, "img_test"),
        ):
            write_rows(path, _SCHEMA, part, index, self._rows(names))

    def _rows(self, names: Sequence[str]) -> Iterator[dict[str, Any]]:
        number = 0
        for name in names:
            for row in cifar.rows(
                "Cifar100ToMR", os.path.join(self._source, name), _LABELS, number
            ):
                yield row
                number += 1

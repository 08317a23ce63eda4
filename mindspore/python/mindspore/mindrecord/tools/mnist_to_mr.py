"""MNIST to MindRecord."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from mindspore.dataset.engine.datasets_vision import read_idx
from mindspore.mindrecord.common.checks import MAX_SHARDS, check_files, check_int, check_new_file
from mindspore.mindrecord.tools.converter import Converter, jpeg, write_rows

_SCHEMA = {"label": {"type": "int64"}, "data": {"type": "bytes"}}


class MnistToMR(Converter):
    """Writes DESTINATION_train.mindrecord and DESTINATION_test.mindrecord from a folder of MNIST's four files: fields
    label (int64) and data (a JPEG file).
    """

    def __init__(self, source: str, destination: str, partition_number: int = 1) -> None:
        names = [
            (f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte") for part in ("train", "t10k")
        ]
        self._files = [
            [_plain_or_packed(os.path.join(os.fspath(source), name)) for name in pair]
            for pair in names
        ]
        self._destination = check_new_file("MnistToMR", destination)
        self._partitions = check_int(
            "MnistToMR", "partition_number", partition_number, 1, MAX_SHARDS
        )

    def run(self) -> None:
        """Write both files."""
        for part, (images, labels) in zip(("train", "test"), self._files):
            write_rows(
                f"{self._destination}_{part}.mindrecord",
                _SCHEMA,
                "mnist_schema",
                ["label"],
                _rows(images, labels),
                self._partitions,
            )


def _plain_or_packed(path: str) -> str:
    return check_files("MnistToMR", "source", path if os.path.isfile(path) else path + ".gz")[0]


def _rows(images_path: str, labels_path: str) -> Iterator[dict[str, Any]]:
    images, labels = read_idx(images_path), read_idx(labels_path)
    if images.ndim != 3 or labels.ndim != 1 or len(images) != len(labels):
        raise ValueError(
            f"For 'MnistToMR', '{images_path}' and '{labels_path}' must have as many pictures as labels, but got "
            f"shapes {images.shape} and {labels.shape}."
        )
    for image, label in zip(images, labels):
        yield {"label": int(label), "data": jpeg(image)}

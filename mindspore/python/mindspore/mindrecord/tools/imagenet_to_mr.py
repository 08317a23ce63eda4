"""ImageNet, or any pictures in a folder for each class, to MindRecord."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from mindspore.mindrecord.common.checks import MAX_SHARDS, check_files, check_int, check_new_file
from mindspore.mindrecord.common.exceptions import PathNotExistsError
from mindspore.mindrecord.tools.converter import Converter, write_rows

_SCHEMA = {
    "label": {"type": "int32"},
    "image": {"type": "bytes"},
    "file_name": {"type": "string"},
}
_ENDINGS = (".jpg", ".jpeg", ".png", ".bmp")


class ImageNetToMR(Converter):
    """Writes the picture files under `image_dir`: fields label (int32), image (the file), file_name.

    `map_file` has a line "FOLDER LABEL" for each class.
    """

    def __init__(
        self, map_file: str, image_dir: str, destination: str, partition_number: int = 1
    ) -> None:
        [self._map_file] = check_files("ImageNetToMR", "map_file", map_file)
        self._folder = os.fspath(image_dir)
        if not os.path.isdir(self._folder):
            raise PathNotExistsError(
                f"For 'ImageNetToMR', 'image_dir' must be a folder, but got '{image_dir}'."
            )
        self._destination = check_new_file("ImageNetToMR", destination)
        self._partitions = check_int(
            "ImageNetToMR", "partition_number", partition_number, 1, MAX_SHARDS
        )

    def run(self) -> None:
        """Write the files."""
        write_rows(
            self._destination,
            _SCHEMA,
            "imagenet_schema",
            ["label", "file_name"],
            self._rows(),
            self._partitions,
        )

    def _classes(self) -> dict[str, int]:
        classes: dict[str, int] = {}
        with open(self._map_file, encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                words = line.split()
                if not words:
                    continue
                if len(words) != 2 or not words[1].isdecimal() or words[0] in classes:
                    raise ValueError(
                        f"For 'ImageNetToMR', line {number} of '{self._map_file}' must be a folder that is new and its "
                        f"label, but got {line.strip()!r}."
                    )
                classes[words[0]] = int(words[1])
        return classes

    def _rows(self) -> Iterator[dict[str, Any]]:
        for name, label in self._classes().items():
            folder = os.path.join(self._folder, name)
            if not os.path.isdir(folder):
                raise PathNotExistsError(
                    f"For 'ImageNetToMR', '{self._map_file}' must name folders of '{self._folder}', but got '{name}'."
                )
            for file in sorted(os.listdir(folder)):
                path = os.path.join(folder, file)
                if file.lower().endswith(_ENDINGS) and os.path.isfile(path):
                    with open(path, "rb") as stream:
                        yield {"label": label, "image": stream.read(), "file_name": path}

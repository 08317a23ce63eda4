"""Sets of pictures of faces."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from mindspore.dataset.engine.datasets_annotated import AnnotatedDataset
from mindspore.dataset.engine.samplers import choose_sampler
from mindspore.dataset.engine.source_files import (
    array_column,
    choice,
    folder,
    list_column,
    pictures_column,
    present,
    read_lines,
    read_text,
)

# What stands behind the four numbers of a box, by the names that MindSpore 2.10 gives the places.
_FACE = ("blur", "expression", "illumination", "occlusion", "pose", "invalid")


class WIDERFaceDataset(AnnotatedDataset):
    """WIDER FACE: column image and, unless of the tests, bbox and six columns about each face (int32)."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = "WIDERFaceDataset"
        self.dataset_dir = where = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, ["train", "test", "valid", "all"], "all")
        pictures: list[str] = []
        others: dict[str, Any] = {}
        if self.usage == "test":
            (path,) = present(op, where, ["wider_face_split/wider_face_test_filelist.txt"])
            names = [f"WIDER_test/images/{line.strip()}" for line in read_lines(path)]
            pictures = present(op, where, names)
        else:
            faces: list[np.ndarray] = []
            for usage_name, part in (("train", "train"), ("valid", "val")):
                if self.usage in (usage_name, "all"):
                    (path,) = present(op, where, [f"wider_face_split/wider_face_{part}_bbx_gt.txt"])
                    for name, found in self._faces(path):
                        pictures += present(op, where, [f"WIDER_{part}/images/{name}"])
                        faces.append(found)
            others["bbox"] = list_column([found[:, :4] for found in faces])
            for place, name in enumerate(_FACE, 4):
                others[name] = list_column([found[:, place] for found in faces])
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._give(pictures, decode, others, options)

    @staticmethod
    def _faces(path: str) -> list[tuple[str, np.ndarray]]:
        lines = read_text(path).split("\n")
        found, place = [], 0
        try:
            while place < len(lines) and lines[place].strip():
                name, count = lines[place].strip(), int(lines[place + 1])
                end = place + 2 + max(count, 1)  # a picture without faces has a line of zeros
                table = [[int(n) for n in line.split()] for line in lines[place + 2 : end]]
                found.append((name, np.array(table, np.int32).reshape(-1, 10)))
                place = end
        except (ValueError, IndexError):
            raise RuntimeError(
                f"The file '{path}' must have a picture, a count and its faces at line {place + 1}."
            ) from None
        return found


class LFWDataset(AnnotatedDataset):
    """Labelled faces in the wild: columns image and label (people), or image1, image2 and label, 1 for the same (pairs)."""

    def __init__(
        self,
        dataset_dir: str,
        task: str | None = None,
        usage: str | None = None,
        image_set: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = "LFWDataset"
        where = self.dataset_dir = folder(op, dataset_dir)
        self.task = choice(op, "task", task, ["people", "pairs"], "people")
        self.usage = choice(op, "usage", usage, ["10fold", "train", "test", "all"], "all")
        sets = {"original": "lfw", "funneled": "lfw_funneled", "deepfunneled": "lfw-deepfunneled"}
        kind = choice(op, "image_set", image_set, list(sets), "funneled")
        self._base = folder(op, os.path.join(where, sets[kind]))
        lists = {"10fold": [""], "train": ["DevTrain"], "test": ["DevTest"], "all": ["DevTrain", "DevTest"]}[self.usage]  # fmt: skip
        paths = present(op, where, [f"{self.task}{part}.txt" for part in lists])
        read = self._people if self.task == "people" else self._pairs
        try:
            rows = [row for path in paths for row in read(path)]
            if self.task == "people":
                (listed,) = present(op, where, ["lfw-names.txt"])
                numbers = {line.split()[0]: n for n, line in enumerate(read_lines(listed))}
                rows = [(picture, numbers[name]) for picture, name in rows]
        except (ValueError, IndexError, KeyError) as error:
            raise RuntimeError(
                f"For '{op}', the lists of '{where}' must be LFW's, but got {error}."
            ) from None
        if not rows:
            raise ValueError(
                f"For '{op}', the lists of '{where}' must have pictures, but have none."
            )
        *pictures, labels = (list(column) for column in zip(*rows))
        names = ["image"] if self.task == "people" else ["image1", "image2"]
        columns = [
            pictures_column(op, present(op, self._base, column), decode) for column in pictures
        ]
        columns.append(array_column(labels, np.uint32))
        chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
        self.num_shards = num_shards
        self._fill([*names, "label"], len(labels), columns, chosen, num_parallel_workers, labels)

    @staticmethod
    def _picture(name: str, number: str) -> str:
        return os.path.join(name, f"{name}_{int(number):04}.jpg")

    def _people(self, path: str) -> list[tuple[Any, ...]]:
        """Picture and name of all of the people in a list; lines of one number count people."""
        words = [line.split() for line in read_lines(path)]
        return [
            (self._picture(word[0], str(number)), word[0])
            for word in words
            if len(word) > 1
            for number in range(1, int(word[1]) + 1)
        ]

    def _pairs(self, path: str) -> list[tuple[Any, ...]]:
        """Two pictures, and whether they are of the same."""
        rows = []
        for word in (line.split() for line in read_lines(path)):
            if len(word) == 3:
                rows.append((self._picture(*word[:2]), self._picture(word[0], word[2]), 1))
            elif len(word) == 4:
                rows.append((self._picture(*word[:2]), self._picture(*word[2:]), 0))
        return rows

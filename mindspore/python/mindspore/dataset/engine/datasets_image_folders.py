"""Sets of images in folders, and in lists of files, in the form they are published in."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.engine.datasets_image_sets import ImageSetDataset
from mindspore.dataset.engine.source_files import (
    choice,
    files_below,
    folder,
    is_picture,
    present,
    read_lines,
)

_JPEG = (".jpg", ".jpeg")
_PNG = (".png",)


class _Folders(ImageSetDataset):
    """Base of the sets with a folder for each class, numbered in the order of their names."""

    def _classes_of(self, where: str, endings: Sequence[str]) -> tuple[list[str], list[int]]:
        names = sorted(e.name for e in os.scandir(where) if e.is_dir() and e.name[0] != ".")
        self._names = names
        pictures: list[str] = []
        labels: list[int] = []
        for number, name in enumerate(names):
            found = files_below(os.path.join(where, name), endings)
            pictures += found
            labels += [number] * len(found)
        return pictures, labels

    def num_classes(self) -> int:
        """Number of classes."""
        return len(self._names)


class Caltech256Dataset(_Folders):
    """Caltech 256: columns image and label (int32)."""

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        self._start(dataset_dir, num_shards)
        pictures, labels = self._classes_of(self.dataset_dir, _JPEG)
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._labelled(pictures, labels, np.int32, decode, options)


class RenderedSST2Dataset(_Folders):
    """Sentences of SST-2 as pictures: columns image and label (uint32; 1 is positive)."""

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
        op = self._start(dataset_dir, num_shards)
        parts = {"test": "test", "train": "train", "val": "valid"}
        self.usage = choice(op, "usage", usage, [*parts, "all"], "all")
        pictures: list[str] = []
        labels: list[int] = []
        for part, name in parts.items():
            if self.usage in (part, "all"):
                found, numbers = self._classes_of(
                    folder(op, os.path.join(self.dataset_dir, name)), _PNG
                )
                pictures += found
                labels += numbers
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._labelled(pictures, labels, np.uint32, decode, options)


class OmniglotDataset(ImageSetDataset):
    """Omniglot: columns image and label (int32), a class for each character of each alphabet."""

    def __init__(
        self,
        dataset_dir: str,
        background: bool | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = self._start(dataset_dir, num_shards)
        if background is not None:
            check_type(op, "background", background, bool)
        part = "images_evaluation" if background is False else "images_background"
        where = folder(op, os.path.join(self.dataset_dir, part))
        pictures = files_below(where, (*_JPEG, *_PNG))
        kinds = [os.path.dirname(path) for path in pictures]
        self._kinds = sorted(set(kinds))
        numbers = {kind: number for number, kind in enumerate(self._kinds)}
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._labelled(pictures, [numbers[kind] for kind in kinds], np.int32, decode, options)

    def num_classes(self) -> int:
        """Number of characters."""
        return len(self._kinds)


class LSUNDataset(ImageSetDataset):
    """LSUN: columns image and label (uint32), in folders such as bedroom_train."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        classes: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = self._start(dataset_dir, num_shards)
        self.usage = choice(op, "usage", usage, ["train", "test", "valid", "all"], "all")
        if classes is not None:
            check_type(op, "classes", classes, (list, tuple))
        parts = {"train": ["train"], "valid": ["val"], "test": [], "all": ["train", "val"]}
        folders = sorted(e.name for e in os.scandir(self.dataset_dir) if e.is_dir())
        self._names: list[str] = []
        pictures: list[str] = []
        labels: list[int] = []
        if self.usage == "test":
            pictures = files_below(folder(op, os.path.join(self.dataset_dir, "test")), _JPEG)
            labels = [0] * len(pictures)
        for part in parts[self.usage]:
            names = [n[: -len(part) - 1] for n in folders if n.endswith(f"_{part}")]
            for name in names if classes is None else classes:
                if name not in self._names:
                    self._names.append(name)
                where = folder(op, os.path.join(self.dataset_dir, f"{name}_{part}"), "classes")
                found = files_below(where, _JPEG)
                pictures += found
                labels += [self._names.index(name)] * len(found)
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._labelled(pictures, labels, np.uint32, decode, options)

    def num_classes(self) -> int:
        """Number of classes."""
        return len(self._names)


class Food101Dataset(ImageSetDataset):
    """Food 101: columns image and label (the name of the dish)."""

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
        op = self._start(dataset_dir, num_shards)
        self.usage = choice(op, "usage", usage, ["train", "test", "all"], "all")
        parts = [part for part in ("train", "test") if self.usage in (part, "all")]
        lists = present(op, self.dataset_dir, [f"meta/{part}.txt" for part in parts])
        names = [line.strip() for path in lists for line in read_lines(path)]
        pictures = present(op, self.dataset_dir, [f"images/{name}.jpg" for name in names])
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._labelled(pictures, [os.path.dirname(name) for name in names], str, decode, options)


class SUN397Dataset(ImageSetDataset):
    """SUN 397: columns image and label (uint32, by the lines of ClassName.txt)."""

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = self._start(dataset_dir, num_shards)
        (path,) = present(op, self.dataset_dir, ["ClassName.txt"])
        pictures: list[str] = []
        labels: list[int] = []
        self._names = [line.strip().strip("/") for line in read_lines(path)]
        for number, name in enumerate(self._names):
            where = os.path.join(self.dataset_dir, name)
            if os.path.isdir(where):
                names = sorted(n for n in os.listdir(where) if is_picture(n, _JPEG))
                pictures += [os.path.join(where, n) for n in names]
                labels += [number] * len(names)
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._labelled(pictures, labels, np.uint32, decode, options)

    def num_classes(self) -> int:
        """Number of scenes."""
        return len(self._names)


class Places365Dataset(ImageSetDataset):
    """Places 365: columns image and label (uint32)."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        small: bool = True,
        decode: bool = False,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = self._start(dataset_dir, num_shards)
        usages = ["train-standard", "train-challenge", "val"]
        self.usage = choice(op, "usage", usage, usages, "train-standard")
        check_type(op, "small", small, bool)
        size = "256" if small else "large"
        kind = self.usage.partition("-")[2]
        where = f"data_{size}_{kind}" if kind else f"val_{size}"
        listed = f"places365_train_{kind}.txt" if kind else "places365_val.txt"
        (path,) = present(op, self.dataset_dir, [listed])
        pictures, labels = [], []
        for number, line in enumerate(read_lines(path), 1):
            name, _, label = line.strip().rpartition(" ")
            if not name or not label.isdigit():
                raise ValueError(
                    f"The file '{path}', line {number}, must have a file and its label."
                )
            pictures.append(os.path.join(self.dataset_dir, where, name.lstrip("/")))
            labels.append(int(label))
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._labelled(pictures, labels, np.uint32, decode, options)

"""Datasets of image files: MNIST (IDX), CIFAR (binary batches), folders of images."""

from __future__ import annotations

import gzip
import itertools
import os
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.engine.datasets import MappableDataset
from mindspore.dataset.engine.samplers import choose_sampler
from mindspore.dataset.engine.source_files import (
    ColumnDataset,
    array_column,
    choice,
    files_below,
    folder,
    pictures_column,
    small_endings,
)

_IDX_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
_MAX_IDX_BYTES = 1 << 32


def read_idx(path: str) -> np.ndarray:
    """An IDX file, plain or gzipped, as an array.

    Sizes are checked against the bytes that are there.
    """
    opener: Any = gzip.open if path.endswith(".gz") else open
    try:
        with opener(path, "rb") as stream:
            head = stream.read(4)
            if (
                len(head) < 4
                or head[:2] != b"\0\0"
                or head[2] not in _IDX_TYPES
                or head[3] not in (1, 2, 3, 4)
            ):
                raise ValueError(
                    f"The file '{path}' is no IDX file: its first bytes are {head.hex()}."
                )
            dtype = np.dtype(_IDX_TYPES[head[2]])
            dims = np.frombuffer(stream.read(4 * head[3]), ">u4")
            count = 1
            for dim in dims:
                count *= int(dim)
            size = count * dtype.itemsize
            if len(dims) != head[3] or size > _MAX_IDX_BYTES:
                raise ValueError(
                    f"The IDX file '{path}' has a head that is cut short or too large."
                )
            # One byte more than there may be: a longer file is damaged as well.
            content = stream.read(size + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"The file '{path}' is damaged: {error}.") from None
    if len(content) != size:
        raise ValueError(
            f"The IDX file '{path}' must have {size} bytes after its head, but got "
            f"{'more' if len(content) > size else len(content)}."
        )
    return (
        np.frombuffer(content, dtype)
        .reshape([int(d) for d in dims])
        .astype(dtype.newbyteorder("="))
    )


class _ImageArrays(MappableDataset):
    """Base of the sets that lie in memory as whole arrays; the last column is the label."""

    def _hold(
        self, columns: Sequence[str], arrays: Sequence[np.ndarray], sampler: Any, workers: Any
    ) -> None:
        self._arrays = [np.ascontiguousarray(array) for array in arrays]
        super().__init__(
            columns,
            len(self._arrays[0]),
            sampler,
            lambda order: _core.dataset.columns(
                order, [_core.dataset.array_column(array) for array in self._arrays], False
            ),
            workers,
        )

    def _labels(self) -> Any:
        return self._arrays[-1]


class MnistDataset(_ImageArrays):
    """MNIST and its kin: columns image (uint8, 28×28×1) and label (uint32).

    The folder holds train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-..., plain or with .gz.
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        self.dataset_dir = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, ["train", "test", "all"], "all")
        self.num_shards = num_shards
        parts = {"train": ["train"], "test": ["t10k"], "all": ["train", "t10k"]}[self.usage]
        # Without a usage, a part none of whose files is there is left out.
        loaded = [self._part(op, part) for part in parts if usage is not None or self._has(part)]
        if not loaded:
            raise ValueError(
                f"For '{op}', '{dataset_dir}' must hold MNIST's IDX files, but has none of them."
            )
        images = (
            np.concatenate([images for images, _ in loaded]) if len(loaded) > 1 else loaded[0][0]
        )
        labels = np.concatenate([labels for _, labels in loaded])
        chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
        arrays = [images[..., None], labels.astype(np.uint32)]
        self._hold(["image", "label"], arrays, chosen, num_parallel_workers)

    def _file(self, part: str, kind: str) -> str | None:
        for name in (f"{part}-{kind}-ubyte", f"{part}-{kind.replace('-', '.')}-ubyte"):
            for suffix in ("", ".gz"):
                path = os.path.join(self.dataset_dir, name + suffix)
                if os.path.isfile(path):
                    return path
        return None

    def _has(self, part: str) -> bool:
        return any(self._file(part, kind) for kind in ("images-idx3", "labels-idx1"))

    def _part(self, op: str, part: str) -> tuple[np.ndarray, np.ndarray]:
        found = []
        for kind, rank in (("images-idx3", 3), ("labels-idx1", 1)):
            path = self._file(part, kind)
            if path is None:
                raise ValueError(
                    f"For '{op}', '{self.dataset_dir}' must hold {part}-{kind}-ubyte(.gz)."
                )
            array = read_idx(path)
            if array.ndim != rank or array.dtype != np.uint8:
                raise ValueError(f"The IDX file '{path}' must hold bytes of rank {rank}.")
            found.append(array)
        if len(found[0]) != len(found[1]):
            raise ValueError(
                f"For '{op}', there must be as many labels as images, but '{self.dataset_dir}' has "
                f"{len(found[0])} {part} images and {len(found[1])} labels."
            )
        return found[0], found[1]

    def num_classes(self) -> int:
        """Number of digits."""
        return 10


class _CifarBase(_ImageArrays):
    """The binary CIFAR files: records of label bytes and 3072 image bytes, channel by channel."""

    _label_names: tuple[str, ...] = ()
    _files: dict[str, tuple[str, ...]] = {}

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        self.dataset_dir = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, ["train", "test", "all"], "all")
        self.num_shards = num_shards
        records = np.concatenate([self._records(path) for path in self._paths(op, usage)])
        labels = [records[:, i].astype(np.uint32) for i in range(len(self._label_names))]
        images = records[:, len(labels) :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
        self._hold(["image", *self._label_names], [images, *labels], chosen, num_parallel_workers)

    def _paths(self, op: str, usage: str | None) -> list[str]:
        parts = [names for part, names in self._files.items() if self.usage in (part, "all")]
        there = {name for name in itertools.chain(*parts) if os.path.isfile(self._path(name))}
        # Without a usage, a part none of whose files is there is left out.
        wanted = [names for names in parts if usage is not None or there.intersection(names)]
        missing = [name for name in itertools.chain(*(wanted or parts)) if name not in there]
        if missing:
            raise ValueError(
                f"For '{op}', '{self.dataset_dir}' must hold {', '.join(missing)}, but does not."
            )
        return [self._path(name) for name in itertools.chain(*wanted)]

    def _path(self, name: str) -> str:
        return os.path.join(self.dataset_dir, name)

    def _records(self, path: str) -> np.ndarray:
        content = np.fromfile(path, np.uint8)
        size = len(self._label_names) + 3072
        if content.size == 0 or content.size % size != 0:
            raise ValueError(
                f"The file '{path}' must have a multiple of {size} bytes, but got {content.size}."
            )
        return content.reshape(-1, size)


class Cifar10Dataset(_CifarBase):
    """CIFAR-10, binary version: columns image (uint8, 32×32×3) and label (uint32)."""

    _label_names = ("label",)
    _files = {
        "train": tuple(f"data_batch_{i}.bin" for i in range(1, 6)),
        "test": ("test_batch.bin",),
    }

    def num_classes(self) -> int:
        """Number of classes."""
        return 10


class Cifar100Dataset(_CifarBase):
    """CIFAR-100, binary version: columns image, coarse_label and fine_label."""

    _label_names = ("coarse_label", "fine_label")
    _files = {"train": ("train.bin",), "test": ("test.bin",)}

    def num_classes(self) -> int:
        """Number of fine classes."""
        return 100


# What Decode takes; other files of a folder are no pictures, such as notes.
_PICTURES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")


class ImageFolderDataset(ColumnDataset):
    """Images in one folder for each class: columns image (the file's bytes, or decoded) and label
    (int32).

    Without `extensions`, the files with the usual endings of pictures are taken, and those without an ending.
    """

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        extensions: Sequence[str] | None = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Any = None,
    ) -> None:
        op = "ImageFolderDataset"
        self.dataset_dir = folder(op, dataset_dir)
        if decrypt is not None:
            raise NotImplementedError(
                f"For '{op}', decrypt is not supported: decrypt the files beforehand."
            )
        endings = small_endings(op, extensions) or (*_PICTURES, "")
        classes = sorted(e.name for e in os.scandir(self.dataset_dir) if e.is_dir())
        if class_indexing is None:
            class_indexing = {name: number for number, name in enumerate(classes)}
        check_type(op, "class_indexing", class_indexing, dict)
        self.class_indexing = class_indexing
        self.num_shards = num_shards
        files = []
        for name, number in class_indexing.items():
            where = os.path.join(self.dataset_dir, name)
            if not os.path.isdir(where):
                raise ValueError(
                    f"For '{op}', class_indexing must name folders of '{dataset_dir}', but got "
                    f"'{name}'."
                )
            files += [(path, number) for path in files_below(where, endings)]
        if not files:
            raise ValueError(
                f"For '{op}', '{dataset_dir}' must hold folders with images, but has none."
            )
        chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
        labels = [label for _, label in files]
        pictures = pictures_column(op, [path for path, _ in files], decode)
        self._fill(
            ["image", "label"],
            len(files),
            [pictures, array_column(labels, np.int32)],
            chosen,
            num_parallel_workers,
            labels,
        )

    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.class_indexing)

    def get_class_indexing(self) -> dict[str, Any]:
        """Class names and their numbers."""
        return dict(self.class_indexing)

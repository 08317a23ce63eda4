"""Sets of images in arrays, in the form they are published in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_int, check_type
from mindspore.dataset.engine.datasets import MappableDataset
from mindspore.dataset.engine.datasets_user_defined import random_rows
from mindspore.dataset.engine.datasets_vision import MnistDataset, read_idx
from mindspore.dataset.engine.mapping import python_call
from mindspore.dataset.engine.samplers import Shuffle, choose_sampler
from mindspore.dataset.engine.source_files import (
    ColumnDataset,
    array_column,
    choice,
    file_sampler,
    folder,
    list_column,
    pictures_column,
    present,
    read_lines,
)


class FashionMnistDataset(MnistDataset):
    """Fashion-MNIST, in the files of MNIST: columns image and label."""


class KMnistDataset(MnistDataset):
    """Kuzushiji-MNIST, in the files of MNIST: columns image and label."""


class ImageSetDataset(ColumnDataset):
    """Base of the sets of images."""

    def _start(self, dataset_dir: Any, num_shards: Any) -> str:
        op = type(self).__name__
        self.dataset_dir = folder(op, dataset_dir)
        self.num_shards = num_shards
        return op

    def _labelled(
        self,
        pictures: Sequence[str],
        labels: Any,
        dtype: Any,
        decode: Any,
        options: tuple[Any, ...],
    ) -> None:
        """Columns image and label; `options`: sampler, num_samples, shuffle, num_shards, shard_id, workers."""
        op = type(self).__name__
        if not pictures:
            raise ValueError(f"For '{op}', '{self.dataset_dir}' must hold images, but has none.")
        chosen = choose_sampler(op, *options[:5])
        text = dtype is str
        parts = [
            pictures_column(op, pictures, decode),
            list_column(labels) if text else array_column(labels, dtype),
        ]
        self._fill(["image", "label"], len(pictures), parts, chosen, options[5], labels)

    def _arrays(self, images: Any, labels: Any, dtype: Any, options: tuple[Any, ...]) -> None:
        op = type(self).__name__
        chosen = choose_sampler(op, *options[:5])
        parts = [array_column(images, np.uint8), array_column(labels, dtype)]
        self._fill(["image", "label"], len(images), parts, chosen, options[5], labels)


def _idx_pair(images_path: str, labels_path: str) -> tuple[np.ndarray, np.ndarray]:
    images, labels = read_idx(images_path), read_idx(labels_path)
    if images.ndim != 3 or images.dtype != np.uint8:
        raise ValueError(f"The IDX file '{images_path}' must hold bytes of rank 3.")
    if len(images) != len(labels):
        raise ValueError(
            f"There must be as many labels as images, but '{images_path}' has {len(images)} images and '{labels_path}' "
            f"{len(labels)} labels."
        )
    return images[..., None], labels


class EMnistDataset(ImageSetDataset):
    """EMNIST: columns image (uint8, 28×28×1) and label (uint32), of one of its splits."""

    def __init__(
        self,
        dataset_dir: str,
        name: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = self._start(dataset_dir, num_shards)
        names = ["byclass", "bymerge", "balanced", "letters", "digits", "mnist"]
        check_type(op, "name", name, str)
        self.name = choice(op, "name", name, names, "")
        self.usage = choice(op, "usage", usage, ["train", "test", "all"], "all")
        found = []
        for part in ("train", "test"):
            if self.usage in (part, "all"):
                stem = f"emnist-{name}-{part}"
                kinds = [f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx1-ubyte"]
                pair = _idx_pair(*present(op, self.dataset_dir, kinds))
                if pair[1].ndim != 1:
                    raise ValueError(f"The IDX file '{kinds[1]}' must hold labels of rank 1.")
                found.append(pair)
        images, labels = (np.concatenate(parts) for parts in zip(*found))
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._arrays(images, labels, np.uint32, options)


class QMnistDataset(ImageSetDataset):
    """QMNIST: columns image (uint8, 28×28×1) and label (uint32); not `compat`: all eight numbers of it."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        compat: bool = True,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = self._start(dataset_dir, num_shards)
        check_type(op, "compat", compat, bool)
        parts = {
            "train": (["qmnist-train"], slice(None)),
            "test": (["qmnist-test"], slice(None)),
            "test10k": (["qmnist-test"], slice(0, 10000)),
            "test50k": (["qmnist-test"], slice(10000, None)),
            "nist": (["xnist"], slice(None)),
            "all": (["qmnist-train", "qmnist-test", "xnist"], slice(None)),
        }
        self.usage = choice(op, "usage", usage, list(parts), "all")
        stems, part = parts[self.usage]
        found = []
        for stem in stems:
            kinds = [f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx2-int"]
            paths = present(op, self.dataset_dir, kinds)
            images, labels = _idx_pair(*paths)
            if labels.ndim != 2:
                raise ValueError(f"The IDX file '{paths[1]}' must have rank 2.")
            found.append((images[part], labels[part]))
        images, labels = (np.concatenate(arrays) for arrays in zip(*found))
        if not len(images):
            raise ValueError(f"For '{op}', the files must have rows of usage '{self.usage}'.")
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._arrays(images, labels[:, 0] if compat else labels, np.uint32, options)


class SemeionDataset(ImageSetDataset):
    """Semeion: handwritten digits of 16×16 (uint8, 0 or 1) with label (uint32)."""

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = self._start(dataset_dir, num_shards)
        (path,) = present(op, self.dataset_dir, ["semeion.data"])
        rows = []
        for number, line in enumerate(read_lines(path), 1):
            cells = line.split()
            if len(cells) != 266 or "1" not in cells[256:]:
                raise ValueError(
                    f"The file '{path}', line {number}, must have 256 pixels and 10 signs of its class."
                )
            rows.append([float(cell) for cell in cells])
        table = np.array(rows).reshape(-1, 266)
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._arrays(
            table[:, :256].reshape(-1, 16, 16), table[:, 256:].argmax(1), np.uint32, options
        )


class USPSDataset(ColumnDataset):
    """USPS: handwritten digits of 16×16 (uint8) with label (uint32). It takes no sampler."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        self.dataset_dir = folder(op, dataset_dir)
        self.num_shards = num_shards
        parts = {"train": "usps", "test": "usps.t"}
        self.usage = choice(op, "usage", usage, [*parts, "all"], "all")
        names = [name for part, name in parts.items() if self.usage in (part, "all")]
        files = [self._read(path) for path in present(op, self.dataset_dir, names)]
        images = np.concatenate([found for found, _ in files])
        labels = np.concatenate([found for _, found in files])
        counts = [len(found) for found, _ in files]
        chosen = file_sampler(op, counts, num_samples, shuffle, num_shards, shard_id)
        columns = [array_column(images, np.uint8), array_column(labels, np.uint32)]
        self._fill(["image", "label"], len(images), columns, chosen, num_parallel_workers, labels)

    @staticmethod
    def _read(path: str) -> tuple[np.ndarray, np.ndarray]:
        images, labels = [], []
        for number, line in enumerate(read_lines(path), 1):
            label, *cells = line.split()
            try:
                pixels = [float(cell.partition(":")[2]) for cell in cells]
                if len(pixels) != 256:
                    raise ValueError
                labels.append(int(label) - 1)
            except ValueError:
                raise ValueError(
                    f"The file '{path}', line {number}, must have a label and 256 pixels."
                ) from None
            images.append(pixels)
        scaled = (
            (np.array(images, np.float32).astype(np.float64).reshape(-1, 16, 16, 1) + 1) / 2 * 255
        )
        return scaled.astype(np.uint8), np.array(labels)


class STL10Dataset(ImageSetDataset):
    """STL-10: columns image (uint8, 96×96×3) and label (int32; -1 of those without)."""

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
        op = self._start(dataset_dir, num_shards)
        wanted = {
            "train": ["train"],
            "test": ["test"],
            "unlabeled": ["unlabeled"],
            "train+unlabeled": ["train", "unlabeled"],
            "all": ["test", "train", "unlabeled"],
        }
        self.usage = choice(op, "usage", usage, list(wanted), "all")
        found = [self._read(op, part) for part in wanted[self.usage]]
        images, labels = (np.concatenate(arrays) for arrays in zip(*found))
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._arrays(images, labels, np.int32, options)

    def _read(self, op: str, part: str) -> tuple[np.ndarray, np.ndarray]:
        (path,) = present(op, self.dataset_dir, [f"{part}_X.bin"])
        content = np.fromfile(path, np.uint8)
        if content.size == 0 or content.size % 27648:
            raise ValueError(
                f"The file '{path}' must have a multiple of 27648 bytes, but got {content.size}."
            )
        images = content.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1)
        if part == "unlabeled":
            return images, np.full(len(images), -1)
        (path,) = present(op, self.dataset_dir, [f"{part}_y.bin"])
        labels = np.fromfile(path, np.uint8).astype(np.int64) - 1
        if len(labels) != len(images):
            raise ValueError(
                f"The file '{path}' must have {len(images)} labels, but got {len(labels)}."
            )
        return images, labels


class FakeImageDataset(MappableDataset):
    """Random images (uint8) with label (uint32), the same for the same `base_seed`."""

    def __init__(
        self,
        num_images: int = 1000,
        image_size: Sequence[int] = (224, 224, 3),
        num_classes: int = 10,
        base_seed: int = 0,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = type(self).__name__
        check_int(op, "num_images", num_images, 1)
        check_int(op, "num_classes", num_classes, 1)
        check_int(op, "base_seed", base_seed, 0)
        check_type(op, "image_size", image_size, (list, tuple))
        if len(image_size) != 3:
            raise ValueError(f"For '{op}', image_size must have 3 entries, but got {image_size}.")
        for extent in image_size:
            check_int(op, "image_size", extent, 1)
        self.num_shards = num_shards
        self._count = num_classes
        shape = tuple(image_size)

        def row(rng: np.random.Generator) -> tuple[Any, ...]:
            return (
                rng.integers(0, 256, shape, np.uint8),
                np.array(rng.integers(num_classes), np.uint32),
            )

        chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
        call, pools = python_call(random_rows(op, row, base_seed), 0)
        super().__init__(
            ["image", "label"],
            num_images,
            chosen,
            lambda order: _core.dataset.loaded(order, call, 2),
            num_parallel_workers,
            pools,
        )

    def num_classes(self) -> int:
        """Number of classes."""
        return self._count

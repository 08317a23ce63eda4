"""Sets of images whose labels or annotations are files of MATLAB, which SciPy reads: an optional package."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.engine.calls import LoadCall
from mindspore.dataset.engine.datasets_image_sets import ImageSetDataset
from mindspore.dataset.engine.mapping import python_call
from mindspore.dataset.engine.samplers import choose_sampler
from mindspore.dataset.engine.source_files import (
    LoadedDataset,
    array_column,
    choice,
    files_below,
    folder,
    pictures_column,
    present,
    read_lines,
)


def matlab(op: str, path: str, *names: str) -> list[Any]:
    """Variables of a file of MATLAB."""
    try:
        from scipy import io  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError(
            f"For '{op}', SciPy must be installed (pip install scipy), but importing it gave: {error}."
        ) from None
    try:
        content = io.loadmat(path)
        return [content[name] for name in names]
    except OSError:
        raise
    except KeyError as error:
        raise ValueError(f"The file '{path}' must hold the variable {error}.") from None
    except Exception as error:  # whatever SciPy makes of damage
        raise ValueError(f"The file '{path}' must be one of MATLAB, but {error}.") from None


class SVHNDataset(ImageSetDataset):
    """Street View House Numbers, cropped: columns image and label (uint32)."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        op = self._start(dataset_dir, num_shards)
        parts = ["train", "test", "extra"]
        self.usage = choice(op, "usage", usage, [*parts, "all"], "all")
        names = [f"{part}_32x32.mat" for part in parts if self.usage in (part, "all")]
        images, labels = [], []
        for path in present(op, self.dataset_dir, names):
            pixels, numbers = matlab(op, path, "X", "y")
            if pixels.ndim != 4 or pixels.shape[3] != numbers.size:
                raise ValueError(f"The file '{path}' must hold a label for each image of X.")
            images.append(pixels.transpose(3, 0, 1, 2).astype(np.uint8))
            labels.append(numbers.ravel() % 10)  # 10 stands for 0
        chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
        classes = np.concatenate(labels).astype(np.uint32)
        columns = [
            array_column(np.concatenate(images), np.uint8),
            array_column(classes, np.uint32),
        ]
        self._fill(["image", "label"], len(classes), columns, chosen, num_parallel_workers, classes)


class Flowers102Dataset(ImageSetDataset):
    """Oxford's flowers: columns image and label (uint32), of the task Segmentation with the column segmentation between."""

    def __init__(
        self,
        dataset_dir: str,
        task: str = "Classification",
        usage: str = "all",
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        op = self._start(dataset_dir, num_shards)
        parts = {"train": "trnid", "valid": "valid", "test": "tstid"}
        self.usage = choice(op, "usage", usage, [*parts, "all"], "all")
        self.task = choice(op, "task", task, ["Classification", "Segmentation"], "Classification")
        where = self.dataset_dir
        labels_file, parts_file = present(op, where, ["imagelabels.mat", "setid.mat"])
        (labels,) = matlab(op, labels_file, "labels")
        chosen_parts = [name for part, name in parts.items() if self.usage in (part, "all")]
        numbers = [int(n) for found in matlab(op, parts_file, *chosen_parts) for n in found.ravel()]
        if any(not 1 <= number <= labels.size for number in numbers):
            raise ValueError(f"The file '{labels_file}' must have a label for each image.")
        classes = labels.ravel()[np.array(numbers, np.int64) - 1].astype(np.uint32) - 1
        pictures = present(op, where, [f"jpg/image_{number:05d}.jpg" for number in numbers])
        columns = {"image": pictures_column(op, pictures, decode)}
        if self.task == "Segmentation":
            masks = present(op, where, [f"segmim/segmim_{number:05d}.jpg" for number in numbers])
            columns["segmentation"] = pictures_column(op, masks, decode)
        columns["label"] = array_column(classes, np.uint32)
        chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
        parts_of_rows = list(columns.values())
        self._fill(
            list(columns), len(numbers), parts_of_rows, chosen, num_parallel_workers, classes
        )


class _Pictures:
    """Rows of a picture and what `annotation` reads for its number."""

    def __init__(self, pictures: Sequence[str], decode: bool, annotation: Any) -> None:
        self.pictures, self.annotation = list(pictures), annotation
        decoding: list[Any] = [("Decode", [0.0], [], 1.0)]
        self._decode = _core.dataset.Chain(decoding) if decode else None

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        with open(self.pictures[index], "rb") as file:
            picture = np.frombuffer(file.read(), np.uint8)
        if self._decode is not None:
            picture = self._decode.run(picture, 0)
        return (picture, *self.annotation(index))


class _AnnotatedPictures(LoadedDataset):
    """Base of the sets with a file of MATLAB beside each picture, which is read with it."""

    def _give(
        self,
        pictures: Sequence[str],
        decode: Any,
        annotation: Any,
        columns: list[str],
        options: tuple[Any, ...],
    ) -> None:
        """`options`: sampler, num_samples, shuffle, num_shards, shard_id, workers."""
        op = type(self).__name__
        decode = False if decode is None else decode
        check_type(op, "decode", decode, bool)
        if not pictures:
            raise ValueError(f"For '{op}', there must be pictures, but there are none.")
        load = LoadCall(_Pictures(pictures, decode, annotation), columns, None)
        call, pools = python_call(load, 0)
        self._load(columns, len(pictures), call, options, pools)


class SBDataset(_AnnotatedPictures):
    """Semantic boundaries: columns image and task (uint8: a mask of each class, or the number of each pixel's)."""

    def __init__(
        self,
        dataset_dir: str,
        task: str = "Boundaries",
        usage: str = "all",
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        op = "SBDataset"
        where = self.dataset_dir = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, ["train", "val", "train_noval", "all"], "all")
        self.task = choice(op, "task", task, ["Boundaries", "Segmentation"], "Boundaries")
        lists = ["train", "val"] if self.usage == "all" else [self.usage]
        names = [
            line.strip()
            for path in present(op, where, [f"{name}.txt" for name in lists])
            for line in read_lines(path)
        ]
        self._files = present(op, where, [f"cls/{name}.mat" for name in names])
        pictures = present(op, where, [f"img/{name}.jpg" for name in names])
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._give(pictures, decode, self._masks, ["image", "task"], options)

    def _masks(self, index: int) -> tuple[np.ndarray]:
        path = self._files[index]
        (truth,) = matlab("SBDataset", path, "GTcls")
        try:
            if self.task == "Segmentation":
                return (np.asarray(truth["Segmentation"][0, 0], np.uint8),)
            masks = [mask[0].toarray() for mask in truth["Boundaries"][0, 0]]
        except (IndexError, ValueError, AttributeError, TypeError):
            raise ValueError(f"The file '{path}' must hold {self.task} in GTcls.") from None
        return (np.stack(masks).astype(np.uint8),)


# Folders of annotations that are not named as those of the pictures.
_CALTECH_NAMES = {
    "Faces": "Faces_2",
    "Faces_easy": "Faces_3",
    "Motorbikes": "Motorbikes_16",
    "airplanes": "Airplanes_Side_2",
}


class Caltech101Dataset(_AnnotatedPictures):
    """Caltech 101: column image and, by `target_type`, category (int64), annotation (float64, an outline) or both."""

    def __init__(
        self,
        dataset_dir: str,
        target_type: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        op = "Caltech101Dataset"
        self.dataset_dir = folder(op, dataset_dir)
        kinds = ["category", "annotation", "all"]
        self.target_type = choice(op, "target_type", target_type, kinds, "category")
        pictures_dir = folder(op, os.path.join(self.dataset_dir, "101_ObjectCategories"))
        outlines_dir = os.path.join(self.dataset_dir, "Annotations")
        self._names = sorted(
            entry.name
            for entry in os.scandir(pictures_dir)
            if entry.is_dir() and entry.name[0] != "." and entry.name != "BACKGROUND_Google"
        )
        pictures: list[str] = []
        self._categories: list[int] = []
        self._outlines: list[str] = []
        for number, name in enumerate(self._names):
            found = files_below(os.path.join(pictures_dir, name), (".jpg",))
            pictures += found
            self._categories += [number] * len(found)
            part = os.path.join(outlines_dir, _CALTECH_NAMES.get(name, name))
            bases = [os.path.splitext(os.path.basename(path))[0] for path in found]
            files = [base.replace("image_", "annotation_") + ".mat" for base in bases]
            self._outlines += [os.path.join(part, file) for file in files]
        columns = kinds[:2] if self.target_type == "all" else [self.target_type]
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._give(pictures, decode, self._targets, ["image", *columns], options)

    def _targets(self, index: int) -> tuple[Any, ...]:
        targets: list[Any] = []
        if self.target_type != "annotation":
            targets.append(np.array(self._categories[index], np.int64))
        if self.target_type != "category":
            targets += matlab("Caltech101Dataset", self._outlines[index], "obj_contour")
        return tuple(targets)

    def get_class_indexing(self) -> dict[str, Any]:
        """Class names and their numbers."""
        return {name: number for number, name in enumerate(self._names)}


__all__ = ["Caltech101Dataset", "Flowers102Dataset", "SBDataset", "SVHNDataset"]

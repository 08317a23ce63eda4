"""Sets of pictures with annotations beside them: boxes, masks, captions, attributes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindspore.dataset.core.validator_helpers import check_type
from mindspore.dataset.engine.annotations import (
    COCO_TASKS,
    KITTI_COLUMNS,
    coco_annotations,
    kitti_objects,
    numbers,
    voc_objects,
)
from mindspore.dataset.engine.samplers import choose_sampler
from mindspore.dataset.engine.source_files import (
    ColumnDataset,
    array_column,
    choice,
    file,
    files_below,
    folder,
    is_picture,
    list_column,
    pictures_column,
    present,
    read_json,
    read_lines,
    small_endings,
)

_META = "_meta-filename"


def _refuse_decrypt(op: str, decrypt: Any) -> None:
    if decrypt is not None:
        raise NotImplementedError(
            f"For '{op}', decrypt is not supported: decrypt the files beforehand."
        )


class AnnotatedDataset(ColumnDataset):
    """Base of the sets of pictures with annotations."""

    def _give(
        self,
        pictures: Sequence[str],
        decode: Any,
        others: dict[str, Any],
        options: tuple[Any, ...],
        labels: Any = None,
    ) -> None:
        """A column image and others; `options`: sampler, num_samples, shuffle, num_shards, shard_id, workers."""
        op = type(self).__name__
        if not pictures:
            raise ValueError(
                f"For '{op}', there must be pictures with annotations, but there are none."
            )
        self.num_shards = options[3]
        chosen = choose_sampler(op, *options[:5])
        decode = False if decode is None else decode
        columns = {"image": pictures_column(op, pictures, decode), **others}
        self._fill(list(columns), len(pictures), list(columns.values()), chosen, options[5], labels)


class CocoDataset(AnnotatedDataset):
    """COCO: column image and, by the task, bbox, category_id and iscrowd (Detection), segmentation and iscrowd (Stuff),
    keypoints and num_keypoints (Keypoint), bbox, category_id, iscrowd and area (Panoptic), or captions (Captioning).

    Pictures without annotations are left out. `extra_metadata` adds the column _meta-filename.
    """

    def __init__(
        self,
        dataset_dir: str,
        annotation_file: str,
        task: str = "Detection",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        extra_metadata: bool = False,
        decrypt: Any = None,
    ) -> None:
        op = "CocoDataset"
        self.dataset_dir = folder(op, dataset_dir)
        self.annotation_file = file(op, annotation_file, "annotation_file")
        check_type(op, "task", task, str)
        self.task = choice(op, "task", task, list(COCO_TASKS), "Detection")
        check_type(op, "extra_metadata", extra_metadata, bool)
        _refuse_decrypt(op, decrypt)
        try:
            content = read_json(self.annotation_file)
            names, rows = coco_annotations(content, self.task, self.annotation_file)
        except (KeyError, TypeError) as error:
            raise RuntimeError(
                f"For '{op}', the file '{self.annotation_file}' must be annotations of {task}, but has no {error}."
            ) from None
        pictures = present(op, self.dataset_dir, names)
        self._kinds = {
            kind["name"]: [kind["id"], kind.get("isthing", 0)]
            if task == "Panoptic"
            else [kind["id"]]
            for kind in content.get("categories", [])
        }
        others = (
            {name: list_column([row[name] for row in rows]) for name in rows[0]} if rows else {}
        )
        if extra_metadata:
            others[_META] = list_column([name.rpartition(".")[0] or name for name in names])
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._give(pictures, decode, others, options)

    def get_class_indexing(self) -> dict[str, Any]:
        """Categories and their numbers."""
        return dict(self._kinds)


class VOCDataset(AnnotatedDataset):
    """Pascal VOC: column image and target (Segmentation), or bbox, label, difficult and truncate (Detection).

    `extra_metadata` adds the column _meta-filename.
    """

    def __init__(
        self,
        dataset_dir: str,
        task: str = "Segmentation",
        usage: str = "train",
        class_indexing: dict[str, int] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        extra_metadata: bool = False,
        decrypt: Any = None,
    ) -> None:
        op = "VOCDataset"
        self.dataset_dir = folder(op, dataset_dir)
        check_type(op, "task", task, str)
        check_type(op, "usage", usage, str)
        self.task = choice(op, "task", task, ["Segmentation", "Detection"], "Segmentation")
        check_type(op, "extra_metadata", extra_metadata, bool)
        _refuse_decrypt(op, decrypt)
        if class_indexing is not None:
            check_type(op, "class_indexing", class_indexing, dict)
            if task == "Segmentation":
                raise ValueError(f"For '{op}', class_indexing must be None in task 'Segmentation'.")
        sets = "Segmentation" if task == "Segmentation" else "Main"
        (listed,) = present(op, self.dataset_dir, [f"ImageSets/{sets}/{usage}.txt"])
        names = [line.split()[0] for line in read_lines(listed)]
        pictures = present(op, self.dataset_dir, [f"JPEGImages/{name}.jpg" for name in names])
        self._kinds: dict[str, int] = {}
        if task == "Segmentation":
            masks = [f"SegmentationClass/{name}.png" for name in names]
            targets = present(op, self.dataset_dir, masks)
            others: dict[str, Any] = {"target": pictures_column(op, targets, decode)}
        else:
            others = self._things(op, names, class_indexing)
        if extra_metadata:
            others[_META] = list_column(names)
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._give(pictures, decode, others, options)

    def _things(self, op: str, names: Sequence[str], indexing: Any) -> dict[str, Any]:
        paths = present(op, self.dataset_dir, [f"Annotations/{name}.xml" for name in names])
        found = [voc_objects(path) for path in paths]
        kinds = sorted({thing[0] for things in found for thing in things})
        self._kinds = dict(indexing) if indexing else {k: n for n, k in enumerate(kinds)}
        for path, things in zip(paths, found):
            for thing in things:
                if thing[0] not in self._kinds:
                    raise ValueError(
                        f"For '{op}', class_indexing must have '{thing[0]}', which stands in '{path}'."
                    )
        return {
            "bbox": list_column([t[1] for t in things] for things in _typed(found, np.float32)),
            "label": list_column([numbers(self._kinds[t[0]] for t in things) for things in found]),
            "difficult": list_column([numbers(t[2] for t in things) for things in found]),
            "truncate": list_column([numbers(t[3] for t in things) for things in found]),
        }

    def get_class_indexing(self) -> dict[str, Any]:
        """Classes and their numbers."""
        return dict(self._kinds)


def _typed(found: Any, dtype: Any) -> Any:
    return [[(t[0], np.array(t[1], dtype)) for t in things] for things in found]


class CelebADataset(AnnotatedDataset):
    """CelebA: columns image and attr (uint32, 0 or 1 for each of its attributes)."""

    def __init__(
        self,
        dataset_dir: str,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        usage: str = "all",
        sampler: Any = None,
        decode: bool = False,
        extensions: Sequence[str] | None = None,
        num_samples: int | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Any = None,
    ) -> None:
        op = "CelebADataset"
        self.dataset_dir = where = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, ["all", "train", "valid", "test"], "all")
        _refuse_decrypt(op, decrypt)
        endings = small_endings(op, extensions)
        (path,) = present(op, where, ["list_attr_celeba.txt"])
        part = None
        if self.usage != "all":
            (listed,) = present(op, where, ["list_eval_partition.txt"])
            number = {"train": "0", "valid": "1", "test": "2"}[self.usage]
            part = {w[0] for w in map(str.split, read_lines(listed)) if w[1:] == [number]}
        _, head, *lines = read_lines(path)
        count = len(head.split())
        names, signs = [], []
        for row, line in enumerate(lines, 3):
            name, *marks = line.split()
            if len(marks) != count or set(marks) - {"1", "-1"}:
                raise RuntimeError(
                    f"The file '{path}', line {row}, must have {count} times 1 or -1."
                )
            if (part is None or name in part) and (extensions is None or is_picture(name, endings)):
                names.append(name)
                signs.append([mark == "1" for mark in marks])
        inner = os.path.join(where, "img_align_celeba")
        base = inner if os.path.isdir(inner) else where
        pictures = present(op, base, names)
        others = {"attr": array_column(np.array(signs).reshape(-1, count), np.uint32)}
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._give(pictures, decode, others, options)


class ManifestDataset(AnnotatedDataset):
    """Pictures that a manifest lists: columns image and label (int32)."""

    def __init__(
        self,
        dataset_file: str,
        usage: str = "train",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = "ManifestDataset"
        self.dataset_file = file(op, dataset_file, "dataset_file")
        self.usage = choice(op, "usage", usage, ["train", "eval", "inference"], "train")
        if class_indexing is not None:
            check_type(op, "class_indexing", class_indexing, dict)
        rows = []
        for number, line in enumerate(read_lines(self.dataset_file), 1):
            try:
                content = json.loads(line)
                names = [a["name"] for a in content.get("annotation", [])]
                if content["usage"] == self.usage:
                    rows.append(
                        (content["source"].removeprefix("file://"), names[0] if names else "")
                    )
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise RuntimeError(
                    f"The file '{self.dataset_file}', line {number}, must be a source with its usage, but got {error}."
                ) from None
        kinds = sorted({kind for _, kind in rows if kind})
        self._kinds = class_indexing or {kind: number for number, kind in enumerate(kinds)}
        rows = [(path, kind) for path, kind in rows if kind in self._kinds or not kind]
        labels = [self._kinds.get(kind, 0) for _, kind in rows]
        others = {"label": array_column(labels, np.int32)}
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._give([path for path, _ in rows], decode, others, options, labels)

    def num_classes(self) -> int:
        """Number of classes."""
        return len(self._kinds)

    def get_class_indexing(self) -> dict[str, Any]:
        """Classes and their numbers."""
        return dict(self._kinds)


class CityscapesDataset(AnnotatedDataset):
    """Cityscapes: columns image and task (a picture, or the text of the polygons)."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str = "train",
        quality_mode: str = "fine",
        task: str = "instance",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = "CityscapesDataset"
        where = self.dataset_dir = folder(op, dataset_dir)
        quality = choice(op, "quality_mode", quality_mode, ["fine", "coarse"], "fine")
        allowed = (
            ["train", "test", "val", "all"]
            if quality == "fine"
            else ["train", "train_extra", "val", "all"]
        )
        self.usage = choice(op, "usage", usage, allowed, "train")
        tasks = ["instance", "semantic", "polygon", "color"]
        self.task = choice(op, "task", task, tasks, "instance")
        mode = f"gt{quality.capitalize()}"
        ending = {"instance": "instanceIds.png", "semantic": "labelIds.png", "color": "color.png", "polygon": "polygons.json"}[self.task]  # fmt: skip
        pictures: list[str] = []
        targets: list[str] = []
        for part in [u for u in allowed if u != "all"] if self.usage == "all" else [self.usage]:
            base = os.path.join(where, "leftImg8bit", part)
            if self.usage == "all" and not os.path.isdir(base):
                continue
            for path in files_below(folder(op, base), ["_leftimg8bit.png"]):
                name = os.path.relpath(path, base)[: -len("leftImg8bit.png")]
                pictures.append(path)
                targets += present(op, where, [os.path.join(mode, part, f"{name}{mode}_{ending}")])
        if self.task == "polygon":
            texts = [json.dumps(read_json(path), separators=(",", ":")) for path in targets]
            others: dict[str, Any] = {"task": list_column(texts)}
        else:
            others = {"task": pictures_column(op, targets, False if decode is None else decode)}
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._give(pictures, decode, others, options)


class DIV2KDataset(AnnotatedDataset):
    """DIV2K: columns hr_image and lr_image, the same picture in two resolutions."""

    def __init__(
        self,
        dataset_dir: str,
        usage: str = "train",
        downgrade: str = "bicubic",
        scale: int = 2,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = "DIV2KDataset"
        self.dataset_dir = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, ["train", "valid", "all"], "train")
        kinds = ["bicubic", "unknown", "mild", "difficult", "wild"]
        downgrade = choice(op, "downgrade", downgrade, kinds, "bicubic")
        scales = {"bicubic": (2, 3, 4, 8), "unknown": (2, 3, 4)}.get(downgrade, (4,))
        check_type(op, "scale", scale, int)
        if scale not in scales:
            raise ValueError(
                f"For '{op}', scale must be one of {list(scales)} for {downgrade}, but got {scale!r}."
            )
        # The sets of a later challenge have other folders: x8, mild, difficult, wild.
        plain = downgrade in ("bicubic", "unknown") and scale != 8
        track = (
            f"LR_{downgrade}/X{scale}" if plain else "LR_x8" if scale == 8 else f"LR_{downgrade}"
        )
        mark = "" if downgrade in ("bicubic", "unknown") else downgrade[0]
        high: list[str] = []
        low: list[str] = []
        for part in ("train", "valid") if self.usage == "all" else (self.usage,):
            base = folder(op, os.path.join(self.dataset_dir, f"DIV2K_{part}_HR"))
            found = files_below(base, [".png"])
            high += found
            stems = [os.path.splitext(os.path.basename(path))[0] for path in found]
            low += present(
                op, self.dataset_dir, [f"DIV2K_{part}_{track}/{s}x{scale}{mark}.png" for s in stems]
            )
        decode = False if decode is None else decode
        chosen = choose_sampler(op, sampler, num_samples, shuffle, num_shards, shard_id)
        self.num_shards = num_shards
        if not high:
            raise ValueError(f"For '{op}', '{self.dataset_dir}' must hold images, but has none.")
        columns = [pictures_column(op, paths, decode) for paths in (high, low)]
        self._fill(["hr_image", "lr_image"], len(high), columns, chosen, num_parallel_workers)


class KITTIDataset(AnnotatedDataset):
    """KITTI: column image and, of the training set, label and seven columns about each object."""

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
        op = "KITTIDataset"
        self.dataset_dir = folder(op, dataset_dir)
        self.usage = choice(op, "usage", usage, ["train", "test"], "train")
        part = "training" if self.usage == "train" else "testing"
        base = folder(op, os.path.join(self.dataset_dir, "data_object_image_2", part, "image_2"))
        pictures = files_below(base, [".png"])
        others: dict[str, Any] = {}
        if self.usage == "train":
            stems = [os.path.splitext(os.path.basename(path))[0] for path in pictures]
            names = [f"data_object_label_2/training/label_2/{stem}.txt" for stem in stems]
            found = [kitti_objects(path) for path in present(op, self.dataset_dir, names)]
            others["label"] = list_column([numbers(int(r[0]) for r in rows) for rows in found])
            for name, place, dtype in KITTI_COLUMNS:
                others[name] = list_column([rows[:, place].astype(dtype) for rows in found])
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._give(pictures, decode, others, options)

"""What stands in the annotations of pictures: the files of COCO, Pascal VOC and KITTI, as columns."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np

from mindspore.dataset.engine.source_files import read_lines


def numbers(values: Any) -> np.ndarray:
    """Integers as a column of uint32."""
    return np.array(list(values), np.int64).astype(np.uint32).reshape(-1, 1)


# ---- COCO
def _boxes(parts: list[Any]) -> dict[str, Any]:
    return {
        "bbox": np.array([part["bbox"] for part in parts], np.float32).reshape(-1, 4),
        "category_id": numbers(part["category_id"] for part in parts),
        "iscrowd": numbers(part.get("iscrowd", 0) for part in parts),
    }


def _segments(parts: list[Any]) -> dict[str, Any]:
    return {**_boxes(parts), "area": numbers(part["area"] for part in parts)}


def _keypoints(parts: list[Any]) -> dict[str, Any]:
    points = np.array([part["keypoints"] for part in parts], np.float32)
    return {
        "keypoints": points,
        "num_keypoints": numbers(part["num_keypoints"] for part in parts),
    }


def _outlines(parts: list[Any]) -> dict[str, Any]:
    outlines = [outline for part in parts for outline in part["segmentation"]]
    if not all(isinstance(outline, list) for outline in outlines):
        raise TypeError("polygons, but a mask")
    width = max(len(outline) for outline in outlines)
    table = np.full((len(outlines), width), -1, np.float32)
    for row, outline in zip(table, outlines):
        row[: len(outline)] = outline
    counts = [part.get("iscrowd", 0) for part in parts]
    return {"segmentation": table, "iscrowd": numbers(counts)}


def _captions(parts: list[Any]) -> dict[str, Any]:
    return {"captions": np.array([[part["caption"]] for part in parts])}


COCO_TASKS: dict[str, Callable[[list[Any]], dict[str, Any]]] = {
    "Detection": _boxes,
    "Stuff": _outlines,
    "Panoptic": _segments,
    "Keypoint": _keypoints,
    "Captioning": _captions,
}


def coco_annotations(content: Any, task: str, path: str) -> tuple[list[str], list[dict[str, Any]]]:
    """The pictures of a file of COCO that have annotations, and the columns of each by the task."""
    files = {image["id"]: image["file_name"] for image in content["images"]}
    found: dict[Any, list[Any]] = {}
    for annotation in content["annotations"]:
        number = annotation["image_id"]
        if number not in files:
            raise RuntimeError(
                f"For 'CocoDataset', the file '{path}' must list each picture, but has no image {number!r}."
            )
        parts = annotation["segments_info"] if task == "Panoptic" else [annotation]
        found.setdefault(number, []).extend(parts)
    columns, chosen = COCO_TASKS[task], [number for number in files if found.get(number)]
    return [files[number] for number in chosen], [columns(found[number]) for number in chosen]


# ---- Pascal VOC
def voc_objects(path: str) -> list[tuple[str, list[float], int, int]]:
    """Name, box (left, top, width, height), difficult and truncated of each object."""
    things = []
    try:
        for thing in ElementTree.parse(path).getroot().iter("object"):
            left, top, right, bottom = (
                float(thing.findtext(f"bndbox/{side}", ""))
                for side in ("xmin", "ymin", "xmax", "ymax")
            )
            marks = [int(thing.findtext(name, "0")) for name in ("difficult", "truncated")]
            name = thing.findtext("name", "")
            things.append((name, [left, top, right - left, bottom - top], marks[0], marks[1]))
    except (ElementTree.ParseError, ValueError) as error:
        raise RuntimeError(f"The annotation '{path}' cannot be read: {error}.") from None
    if not things:
        raise RuntimeError(f"The annotation '{path}' must have an object, but has none.")
    return things


# ---- KITTI
_KITTI_KINDS = ("Car", "Cyclist", "DontCare", "Misc", "Pedestrian", "Person_sitting", "Tram", "Truck", "Van")  # fmt: skip
# Columns of KITTI's label files: name, the places of its numbers, their type.
KITTI_COLUMNS = [
    ("truncated", slice(1, 2), np.float32),
    ("occluded", slice(2, 3), np.uint32),
    ("alpha", slice(3, 4), np.float32),
    ("bbox", slice(4, 8), np.float32),
    ("dimensions", slice(8, 11), np.float32),
    ("location", slice(11, 14), np.float32),
    ("rotation_y", slice(14, 15), np.float32),
]


def kitti_objects(path: str) -> np.ndarray:
    """The kind and the 14 numbers of each object."""
    rows = []
    for number, line in enumerate(read_lines(path), 1):
        kind, *cells = line.split()
        try:
            rows.append([float(_KITTI_KINDS.index(kind)), *map(float, cells)])
            if len(cells) < 14:
                raise ValueError
        except ValueError:
            raise RuntimeError(
                f"The file '{path}', line {number}, must have a kind of object and 14 numbers."
            ) from None
    return np.array(rows, np.float64).reshape(-1, 15)

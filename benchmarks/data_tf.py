"""tf.data on the files that benchmarks/data.py and benchmarks/mindrecord.py write: `PYTHON data_tf.py FOLDER CASE`.

Runs in a process of its own, whose Python has TensorFlow. For each line on its input it goes once through each pipeline of the case, and
prints seconds by the name of the pipeline as JSON.
"""

from __future__ import annotations

import glob
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from photographs import MEAN, STD

AUTO = tf.data.AUTOTUNE
Pipelines = dict[str, Any]


def listing(folder: str) -> tuple[list[str], list[int]]:
    """The pictures of a folder for each class."""
    files = sorted(glob.glob(os.path.join(folder, "*", "*.jpg")))
    return files, [int(os.path.basename(os.path.dirname(file))) for file in files]


def folder_of(folder: str, load: Callable[[Any], Any]) -> Any:
    """Shuffled pictures of a folder, each loaded from its bytes, in batches."""
    files, labels = listing(folder)
    data = tf.data.Dataset.from_tensor_slices((files, labels)).shuffle(len(files))
    data = data.map(lambda path, label: (load(tf.io.read_file(path)), label), AUTO)
    return data.batch(32).prefetch(AUTO)


def finished(image: Any) -> Any:
    """Flipped by chance, normalised, channels first."""
    image = tf.image.random_flip_left_right(image)
    return tf.transpose((tf.cast(image, tf.float32) - MEAN) / STD, [2, 0, 1])


def pictures(folder: str) -> Pipelines:
    """Decode, random crop and resize to 224, flip, normalise, CHW: with only the crop decoded, and with all of it."""

    def load(content: Any, crop_first: bool) -> Any:
        begin, size, _ = tf.image.sample_distorted_bounding_box(
            tf.io.extract_jpeg_shape(content),
            tf.zeros([1, 0, 4]),
            area_range=(0.08, 1.0),
            aspect_ratio_range=(3 / 4, 4 / 3),
            use_image_if_no_bounding_boxes=True,
        )
        (top, left, _), (height, width, _) = tf.unstack(begin), tf.unstack(size)
        if crop_first:
            box = tf.stack([top, left, height, width])
            image = tf.io.decode_and_crop_jpeg(content, box, channels=3)
        else:
            whole = tf.io.decode_jpeg(content, channels=3)
            image = tf.image.crop_to_bounding_box(whole, top, left, height, width)
        return finished(tf.image.resize(image, [224, 224]))

    return {
        "decode_and_crop": folder_of(folder, lambda content: load(content, True)),
        "decode, then crop": folder_of(folder, lambda content: load(content, False)),
    }


def cifar(folder: str) -> Pipelines:
    """Decode, crop of 32 out of 40, flip, normalise, CHW."""

    def load(content: Any) -> Any:
        image = tf.ensure_shape(tf.io.decode_jpeg(content, channels=3), [32, 32, 3])
        padded = tf.image.resize_with_crop_or_pad(image, 40, 40)
        return finished(tf.image.random_crop(padded, [32, 32, 3]))

    return {"decode": folder_of(folder, load)}


def arrays(folder: str) -> Pipelines:
    """Resize to 32, rescale, CHW, shuffle, batch."""
    images = np.load(os.path.join(folder, "images.npy"))
    labels = np.load(os.path.join(folder, "labels.npy"))

    def load(image: Any, label: Any) -> Any:
        return tf.transpose(tf.image.resize(image, [32, 32]) / 255, [2, 0, 1]), label

    found = {}
    for name, calls in (("automatic", AUTO), ("2 calls", 2)):
        data = tf.data.Dataset.from_tensor_slices((images, labels)).map(load, calls)
        found[name] = data.shuffle(len(images)).batch(32).prefetch(AUTO)
    return found


def generator(folder: str) -> Pipelines:
    """A Python generator of trivial rows, batch 64."""
    rows = np.load(os.path.join(folder, "rows.npy"))

    def made() -> Any:
        for index, row in enumerate(rows):
            yield row, index

    kinds = (tf.TensorSpec(rows.shape[1:], tf.float32), tf.TensorSpec((), tf.int64))
    data = tf.data.Dataset.from_generator(made, output_signature=kinds)
    return {"from_generator": data.batch(64).prefetch(AUTO)}


def records(folder: str) -> Pipelines:
    """The files FOLDER/*.tfrecord: a row at a time, in batches, and in batches of shuffled rows."""
    kinds = {
        "label": tf.io.FixedLenFeature([], tf.int64),
        "data": tf.io.FixedLenFeature([], tf.string),
    }

    def rows(content: Any) -> Any:
        return tf.io.parse_single_example(content, kinds)

    def batches(content: Any) -> Any:
        return tf.io.parse_example(content, kinds)

    found: Pipelines = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.tfrecord"))):
        name, data = os.path.basename(path).removesuffix(".tfrecord"), tf.data.TFRecordDataset(path)
        count = sum(1 for _ in data)
        found[f"{name}: rows in order"] = data.map(rows, AUTO).prefetch(AUTO)
        found[f"{name}: batches in order"] = data.batch(64).map(batches, AUTO).prefetch(AUTO)
        mixed = data.shuffle(count).batch(64).map(batches, AUTO).prefetch(AUTO)
        found[f"{name}: batches at random"] = mixed
    return found


def seconds(pipeline: Any) -> float:
    """What one pass takes."""
    began = time.perf_counter()
    for _ in pipeline:
        pass
    return time.perf_counter() - began


def main() -> None:
    """Answer each line."""
    folder, case = sys.argv[1:]
    cases = {f.__name__: f for f in (pictures, cifar, arrays, generator, records)}
    pipelines = cases[case](folder)
    for pipeline in pipelines.values():  # what is made at the first row
        next(iter(pipeline))
    for _ in sys.stdin:
        print(json.dumps({name: seconds(made) for name, made in pipelines.items()}), flush=True)


if __name__ == "__main__":
    main()

"""Rows a second of the data pipeline beside PyTorch's DataLoader, at its best of 0 to 2 workers, and tf.data.

python benchmarks/data.py [--tensorflow PYTHON] [pictures | cifar | arrays | generator | first ...]

PYTHON is that of an environment with TensorFlow, which runs in a process of its own (data_tf.py). Each case is run by turns, and the best
of a few rounds counts; a ratio above 1 is in our favour. The case `first` has no peers: how soon the first batch of a million rows comes,
filtered and shuffled, and that of an epoch that is gone on with.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from peer_tf import Peer

import mindspore.dataset as ds
from mindspore.dataset import transforms, vision

ROUNDS = 3
MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]
Pipeline = Callable[[], Iterable[Any]]


def write_pictures(folder: str, count: int, height: int, width: int) -> None:
    """Pictures with something to encode: smooth areas, edges and noise."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for number in range(count):
        small = Image.fromarray(rng.integers(0, 256, (12, 16, 3), np.uint8))
        image = np.asarray(small.resize((width, height), Image.Resampling.BICUBIC)).astype(int)
        noisy = np.clip(image + rng.normal(0, 6, image.shape), 0, 255).astype(np.uint8)
        os.makedirs(os.path.join(folder, str(number % 4)), exist_ok=True)
        path = os.path.join(folder, str(number % 4), f"{number:04}.jpg")
        Image.fromarray(noisy).save(path, quality=90)


class TorchFolder:
    """The files of a folder through Pillow."""

    def __init__(self, folder: str) -> None:
        self.files = sorted(
            os.path.join(root, name) for root, _, names in os.walk(folder) for name in names
        )
        self.mean = np.array(MEAN, np.float32)[:, None, None]
        self.std = np.array(STD, np.float32)[:, None, None]

    def __len__(self) -> int:
        return len(self.files)

    def cropped(self, image: Any, rng: np.random.Generator) -> Any:
        """A part of the picture at random, of the size that all have."""
        raise NotImplementedError

    def __getitem__(self, index: int) -> tuple[Any, int]:
        import torch
        from PIL import Image

        rng = np.random.default_rng(index)
        with open(self.files[index], "rb") as stream:
            image = Image.open(io.BytesIO(stream.read())).convert("RGB")
        image = self.cropped(image, rng)
        if rng.random() < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        tensor = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous().float()
        mean, std = torch.from_numpy(self.mean), torch.from_numpy(self.std)
        return tensor.sub_(mean).div_(std), index % 4


class TorchPictures(TorchFolder):
    """With random crops, resized to 224."""

    def cropped(self, image: Any, rng: np.random.Generator) -> Any:
        """8 % of its area or more."""
        from PIL import Image

        share, aspect = rng.uniform(0.08, 1.0), np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3)))
        area = image.width * image.height * share
        width = min(round(float(np.sqrt(area * aspect))), image.width)
        height = min(round(float(np.sqrt(area / aspect))), image.height)
        left = int(rng.integers(image.width - width + 1))
        top = int(rng.integers(image.height - height + 1))
        box = (left, top, left + width, top + height)
        return image.crop(box).resize((224, 224), Image.Resampling.BILINEAR)


class TorchCifar(TorchFolder):
    """With crops of 32 out of 40."""

    def cropped(self, image: Any, rng: np.random.Generator) -> Any:
        """With a black border of 4 where that is in it."""
        left, top = (int(n) for n in rng.integers(-4, 5, 2))
        return image.crop((left, top, left + 32, top + 32))


def of_folder(
    count: int, folder: str, steps: list[Any], peer: Callable[[str], TorchFolder]
) -> tuple[int, Pipeline, Any, dict[str, Any]]:
    """A case of so many pictures in a folder, in batches of 32."""

    def ours() -> Iterable[Any]:
        data = ds.ImageFolderDataset(folder).map(steps, "image").batch(32)
        return data.create_tuple_iterator(num_epochs=1)

    return count, ours, peer(folder), {"batch_size": 32, "shuffle": True}


def pictures(folder: str) -> tuple[int, Pipeline, Any, dict[str, Any]]:
    """JPEG folder: decode, random crop and resize to 224, flip, normalise, CHW, batch 32."""
    count = 256
    write_pictures(folder, count, 375, 500)
    steps = [
        vision.RandomCropDecodeResize(224),
        vision.RandomHorizontalFlip(),
        vision.Normalize(MEAN, STD),
        vision.HWC2CHW(),
    ]

    return of_folder(count, folder, steps, TorchPictures)


def cifar(folder: str) -> tuple[int, Pipeline, Any, dict[str, Any]]:
    """JPEG folder of 32 x 32: decode, crop of 32 out of 40, flip, normalise, CHW, batch 32."""
    count = 8192
    write_pictures(folder, count, 32, 32)
    steps = [
        vision.Decode(),
        vision.RandomCrop(32, 4),
        vision.RandomHorizontalFlip(),
        vision.Normalize(MEAN, STD),
        vision.HWC2CHW(),
    ]

    return of_folder(count, folder, steps, TorchCifar)


class TorchArrays:
    """Arrays, with the same steps."""

    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        self.images, self.labels = images, labels

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        import torch

        image = torch.from_numpy(self.images[index]).permute(2, 0, 1)[None].float()
        sized = torch.nn.functional.interpolate(image, (32, 32), mode="bilinear")
        return sized[0] / 255, int(self.labels[index])


def arrays(folder: str) -> tuple[int, Pipeline, Any, dict[str, Any]]:
    """MNIST-like arrays: resize to 32, rescale, CHW, shuffle, batch 32."""
    count = 8192
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (count, 28, 28, 1), np.uint8)
    labels = rng.integers(0, 10, count).astype(np.int32)
    np.save(os.path.join(folder, "images.npy"), images)
    np.save(os.path.join(folder, "labels.npy"), labels)
    steps = [vision.Resize((32, 32)), vision.Rescale(1 / 255, 0), vision.HWC2CHW()]

    def ours() -> Iterable[Any]:
        data = ds.NumpySlicesDataset((images, labels), ["image", "label"], shuffle=False)
        data = data.map(steps, "image").map(transforms.TypeCast(np.int32), "label")
        return data.shuffle(count).batch(32).create_tuple_iterator(num_epochs=1)

    return count, ours, TorchArrays(images, labels), {"batch_size": 32, "shuffle": True}


class Trivial:
    """A source whose rows cost nothing."""

    def __init__(self, count: int) -> None:
        self.rows = np.zeros((count, 16), np.float32)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.rows[index], index


def generator(folder: str) -> tuple[int, Pipeline, Any, dict[str, Any]]:
    """A Python source with a trivial __getitem__, batch 64."""
    count = 32768
    source = Trivial(count)
    np.save(os.path.join(folder, "rows.npy"), source.rows)

    def ours() -> Iterable[Any]:
        data = ds.GeneratorDataset(source, ["x", "i"]).batch(64)
        return data.create_tuple_iterator(num_epochs=1)

    return count, ours, source, {"batch_size": 64, "shuffle": True}


def plain_loop(count: int, source: Any, batch_size: int) -> Iterable[Any]:
    """What the rows of a source cost anybody who asks for one at a time and stacks them."""
    order = np.random.default_rng(0).permutation(count).tolist()
    for start in range(0, count, batch_size):
        rows = [source[index] for index in order[start : start + batch_size]]
        yield tuple(np.stack(column) for column in zip(*rows))


def rate(count: int, rows: Iterable[Any]) -> float:
    """Rows a second of one pass."""
    began = time.perf_counter()
    batches = sum(1 for _ in rows)
    assert batches > 0
    return count / (time.perf_counter() - began)


def compare(case: str, folder: str, tensorflow: str | None) -> None:
    """Run a case by turns, and print what each does at its best."""
    from torch.utils.data import DataLoader

    count, ours, source, options = CASES[case](folder)
    best, loop = 0.0, 0.0
    torch, others = dict.fromkeys((0, 1, 2), 0.0), dict[str, float]()
    with contextlib.ExitStack() as peers:
        peer = peers.enter_context(Peer(tensorflow, folder, case)) if tensorflow else None
        for _ in range(ROUNDS):
            best = max(best, rate(count, ours()))
            if case == "generator":
                loop = max(loop, rate(count, plain_loop(count, source, options["batch_size"])))
            for workers in torch:
                loader = DataLoader(source, num_workers=workers, **options)
                torch[workers] = max(torch[workers], rate(count, loader))
            for way, seconds in (peer.seconds() if peer else {}).items():
                others[way] = max(others.get(way, 0.0), count / seconds)
    each = ", ".join(f"{w}: {r:.0f}" for w, r in torch.items())
    print(f"{case:10} {best:8.0f} rows/s", f"  a loop {loop:.0f}" if loop else "")
    print(f"{'':10} DataLoader {each}  ratio {best / max(torch.values()):.2f}")
    for way, other in others.items():
        print(f"{'':10} tf.data, {way}: {other:.0f}  ratio {best / other:.2f}")


def first() -> None:
    """Seconds until there is a first batch, at the best of some rounds."""
    rows = np.arange(1_000_000)

    def filtered(buffer: int) -> Any:
        data = ds.NumpySlicesDataset({"x": rows}, shuffle=False).filter(lambda x: x % 3 == 0, "x")
        return data.shuffle(buffer).batch(32)

    def begun(data: Any) -> float:
        began = time.perf_counter()
        iterator = data.create_tuple_iterator(num_epochs=1)
        next(iterator)
        passed = time.perf_counter() - began
        iterator.stop()
        return passed

    for buffer in (10_000, len(rows)):
        print(f"first batch, {buffer} mix: {min(begun(filtered(buffer)) for _ in range(3)):.4f} s")
    data = filtered(10_000)
    iterator = data.create_tuple_iterator(num_epochs=1)
    for _ in range(5000):
        next(iterator)
    state = data.state()
    iterator.stop()
    again = filtered(10_000)
    again.restore(state)
    print(f"first batch behind 5000 others: {begun(again):.4f} s")


CASES = {"pictures": pictures, "cifar": cifar, "arrays": arrays, "generator": generator}


def main() -> None:
    """Run the cases that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=[*CASES, "first"])
    parser.add_argument("--tensorflow", help="the Python of an environment with TensorFlow")
    options = parser.parse_args()
    if unknown := set(options.cases) - {*CASES, "first"}:
        parser.error(
            f"cases must be of {', '.join(CASES)}, first, but got {', '.join(sorted(unknown))}"
        )
    if importlib.util.find_spec("torch") is None:
        sys.exit("PyTorch is not installed: scripts/dev peers")
    print(f"load {os.getloadavg()[0]:.1f}, {len(os.sched_getaffinity(0))} processors")
    for case in options.cases:
        if case == "first":
            first()
            continue
        with tempfile.TemporaryDirectory() as folder:
            compare(case, folder, options.tensorflow)


if __name__ == "__main__":
    main()

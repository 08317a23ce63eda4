"""Rows a second of the data pipeline beside PyTorch's DataLoader, at its best of 0 to 2 workers.

python benchmarks/data.py [pictures | arrays | generator ...]

Each case is run by turns, and the best of a few rounds counts; a ratio above 1 is in our favour.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

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


class TorchPictures:
    """The files of a folder through Pillow, with the same steps."""

    def __init__(self, folder: str) -> None:
        self.files = sorted(
            os.path.join(root, name) for root, _, names in os.walk(folder) for name in names
        )
        self.mean = np.array(MEAN, np.float32)
        self.std = np.array(STD, np.float32)

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        import torch
        from PIL import Image

        rng = np.random.default_rng(index)
        with open(self.files[index], "rb") as stream:
            image = Image.open(io.BytesIO(stream.read())).convert("RGB")
        share, aspect = rng.uniform(0.08, 1.0), np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3)))
        area = image.width * image.height * share
        width = min(round(float(np.sqrt(area * aspect))), image.width)
        height = min(round(float(np.sqrt(area / aspect))), image.height)
        left = int(rng.integers(image.width - width + 1))
        top = int(rng.integers(image.height - height + 1))
        box = (left, top, left + width, top + height)
        image = image.crop(box).resize((224, 224), Image.Resampling.BILINEAR)
        if rng.random() < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        tensor = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous().float()
        mean, std = torch.from_numpy(self.mean), torch.from_numpy(self.std)
        return tensor.sub_(mean[:, None, None]).div_(std[:, None, None]), index % 4


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

    def ours() -> Iterable[Any]:
        data = ds.ImageFolderDataset(folder).map(steps, "image").batch(32)
        return data.create_tuple_iterator(num_epochs=1)

    return count, ours, TorchPictures(folder), {"batch_size": 32, "shuffle": True}


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


def main() -> None:
    """Run the cases that were named, or all."""
    cases = {"pictures": pictures, "arrays": arrays, "generator": generator}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", default=list(cases))
    chosen = parser.parse_args().cases
    try:
        from torch.utils.data import DataLoader
    except ImportError:
        sys.exit("PyTorch is not installed: scripts/dev peers")
    print(f"load {os.getloadavg()[0]:.1f}, {len(os.sched_getaffinity(0))} processors")
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            count, ours, source, options = cases[name](folder)
            best, loop, peers = 0.0, 0.0, dict.fromkeys((0, 1, 2), 0.0)
            for _ in range(ROUNDS):
                best = max(best, rate(count, ours()))
                if name == "generator":
                    loop = max(loop, rate(count, plain_loop(count, source, options["batch_size"])))
                for workers in peers:
                    loader = DataLoader(source, num_workers=workers, **options)
                    peers[workers] = max(peers[workers], rate(count, loader))
            peer = max(peers.values())
            each = ", ".join(f"{w}: {r:.0f}" for w, r in peers.items())
            floor = f"  a loop {loop:.0f}" if loop else ""
            print(
                f"{name:10} {best:8.0f} rows/s  DataLoader {each}  ratio {best / peer:.2f}{floor}"
            )


if __name__ == "__main__":
    main()

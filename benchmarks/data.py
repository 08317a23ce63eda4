"""Rows a second of the data pipeline beside PyTorch's DataLoader, at its best of 0 to 4 workers, and tf.data.

python benchmarks/data.py [--tensorflow PYTHON] [pictures | cifar | arrays | generator | first ...]

PYTHON is that of an environment with TensorFlow, which runs in a process of its own (data_tf.py). Each case is run by turns, and the best
of a few rounds counts; a ratio above 1 is in our favour. Numbers of workers with which the first round took much longer than with another
are left out of the others. The case `first` has no peers: how soon the first batch of a million rows comes, filtered and shuffled, and that
of an epoch that is gone on with.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.util
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from peer_tf import Peer
from photographs import MEAN, STD, write_pictures

import mindspore.dataset as ds
from mindspore.dataset import transforms, vision

ROUNDS = 3
MUCH_LONGER = 2


class Case(NamedTuple):
    """The same rows in the same batches, as each has them."""

    rows: int
    batch: int
    ours: Any  # a pipeline
    torch: Callable[[], Any]  # makes what a DataLoader reads
    loop: bool = False  # whether what it reads is worth a plain loop beside


def of_folder(folder: str, count: int, crop: list[Any], peer: str) -> Case:
    """Pictures of a folder: decoded and cropped, flipped by chance, normalised, channels first."""

    def source() -> Any:
        import data_torch

        return getattr(data_torch, peer)(folder)

    steps = [*crop, vision.RandomHorizontalFlip(), vision.Normalize(MEAN, STD), vision.HWC2CHW()]
    return Case(count, 32, ds.ImageFolderDataset(folder).map(steps, "image").batch(32), source)


def pictures(folder: str) -> Case:
    """A random crop of each, resized to 224."""
    write_pictures(folder, 256, 375, 500)
    return of_folder(folder, 256, [vision.RandomCropDecodeResize(224)], "TorchPictures")


def cifar(folder: str) -> Case:
    """Pictures of 32 x 32, of which 32 out of 40 are cropped."""
    write_pictures(folder, 8192, 32, 32)
    return of_folder(folder, 8192, [vision.Decode(), vision.RandomCrop(32, 4)], "TorchCifar")


def arrays(folder: str) -> Case:
    """MNIST-like arrays: resized to 32, rescaled, channels first, all mixed."""
    count = 8192
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (count, 28, 28, 1), np.uint8)
    labels = rng.integers(0, 10, count).astype(np.int32)
    np.save(os.path.join(folder, "images.npy"), images)  # for data_tf.py
    np.save(os.path.join(folder, "labels.npy"), labels)

    def source() -> Any:
        import data_torch

        return data_torch.TorchArrays(images, labels)

    steps = [vision.Resize((32, 32)), vision.Rescale(1 / 255, 0), vision.HWC2CHW()]
    data = ds.NumpySlicesDataset((images, labels), ["image", "label"], shuffle=False)
    data = data.map(steps, "image").map(transforms.TypeCast(np.int32), "label")
    return Case(count, 32, data.shuffle(count).batch(32), source)


class Trivial:
    """A source whose rows cost nothing."""

    def __init__(self, count: int) -> None:
        self.rows = np.zeros((count, 16), np.float32)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.rows[index], index


def generator(folder: str) -> Case:
    """A Python source with a trivial __getitem__."""
    source = Trivial(32768)
    np.save(os.path.join(folder, "rows.npy"), source.rows)  # for data_tf.py
    ours = ds.GeneratorDataset(source, ["x", "i"]).batch(64)
    return Case(len(source), 64, ours, lambda: source, loop=True)


CASES = {"pictures": pictures, "cifar": cifar, "arrays": arrays, "generator": generator}


def plain_loop(source: Any, batch: int) -> Iterable[Any]:
    """What the rows of a source cost anybody who asks for one at a time and stacks them."""
    order = np.random.default_rng(0).permutation(len(source)).tolist()
    for start in range(0, len(source), batch):
        rows = [source[index] for index in order[start : start + batch]]
        yield tuple(np.stack(column) for column in zip(*rows))


def seconds(make: Callable[[], Iterable[Any]]) -> float:
    """Of one pass."""
    began = time.perf_counter()
    batches = sum(1 for _ in make())
    assert batches > 0
    return time.perf_counter() - began


def ways_of(case: Case) -> dict[str, Callable[[], Iterable[Any]]]:
    """All that run in this process; ours is the first."""
    from torch.utils.data import DataLoader

    warnings.filterwarnings("ignore", "This DataLoader will create")  # more workers than processors
    source = case.torch()
    ways: dict[str, Callable[[], Iterable[Any]]] = {
        "ours": lambda: case.ours.create_tuple_iterator(num_epochs=1)
    }
    if case.loop:
        ways["a loop"] = lambda: plain_loop(source, case.batch)
    for workers in range(5):
        options = {"batch_size": case.batch, "shuffle": True, "num_workers": workers}
        ways[f"DataLoader, {workers} workers"] = functools.partial(DataLoader, source, **options)
    return ways


def compare(name: str, folder: str, tensorflow: str | None) -> None:
    """Run a case by turns, and print what each does at its best."""
    case = CASES[name](folder)
    ways, best = ways_of(case), dict[str, float]()
    with contextlib.ExitStack() as peers:
        peer = peers.enter_context(Peer(tensorflow, folder, name)) if tensorflow else None
        for _ in range(ROUNDS):
            found = {way: seconds(make) for way, make in ways.items()}
            found |= {f"tf.data, {way}": s for way, s in (peer.seconds() if peer else {}).items()}
            best |= {way: min(took, best.get(way, took)) for way, took in found.items()}
            loaders = [way for way in ways if way.startswith("DataLoader")]
            longest = MUCH_LONGER * min(best[way] for way in loaders)
            for way in loaders:
                if best[way] > longest:
                    del ways[way]
    print(f"{name:10} {case.rows / best['ours']:8.0f} rows/s")
    for way, took in best.items():
        if way != "ours":
            print(f"{'':10} {case.rows / took:8.0f} {way}  ratio {took / best['ours']:.2f}")


def begun(data: Any) -> float:
    """Seconds until there is a first batch."""
    began = time.perf_counter()
    iterator = data.create_tuple_iterator(num_epochs=1)
    next(iterator)
    passed = time.perf_counter() - began
    iterator.stop()
    return passed


def first() -> None:
    """Print how soon the first batch comes, at the best of some rounds."""
    rows = np.arange(1_000_000)

    def filtered(buffer: int) -> Any:
        data = ds.NumpySlicesDataset({"x": rows}, shuffle=False).filter(lambda x: x % 3 == 0, "x")
        return data.shuffle(buffer).batch(32)

    for buffer in (10_000, len(rows)):
        best = min(begun(filtered(buffer)) for _ in range(ROUNDS))
        print(f"first batch, {buffer} mix: {best:.4f} s")
    data, again = filtered(10_000), filtered(10_000)
    iterator = data.create_tuple_iterator(num_epochs=1)
    for _ in range(5000):
        next(iterator)
    again.restore(data.state())
    iterator.stop()
    print(f"first batch behind 5000 others: {begun(again):.4f} s")


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
    if set(options.cases) - {"first"} and importlib.util.find_spec("torch") is None:
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

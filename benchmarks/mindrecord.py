"""Rows a second of MindRecord files: `python benchmarks/mindrecord.py [--peer PYTHON] [--tensorflow PYTHON]`.

Writes files of small rows (a label and 64 bytes) and of pictures (a label and 12 KB), reads them in order and at random, here and with
the Pythons of environments that have MindSpore 2.10 and TensorFlow; and the same rows as TFRecord, which is what TensorFlow reads. All
read files that were written here; each reader runs in a process of its own, the frameworks take turns, and of the rounds the best is
kept. The machine's load is printed first. A ratio above 1 is in our favour.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from peer_tf import Peer

SETS = {"small": (100_000, 64), "pictures": (8_000, 12_000)}  # rows, and bytes of each
ROUNDS, BATCH = 3, 64


def write(path: Path, rows: int, size: int) -> float:
    """Rows a second of a new file."""
    from mindspore.mindrecord import FileWriter

    content = os.urandom(size + 4096).replace(b"\0", b"\1")  # as NumPy ends bytes with zeros
    begin = time.perf_counter()
    writer = FileWriter(str(path), overwrite=True)
    writer.add_schema({"label": {"type": "int32"}, "data": {"type": "bytes"}}, "benchmark")
    writer.add_index(["label"])
    for first in range(0, rows, 1000):
        batch = range(first, min(first + 1000, rows))
        writer.write_raw_data(
            [{"label": n % 100, "data": content[n % 4096 : n % 4096 + size]} for n in batch]
        )
    writer.commit()
    return rows / (time.perf_counter() - begin)


def write_examples(path: Path, rows: int) -> None:
    """The rows of a file once more, as TFRecord."""
    from mindspore.dataset import MindDataset

    data = MindDataset(str(path), shuffle=False)
    assert data.get_dataset_size() == rows
    data.save(str(path) + ".tfrecord", 1, "tfrecord")


def rate(count: int, rows: Iterable[object]) -> float:
    """Rows a second."""
    begin = time.perf_counter()
    assert sum(1 for _ in rows) in (count, -(-count // BATCH))
    return count / (time.perf_counter() - begin)


def rows_of(data: Any) -> Iterable[object]:
    """An epoch, a row or a batch at a time."""
    found: Iterable[object] = data.create_dict_iterator(num_epochs=1, output_numpy=True)
    return found


def readers(path: str) -> dict[str, Callable[[], Iterable[object]]]:
    """The ways to read a file, and its rows as TFRecord. Rows at random are drawn from all, in either format by its own dataset."""
    import mindspore as ms
    from mindspore.dataset import MindDataset, Schema, TFRecordDataset
    from mindspore.mindrecord import FileReader

    schema = Schema()
    schema.add_column("label", ms.int32, [])
    schema.add_column("data", ms.uint8, [-1])
    formats: dict[str, Callable[[bool], Any]] = {
        "MindDataset": lambda shuffle: MindDataset(path, shuffle=shuffle),
        "TFRecord": lambda shuffle: TFRecordDataset(path + ".tfrecord", schema, shuffle=shuffle),
    }
    ways: dict[str, Callable[[], Iterable[object]]] = {
        "FileReader": lambda: FileReader(path).get_next()
    }
    for name, data in formats.items():
        for order, shuffle in (("in order", False), ("at random", True)):
            make = functools.partial(data, shuffle)
            ways[f"{name}, rows {order}"] = lambda make=make: rows_of(make())
            ways[f"{name}, batches {order}"] = lambda make=make: rows_of(make().batch(BATCH))
    return ways


def measure(folder: str) -> dict[str, float]:
    """Rows a second by set and way; of writing too, into files that are left alone afterwards."""
    found = {}
    for name, (rows, size) in SETS.items():
        path = os.path.join(folder, name)
        found[f"{name}: write"] = write(Path(path + "_written"), rows, size)
        for way, make in readers(path).items():
            found[f"{name}: {way}"] = rate(rows, make())
    return found


def measured(python: str, folder: str) -> dict[str, float]:
    """What a process of its own measures."""
    environment = dict(os.environ)
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)
    command = [python, __file__, "--measure", folder]
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE)
    if run.returncode:
        raise SystemExit(f"'{python}' could not measure: its messages stand above.")
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def of_tensorflow(peer: Peer) -> dict[str, float]:
    """The same for tf.data, by the names that the ways have here."""
    found = {}
    for way, seconds in peer.seconds().items():
        name, _, rest = way.partition(": ")
        found[f"{name}: TFRecord, {rest}"] = SETS[name][0] / seconds
    return found


def report(best: dict[str, dict[str, float]]) -> None:
    """A line for each way, with what others do at the same; below, what MindRecord is to TFRecord."""
    others = [name for name in best if name != "ours"]
    for way, value in best["ours"].items():
        peers = [
            f"   {name} {best[name][way]:10,.0f}   ratio {value / best[name][way]:.2f}"
            for name in others
            if way in best[name]
        ]
        print(f"{way:42} ours {value:10,.0f}", *peers, sep="")
    for way in best["ours"]:
        if "MindDataset, " not in way:
            continue
        same = way.replace("MindDataset, ", "TFRecord, ")
        ratios = [
            f"{name} {best['ours'][way] / found[same]:.2f}"
            for name, found in best.items()
            if same in found
        ]
        print(f"{way:42} to TFRecord of {', '.join(ratios)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="the Python of an environment with mindspore==2.10.0")
    parser.add_argument("--tensorflow", help="the Python of an environment with TensorFlow")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    print(f"load {os.getloadavg()[0]:.1f}")
    pythons = {"ours": sys.executable, **({"2.10": options.peer} if options.peer else {})}
    best: dict[str, dict[str, float]] = {name: {} for name in pythons}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as peers:
        for name, (rows, size) in SETS.items():
            write(Path(folder, name), rows, size)
            write_examples(Path(folder, name), rows)
        if options.tensorflow:
            tensorflow = peers.enter_context(Peer(options.tensorflow, folder, "records"))
            best["tf.data"] = {}
        for _ in range(ROUNDS):
            found = {name: measured(python, folder) for name, python in pythons.items()}
            if options.tensorflow:
                found["tf.data"] = of_tensorflow(tensorflow)
            for name, ways in found.items():
                for way, value in ways.items():
                    best[name][way] = max(value, best[name].get(way, 0))
    report(best)


if __name__ == "__main__":
    main()

"""Rows a second of MindRecord files: `python benchmarks/mindrecord.py [--peer PYTHON]`.

Writes files of small rows (a label and 64 bytes) and of pictures (a label and 12 KB), reads them in order, at random and by a condition, here and
with the Python of an environment that has MindSpore 2.10. Both read files that were written here; each reader runs in a process of its own, the
frameworks take turns, and of the rounds the best is kept. The machine's load is printed first.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path

SETS = {"small": (100_000, 64), "pictures": (8_000, 12_000)}
ROUNDS = 3


def write(path: Path, rows: int, size: int) -> float:
    """Rows a second of a new file."""
    from mindspore.mindrecord import FileWriter

    content = os.urandom(size + 4096)
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


def rate(rows: Iterable[object]) -> float:
    """Rows a second of a reader that was made already."""
    begin = time.perf_counter()
    return sum(1 for _ in rows) / (time.perf_counter() - begin)


def readers(path: str) -> dict[str, Callable[[], Iterable[object]]]:
    """The ways that both frameworks have to read a file."""
    from mindspore.dataset import MindDataset
    from mindspore.mindrecord import FileReader

    def dataset(**options: object) -> Iterable[object]:
        data = MindDataset(path, **options)
        return data.create_dict_iterator(num_epochs=1, output_numpy=True)

    return {
        "FileReader": lambda: FileReader(path).get_next(),
        "MindDataset in order": lambda: dataset(shuffle=False),
        "MindDataset at random": lambda: dataset(shuffle=True),
    }


def measure(folder: str) -> dict[str, float]:
    """Rows a second by set and way; of writing too, into files that are left alone afterwards."""
    found = {}
    for name, (rows, size) in SETS.items():
        path = os.path.join(folder, name)
        found[f"{name}: write"] = write(Path(path + "_written"), rows, size)
        for way, make in readers(path).items():
            found[f"{name}: {way}"] = rate(make())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="the Python of an environment with mindspore==2.10.0")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    print(f"load {os.getloadavg()[0]:.1f}")
    pythons = {"ours": sys.executable, **({"2.10": options.peer} if options.peer else {})}
    best: dict[str, dict[str, float]] = {name: {} for name in pythons}
    with tempfile.TemporaryDirectory() as folder:
        for name, (rows, size) in SETS.items():
            write(Path(folder, name), rows, size)
        for _ in range(ROUNDS):
            for name, python in pythons.items():
                environment = dict(os.environ)
                if name != "ours":
                    environment.pop("PYTHONPATH", None)
                command = [python, __file__, "--measure", folder]
                run = subprocess.run(command, env=environment, capture_output=True, check=True)
                for way, value in json.loads(run.stdout.splitlines()[-1]).items():
                    best[name][way] = max(value, best[name].get(way, 0))
    for way, value in best["ours"].items():
        text = f"{way:32} ours {value:10,.0f}"
        if options.peer:
            text += f"   2.10 {best['2.10'][way]:10,.0f}   ratio {value / best['2.10'][way]:.2f}"
        print(text)


if __name__ == "__main__":
    main()

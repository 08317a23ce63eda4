"""Times compilation: `python benchmarks/compile_time.py [figure ...] [--peer mindspore=PYTHON]`.

A figure is the first call of a program less a later one, in seconds: front end, passes and plan. Each measurement has a process
of its own, since what is compiled stays compiled; the least of a few is kept, wall and processor time both. The exit status
tells whether every figure of ours is within its bar.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from fresh import reading

HERE = Path(__file__).resolve().parent


@dataclass
class Figure:
    """A program of cases/compile_cases.py with its size, and the bar: seconds, or times the figure of a smaller size."""

    program: str
    size: int
    bar: float
    against: int | None = None
    peers: bool = True


FIGURES = {
    "nodes_100000": Figure("chain", 100_000, 4.0, peers=False),
    "nodes_linear": Figure("chain", 100_000, 12.5, against=10_000, peers=False),
    "layers_100000": Figure("layers", 100_000, 4.0, peers=False),
    "layers_linear": Figure("layers", 100_000, 12.5, against=10_000, peers=False),
    "gradient_100000": Figure("layers_gradient", 100_000, 4.0, peers=False),
    "statements_3000": Figure("statements", 3000, 0.5),
    "statements_500": Figure("statements", 500, 0.1),
    "transformer_48": Figure("transformer", 48, 1.5, against=2),
    "transformer_step_48": Figure("transformer_step", 48, 1.5, against=2),
    "resnet50_step": Figure("resnet50_step", 1, 1.5),
}


def measure(program: str, size: int) -> None:
    """In the process of one measurement: prints wall and processor seconds of the compilation."""
    from cases import compile_cases

    call = getattr(compile_cases, program)(size)
    readings = []
    for _ in range(2):
        wall, processor = time.perf_counter(), time.process_time()
        call()
        readings.append((time.perf_counter() - wall, time.process_time() - processor))
    print("figure", *(first - later for first, later in zip(*readings)))


def once(python: str, program: str, size: int) -> tuple[float, float]:
    """The wall and processor seconds of one fresh process."""
    environment = {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": str(HERE)}
    if python == sys.executable:
        environment["PYTHONPATH"] += os.pathsep + os.environ.get("PYTHONPATH", "")
    command = [python, __file__, "--measure", program, str(size)]
    wall, processor = reading(command, environment)
    return wall, processor


def least(python: str, program: str, sizes: list[int], repeats: int) -> list[tuple[float, float]]:
    """For each size the least wall and processor seconds. Sizes take turns: a machine that is slow for a while is so for all."""
    rounds = [[once(python, program, size) for size in sizes] for _ in range(repeats)]
    return [(min(w for w, _ in found), min(p for _, p in found)) for found in zip(*rounds)]


def run(name: str, pythons: dict[str, str], repeats: int) -> bool:
    """Prints one figure of ours and of the peers; whether ours is within its bar, by processor time."""
    figure, within = FIGURES[name], True
    for who, python in pythons.items():
        if who != "ours" and not figure.peers:
            continue
        sizes = [figure.size] if figure.against is None else [figure.size, figure.against]
        (wall, processor), *small = least(python, figure.program, sizes, repeats)
        if small:
            wall, processor = wall / small[0][0], processor / small[0][1]
        unit = "x" if small else "s"
        print(
            f"{name:18} {who:10} wall {wall:7.3f} {unit}  processor {processor:7.3f} {unit}  bar {figure.bar:g}"
        )
        if who == "ours":
            within = processor <= figure.bar
    sys.stdout.flush()
    return within


def main() -> int:
    """Parses arguments and runs figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*", choices=[[], *FIGURES], default=[])
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--measure", nargs=2, metavar=("PROGRAM", "SIZE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure[0], int(options.measure[1]))
        return 0
    pythons = {"ours": sys.executable, **dict(p.split("=", 1) for p in options.peer)}
    print(f"load {os.getloadavg()[0]:.2f}")
    results = [run(name, pythons, options.repeats) for name in options.figures or FIGURES]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

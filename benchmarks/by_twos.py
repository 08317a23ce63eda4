"""Times training while the same training runs beside it: `python benchmarks/by_twos.py [case ...]`.

Two processes of each network share the processors, ours and PyTorch's. A step alone and a step by twos are means over a few seconds;
the frameworks take turns, and of the rounds the least is kept. Twice the time alone is what it takes to share evenly. The exit
status tells whether ours stay within the bar. Whatever else the machine does spoils both figures: its load is printed first.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable

from cases import CASES
from workers import Absent, Worker

BAR = 2.2
NETWORKS = (
    "lenet_graph",
    "lenet_pynative",
    "resnet50_graph",
    "resnet50_inference",
    "mobilenetv2",
    "densenet121",
    "unet",
    "transformer",
    "bert_base",
    "lstm",
    "gru",
    "wide_deep",
    "gcn",
)


def by_twos(pair: Iterable[Worker]) -> float:
    """The mean step of workers that run at the same time."""
    pair = list(pair)
    for worker in pair:
        worker.begin()
    return sum(worker.end() for worker in pair) / len(pair)


def measure(case: str, options: argparse.Namespace) -> dict[str, tuple[float, float]]:
    """By framework the milliseconds of a step, alone and by twos."""
    settings = {"BENCHMARK_PERIOD": str(options.seconds)}
    pairs = {}
    for name in ("ours", "torch")[: 1 if options.no_torch else 2]:
        try:
            pairs[name] = [
                Worker(name, sys.executable, case, options.threads, settings) for _ in range(2)
            ]
        except Absent:
            continue
    rounds = [
        [(pair[0].ask(), by_twos(pair)) for pair in pairs.values()] for _ in range(options.rounds)
    ]
    for pair in pairs.values():
        for worker in pair:
            worker.close()
    least = ((min(figures) for figures in zip(*of_one)) for of_one in zip(*rounds))
    return {name: (alone, twos) for name, (alone, twos) in zip(pairs, least)}


def main() -> int:
    """Parses arguments and runs cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], metavar="case", default=[])
    parser.add_argument("--no-torch", action="store_true", help="leave PyTorch out")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="of each reading")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.2f}, threads {options.threads}")
    within = True
    for case in options.cases or NETWORKS:
        for name, (alone, twos) in measure(case, options).items():
            print(
                f"{case:20} {name:6} alone {alone:9.3f} ms  by twos {twos:9.3f} ms  "
                f"ratio {twos / alone:5.2f}",
                flush=True,
            )
            within &= name != "ours" or twos <= BAR * alone
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())

"""Times this framework and its peers side by side: `python benchmarks [case ...] [--peer NAME=PYTHON ...]`.

Every case runs in one process per framework; the processes take turns, round by round, so that a change of the machine's speed
meets all of them, and the minimum over rounds is kept. Ratios are ours over the peer's. A peer is a Python that can import it:
torch from this interpreter by default; `--peer mindspore=/path/python --peer jax=/path/python` adds others.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

# case: what is compared (variants of ours against variants of each peer), the bar for the first ratio, rounds
CASES = {
    "lenet_graph": ("LeNet, batch 32, train step, GRAPH_MODE", 0.5, 7),
    "lenet_pynative": ("LeNet, batch 32, train step, PYNATIVE_MODE", 1.3, 7),
    "add_pynative": ("4x4 add, PYNATIVE_MODE", 0.5, 7),
    "resnet50_graph": ("ResNet-50, batch 8, 224x224, train step, GRAPH_MODE", 1.1, 4),
    "resnet50_first": ("ResNet-50: first step less a later one, seconds", None, 1),
    "resnet50_memory": ("ResNet-50, batch 8, eager train step: peak memory, MB", 1.1, 1),
    "import": ("import", 0.3, 5),
    "rss_growth": ("LeNet, 5 000 steps: growth of resident memory, MB", None, 1),
}
# Cases that a peer has no counterpart for, or takes minutes over.
SKIP = (
    {("jax", c) for c in CASES if c != "import"}
    | {
        ("mindspore", c)
        for c in ("resnet50_graph", "resnet50_first", "resnet50_memory", "rss_growth")
    }
    | {("torch", "rss_growth")}
)


class Worker:
    """A framework in a process of its own; answers one figure per request."""

    def __init__(self, name: str, python: str, case: str):
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "2"),
            "PYTHONPATH": str(HERE),
        }
        self.process = subprocess.Popen(
            [python, str(HERE / "worker.py"), name, case],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def ask(self) -> float:
        """One round."""
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("figure "):
                return float(line.split()[1])
        raise RuntimeError(self.process.stderr.read()[-2000:])

    def close(self) -> None:
        """Ends the process."""
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait()


def compare(case: str, pythons: dict[str, str], rounds: int) -> dict[str, float]:
    """The minimum of each framework over interleaved rounds."""
    best: dict[str, float] = {}
    workers = {}
    for name, python in pythons.items():
        if (name, case) not in SKIP:
            workers[name] = Worker(name, python, case)
    for _ in range(rounds):
        for name, worker in list(workers.items()):
            try:
                figure = worker.ask()
            except (RuntimeError, BrokenPipeError) as error:
                print(
                    f"  {name}: failed: {str(error).strip().splitlines()[-1] if str(error).strip() else error}"
                )
                workers.pop(name)
                continue
            best[name] = min(best.get(name, figure), figure)
    for worker in workers.values():
        worker.close()
    return best


def report(case: str, best: dict[str, float]) -> None:
    """One line per framework, with the ratio of ours."""
    title, bar, _ = CASES[case]
    print(f"{title}")
    ours = best.get("ours")
    for name, figure in best.items():
        ratio = (
            f"   ours / {name} = {ours / figure:.3f}"
            if ours is not None and name != "ours" and figure
            else ""
        )
        print(f"  {name:10} {figure:12.5g}{ratio}")
    if bar is not None:
        print(f"  bar: {bar} x torch")
    sys.stdout.flush()


def main() -> None:
    """Parses arguments, runs cases, prints and optionally saves the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], default=[])
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pythons = {"ours": sys.executable}
    if not options.no_torch:
        pythons["torch"] = sys.executable
    pythons.update(p.split("=", 1) for p in options.peer)
    load = os.getloadavg()[0]
    print(
        f"load {load:.2f}, threads {os.environ.get('OMP_NUM_THREADS', '2')}, milliseconds unless said"
    )
    figures = {}
    for case in options.cases or CASES:
        figures[case] = compare(case, pythons, options.rounds or CASES[case][2])
        report(case, figures[case])
    if options.json:
        options.json.write_text(json.dumps({"load": load, "figures": figures}, indent=1))


main()

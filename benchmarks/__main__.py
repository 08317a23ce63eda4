"""Times this framework and its peers side by side: `python benchmarks [case ...] [--peer NAME[=PYTHON] ...]`.

Every case runs in one process per framework; the processes take turns, round by round, so that a change of the machine's speed
meets all of them, and the minimum over rounds is kept. Ratios are ours over the peer's. A peer is a Python that can import it:
PyTorch, eager, from this interpreter by default; `--peer torch_compile --peer mindspore=/path/python --peer jax=/path/python`
add others. On a busy machine, `--threads 1 --cpu-time` counts the time of the processor instead of the clock's. `--isa avx2`
keeps all of them from newer instructions.

Beside a case stands what the machine can do at best: the operations it needs at the rate of a large product of matrices, or its
bytes at that of a sum of long vectors, whichever takes longer. Both are measured first, and the best framework counts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from cases import CASES, WORK
from workers import Absent, Worker

PEERS = ("torch", "torch_compile", "jax", "mindspore")
MACHINE = ("products", "stream")
# By measure ("" where a case has one alone) and framework.
Figures = dict[str, dict[str, float]]
# What keeps our kernels, oneDNN, PyTorch's own, MKL and XLA from newer instructions.
ISA = {
    "avx2": {
        "MS_MAX_ISA": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "DNNL_MAX_CPU_ISA": "AVX2",
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
    },
}


def start(case: str, pythons: dict[str, str], options: argparse.Namespace) -> dict[str, Worker]:
    """A worker for every framework that has the case."""
    workers: dict[str, Worker] = {}
    clock = "process" if options.cpu_time else "wall"
    settings = {"BENCHMARK_CLOCK": clock, **ISA.get(options.isa, {})}
    for name, python in pythons.items():
        if name in CASES[case].slow and not options.slow:
            continue
        try:
            workers[name] = Worker(name, python, case, options.threads, settings)
        except Absent:
            continue
        except RuntimeError as error:
            print(f"  {name}: failed: {error}")
    return workers


def compare(case: str, pythons: dict[str, str], options: argparse.Namespace) -> Figures:
    """The minimum of each framework over interleaved rounds, of every measure of the case."""
    best: Figures = {}
    workers = start(case, pythons, options)
    measures = dict.fromkeys(m for worker in workers.values() for m in worker.measures)
    for measure in list(measures) * (options.rounds or CASES[case].rounds):
        figures = best.setdefault(measure, {})
        for name, worker in list(workers.items()):
            if measure not in worker.measures:
                continue
            try:
                figures[name] = min(figures.get(name, float("inf")), worker.ask(measure))
            except (RuntimeError, BrokenPipeError) as error:
                print(f"  {name}: failed: {error}")
                workers.pop(name)
    for worker in workers.values():
        worker.close()
    return best


def limit(case: str, figures: dict[str, dict[str, float]]) -> float | None:
    """What the machine takes for a case at best, in milliseconds, by what was measured of it."""
    work, measured = WORK.get(case), {name: min(figures[name].values()) for name in figures}
    if work is None or case in MACHINE or not all(name in measured for name in MACHINE):
        return None
    arithmetic = work.flops / WORK["products"].flops * measured["products"]
    return max(arithmetic, work.bytes / WORK["stream"].bytes * measured["stream"])


def report_measures(case: str, best: Figures) -> None:
    """One line per measure: the frameworks' figures, and the ratios of ours."""
    facts = CASES[case]
    bar = f", ratios to stay below {facts.bar}" if facts.bar is not None else ""
    print(f"{case}: {facts.title}, in {facts.unit}{bar}")
    for measure, figures in best.items():
        ours = figures.get("ours")
        parts = [f"{name} {figure:10.5g}" for name, figure in figures.items()]
        peers = [figure for name, figure in figures.items() if name != "ours"]
        if ours and peers:
            ratio = ours / min(peers)
            parts.append(f"{ratio:7.3f}{'  above' if facts.bar and ratio > facts.bar else ''}")
        print(f"  {measure:18}", "  ".join(parts))
    sys.stdout.flush()


def report(case: str, best: dict[str, float], least: float | None) -> None:
    """One line per framework with the ratio of ours, one for the machine and one for the best peer."""
    facts = CASES[case]
    print(f"{case}: {facts.title}")
    ours = best.get("ours")
    peers = {name: figure for name, figure in best.items() if name != "ours" and figure}
    for name, figure in best.items():
        ratio = f"   ours / {name} = {ours / figure:.3f}" if ours and name in peers else ""
        print(f"  {name:13} {figure:12.5g} {facts.unit}{ratio}")
    if ours and least:
        print(
            f"  {'(the machine)':13} {least:12.5g} {facts.unit}   ours / limit = {ours / least:.3f}"
        )
    if ours and peers:
        first = min(peers, key=peers.__getitem__)
        bar = f", to stay below {facts.bar}" if facts.bar is not None else ""
        print(f"  ours / best peer ({first}) = {ours / peers[first]:.3f}{bar}")
    sys.stdout.flush()


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME[=PYTHON]", help=", ".join(PEERS)
    )
    parser.add_argument("--no-torch", action="store_true", help="leave PyTorch out")
    parser.add_argument("--slow", action="store_true", help="with peers that take minutes")
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--threads", type=int, default=int(os.environ.get("OMP_NUM_THREADS", "2")))
    parser.add_argument("--cpu-time", action="store_true", help="of the process, not the clock's")
    parser.add_argument("--isa", choices=[*ISA], help="the newest instructions to use")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    unknown = [case for case in options.cases if case not in CASES]
    unknown += [peer for peer in options.peer if peer.split("=")[0] not in PEERS]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; cases: {', '.join(CASES)}")
    return options


def main() -> None:
    """Runs cases, prints and optionally saves the figures."""
    options = parse()
    pythons = {"ours": sys.executable}
    if not options.no_torch:
        pythons["torch"] = sys.executable
    for peer in options.peer:
        name, _, python = peer.partition("=")
        pythons[name] = python or sys.executable
    load = os.getloadavg()[0]
    print(f"load {load:.2f}, threads {options.threads}, instructions {options.isa or 'all'}")
    figures: dict[str, dict[str, float]] = {}
    measures: dict[str, Figures] = {}
    for case in dict.fromkeys([*MACHINE, *(options.cases or CASES)]):
        best = compare(case, pythons, options)
        if set(best) <= {""}:
            figures[case] = best.get("", {})
            report(case, figures[case], limit(case, figures))
        else:
            measures[case] = best
            report_measures(case, best)
    if options.json:
        options.json.write_text(
            json.dumps({"load": load, "figures": figures, "measures": measures}, indent=1)
        )


main()

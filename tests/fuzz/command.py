"""The command line: runs programs, shrinks those that fail, prints what the programs were made of."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from fuzz.child import Crash, in_child
from fuzz.program import Program, all_rules, generate
from fuzz.runner import Outcome, check, reason
from fuzz.shrink import shrink


def report(outcome: Outcome, small: bool = True) -> str:
    """Everything needed to see and repeat a failure."""
    program = shrink(outcome) if small else outcome.program
    again = isolated(program).failure if small else ""
    return f"seed {outcome.program.seed}: {outcome.failure}\n{program.source}\nafter shrinking: {again}\n"


def isolated(program: Program) -> Outcome:
    """The outcome of a program that may crash."""
    try:
        return in_child(lambda: check(program))
    except Crash as crash:
        return Outcome(program, f"crash: {crash}")


def check_all(seeds: list[int]) -> list[Outcome]:
    """The outcomes of some programs; where one crashes, each is run by itself."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return in_child(lambda: [check(generate(s), Path(folder)) for s in seeds])
        except Crash:
            return [isolated(generate(s)) for s in seeds]


class Statistics:
    """Sums over many programs."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.fallbacks: Counter[str] = Counter()
        self.raised: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.gradients: Counter[str] = Counter()
        self.fused: Counter[str] = Counter()
        self.programs = self.compiled = self.parted = 0
        self.failures: list[Outcome] = []

    def add(self, outcome: Outcome) -> None:
        self.programs += 1
        self.compiled += not outcome.fallbacks
        self.parted += outcome.program.parted
        self.counts.update(outcome.program.counts)
        self.fallbacks.update(set(outcome.fallbacks))
        if outcome.raised:
            self.raised[reason(outcome.raised)] += 1
        if outcome.refused:
            self.refused[outcome.refused] += 1
        self.gradients[outcome.gradient or "none"] += 1
        self.fused[outcome.fused or "none"] += 1
        if outcome.failure:
            self.failures.append(outcome)

    def __str__(self) -> str:
        lines = [
            f"{self.programs} programs, {self.compiled} compiled as a whole, {self.parted} meant to be compiled in parts, {sum(self.raised.values())} raise, {len(self.failures)} fail; gradients: {dict(self.gradients)}; fused: {dict(self.fused)}"
        ]
        groups = (
            ("runs eagerly", self.fallbacks),
            ("raises", self.raised),
            ("refused", self.refused),
        )
        for name, counter in groups:
            lines += [f"  {name}: {n:5d} {text}" for text, n in counter.most_common(12)]
        missing = sorted(all_rules() - set(self.counts))
        if self.programs >= 500:
            lines.append(f"rules that never applied: {missing}")
        return "\n".join(lines)


def run(seeds: Sequence[int], chunk: int = 50) -> Statistics:
    """Runs the programs of these seeds."""
    statistics = Statistics()
    for start in range(0, len(seeds), chunk):
        for outcome in check_all(list(seeds[start : start + chunk])):
            statistics.add(outcome)
    return statistics


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("seeds", nargs="*", type=int)
    parser.add_argument("--count", type=int, default=200, help="how many programs, without seeds")
    parser.add_argument("--seed", type=int, default=0, help="the first of them")
    parser.add_argument("--source", action="store_true", help="print the programs, run nothing")
    parser.add_argument("--rules", action="store_true", help="print how often each rule applied")
    parser.add_argument("--shrink", type=int, default=5, help="how many failures to shrink")
    options = parser.parse_args()
    seeds = options.seeds or range(options.seed, options.seed + options.count)
    if options.source:
        print("\n".join(generate(s).source for s in seeds))
        return 0
    start = time.perf_counter()
    statistics = run(seeds)
    for i, outcome in enumerate(statistics.failures):
        print(
            report(outcome)
            if i < options.shrink
            else f"seed {outcome.program.seed}: {outcome.failure}"
        )
    print(f"{statistics}\n{time.perf_counter() - start:.1f} s")
    if options.rules:
        print("\n".join(f"{n:6d} {name}" for name, n in statistics.counts.most_common()))
    return int(bool(statistics.failures))

"""How well the planner knows this machine, and what dividing a network costs: `python benchmarks/divided.py [model] [tensor]`.

`model`: of five small networks each Parameter of a few lies whole, in rows or in columns, in all combinations, on two processes of one
thread. Each plan is modelled and measured, and the one that the search finds alone: how far the model is off, and how far the plan that it
takes for the best is from the best there is.

`tensor`: two processes of one thread train a Transformer together whose Parameters are cut, beside two that train one each alone, in turns:
the share of their rate that is left. Bars: the model within 25 %, its best plan within 10 % of the best, 0.85 of the rate. The last lines
say each figure beside its bar. Another program on the machine spoils both: the load is shown, and --rounds takes the quietest of several.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from divided_nets import Case

RANKS, WARM, STEPS = 2, 4, 15
SAME = 1e-3  # of modelled seconds: no other plan
MOST_OFF, MOST_WORSE, LEAST_RATE = 0.25, 0.10, 0.85
NETS = ("mlp", "deep", "convolutions", "attention", "table")  # of divided_nets.py
KINDS = {"whole": None, "rows": 0, "columns": 1}
# How the Parameters of a Transformer are cut, each by its name: rows of what makes heads and hidden values, columns of what joins them.
TENSOR = {**dict.fromkeys(("q", "k", "v", "up"), 0), **dict.fromkeys(("o", "down"), 1)}
FOUND = "found"  # begins a line with what a process has found


class Seconds(NamedTuple):
    """Of a step: measured, and as its plan has them; 0: there is no plan."""

    took: float
    said: float

    @property
    def off(self) -> float:
        return self.said / self.took - 1


class Verdict(NamedTuple):
    """A figure beside its bar, in words."""

    figure: str
    within: bool

    def __str__(self) -> str:
        return f"{'holds' if self.within else 'MISSED'}: {self.figure}"


# ---- one of the processes -----------------------------------------------------------------------------------------------------
def inside(what: str, name: str) -> None:
    """What one of the processes does."""
    import divided_nets

    import mindspore as ms
    from mindspore.communication import get_rank, init

    init()
    ms.set_context(mode=ms.GRAPH_MODE)
    if what != "alone":
        ms.set_auto_parallel_context(
            parallel_mode="auto_parallel", search_mode="dynamic_programming", full_batch=True
        )
    case = getattr(divided_nets, name)
    if what == "plans":
        found: Any = plans_of(case)
    elif what == "tensor":
        laid = case()
        pin(laid.net, {f"{part}.weight": dim for part, dim in TENSOR.items()})
        found = timed(laid)
    else:
        found = timed(case())
    if get_rank() == 0:
        print(FOUND, json.dumps(found), flush=True)


def plans_of(case: Any) -> dict[str, Seconds]:
    """The plan that the search finds, and those with Parameters that are laid in all ways."""
    timed(case())  # what comes first has memory to be given, and is slower
    found = {"search": timed(case())}
    for kinds in itertools.product(KINDS, KINDS):
        laid = case()
        pin(laid.net, {name: KINDS[kind] for name, kind in zip(laid.laid, kinds)})
        found[" ".join(kinds)] = timed(laid)
    return found


def pin(net: Any, ways: dict[str, int | None]) -> None:
    """Lays Parameters whole, or cut along a dimension."""
    from mindspore.common import _planning

    for parameter in net.get_parameters():
        for name, dim in ways.items():
            if parameter.name.endswith(name):
                cuts = tuple(RANKS if d == dim else 1 for d in range(parameter.ndim))
                _planning.pin_parameter("benchmark", parameter, cuts)


def timed(case: Case) -> Seconds:
    """The median seconds of a training step of the process that is slower, and what the plan says."""
    from mindspore import Tensor, nn
    from mindspore.common import _planning
    from mindspore.train import _together

    said = [0.0]
    written = _planning.Planning.written

    def overheard(self: Any, graph: Any) -> None:
        said[0] = graph.layouts["seconds"]
        written(self, graph)

    _planning.Planning.written = overheard  # type: ignore[method-assign]
    try:
        optimizer = nn.SGD(case.net.trainable_params(), 0.001)
        step = nn.TrainOneStepCell(case.net, optimizer).set_train()
        inputs = [Tensor(x) for x in case.data]
        times = []
        for _ in range(WARM + STEPS):
            begin = time.perf_counter()
            step(*inputs).asnumpy()
            times.append(time.perf_counter() - begin)
    finally:
        _planning.Planning.written = written  # type: ignore[method-assign]
    return Seconds(max(_together.gather_objects(statistics.median(times[WARM:]))), said[0])


# ---- who starts them ----------------------------------------------------------------------------------------------------------
def run(what: str, name: str) -> Any:
    """What the processes have found."""
    root = {f"{p}_ALLOW_RUN_AS_ROOT{s}": "1" for p in ("OMPI", "PRTE") for s in ("", "_CONFIRM")}
    env = {**os.environ, **root, "OMP_NUM_THREADS": "1", "OMPI_MCA_osc": "^ucx"}
    mpiexec = [str(Path(sys.prefix) / "bin" / "mpiexec"), "-n", str(RANKS)]
    command = [*mpiexec, sys.executable, __file__, "--inside", what, name]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith(FOUND))
    return json.loads(line.removeprefix(FOUND))


class Plans:
    """The plans of one network, by name, as several rounds have measured them."""

    def __init__(self, name: str, rounds: int) -> None:
        self.name = name
        runs = [run("plans", name) for _ in range(rounds)]
        self.rounds = {plan: [Seconds(*found[plan]) for found in runs] for plan in runs[0]}
        # What was measured beside what was modelled in the same run: each measures the machine anew.
        self.quickest = {plan: min(all_rounds) for plan, all_rounds in self.rounds.items()}

    @property
    def off(self) -> float:
        """How far the model is off for the plan of the search."""
        return self.quickest["search"].off

    def chosen(self) -> str:
        """What is modelled as the best by all rounds; of those that are one plan, or modelled alike, the quickest."""
        means = {p: statistics.mean(s.said for s in found) for p, found in self.rounds.items()}
        equal = [plan for plan in means if means[plan] <= min(means.values()) * (1 + SAME)]
        return min(equal, key=lambda plan: self.quickest[plan].took)

    def behind(self) -> float:
        """How much more the chosen one takes than the best."""
        best = min(found.took for found in self.quickest.values())
        return self.quickest[self.chosen()].took / best - 1

    def show(self) -> None:
        middle = statistics.median(abs(found.off) for found in self.quickest.values())
        print(
            f"{self.name}: the plan of the search {self.quickest['search'].took * 1e3:.2f} ms, modelled {self.off:+.0%}; of "
            f"{len(self.rounds)} plans half are within {middle:.0%}; best modelled '{self.chosen()}' is {self.behind():.0%} over the best"
        )
        for plan, (took, said) in self.quickest.items():
            off = self.quickest[plan].off
            print(
                f"    {plan:16} {took * 1e3:8.2f} ms  modelled {said * 1e3:8.2f} ms {off:+.0%}",
                flush=True,
            )


def model(rounds: int) -> list[Verdict]:
    """The plans of all networks."""
    networks = []
    for name in NETS:
        networks.append(Plans(name, rounds))
        networks[-1].show()
    worst = max(networks, key=lambda plans: abs(plans.off))
    last = max(networks, key=Plans.behind)
    return [
        Verdict(
            f"a step is modelled within {abs(worst.off):.0%} of the measured one on all of {len(networks)} networks ({worst.name} "
            f"{worst.off:+.0%}); the bar is {MOST_OFF:.0%}",
            abs(worst.off) <= MOST_OFF,
        ),
        Verdict(
            f"the best modelled plan takes at most {last.behind():.0%} more than the best measured one ({last.name}); the bar is "
            f"{MOST_WORSE:.0%}",
            last.behind() <= MOST_WORSE,
        ),
    ]


def tensor(rounds: int) -> list[Verdict]:
    """A Transformer on two processes, and one on each."""
    together, alone = [], []
    for _ in range(rounds):
        together.append(Seconds(*run("tensor", "transformer")))
        alone.append(Seconds(*run("alone", "transformer")))
        print(
            f"transformer: cut over {RANKS} processes {together[-1].took * 1e3:.1f} ms, alone {alone[-1].took * 1e3:.1f} ms each",
            flush=True,
        )
    best = min(together)
    rate = min(alone).took / (RANKS * best.took)
    return [
        Verdict(
            f"a Transformer that is cut over {RANKS} processes trains at {rate:.2f} of the rate of {RANKS} alone; the bar is "
            f"{LEAST_RATE}",
            rate >= LEAST_RATE,
        ),
        Verdict(
            f"its step of {best.took * 1e3:.1f} ms is modelled as {best.said * 1e3:.1f} ms, {best.off:+.0%}; the bar is {MOST_OFF:.0%}",
            abs(best.off) <= MOST_OFF,
        ),
    ]


PARTS = {"model": model, "tensor": tensor}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=list(PARTS))
    parser.add_argument("--inside", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    if options.inside:
        inside(*options.inside)
        return 0
    print(f"load {os.getloadavg()[0]:.1f}", flush=True)
    done = [verdict for what in options.what for verdict in PARTS[what](options.rounds)]
    print(f"load {os.getloadavg()[0]:.1f}")
    print(*done, sep="\n")
    return 0 if all(verdict.within for verdict in done) else 1


if __name__ == "__main__":
    sys.exit(main())

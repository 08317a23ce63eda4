"""One framework, one case: `worker.py NAME CASE`; prints `ready` or `absent`, then `figure X` for every line it reads.

A case of several measures prints their names after `ready`, and the line names the one that is wanted.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable

from cases import CASES

Measure = Callable[[], float]

# Whose programs a framework runs.
DIALECTS = {
    "ours": "ms",
    "mindspore": "ms",
    "torch": "torch",
    "torch_compile": "torch",
    "jax": "jax",
}
MODULES = {"ours": "mindspore", "mindspore": "mindspore", "torch": "torch", "jax": "jax"}


def prepare(name: str, case: str) -> Measure | dict[str, Measure] | None:
    """The case's measure in this framework, or its measures by name; None where it has no such case."""
    if case == "import":
        from cases.import_case import measure_import

        return measure_import(MODULES[name]) if name in MODULES else None
    module = f"cases.{CASES[case].family}_{DIALECTS[name]}"
    if importlib.util.find_spec(module) is None:
        return None
    build = getattr(importlib.import_module(module), case, None)
    return build() if build else None


def main() -> None:
    """Prepares once, then measures on request."""
    name, case = sys.argv[1:3]
    threads = int(os.environ["OMP_NUM_THREADS"])
    if name in ("jax", "mindspore"):  # whose thread pools heed no variable
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    os.environ["BENCHMARK_COMPILE"] = "1" if name == "torch_compile" else ""
    measure = prepare(name, case)
    if measure is None:
        print("absent", flush=True)
        return
    measures = measure if isinstance(measure, dict) else {"": measure}
    print("ready", *filter(None, measures), sep="\t", flush=True)
    for line in sys.stdin:
        print(f"figure {measures[line.strip()]()}", flush=True)


main()

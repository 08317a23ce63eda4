"""One framework, one case: `worker.py NAME CASE`; prints `figure X` for every line it reads, or `absent`."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable

from cases import CASES

# Whose programs a framework runs.
DIALECTS = {
    "ours": "ms",
    "mindspore": "ms",
    "torch": "torch",
    "torch_compile": "torch",
    "jax": "jax",
}
MODULES = {"ours": "mindspore", "mindspore": "mindspore", "torch": "torch", "jax": "jax"}


def prepare(name: str, case: str) -> Callable[[], float] | None:
    """The case's measure in this framework; None where it has no such case."""
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
    print("absent" if measure is None else "ready", flush=True)
    for _ in sys.stdin if measure else ():
        print(f"figure {measure()}", flush=True)


main()

"""One framework, one case: `worker.py NAME CASE`; prints `figure X` for every line it reads."""

from __future__ import annotations

import importlib
import sys


def main() -> None:
    """Prepares once, then measures on request."""
    name, case = sys.argv[1:3]
    if case == "import":
        from cases.import_case import measure_import

        measure = measure_import(
            {"ours": "mindspore", "torch": "torch", "mindspore": "mindspore", "jax": "jax"}[name]
        )
    else:
        module = importlib.import_module(
            "cases.torch_cases" if name == "torch" else "cases.ms_cases"
        )
        measure = getattr(module, case)()
    for _ in sys.stdin:
        print(f"figure {measure()}", flush=True)


main()

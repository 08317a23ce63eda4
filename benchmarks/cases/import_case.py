"""The time of `import X` in a fresh process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable


def measure_import(module: str) -> Callable[[], float]:
    """Milliseconds from the statement to its end; starting Python is not counted."""
    code = f"import time; t = time.perf_counter(); import {module}; print((time.perf_counter() - t) * 1e3)"

    def measure() -> float:
        return float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout.split()[-1]
        )

    return measure

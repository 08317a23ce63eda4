"""Readings that need a process of their own."""

from __future__ import annotations

import subprocess


def reading(command: list[str], environment: dict[str, str]) -> list[float]:
    """What the process prints on its last line of the form `figure NUMBER ...`."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    lines = [line for line in done.stdout.splitlines() if line.startswith("figure ")]
    if not lines:
        raise RuntimeError(done.stderr[-2000:])
    return [float(word) for word in lines[-1].split()[1:]]

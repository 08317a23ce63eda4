#!/usr/bin/env python3
"""Runs a build and shows how far it is: `progress.py [--log FILE] COMMAND...`.

On a terminal one line that changes, elsewhere a line every half minute: so a log stays short and nobody thinks that a long build
hangs. Of all other output only what matters: compilers' messages, failures.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

STEP = re.compile(r"\s*\[(\d+)/(\d+)\] (.*)")
NOISE = re.compile(
    r"(env \S+ )?\S*ccache |\S*/c\+\+ |ninja: Entering|In file included| +from |-- |  [+-]/"
)
EVERY = 30.0


def show_progress(
    command: Sequence[str | Path], cwd: Path | None = None, log: Path | None = None
) -> int:
    """The exit status of a command that runs ninja. With a log all output goes there, and what matters is shown if it fails."""
    process = subprocess.Popen(
        [str(part) for part in command],
        cwd=cwd,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    terminal = sys.stdout.isatty()
    clear = "\r\033[K" if terminal else ""
    said, kept = time.monotonic(), []
    for line in process.stdout:
        step = STEP.match(line)
        kept.append(line)
        if step is None:
            if log is None and not NOISE.match(line):
                print(f"{clear}{line.rstrip()[:400]}", flush=True)
        elif terminal:
            print(f"{clear}[{step[1]}/{step[2]}] {Path(step[3]).name[:60]}", end="", flush=True)
        elif time.monotonic() - said >= EVERY:
            print(f"[{step[1]}/{step[2]}]", flush=True)
            said = time.monotonic()
    print(clear, end="", flush=True)
    status = process.wait()
    if log is not None:
        log.write_text("".join(kept))
        if status:
            shown = [line for line in kept if not STEP.match(line) and not NOISE.match(line)]
            print("".join(shown[-40:]), f"failed; all of its output: {log}", sep="")
    return status


def main() -> int:
    """The command line."""
    words = sys.argv[1:]
    log = Path(words[1]) if words[:1] == ["--log"] else None
    return show_progress(words[2:] if log else words, log=log)


if __name__ == "__main__":
    sys.exit(main())

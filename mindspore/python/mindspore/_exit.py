"""What went wrong too late for the program to hear of it: on stderr, and in the exit status."""

from __future__ import annotations

import contextlib
import sys

from mindspore import _core


def report(error: BaseException, text: str | None = None) -> None:
    """Shows an error while the process ends, with status 1 where it would end with 0."""
    _core.io.fail_exit()
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):  # it may be closed
            print(f"[ERROR] {text or error}", file=sys.stderr, flush=True)

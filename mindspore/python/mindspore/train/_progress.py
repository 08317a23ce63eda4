"""A progress line on a terminal for work that takes more than a moment; nothing elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

_DELAY = 1.5  # seconds of work before a line is shown
_PERIOD = 0.2  # seconds between two updates


class Progress:
    """Counts steps. With rich the line stays below what is printed; else it is a plain line on
    stderr.

    `quiet` says that something else prints at every step, so that a plain line would only disturb.
    """

    def __init__(self, what: str, total: int | None, quiet: bool) -> None:
        self._what = what
        self._total = total or None
        self._done = 0
        self._begun = time.monotonic()
        self._shown = self._begun + _DELAY - _PERIOD
        self._rich: Any = None
        self._task: Any = None
        self._width = 0
        self._active = sys.stderr.isatty()
        self._quiet = quiet

    def step(self, note: str = "") -> None:
        """One more step is done."""
        self._done += 1
        if not self._active:
            return
        now = time.monotonic()
        if now - self._shown < _PERIOD:
            return
        first = self._shown == self._begun + _DELAY - _PERIOD
        self._shown = now
        if first:
            self._rich = self._start_rich()
        if self._rich is not None:
            self._rich.update(self._task, completed=self._done, description=f"{self._what} {note}")
        elif not self._quiet:
            self._plain(note, now)

    def _start_rich(self) -> Any:
        try:
            from rich.console import Console
            from rich.progress import Progress as RichProgress
        except ImportError:
            return None
        bar = RichProgress(console=Console(stderr=True), transient=True)
        self._task = bar.add_task(self._what, total=self._total)
        bar.start()
        return bar

    def _plain(self, note: str, now: float) -> None:
        rate = self._done / max(now - self._begun, 1e-9)
        if self._total:
            left = max(self._total - self._done, 0) / max(rate, 1e-9)
            done = f"{self._done}/{self._total} ({100 * self._done // self._total} %)"
            text = f"{self._what} {done}, {left:.0f} s left {note}"
        else:
            text = f"{self._what} {self._done} steps, {rate:.1f}/s {note}"
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        """Remove the line."""
        if self._rich is not None:
            self._rich.stop()
        elif self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
        self._active = False

"""How far work is that takes more than a moment: a line that changes on a terminal, and a few plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

from mindspore.common import _groups

_DELAY = 1.5  # seconds of work before a line is shown
_PERIOD = 0.2  # seconds between two updates
# Elsewhere a line is written after these seconds, then after twice as many, and so on up to the second number: a log file or the
# page of a notebook is not filled.
_FIRST_LINE, _LONGEST_PAUSE = 20.0, 600.0


class Progress:
    """Counts steps. On a terminal the line stays below what is printed if the package rich is there; else it is a plain line on
    stderr. `MS_PROGRESS=0` turns all of it off.

    `quiet` says that something else prints at every step, so that plain lines would only disturb.
    """

    def __init__(self, what: str, total: int | None, quiet: bool) -> None:
        self._what = what
        quiet = quiet or not _groups.writes_for_all()
        self._total = total or None
        self._done = 0
        self._begun = time.monotonic()
        self._rich: Any = None
        self._task: Any = None
        self._width = 0
        self._terminal = sys.stderr.isatty()
        self._active = os.environ.get("MS_PROGRESS") != "0" and (self._terminal or not quiet)
        self._quiet = quiet
        self._pause = _FIRST_LINE
        self._next = self._begun + (_DELAY if self._terminal else _FIRST_LINE)
        self._started = False

    def step(self, note: Callable[[], str] = str, steps: int = 1) -> None:
        """One more step is done, or several; `note()` is what to say beside the number, where it is said."""
        self._done += steps
        if not self._active:
            return
        now = time.monotonic()
        if now < self._next:
            return
        if not self._terminal:
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            self._next = now + self._pause
            print(self._text(note(), now), file=sys.stderr, flush=True)
            return
        self._next = now + _PERIOD
        if not self._started:
            self._started = True
            self._rich = self._start_rich()
        if self._rich is not None:
            self._rich.update(self._task, completed=self._done, note=f"{self._rate(now)} {note()}")
        elif not self._quiet:
            text = self._text(note(), now)
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = len(text)

    def _start_rich(self) -> Any:
        try:
            from rich.console import Console
            from rich.errors import LiveError
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress
        except ImportError:
            return None
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )  # fmt: skip
        bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
        self._task = bar.add_task(self._what, total=self._total, note="")
        try:
            bar.start()
        except LiveError:  # the evaluation inside of a training, or a display of the program's own
            self._active = False
        return bar

    def _rate(self, now: float) -> str:
        return f"{self._done / max(now - self._begun, 1e-9):.1f}/s"

    def _text(self, note: str, now: float) -> str:
        if self._total is None:
            return f"{self._what} {self._done} steps, {self._rate(now)} {note}"
        share = f"{self._done}/{self._total} ({100 * self._done // self._total} %)"
        left = max(self._total - self._done, 0) * (now - self._begun) / self._done
        return f"{self._what} {share}, {self._rate(now)}, {left:.0f} s left {note}"

    def close(self) -> None:
        """Remove the line."""
        if self._rich is not None:
            self._rich.stop()
        elif self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
        self._active = False

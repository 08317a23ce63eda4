"""Runs all cases in processes of their own, which may crash, hang or run out of memory: then the case is a finding, and another
process goes on behind it."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from wild.cases import cases
from wild.worker import FULL

SECONDS = 30.0  # for one case: what hangs, however busy the machine is
_STARTING, _DONE = -2, -1  # notes that are no case
_TESTS = str(Path(__file__).resolve().parents[1])


class Worker:
    """One process, and those that follow it."""

    def __init__(self, selection: tuple[str, str], first: int, step: int, folder: Path):
        self.selection, self.next, self.step = selection, first, step
        self.notes, self.found = folder / f"{first}.notes", folder / f"{first}.found"
        self.findings: list[tuple[str, str]] = []
        self.deaths: list[tuple[int, str]] = []
        self._start()

    def _start(self) -> None:
        self.notes.write_bytes(struct.pack("q", _STARTING))
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": os.pathsep.join([_TESTS, *sys.path]),
        }
        kind, only = self.selection
        command = [
            sys.executable,
            "-m",
            "wild.worker",
            kind,
            str(self.next),
            str(self.step),
            str(self.notes),
            only,
        ]
        with self.found.open("ab") as out:
            self.process = subprocess.Popen(
                command,
                stdout=out,
                stderr=subprocess.DEVNULL,
                env=environment,
                cwd=self.notes.parent,  # some calls write files
            )
        self.at, self.since = _STARTING, time.monotonic()

    def is_busy(self) -> bool:
        """Looks after the process; whether there is more to do."""
        status = self.process.poll()
        (at,) = struct.unpack("q", self.notes.read_bytes()[:8])
        if status is None:
            if at != self.at:
                self.at, self.since = at, time.monotonic()
            elif time.monotonic() - self.since > SECONDS and at != _STARTING:
                self.process.kill()
                self.process.wait()
                self._go_on(at, f"takes more than {SECONDS:.0f} s")
            return True
        if at == _STARTING:
            raise RuntimeError(
                f"A worker ended before its first case: {' '.join(self.process.args)}"
            )
        if at == _DONE:
            return False
        if status == FULL:
            self._go_on(at)
            return True
        name = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        self._go_on(at, f"the process ended: {name}")
        return True

    def _go_on(self, at: int, why: str = "") -> None:
        if why:
            self.deaths.append((at, why))
        self.next = at + self.step
        self._start()


def run_all(kind: str, only: str = "", workers: int = 2) -> list[tuple[str, str]]:
    """The findings among the cases of a kind: the case, and what is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        team = [Worker((kind, only), i, workers, Path(folder)) for i in range(workers)]
        while [worker for worker in team if worker.is_busy()]:
            time.sleep(0.05)
        found = [tuple(json.loads(line)) for w in team for line in w.found.read_text().splitlines()]
        deaths = dict(death for worker in team for death in worker.deaths)
    return found + list(_named(deaths, kind, only))


def _named(deaths: dict[int, str], kind: str, only: str) -> Iterator[tuple[str, str]]:
    for number, case in enumerate(cases(kind, only) if deaths else ()):
        if number in deaths:
            yield str(case), deaths[number]

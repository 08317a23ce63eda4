"""Frameworks in processes of their own."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Absent(Exception):
    """The framework has no such case."""


class Worker:
    """A framework in a process of its own; answers one figure per request. `settings` go to its environment."""

    def __init__(self, name: str, python: str, case: str, threads: int, settings: dict[str, str]):
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(threads),
            "PYTHONWARNINGS": "ignore",
            **settings,
        }
        if name != "ours":  # whose packages are another's
            environment.pop("PYTHONPATH", None)
        self.errors = tempfile.TemporaryFile("w+")
        self.folder = tempfile.TemporaryDirectory()  # for what a framework leaves behind
        self.process = subprocess.Popen(
            [python, str(HERE / "worker.py"), name, case],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=environment,
            cwd=self.folder.name,
        )
        word, *self.measures = self._answer("ready", "absent").strip().split("\t")
        self.measures = self.measures or [""]
        if word == "absent":
            self.close()
            raise Absent

    def _answer(self, *words: str) -> str:
        """The next line that begins with one of the words; what else a framework prints is passed over."""
        assert self.process.stdout
        for line in self.process.stdout:
            if line.startswith(words):
                return line
        self.errors.seek(0)
        lines = self.errors.read().strip().splitlines() or ["it ended without a word"]
        raise RuntimeError(lines[-1])

    def ask(self, measure: str = "") -> float:
        """One round, of the measure of that name where there are several."""
        self.begin(measure)
        return self.end()

    def begin(self, measure: str = "") -> None:
        """Begins a round."""
        assert self.process.stdin
        self.process.stdin.write(f"{measure}\n")
        self.process.stdin.flush()

    def end(self) -> float:
        """The figure of the round that was begun."""
        return float(self._answer("figure ").split()[1])

    def close(self) -> None:
        """Ends the process."""
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()

"""tf.data in a process of its own, with the Python that is named: see data_tf.py."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any

_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data_tf.py")


class Peer:
    """The pipelines of one case over the files of a folder."""

    def __init__(self, python: str, folder: str, case: str) -> None:
        if shutil.which(python) is None:
            raise SystemExit(
                f"--tensorflow must name a Python that can be run, but got '{python}'."
            )
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": ""}
        environment.pop("PYTHONPATH", None)
        self._process = subprocess.Popen(
            [python, _PROGRAM, folder, case],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def seconds(self) -> dict[str, float]:
        """One pass through each pipeline; the first call waits until they are made."""
        stdin: Any = self._process.stdin
        stdout: Any = self._process.stdout
        stdin.write("\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise RuntimeError("TensorFlow's process has ended; its messages stand above.")
        found: dict[str, float] = json.loads(line)
        return found

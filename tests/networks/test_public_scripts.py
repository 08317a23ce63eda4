"""Programs in the manner of public repositories of two generations run as they are, written for another device, in both modes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mindspore as ms

SCRIPTS = Path(__file__).parent / "scripts"


def run(folder, script, *options, fallback="1"):
    python = Path(ms.__file__).parents[1]
    return subprocess.run(
        [sys.executable, str(SCRIPTS / script), *options],
        cwd=folder,
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "MS_DEVICE_FALLBACK": fallback,
            "PYTHONPATH": os.pathsep.join([str(python), os.environ.get("PYTHONPATH", "")]),
        },
    )


OPTIONS = {
    "train_2021.py": ["--config_path", str(SCRIPTS / "config_2021.yaml"), "--momentum", "0.8"],
    "train_2023.py": [],
}


@pytest.mark.parametrize("mode", [ms.GRAPH_MODE, ms.PYNATIVE_MODE], ids=["graph", "pynative"])
@pytest.mark.parametrize("script", OPTIONS)
def test_it_learns(tmp_path, script, mode):
    done = run(tmp_path, script, *OPTIONS[script], "--mode", str(mode))
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("accuracy: ") and float(last.split()[1]) >= 0.9, done.stdout
    assert done.stderr.count("'Ascend' is not available") == 1
    assert "RunsEagerly" not in done.stderr


def test_without_leave_the_device_is_refused(tmp_path):
    done = run(tmp_path, "train_2023.py", fallback="0")
    assert done.returncode == 1
    assert "'Ascend' is not available" in done.stderr.splitlines()[-1]

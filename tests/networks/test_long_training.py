"""Ten thousand steps in each way of training: memory, threads and open files stay as they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "scripts" / "long_training.py"
WAYS = ["graph", "pynative", "sink", "amp", "callbacks", "evaluation", "exceptions"]
STEPS = 10_000


def measured(way: str, folder: Path, steps: int) -> dict:
    run = subprocess.run(
        [sys.executable, PROGRAM, way, str(steps)], cwd=folder, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.host_device
@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_nothing_grows(tmp_path, way):
    found = measured(way, tmp_path, STEPS)
    assert found["kilobytes_a_step"] <= 0.1
    assert found["threads"][0] >= found["threads"][1]
    assert found["files"][0] >= found["files"][1]


@pytest.mark.host_device
@pytest.mark.parametrize("way", WAYS)
def test_each_way_trains(tmp_path, way):
    found = measured(way, tmp_path, 200)
    assert found["loss"][1] < found["loss"][0] / 2

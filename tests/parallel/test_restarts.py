"""Under msrun, who is left when a process is lost may save, and the job begins again from its last checkpoint."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import ranks

import msrun

pytestmark = [pytest.mark.host_device]


def started(folder: Path, *arguments: str, count: int = 2) -> subprocess.CompletedProcess[str]:
    ranks.mpiexec()  # skips where there is none
    tree = str(Path(msrun.__file__).parent.parent)
    command = [sys.executable, "-m", "msrun", f"--worker_num={count}", "--log_dir=logs"]
    program = str(ranks.PROGRAMS / arguments[-1])
    return subprocess.run(
        [*command, "--join=True", *arguments[:-1], program, str(folder / "saved"), "kill"],
        cwd=folder,
        env=ranks.settings(PYTHONPATH=os.pathsep.join([tree, os.environ.get("PYTHONPATH", "")])),
        capture_output=True,
        text=True,
        timeout=ranks.DEADLINE,
        check=False,
    )


def ends(text: str) -> set[str]:
    return set(re.findall(r"ends at ([\d.]+)", text))


def test_a_training_begins_again_from_its_last_checkpoint(tmp_path):
    done = started(tmp_path, "--max_restarts=1", "begun_again.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("start 1 rank") == 2, done.stdout
    whole = ranks.run("begun_again.py", 2, str(tmp_path / "whole"), "none")
    assert whole.returncode == 0, whole.stdout + whole.stderr
    assert len(ends(whole.stdout)) == 1
    assert ends(done.stdout) == ends(whole.stdout)  # to the bit


def test_who_is_left_may_save(tmp_path):
    (tmp_path / "saved").mkdir()
    begin = time.monotonic()
    done = started(tmp_path, "survives.py", count=3)
    assert done.returncode == 137, done.stdout + done.stderr
    saved = sorted(path.name for path in (tmp_path / "saved").iterdir())
    assert saved == ["rank_0.ckpt", "rank_2.ckpt"], done.stdout + done.stderr
    assert time.monotonic() - begin < 45  # and nobody was waited for who is gone

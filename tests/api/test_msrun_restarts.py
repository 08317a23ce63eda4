"""`msrun --max_restarts`: a job of which a process failed begins again, and who asks for its end is heard at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msrunlib import TREE, mpiexecs, processes_in

pytestmark = pytest.mark.skipif(not mpiexecs(), reason="there is no mpiexec")

SCRIPT = """
import os, signal, sys, time
start, rank = int(os.environ["MS_RESTART_COUNT"]), int(os.environ["RANK_ID"])
print("start", start, flush=True)
if rank == 1 and start < int(sys.argv[1]):
    os.kill(os.getpid(), signal.SIGKILL) if start == 0 else sys.exit(7)
if sys.argv[1] == "0":
    time.sleep(300)
"""


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen:
    (folder / "job.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "msrun", "--worker_num=2", "--log_dir=logs", "--join=True"]
    return subprocess.Popen(
        [*command, *arguments],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": TREE, "TMPDIR": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_job_begins_again_until_it_ends_well(tmp_path):
    job = start(tmp_path, "--max_restarts=5", "job.py", "2")
    out, err = job.communicate(timeout=120)
    assert job.returncode == 0, err
    assert err.count("is started again") == 2, err
    assert [out.count(f"start {n}") for n in range(4)][2:] == [2, 0], out
    assert (tmp_path / "logs" / "worker_1.log").read_text() == "start 2\n"
    assert (tmp_path / "logs" / "worker_1.start1.log").read_text() == "start 0\n"
    assert processes_in(tmp_path) == []


def test_it_begins_no_more_often_than_is_said(tmp_path):
    job = start(tmp_path, "--max_restarts=1", "job.py", "9")
    out, err = job.communicate(timeout=120)
    assert job.returncode == 7, err
    assert err.count("is started again, 1 of 1 times") == 1, err
    assert "start 2" not in out


def test_who_asks_for_the_end_gets_it(tmp_path):
    job = start(tmp_path, "--max_restarts=5", "job.py", "0")
    log = tmp_path / "logs" / "worker_1.log"
    for _ in range(600):
        if log.exists() and "start" in log.read_text():
            break
        time.sleep(0.05)
    job.send_signal(signal.SIGTERM)
    _, err = job.communicate(timeout=60)
    assert job.returncode == 128 + signal.SIGTERM
    assert "again" not in err
    assert processes_in(tmp_path) == []


def test_a_number_that_is_none_is_refused(tmp_path):
    job = start(tmp_path, "--max_restarts=-1", "job.py", "0")
    _, err = job.communicate(timeout=60)
    assert job.returncode == 2
    assert "--max_restarts must not be negative, but got -1" in err


@pytest.mark.parametrize("seconds", ["soon", "-1", "nan", "inf"])
def test_a_grace_that_is_no_time_is_refused(seconds, tmp_path):
    job = start(tmp_path, "job.py", "0", MSRUN_GRACE=seconds)
    _, err = job.communicate(timeout=60)
    assert job.returncode == 2
    assert f"MSRUN_GRACE must be a number of seconds, but got '{seconds}'" in err

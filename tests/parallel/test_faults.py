"""Whatever ends one process, and when, the others are told which it was and what they waited for, soon."""

from __future__ import annotations

import os
import re
import time
import uuid
from pathlib import Path

import pytest
import ranks

pytestmark = [pytest.mark.host_device]

ENDS = {
    "kill": "rank {} .*died without a farewell",
    "raise": "rank {} .*ended with an exception: ValueError: the disk is full",
    "exit": "rank {} .*has ended its program",
    "stop": "rank {} .*silent",
}


def shared() -> set[str]:
    return set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()


def running(mark: str) -> list[str]:
    """The processes that have this in their environment."""
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append(process.name)
        except OSError:  # it is gone, or another user's
            continue
    return found


def nothing_is_left(mark: str, before: set[str], patience: float = 90) -> None:
    """No process, and no shared memory: of that, other tests have some of their own for a while."""
    end = time.monotonic() + patience
    more = shared() - before
    while (running(mark) or more & shared()) and time.monotonic() < end:
        time.sleep(0.1)
    assert not running(mark) and not more & shared(), (running(mark), more & shared())


def told(how: str, when: str, folder: Path, lost: int = 1, **environment: str) -> None:
    before, mark = shared(), uuid.uuid4().hex
    environment |= {"LOST": str(lost), "MS_TEST_MARK": mark}
    done = ranks.run("faults.py", 3, how, when, str(folder), **environment)
    nothing_is_left(mark, before)
    assert done.returncode != 0
    texts = re.findall(r"told after ([\d.]+) s: (.*)", done.stdout)
    # Who is told may be ended by the launcher before it says so.
    assert texts or "noticed that process rank" in done.stderr, done.stdout + done.stderr
    for _, text in texts:
        # Rank 0, which hears of all first, may be gone by now, too: it was told before.
        assert re.search(ENDS[how].format(lost), text) or "rank 0 " in text, text
        if when in ("start", "compile", "forward", "collective"):
            assert "For 'AllReduce'" in text
    assert not texts or any(re.search(ENDS[how].format(lost), text) for _, text in texts), texts


@pytest.mark.parametrize("how", ["kill", "raise", "exit"])
def test_in_the_middle_of_a_run(how, tmp_path):
    told(how, "forward", tmp_path)


def test_a_process_that_is_stopped_is_silent(tmp_path):
    told("stop", "forward", tmp_path, MS_COMM_TIMEOUT="3")


@pytest.mark.parametrize("how", ["kill", "stop"])
@pytest.mark.parametrize("when", ["plan", "divided"])
def test_of_a_network_that_is_divided(how, when, tmp_path):
    told(how, when, tmp_path, MS_COMM_TIMEOUT="3")


def test_an_end_while_others_save(tmp_path):
    told("exit", "train", tmp_path, 0)


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 2])
@pytest.mark.parametrize(
    "when", ["start", "compile", "collective", "train", "save", "plan", "divided"]
)
@pytest.mark.parametrize("how", ENDS)
def test_at_other_moments(how, when, lost, tmp_path):
    told(how, when, tmp_path, lost, MS_COMM_TIMEOUT="3")

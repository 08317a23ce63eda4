"""Whatever ends one process, and when, the others are told which it was and what they waited for, soon."""

from __future__ import annotations

import re
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


def told(how: str, when: str, folder: Path, lost: int = 1, **environment: str) -> None:
    done = ranks.run("faults.py", 3, how, when, str(folder), LOST=str(lost), **environment)
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


def test_an_end_while_others_save(tmp_path):
    told("exit", "train", tmp_path, 0)


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 2])
@pytest.mark.parametrize("when", ["start", "compile", "collective", "train", "save"])
@pytest.mark.parametrize("how", ENDS)
def test_at_other_moments(how, when, lost, tmp_path):
    told(how, when, tmp_path, lost, MS_COMM_TIMEOUT="3")

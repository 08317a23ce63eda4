"""Whatever ends one process, the others are told which it was and what they waited for, soon."""

from __future__ import annotations

import re

import pytest
import ranks

pytestmark = [pytest.mark.host_device]

ENDS = {
    "kill": "rank 1 .* died without a farewell",
    "raise": "rank 1 .* ended with an exception: ValueError: the disk is full",
    "exit": "rank 1 .* has ended its program",
    "stop": "rank 1 .* silent",
}


def told(how: str, when: str, **environment: str) -> None:
    done = ranks.run("faults.py", 3, how, when, **environment)
    assert done.returncode != 0
    texts = re.findall(r"told after ([\d.]+) s: (.*)", done.stdout)
    assert texts, done.stdout + done.stderr  # who is told last may be ended by the launcher before
    for _, text in texts:
        assert re.search(ENDS[how], text), text
        assert "For 'AllReduce'" in text


@pytest.mark.parametrize("how", ["kill", "raise", "exit"])
def test_in_the_middle_of_a_run(how):
    told(how, "forward")


def test_a_process_that_is_stopped_is_silent():
    told("stop", "forward", MS_COMM_TIMEOUT="3")


@pytest.mark.slow
@pytest.mark.parametrize("when", ["start", "compile"])
@pytest.mark.parametrize("how", ENDS)
def test_at_other_moments(how, when):
    told(how, when, MS_COMM_TIMEOUT="3")

"""Messages between two processes, and who waits for one that never comes."""

from __future__ import annotations

import re

import pytest
import ranks

pytestmark = [pytest.mark.host_device]


@pytest.mark.parametrize("windows", ["1", pytest.param("0", marks=pytest.mark.slow)])
def test_all_come_as_they_were_sent(windows):
    cases = ["posted", "tags", "lengths", "one_way", "unlike", "outlived"]
    ranks.passes("pairs.py", 3, *cases, MS_COMM_WINDOWS=windows)


def test_gradients_go_back_the_way_that_messages_came():
    ranks.passes("answers.py", 2)


def test_lists_and_objects():
    ranks.passes("lists.py", 2)


def test_a_message_that_nobody_waits_for_any_more(tmp_path):
    done = ranks.run("pairs.py", 3, "given_up", ALL_END_IN=str(tmp_path))
    assert done.stdout.count("all is well") == 3, done.stdout + done.stderr


ALONE = {
    "receive": r"rank 0 .*has ended its program, and rank 1 waits for it in Receive Int32\[8\] from rank 0, tag 3 at alone.py:",
    "send": r"rank 0 .*has ended its program, and rank 1 waits for it in Send Float32\[1000000\] to rank 0, tag 3 at alone.py:",
    "group": r"rank 1 .*has ended its program, and rank 0 waits for it in create_group 'g' with the ranks \[0, 1\]",
    "each": r"rank 0 waits in Receive .*, rank 1 waits in Receive .*: each waits for the next",
}


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, marks=pytest.mark.slow if case == "send" else []) for case in ALONE],
)
def test_who_waits_in_vain_is_told(case):
    done = ranks.run("alone.py", 2, case)
    assert done.returncode != 0
    told = re.findall(r"told after [\d.]+ s: (.*)", done.stdout)
    assert told, done.stdout + done.stderr
    assert all(re.search(ALONE[case], text) for text in told), told

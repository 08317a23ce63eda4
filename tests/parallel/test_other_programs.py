"""Processes whose divided programs differ are told so, also where their collectives would fit each other."""

from __future__ import annotations

import pytest
import ranks

pytestmark = [pytest.mark.host_device]

SAYS = {
    "ops": "must be the same program in all processes, but that of rank 1 has other ops",
    "search": "'search_mode' must be the same in all processes that a function is divided among, but it is "
    "'recursive_programming' in rank 0 and 'sharding_propagation' in rank 1",
    "stages": "'pipeline_stages' must be the same in all processes",
    "thirds": "'pipeline_stages' must be the same in all processes",
    "memory": "'max_device_memory' must be the same in all processes",
    "batch": "'dataset_strategy' must be the same in all processes",
    "pins": "must be cut alike in all processes, but that of rank 1 is not cut as that of rank 0",
}


@pytest.mark.parametrize("what", SAYS)
def test_another_program_is_an_error_in_all(what):
    done = ranks.run("others.py", 2, what)
    said = [line for line in done.stdout.splitlines() if line.startswith("refused by")]
    assert sorted(line[:12] for line in said) == ["refused by 0", "refused by 1"], (
        done.stdout + done.stderr
    )
    assert all(SAYS[what] in line for line in said), said


def test_equal_programs_go_on():
    done = ranks.run("others.py", 2, "nothing")
    assert done.stdout.count("loss") == 4, done.stdout + done.stderr

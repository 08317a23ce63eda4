"""What several processes do wrong together is an error in each of them, which names what the others do."""

from __future__ import annotations

import pytest
import ranks

pytestmark = [pytest.mark.host_device]

CASES = {
    "shapes": [
        "the ranks of the group 'hccl_world_group' must make the same calls in the same order",
        "AllReduce sum Float32[4] at mistakes.py:",
        "AllReduce sum Float32[5] at mistakes.py:",
    ],
    "calls": ["AllReduce sum Float32[4] at mistakes.py:", "AllGather Float32[8] at mistakes.py:"],
    "counts": ["expects"],
    "rows": ["For 'AllGatherV', 'output_split_sizes' must have 3"],
    "target": ["For 'Send', 'dest_rank' must be another process"],
    "scatter": ["the first dimension must be a multiple of the number of processes, 2"],
}


@pytest.mark.parametrize("case", CASES)
def test_unequal_calls(case):
    done = ranks.run("mistakes.py", 2, case)
    assert "refused" in done.stdout, (
        done.stdout + done.stderr
    )  # the launcher may end one before it prints
    for text in CASES[case]:
        assert text in done.stdout


def test_a_library_of_another_family():
    done = ranks.run("mistakes.py", 2, "none", MS_MPI_LIBRARY="/nowhere/libmpi.so")
    assert done.returncode != 0
    assert "For 'init', the MPI library '/nowhere/libmpi.so' does not open" in done.stderr

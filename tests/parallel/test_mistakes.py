"""What several processes do wrong together is an error in each of them, which names what the others do."""

from __future__ import annotations

import subprocess
import sys

import pytest
import ranks

pytestmark = [pytest.mark.host_device]

SAME = "the ranks of the group 'hccl_world_group' must make the same calls in the same order"
CASES = {
    "shapes": [
        SAME,
        "AllReduce sum Float32[4] at mistakes.py:",
        "AllReduce sum Float32[5] at mistakes.py:",
    ],
    "calls": ["AllReduce sum Float32[4] at mistakes.py:", "AllGather Float32[8] at mistakes.py:"],
    "reductions": ["AllReduce sum Float32[4] at mistakes.py:", "AllReduce max Float32[4] at"],
    "roots": ["Broadcast from rank 0 Float32[4] at", "Broadcast from rank 1 Float32[4] at"],
    "gathers": ["AllGather Float32[5] in rows 2, 3 at", "AllGather Float32[5] in rows 3, 2 at"],
    "scatters": ["ReduceScatter sum Float32[5] in rows 2, 3 at", "in rows 3, 2 at mistakes.py:"],
    "counts": ["rank 1 sends 8 bytes to rank 0, which expects 4"],
    "rows": ["For 'AllGatherV', 'output_split_sizes' must have 3"],
    "target": ["For 'Send', 'dest_rank' must be another process"],
    "scatter": ["the first dimension must be a multiple of the number of processes, 2"],
    "members": ["all members of 'g' must name the same ranks in the same order"],
}
# By messages these go other ways than the rest.
QUICK = {"reductions", "gathers", "counts"}
BY_MESSAGES = [
    pytest.param(case, marks=[] if case in QUICK else pytest.mark.slow) for case in CASES
]


def refused_by_all(case: str, folder: object, windows: str) -> None:
    done = ranks.run("mistakes.py", 2, case, MS_COMM_WINDOWS=windows, ALL_END_IN=str(folder))
    said = [line for line in done.stdout.splitlines() if line.startswith("refused by")]
    assert sorted(line[:12] for line in said) == ["refused by 0", "refused by 1"], (
        done.stdout + done.stderr
    )
    for line in said:
        for text in CASES[case]:
            assert text in line


@pytest.mark.parametrize("case", CASES)
def test_unequal_calls(case, tmp_path):
    refused_by_all(case, tmp_path, "1")


@pytest.mark.parametrize("case", BY_MESSAGES)
def test_unequal_calls_by_messages(case, tmp_path):
    refused_by_all(case, tmp_path, "0")


def test_a_library_of_another_family():
    done = ranks.run("mistakes.py", 2, "none", MS_MPI_LIBRARY="/nowhere/libmpi.so")
    assert done.returncode != 0
    assert "For 'init', the MPI library '/nowhere/libmpi.so' does not open" in done.stderr


def test_a_launcher_of_another_family(tmp_path):
    """One that says so in the environment, but of whose processes the library knows nothing."""
    ranks.mpiexec()  # skips where there is none
    program = [sys.executable, str(ranks.PROGRAMS / "mistakes.py"), "none"]
    # Open MPI forgets the memory of a process that is alone.
    shared = {f"OMPI_MCA_btl_{name}_backing_directory": str(tmp_path) for name in ("sm", "vader")}
    env = ranks.settings(OMPI_COMM_WORLD_RANK="0", OMPI_COMM_WORLD_SIZE="2", **shared)
    done = subprocess.run(program, env=env, capture_output=True, text=True, timeout=ranks.DEADLINE)
    assert done.returncode != 0
    said = done.stderr.partition("RuntimeError: ")[2].strip()
    assert "has started 2 processes, but the MPI library" in said and "sees 1" in said, done.stderr
    assert "MS_MPI_LIBRARY" in said and len(said.splitlines()) <= 12, said


def test_what_does_not_go_together():
    ranks.passes("contradictions.py", 2)

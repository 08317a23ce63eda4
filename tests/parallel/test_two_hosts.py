"""Training on two hosts, which are network namespaces where the system lets root make them: the losses of one process, and who is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import ranks

import msrun

pytestmark = [pytest.mark.host_device, pytest.mark.slow]


def both(folder: Path, machines: list[str], *program: str, **environment: str) -> list[str]:
    """What each of two machines with a process each says, with its status in front."""
    ranks.mpiexec()  # skips where there is none
    tree = str(Path(msrun.__file__).parent.parent)
    command = [
        *(sys.executable, "-m", "msrun", "--worker_num=2", "--local_worker_num=1", "--join=True"),
        *("--master_addr=10.77.0.1", "--master_port=8201"),
    ]
    named = 'hostname "$0"; exec "$@"'
    jobs = [
        subprocess.Popen(
            [
                *("ip", "netns", "exec", machine, "unshare", "-u", "sh", "-c", named, machine),
                *(*command, f"--log_dir={folder}/logs{number}"),
                *(str(ranks.PROGRAMS / program[0]), *program[1:]),
            ],
            env=ranks.settings(
                PYTHONPATH=os.pathsep.join([tree, os.environ.get("PYTHONPATH", "")]), **environment
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for number, machine in enumerate(machines)
    ]
    said = [job.communicate(timeout=ranks.DEADLINE)[0] for job in jobs]
    return [f"{job.returncode} {text}" for job, text in zip(jobs, said)]


@pytest.mark.parametrize("program", ["collectives.py", "data_parallel.py"])
def test_programs_run_there(program, tmp_path, machines):
    for said in both(tmp_path, machines, program):
        assert said.startswith("0 "), said
    for number in range(2):
        log = tmp_path / f"logs{number}" / f"worker_{number}.log"
        assert "all is well" in log.read_text()


def test_the_other_host_hears_of_a_death(tmp_path, machines):
    said = both(tmp_path, machines, "faults.py", "kill", "forward", str(tmp_path), LOST="1")
    assert "rank 1" in said[0] and "died without a farewell" in said[0], said
    assert all(text.split()[0] in ("3", "137") for text in said), said

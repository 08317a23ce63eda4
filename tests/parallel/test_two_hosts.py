"""Training on two hosts, which are network namespaces where the system lets root make them: the losses of one process, and who is lost."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import ranks

import msrun
from msrun import _names

pytestmark = [pytest.mark.host_device, pytest.mark.slow]


def both(
    folder: Path,
    machines: list[str],
    *program: str,
    names: list[str] | None = None,
    before: tuple[str, ...] = (),
    **environment: str,
) -> list[str]:
    """What each of two machines with a process each says, with its status in front. They are called `names`, else as their namespaces."""
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
                *("ip", "netns", "exec", machine, "unshare", "-u", "sh", "-c", named, name),
                *before,
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
        for number, (machine, name) in enumerate(zip(machines, names or machines))
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


def test_machines_that_call_themselves_alike(tmp_path, machines):
    for said in both(tmp_path, machines, "data_parallel.py", names=["alike", "alike"]):
        assert said.startswith("0 "), said


def test_names_that_may_not_be_changed(tmp_path, machines):
    may_not = ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin")
    if not shutil.which("setpriv"):
        pytest.skip("needs setpriv")
    said = both(tmp_path, machines, "data_parallel.py", names=["alike", "alike"], before=may_not)
    assert "10.77.0.1 and 10.77.0.2 all call themselves 'alike'" in said[0], said
    assert "hostnamectl" in said[0] and not said[0].startswith("0 "), said


def test_names_apart():
    assert _names.apart(["a", "b"]) == ["a", "b"]
    assert _names.apart(["a", "a", "b", "a"]) == ["a", "a-2", "b", "a-3"]
    assert _names.apart(["a", "a", "a-2"]) == ["a", "a-3", "a-2"]

"""msrun on two machines, which are network namespaces with host names of their own: where the system lets root make them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msrunlib import SCRIPT, TREE, mpiexecs, processes_in

# A temporary folder may have a longer path than a socket.
SCRATCH = "scratch" + "-" * 100

pytestmark = pytest.mark.skipif(not mpiexecs(), reason="there is no mpiexec")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "net.py").write_text(SCRIPT)
    (tmp_path / SCRATCH).mkdir()
    yield tmp_path
    for _ in range(100):
        if not processes_in(tmp_path) and not os.listdir(tmp_path / SCRATCH):
            return
        time.sleep(0.1)
    assert (processes_in(tmp_path), os.listdir(tmp_path / SCRATCH)) == ([], [])


def start(
    folder: Path, machine: str, number: int, *arguments: str, mpiexec: str = ""
) -> subprocess.Popen:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PRTE_", "OMP_"))}
    command = [
        *(sys.executable, "-m", "msrun", "--worker_num=4", "--local_worker_num=2", "--join=True"),
        *("--master_addr=10.77.0.1", "--master_port=8200", f"--log_dir=logs{number}", *arguments),
    ]
    named = 'hostname "$0"; exec "$@"'
    return subprocess.Popen(
        ["ip", "netns", "exec", machine, "unshare", "-u", "sh", "-c", named, machine, *command],
        cwd=folder,
        env={
            **clean,
            "PYTHONPATH": TREE,
            "TMPDIR": str(folder / SCRATCH),
            "MS_MPIEXEC": mpiexec or mpiexecs()[0],
            "ONLY_THERE": str(number),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(jobs: list[subprocess.Popen]) -> list[tuple[int, str, str]]:
    ends = [job.communicate(timeout=120) for job in jobs]
    return [(job.returncode, *said) for job, said in zip(jobs, ends)]


def told(folder: Path, rank: int) -> dict:
    return json.loads(
        (folder / f"logs{rank // 2}" / f"worker_{rank}.log").read_text().splitlines()[0]
    )


@pytest.mark.parametrize("mpiexec", mpiexecs())
def test_each_machine_has_its_processes_and_logs(folder, machines, mpiexec):
    jobs = [start(folder, m, n, "net.py", mpiexec=mpiexec) for n, m in enumerate(machines)]
    ends = end(jobs)
    assert [status for status, _, _ in ends] == [0, 0], ends
    for rank in range(4):
        said = told(folder, rank)
        assert (said["RANK_ID"], said["RANK_SIZE"]) == (str(rank), "4")
        assert said["DEVICE_ID"] == str(rank % 2)
        assert said["MS_SCHED_HOST"] == "10.77.0.1"


@pytest.mark.parametrize("mpiexec", mpiexecs())
def test_where_one_fails_all_machines_hear(folder, machines, mpiexec):
    script = (folder / "net.py").read_text().replace("rank == 1", "rank == 3")
    (folder / "net.py").write_text(script)
    jobs = [start(folder, m, n, "net.py", "exit", mpiexec=mpiexec) for n, m in enumerate(machines)]
    assert [status for status, _, _ in end(jobs)] == [5, 5]


@pytest.mark.parametrize("mpiexec", mpiexecs())
def test_who_is_left_on_any_machine_may_go_on(folder, machines, mpiexec):
    (folder / "net.py").write_text("""
import os, pathlib, sys, time
rank = int(os.environ["RANK_ID"])
pathlib.Path(os.environ["MSRUN_JOINED"]).touch()
time.sleep(1 + rank % 3)
if rank == 3: sys.exit(5)
pathlib.Path(f"saved_{rank}").touch()
""")
    jobs = [start(folder, m, n, "net.py", mpiexec=mpiexec) for n, m in enumerate(machines)]
    assert [status for status, _, _ in end(jobs)] == [5, 5]
    assert sorted(path.name for path in folder.glob("saved_*")) == ["saved_0", "saved_1", "saved_2"]


@pytest.mark.parametrize("killed", [0, 1])
def test_the_death_of_one_msrun_ends_all(folder, machines, killed):
    jobs = [start(folder, m, n, "net.py", "sleep") for n, m in enumerate(machines)]
    for _ in range(1200):
        if len(list(folder.glob("logs*/worker_*.log"))) == 4:
            break
        time.sleep(0.05)
    jobs[killed].send_signal(signal.SIGTERM)
    statuses = [status for status, _, _ in end(jobs)]
    assert statuses[killed] in (143, -15) and statuses[1 - killed] != 0


def test_what_does_not_fit_together_is_refused(folder, machines):
    first = start(folder, machines[0], 0, "--cluster_time_out=5", "net.py")
    other = start(folder, machines[1], 1, "--worker_num=5", "net.py")
    (status, _, said), (status_of_other, _, said_there) = end([first, other])
    assert (status, status_of_other) == (2, 2)
    assert "machines for 4 processes must come within 5 s, but those for 2 came" in said
    assert "--worker_num must be 4, as on the master, but got 5" in said_there


def test_without_a_master_the_others_say_where_it_must_be(folder, machines):
    ends = end([start(folder, machines[1], 1, "--cluster_time_out=1", "net.py")])
    assert ends[0][0] == 2
    assert "the msrun of the master must listen at 10.77.0.1:8200 within 1 s" in ends[0][2]


def test_where_the_master_may_all_machines_begin_again(folder, machines):
    script = (folder / "net.py").read_text().replace("rank == 1", "rank == 3")
    script = script.replace(
        "deed = sys", 'again = os.environ["MS_RESTART_COUNT"] != "0"\ndeed = sys'
    )
    script = script.replace("if deed: time.sleep(300)", "if not again: time.sleep(300)")
    script = script.replace('deed == "exit" and', 'deed == "exit" and not again and')
    (folder / "net.py").write_text(script)
    master = start(folder, machines[0], 0, "--max_restarts=2", "net.py", "exit")
    ends = end([master, start(folder, machines[1], 1, "net.py", "exit")])
    assert [status for status, _, _ in ends] == [0, 0], ends
    assert "started again, 1 of 2 times" in ends[0][2], ends
    assert len(list(folder.glob("logs*/worker_*.start1.log"))) == 4

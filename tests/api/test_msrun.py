"""The command msrun: what its processes read, where their output goes, how jobs end and that nothing of them stays."""

from __future__ import annotations

import json
import mmap
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msrunlib import SCRIPT, TREE, mpiexecs, processes_in

import msrun._arguments
import msrun._job
import msrun._mpiexec
import msrun._surroundings

pytestmark = pytest.mark.skipif(not mpiexecs(), reason="there is no mpiexec")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the script; afterwards nothing is left of jobs."""
    (tmp_path / "net.py").write_text(SCRIPT)
    (tmp_path / "scratch").mkdir()
    yield tmp_path
    assert os.listdir(tmp_path / "scratch") == []
    left = [path.name for path in Path("/dev/shm").glob("msrun-*")]
    assert all(Path("/proc", name.split("-")[1]).exists() for name in left), left
    assert processes_in(tmp_path) == []


def start(folder: Path, *arguments: str, workers: int = 2, **env: str) -> subprocess.Popen:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PRTE_", "OMP_"))}
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "msrun", f"--worker_num={workers}"),
            *(f"--local_worker_num={workers}", "--log_dir=logs", *arguments),
        ],
        cwd=folder,
        env={**clean, "PYTHONPATH": TREE, "TMPDIR": str(folder / "scratch"), **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, *arguments: str, workers: int = 2, **env: str) -> tuple[int, str, str]:
    job = start(folder, *arguments, workers=workers, **env)
    out, err = job.communicate(timeout=120)
    return job.returncode, out, err


def said(folder: Path, rank: int) -> dict:
    return json.loads((folder / "logs" / f"worker_{rank}.log").read_text().splitlines()[0])


def wait_for_ranks(folder: Path, count: int) -> list[int]:
    """The processes of all ranks, once they have said who they are."""
    logs = [folder / "logs" / f"worker_{rank}.log" for rank in range(count)]
    for _ in range(1200):
        if all(log.exists() and "an error" in log.read_text() for log in logs):
            return [said(folder, rank)["pid"] for rank in range(count)]
        time.sleep(0.05)
    raise AssertionError("the ranks do not come")


@pytest.mark.parametrize("mpiexec", mpiexecs())
def test_each_process_reads_its_place(folder, mpiexec):
    status, out, err = run(
        folder, "--join=True", "net.py", "", "--rate", "0.1", workers=3, MS_MPIEXEC=mpiexec
    )
    assert (status, err) == (0, "")
    for rank in range(3):
        told = said(folder, rank)
        assert told["arguments"] == ["", "--rate", "0.1"] and told["file"].endswith("net.py")
        assert told["path"] == str(folder) and told["MS_ROLE"] == "MS_WORKER"
        assert told["RANK_ID"] == told["DEVICE_ID"] == told["MS_NODE_ID"] == str(rank)
        assert told["RANK_SIZE"] == told["MS_WORKER_NUM"] == "3"
        assert told["MS_SCHED_HOST"] == "127.0.0.1" and told["MS_TOPO_TIMEOUT"] == "600"
        assert told["TMPDIR"] == str(folder / "scratch")
        assert (folder / "logs" / f"worker_{rank}.log").read_text() in out
    assert out.count("an error") == 3


@pytest.mark.parametrize("mpiexec", mpiexecs())
@pytest.mark.parametrize(
    "deed, status, says", [("exit", 5, ""), ("raise", 1, "ValueError: bad data"), ("kill", 137, "")]
)
def test_where_one_fails_all_end_and_its_status_is_that_of_the_job(
    folder, mpiexec, deed, status, says
):
    found, out, err = run(folder, "--join=True", "net.py", deed, MS_MPIEXEC=mpiexec)
    assert found == status and says in out
    assert f"status {status}" in err


@pytest.mark.parametrize("mpiexec", mpiexecs())
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all(folder, mpiexec, number):
    job = start(folder, "--join=True", "net.py", "sleep", MS_MPIEXEC=mpiexec)
    wait_for_ranks(folder, 2)
    job.send_signal(number)
    job.communicate(timeout=60)
    assert job.returncode == 128 + number


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_the_death_of_the_launcher_or_of_msrun_ends_all(folder):
    for whose in (parent, lambda rank: parent(parent(rank))):  # who waits for a rank, and mpiexec
        job = start(folder, "--join=True", "net.py", "sleep")
        os.kill(whose(wait_for_ranks(folder, 2)[0]), 9)
        job.communicate(timeout=60)
        assert job.returncode == 137
        shutil.rmtree(folder / "logs")
    job = start(folder, "--join=True", "net.py", "sleep")
    wait_for_ranks(folder, 2)
    job.kill()
    job.communicate(timeout=60)
    for _ in range(600):  # the launcher hears of it and ends the others
        if not processes_in(folder):
            break
        time.sleep(0.1)
    for left in (folder / "scratch").iterdir():  # nobody is there to remove its folder
        shutil.rmtree(left)
    for left in Path("/dev/shm").glob(f"msrun-{job.pid}-*"):
        shutil.rmtree(left)


def test_memory_that_killed_processes_shared_is_given_back(tmp_path):
    start = time.time() - 1
    for name in ("forgotten", "opened", "mapped", "another"):
        (tmp_path / f"mpich_shm_{name}").write_bytes(b"x")
    (tmp_path / "mpich_shm_another").rename(tmp_path / "another")
    with open(tmp_path / "mpich_shm_mapped", "r+b") as file:
        mapped = mmap.mmap(file.fileno(), 1)
    with open(tmp_path / "mpich_shm_opened"), mapped:
        msrun._surroundings._remove_forgotten(tmp_path, "mpich_shm_*", time.time() + 60)
        assert len(list(tmp_path.iterdir())) == 4
        msrun._surroundings._remove_forgotten(tmp_path, "mpich_shm_*", start)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"mpich_shm_opened", "mpich_shm_mapped", "another"}


def test_without_join_the_job_goes_on_by_itself(folder):
    status, out, err = run(folder, "net.py")
    assert (status, err) == (0, "") and "started 2 processes" in out
    wait_for_ranks(folder, 2)
    for _ in range(600):
        if not processes_in(folder):
            return
        time.sleep(0.1)
    raise AssertionError(processes_in(folder))


def test_two_jobs_run_at_once(folder):
    jobs = [start(folder, f"--log_dir=logs{i}", "--join=True", "net.py") for i in range(2)]
    ends = [job.communicate(timeout=60) for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0], ends
    ports = {json.loads(out.splitlines()[0])["MS_SCHED_PORT"] for out, _ in ends}
    assert len(ports) == 2


def test_the_shown_logs_and_their_names_are_chosen(folder):
    chosen = ("--tail_worker_log=1", "--worker_log_name=w_{hostname}", "--join=True")
    status, out, _ = run(folder, *chosen, "net.py", "exit")
    assert status == 5 and out.count("an error") == 1 and '"RANK_ID": "1"' in out
    host = socket.gethostname()
    logs = {f"w_{host}_0.log", f"w_{host}_1.log", "scheduler.log"}
    assert set(os.listdir(folder / "logs")) == logs


def test_cores_are_bound(folder):
    cores = sorted(os.sched_getaffinity(0))
    run(folder, "--join=True", "net.py")
    assert said(folder, 0)["cores"] == said(folder, 1)["cores"] == cores
    if len(cores) > 1:
        run(folder, "--bind_core=True", "--join=True", "net.py")
        half = len(cores) // 2
        assert said(folder, 0)["cores"] == cores[:half]
        assert said(folder, 1)["cores"] == cores[half : 2 * half]
    named = json.dumps({"device1": [str(cores[0])]})
    run(folder, "--bind_core", named, "--join=True", "net.py")
    assert (said(folder, 0)["cores"], said(folder, 1)["cores"]) == (cores, cores[:1])


def test_a_program_that_is_no_python_script_runs_too(folder):
    status, out, _ = run(folder, "--join=True", "sh", "-c", "echo rank $RANK_ID of $RANK_SIZE")
    assert status == 0 and sorted(out.split("\n")) == ["", "rank 0 of 2", "rank 1 of 2"]


def test_a_script_that_is_missing_is_named(folder):
    status, out, _ = run(folder, "--join=True", "nothing.py")
    assert status == 2 and "nothing.py" in out


def test_no_home_and_threads_of_the_users(folder):
    status, _, err = run(folder, "--join=True", "net.py", HOME="", OMP_NUM_THREADS="7")
    assert status == 0, err
    assert said(folder, 0)["HOME"] and said(folder, 0)["OMP_NUM_THREADS"] == "7"


@pytest.mark.parametrize(
    "arguments, says",
    [
        (["--worker_num=0", "net.py"], "--worker_num must be at least 1, but got 0"),
        (["--local_worker_num=3", "net.py"], r"must be in \[1, 2\]"),
        (["--node_rank=1", "net.py"], "--node_rank must be 0, the only machine"),
        (["--node_rank=-2", "net.py"], "--node_rank must not be negative, but got -2"),
        (["--master_port=80", "net.py"], r"must be in \[1024, 65535\], but got 80"),
        (["--cluster_time_out=0", "net.py"], "must not be 0"),
        (["--sim_level=1", "net.py"], "--sim_level must be left out"),
        (["--master_addr=no-such.invalid", "net.py"], "'no-such.invalid'"),
        (["--tail_worker_log=2", "net.py"], "ranks below 2, such as 0,1, but got '2'"),
        (["--tail_worker_log=x", "net.py"], "but got 'x'"),
    ],
)
def test_what_cannot_be_is_refused(arguments, says):
    with pytest.raises(msrun._arguments.Refused, match=says):
        msrun._arguments.parse(["--worker_num=2", "--local_worker_num=2", *arguments])


@pytest.mark.parametrize(
    "arguments, counts",
    [
        ([], (8, 8)),
        (["--worker_num=2"], (2, 2)),
        (["--worker_num=12"], (12, 12)),
        (["--local_worker_num=3"], (3, 3)),
        (["--worker_num=12", "--master_addr=127.0.1.1"], (12, 8)),
        (["--worker_num=2", "--master_addr=127.0.1.1"], (2, 2)),
        (["--local_worker_num=2", "--node_rank=1"], (8, 2)),
        (["--worker_num=4", "--local_worker_num=2"], (4, 2)),
    ],
)
def test_one_number_of_processes_stands_for_both_on_one_machine(arguments, counts):
    args = msrun._arguments.parse([*arguments, "net.py"])
    assert (args.worker_num, args.local_worker_num) == counts


@pytest.mark.parametrize("arguments", [[], ["--join=maybe", "net.py"], ["--bind_core=x", "net.py"]])
def test_usage_is_said(arguments, capsys):
    with pytest.raises(SystemExit, match="2"):
        msrun._arguments.parse(arguments)
    assert "usage: msrun" in capsys.readouterr().err


def test_what_has_no_effect_is_said(capsys):
    msrun._arguments.parse(
        [*("--worker_num=1", "--local_worker_num=1", "--rank_table_file=x"), "net.py", "--join"]
    )
    assert "--rank_table_file has no effect" in capsys.readouterr().err


def test_a_taken_port_is_refused(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        status, _, err = run(folder, f"--master_port={port}", "--join=True", "net.py")
    assert status == 2 and f"127.0.0.1:{port}: Address already in use" in err
    status, _, err = run(folder, "--master_addr=192.0.2.77", "--join=True", "net.py")
    assert status == 2 and "must be an address of this machine" in err


def test_mpiexec_is_found_or_what_to_install_is_said(monkeypatch, tmp_path):
    monkeypatch.delenv("MS_MPIEXEC", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(msrun._arguments.Refused, match=r"pip install \"mindspore\[dist\]\""):
        msrun._mpiexec.find()
    mine = tmp_path / "bin" / "mpiexec"
    mine.parent.mkdir()
    mine.write_text("#!/bin/sh\necho mine (Open MPI) 9\n".replace("(", "'(").replace(")", ")'"))
    mine.chmod(0o755)
    monkeypatch.setenv("PATH", "/bin:/usr/bin")
    assert msrun._mpiexec.find() == (str(mine), "openmpi")  # before those of the PATH
    monkeypatch.setenv("MS_MPIEXEC", "nothing")
    with pytest.raises(msrun._arguments.Refused, match=r"MS_MPIEXEC .* 'nothing'"):
        msrun._mpiexec.find()
    mine.write_text("#!/bin/sh\necho something else\n")
    monkeypatch.setenv("MS_MPIEXEC", str(mine))
    with pytest.raises(msrun._arguments.Refused, match="'something else'"):
        msrun._mpiexec.find()

"""Which process of how many this is, from what launchers say in the environment."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mindspore.common import _launched, _processors
from mindspore.common._launched import Launched, launched

OPENMPI = {
    "OMPI_COMM_WORLD_RANK": "5",
    "OMPI_COMM_WORLD_SIZE": "8",
    "OMPI_COMM_WORLD_LOCAL_RANK": "1",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "4",
    "PMIX_RANK": "5",
}
MPICH = {"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}
SRUN = {
    "SLURM_PROCID": "6",
    "SLURM_NTASKS": "7",
    "SLURM_STEP_NUM_TASKS": "7",
    "SLURM_LOCALID": "2",
    "SLURM_NODEID": "1",
    "SLURM_STEP_TASKS_PER_NODE": "4,3",
}


@pytest.mark.parametrize(
    "environment, place",
    [
        ({}, Launched()),
        ({"PATH": "/bin", "RANK_ID": "3"}, Launched()),
        (OPENMPI, Launched(5, 8, 1, 4, "mpirun of Open MPI", "openmpi")),
        (MPICH, Launched(1, 2, 1, 2, "mpiexec of MPICH", "mpich")),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"}, Launched(0, 2, 0, 2, "mpiexec of MPICH", "mpich")),
        (SRUN, Launched(6, 7, 2, 3, "srun", "")),
        ({**SRUN, "PMIX_RANK": "6"}, Launched(6, 7, 2, 3, "srun", "any")),
        ({**SRUN, "PMI_RANK": "6", "PMI_SIZE": "7"}, Launched(6, 7, 2, 3, "srun", "mpich")),
        ({**SRUN, **OPENMPI}, Launched(5, 8, 1, 4, "mpirun of Open MPI", "openmpi")),
        ({"RANK_ID": "1", "RANK_SIZE": "4"}, Launched(1, 4, 1, 4, "RANK_ID and RANK_SIZE", "")),
        ({**OPENMPI, "RANK_ID": "0", "RANK_SIZE": "1"}, launched(OPENMPI)),
    ],
)
def test_launchers_are_known_by_their_variables(environment, place):
    assert launched(environment) == place


def test_a_script_of_sbatch_is_one_process():
    batch = {k: v for k, v in SRUN.items() if "STEP" not in k} | {"SLURM_PROCID": "0"}
    assert launched(batch) == Launched()


@pytest.mark.parametrize(
    "tasks, counts", [("2(x3),1", [2, 2, 2, 1]), ("4", [4]), ("", []), ("a", []), ("2(xa)", [])]
)
def test_slurms_short_form_of_tasks_per_machine(tasks, counts):
    assert _launched._tasks_per_node(tasks) == counts


def test_unknown_tasks_per_machine_leave_room_for_the_rank():
    assert launched({**SRUN, "SLURM_STEP_TASKS_PER_NODE": "?"})[2:4] == (2, 7)
    assert launched({**SRUN, "SLURM_STEP_TASKS_PER_NODE": "4,1"})[2:4] == (2, 3)


def test_msrun_gives_the_address_of_the_watch():
    place = launched({**OPENMPI, _launched.WATCH: "127.0.0.1:4711/a"})
    assert place.launcher == "msrun" and place.family == "openmpi"
    assert place.watch == "127.0.0.1:4711/a"


@pytest.mark.parametrize(
    "changed, says",
    [
        ({"OMPI_COMM_WORLD_RANK": "x"}, "OMPI_COMM_WORLD_RANK .*'x'"),
        ({"OMPI_COMM_WORLD_RANK": "-1"}, "OMPI_COMM_WORLD_RANK .*'-1'"),
        ({"OMPI_COMM_WORLD_SIZE": "²"}, "OMPI_COMM_WORLD_SIZE .*'²'"),
        ({"OMPI_COMM_WORLD_RANK": "8"}, "RANK=8 and OMPI_COMM_WORLD_SIZE=8"),
        ({"OMPI_COMM_WORLD_LOCAL_RANK": "4"}, "LOCAL_RANK=4 and OMPI_COMM_WORLD_LOCAL_SIZE=4"),
    ],
)
def test_what_cannot_be_is_an_error_that_names_the_variable(changed, says):
    with pytest.raises(RuntimeError, match=says):
        launched({**OPENMPI, **changed})


def test_the_file_needs_nothing_of_the_package():
    code = f"import runpy, sys; print(runpy.run_path({_launched.__file__!r})['launched']().rank); assert 'mindspore' not in sys.modules"
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        env={"PATH": os.environ["PATH"], **OPENMPI},
        capture_output=True,
        text=True,
    )
    assert (ran.stdout, ran.stderr) == ("5\n", "")


@pytest.mark.parametrize(
    "granted, own, launchers, processes, threads",
    [
        (8, 8, 8, 2, 4),
        (8, 8, 8, 3, 2),
        (2, 2, 2, 4, 1),
        (4, 4, 8, 2, 4),  # bound by the launcher
        (1, 1, 8, 2, 1),
        (3, 8, 8, 2, 1),  # by a control group
        (6, 8, 64, 2, 3),
    ],
)
def test_processes_of_one_machine_share_its_processors(granted, own, launchers, processes, threads):
    assert _processors.part_of(granted, own, launchers, processes) == threads


@pytest.mark.parametrize(
    "environment, whole",
    [
        (OPENMPI | {"OMPI_COMM_WORLD_LOCAL_SIZE": "1000"}, False),
        (OPENMPI | {"OMPI_COMM_WORLD_LOCAL_SIZE": "1000", "OMP_NUM_THREADS": "2"}, True),
        ({"RANK_ID": "0", "RANK_SIZE": "1000"}, True),
        (OPENMPI | {"OMPI_COMM_WORLD_SIZE": "nonsense"}, True),
    ],
)
def test_threads_at_import(environment, whole):
    code = "from mindspore import _core; print(_core.num_threads())"
    env = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"} | environment
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    processors = len(os.sched_getaffinity(0))
    assert (ran.stderr, int(ran.stdout) == 1) == ("", not whole or processors == 1)

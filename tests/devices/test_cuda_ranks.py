"""Several processes, each with a GPU: NCCL on its stub, whose ranks exchange through shared memory."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import cuda_device
import pytest
from test_cuda import CUDA_HOMES, compile_declarations, headers, on_the_stub, pytestmark
from test_cuda_installations import ALL, installed

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "parallel"))
import ranks  # noqa: E402

__all__ = ["pytestmark"]

ON_GPU = HERE / "gpu_programs" / "on_gpu.py"


def start(program: Path, count: int, *arguments: str, **more: str) -> subprocess.CompletedProcess:
    if cuda_device.is_real() and len(list(Path("/dev").glob("nvidia[0-9]*"))) < count:
        pytest.skip(f"needs {count} GPUs, or the stub of CUDA")
    launcher = [ranks.mpiexec(), "--oversubscribe", "-n", str(count), sys.executable, str(ON_GPU)]
    # Ranks that die leave there what they would have said.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as said:
        return subprocess.run(
            [*launcher, str(program), *arguments],
            env=ranks.settings(**cuda_device.variables(), MS_NCCL_STUB_FOLDER=said, **more),
            capture_output=True,
            text=True,
            timeout=ranks.DEADLINE,
            check=False,
        )


def passes(program: Path, count: int, **more: str) -> subprocess.CompletedProcess:
    done = start(program, count, **more)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-5000:]
    assert done.stdout.count("all is well") == count, done.stdout[-3000:] + done.stderr[-3000:]
    assert "CUDA stub:" not in done.stderr, done.stderr
    return done


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_steps_of_several(count):
    """Recordings, groups of some, a training step; none of it on the host."""
    said = passes(HERE / "gpu_programs" / "steps.py", count, MS_LOG="dispatch").stderr
    assert not [line for line in said.splitlines() if "All" in line and "between copies" in line]


@pytest.mark.slow
def test_all_collectives():
    """Those of the host's tests, in all dtypes: what NCCL has no numbers for is the host's."""
    passes(ranks.PROGRAMS / "collectives.py", 2)


@on_the_stub
def test_nccl_that_is_missing_is_named_by_all(tmp_path):
    program = tmp_path / "alone.py"
    program.write_text("""
import mindspore as ms, numpy as np
from mindspore import Tensor, ops
ms.communication.init()
x = Tensor(np.ones(3, np.float32)) + 1
try:
    ops.AllReduce()(x)
except RuntimeError as error:
    assert "For 'AllReduce', NVIDIA's library libnccl is needed for the device 'GPU': pip install" in str(error), error
    assert "MS_CUDA_NCCL=0" in str(error) and "libnccl.so.2: cannot open" in str(error), error
    assert x.asnumpy().sum() == 6
    print("all is well")
""")
    passes(program, 2, **installed(tmp_path, ALL - {"libnccl.so.2"}))


@on_the_stub
@pytest.mark.slow
@pytest.mark.parametrize(
    "what, wanted",
    [
        (
            "refuse",
            "For 'AllReduce', NCCL refuses ncclAllReduce in the group 'hccl_world_group': "
            "internal error (result 3): as the stub says",
        ),
        ("same", "NCCL refuses ncclCommInitRankConfig"),
        (
            "break",
            "in the group 'hccl_world_group': remote error (result 6)",
        ),
        ("died", "died without a farewell"),
        ("left", "has ended its program"),
        ("raised", "ended with an exception"),
        ("another", "must call the same collectives in the same order"),
    ],
)
def test_what_goes_wrong(what, wanted):
    stub = {"MS_NCCL_STUB": what if what in ("refuse", "same", "break") else "none"}
    done = start(HERE / "gpu_programs" / "wrong.py", 2, what, **stub, MS_COMM_TIMEOUT="5")
    heard = " ".join(done.stdout.split())
    # Who is told may be ended by the launcher before it says so.
    ended = what == "died" and "noticed that process rank" in done.stderr
    assert done.returncode != 0 and (wanted in heard or ended), done.stdout + done.stderr
    assert "wrong.py" in done.stderr or ended


def test_declarations_are_those_of_nccl():
    """Where its header is installed: NVIDIA's wheel brings it."""
    site = sysconfig.get_paths()["purelib"]
    home = os.environ.get("NCCL_HOME", "/usr")
    nccl = headers("nccl.h", f"{site}/nvidia/nccl/include", f"{home}/include")
    cuda = headers("cuda_runtime.h", f"{site}/nvidia/cu13/include", *CUDA_HOMES)
    if not nccl or not cuda:
        pytest.skip("nccl.h and cuda_runtime.h are not installed: NCCL_HOME names another place")
    compile_declarations("nccl_declarations.cc", nccl, cuda)

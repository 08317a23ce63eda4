"""The device of examples/backend, built against the installed package as its users would, trains."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mindspore import sysconfig

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "backend"

EXACT = """if True:
    import sys
    import mindspore as ms
    from mindspore import Tensor, ops
    ms.set_device(ms.register_backend(sys.argv[1]))
    print(float(ops.amax(Tensor([1.0, float("nan")]))))
    loss, _ = ops.SoftmaxCrossEntropyWithLogits()(Tensor([[1000.0, 0]]), Tensor([[0.0, 1]]))
    print(int(loss))
    try:
        Tensor([1 + 2j]) + 1
    except TypeError as error:
        assert "Toy computes with floats, Int32 and Bool only" in str(error)
        print("refused")
"""


def command(*words) -> str:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_builds_and_trains(tmp_path):
    cmake = shutil.which("cmake", path=f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    if not os.path.isdir(sysconfig.get_cmake_dir()) or not cmake:
        pytest.skip("needs an installed package and CMake")
    command(cmake, "-S", EXAMPLE, "-B", tmp_path, f"-Dmindspore_DIR={sysconfig.get_cmake_dir()}")
    command(cmake, "--build", tmp_path)
    toy = tmp_path / "toy_backend.so"
    assert command(sys.executable, "-c", EXACT, toy).split() == ["nan", "1000", "refused"]
    lines = command(sys.executable, EXAMPLE / "train.py", toy).splitlines()
    assert len(lines) == 4
    for line in lines:
        first, last = map(float, line.split(":")[1].split(" -> "))
        assert "on Toy" in line and last < first / 10

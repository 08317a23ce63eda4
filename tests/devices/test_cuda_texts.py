"""The texts of the GPU's kernels: those of some programs are kept in golden_kernels.txt, and NVIDIA's compiler takes them, where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import cuda_device
import pytest
from test_cuda import LIBRARY, run

GOLDEN = Path(__file__).with_name("golden_kernels.txt")
NVCC = shutil.which("nvcc")

# A name, and what is run.
PROGRAMS = {
    "broadcast": "(Tensor(f32(4, 1, 3)) + Tensor(f32(5, 1))).asnumpy()",
    "aligned": "ops.sigmoid(Tensor(f32(64)).astype(ms.bfloat16)).asnumpy()",
    "rows": "ops.softmax(Tensor(f32(5, 7))).asnumpy()",
    "columns": "Tensor(f32(40, 30)).mean(0).asnumpy()",
    "chunks": "Tensor(f32(200000)).sum().asnumpy()",
}
OTHERS = """
t = Tensor(f32(4, 5))
ops.gather(t, Tensor(np.array([0, 1], np.int32)), 0).asnumpy()
nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")(t, Tensor(np.array([0, 1, 2, 3], np.int32))).asnumpy()
drop = nn.Dropout(p=0.3)
drop.set_train()
drop(t).asnumpy()
ops.standard_normal((7, 11)).asnumpy()
for dtype in (ms.int8, ms.int64, ms.uint8, ms.float64):
    x = t.astype(dtype)
    (x // 2 + ops.abs(x) * x.max()).asnumpy()
"""

pytestmark = pytest.mark.skipif(
    cuda_device.is_real() or not cuda_device.is_there() or not LIBRARY.is_file(),
    reason="needs the stub of CUDA: scripts/dev build _core ms_cuda_stub",
)


def texts() -> str:
    """The golden file, as it would be now: PYTHONPATH=tests:tests/devices python tests/devices/test_cuda_texts.py writes it."""
    program = "import sys\nms.set_context(device_target='GPU')\n"
    for name, line in PROGRAMS.items():
        program += f"print('// ---- {name}', file=sys.stderr, flush=True)\n{line}\n"
    program += "raise SystemExit(1)"
    text = run(program, fails=True, MS_KERNEL_CACHE="", MS_DUMP="kernels")
    return text[text.index("// ---- ") :]


def test_texts_are_as_they_were():
    assert texts() == GOLDEN.read_text()


@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
@pytest.mark.parametrize(
    "chip", ["sm_90", *(pytest.param(c, marks=pytest.mark.slow) for c in ("sm_80", "sm_100"))]
)
def test_nvidia_s_compiler_takes_them(chip, tmp_path):
    program = PROGRAMS["rows"] + "\n" + PROGRAMS["aligned"]
    if chip != "sm_90":
        program = "\n".join(PROGRAMS.values()) + OTHERS
    run(
        "ms.set_context(device_target='GPU')\n" + program,
        MS_KERNEL_CACHE="",
        MS_CUDA_STUB_KEEP=str(tmp_path),
    )
    sources = sorted(tmp_path.glob("*.cu"))
    assert sources
    for source in sources:
        command = [NVCC, "-w", "-std=c++17", f"-arch={chip}", "-fmad=false", "-cubin", "-o"]
        done = subprocess.run(
            [*command, str(tmp_path / "out"), str(source)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    GOLDEN.write_text(texts())

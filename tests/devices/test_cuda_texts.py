"""The texts of the GPU's kernels: those of some programs are kept in golden_kernels.txt, and NVIDIA's compiler takes them, where it is installed."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
from pathlib import Path

import cuda_device
import pytest
from test_cuda import LIBRARY, run

from mindspore import _devices

GOLDEN = Path(__file__).with_name("golden_kernels.txt")
NVCC = shutil.which("nvcc")

# A name, and what is run.
PROGRAMS = {
    "broadcast": "(Tensor(f32(4, 1, 3)) + Tensor(f32(5, 1))).asnumpy()",
    "aligned": "ops.sigmoid(Tensor(f32(64)).astype(ms.bfloat16)).asnumpy()",
    "rows": "ops.softmax(Tensor(f32(5, 7))).asnumpy()",
    "columns": "Tensor(f32(40, 30)).mean(0).asnumpy()",
    "middle": "Tensor(f32(4, 30, 40)).sum(1).asnumpy()",
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
x = Tensor(f32(2, 3, 6, 6))
for dtype in (ms.float32, ms.float16, ms.float64):
    y = x.astype(dtype)
    for f in (lambda v: ops.max_pool2d(v, 2), lambda v: ops.avg_pool2d(v, 2), lambda v: ops.adaptive_avg_pool2d(v, 3)):
        ms.grad(f)(y).asnumpy()
ops.uniform((100,), Tensor(0.0), Tensor(1.0)).asnumpy()
norm = nn.BatchNorm2d(3)
norm.set_train()
ms.grad(norm)(x).asnumpy()
at = Tensor(np.array([[0, 1], [1, 2]], np.int32))
for dtype in (ms.float32, ms.bfloat16, ms.float64, ms.int8):
    y = t.astype(dtype)
    for z in (*ops.sort(y), ops.argmax(y, 1), ops.cumsum(y, 0), *ops.cummax(y, 0), ops.cumprod(y, 1), ops.gather_elements(y, 0, at),
              ops.tensor_scatter_max(y, at, y[:2, 0]), ops.unsorted_segment_sum(y, at[:, 0].repeat(2), 3), ops.gather_nd(y, at)):
        z.asnumpy()
    if dtype.is_floating_point:
        [v.asnumpy() for v in (ops.logcumsumexp(y, 0), ms.grad(lambda v: ops.cumprod(v, 1))(y), ops.linspace(y[0, 0], y[0, 1], 5))]
for z in (ops.pad(t, (1, 2)), ops.pad(t, (1, 2), "reflect"), ops.tile(t, (2, 3)), ops.tril(t), ops.eye(3), ops.arange(0.5, 3, 0.25),
          ops.one_hot(at, 4), t.argmax(0), ops.interpolate(x, size=(4, 9), mode="bilinear"), ops.randint(0, 9, (5,)),
          ops.bernoulli(t, 0.5), ops.searchsorted(t[0], t), ops.randperm(9), ops.multinomial(abs(t), 3), ops.multinomial(abs(t), 3, False),
          ops.gamma((4, 5), abs(t), Tensor(1.0)), ops.random_poisson((3,), abs(t))):
    z.asnumpy()
for dtype in (ms.float32, ms.float16, ms.float64):
    y = x.astype(dtype)
    for f in (lambda v: ops.unfold(v, 3), lambda v: ops.fold(ops.unfold(v, 3), Tensor([6, 6], ms.int32), 3), lambda v: ops.pad(v, (1, 2, 3, 1), "reflect")):
        ms.grad(f)(y).asnumpy()
rois = Tensor(np.array([[0, 1, 1, 4, 5], [1, 0, 2, 3, 3]], np.float32))
for dtype in (ms.float32, ms.float16, ms.float64):
    y, places = x.astype(dtype), Tensor(f32(2, 3, 5, 2)).astype(dtype)
    volume, there = Tensor(f32(1, 2, 3, 4, 5)).astype(dtype), Tensor(f32(1, 2, 2, 2, 3)).astype(dtype)
    for padding in ("zeros", "reflection"):
        [v.asnumpy() for v in ms.grad(lambda *v: ops.grid_sample(*v, padding_mode=padding), (0, 1))(y, places)]
    ops.grid_sample(volume, there, "nearest", "border").asnumpy()
    ms.grad(lambda v: ops.ROIAlign(2, 2, 1.0)(v, rois.astype(dtype)))(y).asnumpy()
    for p in (1.0, 2.0):
        ms.grad(lambda v: ops.cdist(v, v, p))(y).asnumpy()
for dtype in (ms.float32, ms.float64):
    lengths = Tensor(np.array([4, 3])), Tensor(np.array([1, 2], np.int32))
    ms.grad(lambda v: ops.ctc_loss(v, at, *lengths, 0, "none")[0])(Tensor(f32(4, 2, 5)).astype(dtype)).asnumpy()
for dtype in (ms.float32, ms.bfloat16, ms.float64):
    for Layer in (nn.LSTM, nn.GRU, nn.RNN, lambda *a: nn.RNN(*a, nonlinearity="relu")):
        ms.grad(lambda v: Layer(6, 3)(v)[0])(x[0].astype(dtype)).asnumpy()
ops.NMSWithMask()(Tensor(f32(300, 5)))[2].asnumpy()
ops.ScatterDiv()(ms.Parameter(Tensor(np.ones((4, 5), np.int32)), name="divided"), at[0], Tensor(np.ones((2, 5), np.int32))).asnumpy()
for dtype in (ms.complex64, ms.complex128):
    x = t.astype(dtype)
    for z in (x * x / x ** 2, x.sum(), x.prod(0), ops.cumsum(x, 1), ops.unsorted_segment_sum(x, at[:, 0].repeat(2), 3), x.astype(ms.float16), abs(x) == x,
              *(f(x) for f in (ops.exp, ops.expm1, ops.log, ops.log1p, ops.sqrt, ops.sigmoid, ops.sin, ops.tan, ops.asin, ops.acos, ops.atan, ops.acosh, ops.sign))):
        z.asnumpy()
for dtype in (ms.int8, ms.int64, ms.uint8, ms.float64):
    x = t.astype(dtype)
    ops.matmul(x, x.T).asnumpy()
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


CHIPS = pytest.mark.parametrize(
    "chip",
    ["sm_90", *(pytest.param(c, marks=pytest.mark.slow) for c in ("sm_75", "sm_80", "sm_100"))],
)


def kept(chip: str, folder: Path) -> list[Path]:
    """Texts that NVIDIA's compilers are given: few for sm_90, many for other chips."""
    program = PROGRAMS["rows"] + "\n" + PROGRAMS["aligned"]
    if chip != "sm_90":
        program = "\n".join(PROGRAMS.values()) + OTHERS
    run(
        "ms.set_context(device_target='GPU')\n" + program,
        MS_KERNEL_CACHE="",
        MS_CUDA_STUB_KEEP=str(folder),
    )
    sources = sorted(folder.glob("*.cu"))
    assert sources
    return sources


@functools.cache
def nvrtc() -> ctypes.CDLL | None:
    """NVIDIA's compiler as the device uses it, which needs no GPU; None: it is not installed."""
    folders = [*map(Path, _devices.vendor_folders()), *Path("/usr/local").glob("cuda*/lib64")]
    for folder in folders:
        for name in ("libnvrtc.so.13", "libnvrtc.so.12"):
            if (folder / name).is_file():
                return ctypes.CDLL(str(folder / name))
    return None


@CHIPS
def test_nvrtc_takes_them(chip, tmp_path):
    """With the options that the device gives it. It knows less than nvcc does: no header, no builtin of the host's compiler."""
    library = nvrtc()
    if not library:
        pytest.skip("needs libnvrtc: pip install nvidia-cuda-nvrtc")
    options = [f"--gpu-architecture={chip}", "--std=c++17", "--fmad=false"]
    for source in kept(chip, tmp_path):
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        text = source.read_bytes()
        assert library.nvrtcCreateProgram(ctypes.byref(program), text, b"m.cu", 0, None, None) == 0
        given = (ctypes.c_char_p * len(options))(*(o.encode() for o in options))
        result = library.nvrtcCompileProgram(program, len(options), given)
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        library.nvrtcDestroyProgram(ctypes.byref(program))
        errors = [line for line in log.value.decode().splitlines() if "error" in line]
        assert result == 0, errors


@pytest.mark.slow
@pytest.mark.skipif(NVCC is None, reason="needs nvcc")
@CHIPS
def test_nvidia_s_compiler_takes_them(chip, tmp_path):
    sources = kept(chip, tmp_path)
    for source in sources:
        assert NVCC
        command = [NVCC, "-w", "-std=c++17", f"-arch={chip}", "-fmad=false", "-cubin", "-o"]
        done = subprocess.run(
            [*command, str(tmp_path / "out"), str(source)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    GOLDEN.write_text(texts())

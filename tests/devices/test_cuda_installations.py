"""The device GPU on machines that lack something: libraries that are missing, too old, too new or loaded by others, drivers of other versions, other
chips, GPUs that are hidden. As test_cuda.py, on the stub alone, whose variables say what the machine is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import cuda_device
import pytest
from test_cuda import LIBRARY, run
from test_cuda_dnn import ATTENTION

pytestmark = pytest.mark.skipif(
    cuda_device.is_real() or not cuda_device.is_there() or not LIBRARY.is_file(),
    reason="needs the stub of CUDA: scripts/dev build _core ms_cuda_stub",
)

ALL = {"libnvrtc.so.13", "libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2"}
OF_12 = {"libnvrtc.so.12", "libcublasLt.so.12", "libcudnn.so.9", "libnccl.so.2"}
PRODUCT = "ms.set_context(device_target='GPU')\nx = Tensor(f32(4, 4))\nprint(ops.matmul(x, x).asnumpy().shape)"


def installed(folder: Path, names: set[str]) -> dict[str, str]:
    """The environment in which these are all of NVIDIA's libraries beside the driver."""
    for name in names:
        (folder / name).symlink_to(str(cuda_device.stub()))
    return {"MS_CUDA_LIBRARIES": str(folder)}


@pytest.mark.parametrize(
    "missing, use, what",
    [
        ("libcublasLt.so.13", "ops.matmul(x[0, 0], x[0, 0].T)", "'MatMul', NVIDIA's library libcublasLt"),
        ("libcublasLt.so.13", "ops.Conv2D(2, 1)(x, x[:, :, :1, :1])", "'Conv2D', libcublasLt.so.13, which"),
        ("libcudnn.so.9", "ops.Conv2D(2, 1)(x, x[:, :, :1, :1])", "'Conv2D', NVIDIA's library libcudnn, version 9,"),
        ("libcudnn.so.9", "ops.flash_attention_score(*(x.half(),) * 3, 2, input_layout='BNSD')", "'Attention', NVIDIA's library libcudnn, version 9,"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", [0, 1])
def test_one_that_is_missing_is_named_where_it_is_needed(missing, use, what, mode, tmp_path):
    run(
        f"""
ms.set_context(device_target="GPU", mode={mode})
x = Tensor(f32(2, 2, 6, 8))
for _ in range(2):
    with pytest.raises(RuntimeError) as caught:
        ms.jit(lambda x: {use})(x).asnumpy() if {mode} == 0 else ({use}).asnumpy()
    text = str(caught.value)
    assert text.startswith("For " + {what!r}) and "is needed for the device 'GPU'" in text, text
    assert "pip install 'mindspore[cuda]' brings one for the driver, which is of CUDA 13.0; " in text, text
    assert {missing!r} in text, text
assert (x + 1).asnumpy().shape == x.shape
""",
        **installed(tmp_path, ALL - {missing}),
    )


def test_a_compiler_that_is_missing_is_named_at_once(tmp_path):
    text = run("ms.set_device('GPU')", fails=True, **installed(tmp_path, ALL - {"libnvrtc.so.13"}))
    assert "the device 'GPU' is not available" in text
    assert "NVIDIA's compiler libnvrtc is needed for the device 'GPU': pip install 'mind" in text


def test_libraries_are_those_that_the_driver_can_use(tmp_path):
    (tmp_path / "libnvrtc.so.13").write_text("opened by those alone who can use it")
    for name in ("libcublasLt.so.13", *OF_12):
        (tmp_path / name).symlink_to(str(cuda_device.stub()))
    both = {"MS_CUDA_LIBRARIES": str(tmp_path), "MS_CUDA_STUB_NVRTC": "12"}
    assert run(PRODUCT, MS_CUDA_STUB_DRIVER="12040", **both).split() == ["(4,", "4)"]
    assert run(PRODUCT, MS_CUDA_STUB_DRIVER="13010", **both).split() == ["(4,", "4)"]
    for name in OF_12:
        (tmp_path / name).unlink()
    text = run(PRODUCT, fails=True, MS_CUDA_STUB_DRIVER="12040", **both)
    assert (
        "pip install 'mindspore[cuda12]' brings one for the driver, which is of CUDA 12.4" in text
    )
    assert "libnvrtc.so.12: cannot open" in text and "libnvrtc.so.13" not in text


def test_drivers_that_are_too_old():
    for version, text in (("11080", "11.8"), ("10020", "10.2")):
        said = run("ms.set_device('GPU')", fails=True, MS_CUDA_STUB_DRIVER=version)
        assert f"driver must be of CUDA 12.0 or newer, but it is of CUDA {text}" in said


CONVOLUTION = "ms.set_context(device_target='GPU')\nops.Conv2D(2, 1)(Tensor(f32(1, 2, 4, 4)), Tensor(f32(2, 2, 1, 1))).asnumpy()"


@pytest.mark.parametrize(
    "version, cuda, driver, what",
    [
        ("8907", "12020", "13000", "of CUDA 13 or older, but {} is 8.9.7, of CUDA 12.2; pip install 'mindspore[cuda]'"),
        ("92800", "13000", "12040", "of CUDA 12 or older, but {} is 9.28.0, of CUDA 13.0; pip install 'mindspore[cuda12]'"),
    ],
)  # fmt: skip
def test_a_cudnn_that_does_not_fit(version, cuda, driver, what):
    environment = {"CUDNN": version, "CUDNN_CUDA": cuda, "DRIVER": driver}
    settings = {f"MS_CUDA_STUB_{name}": value for name, value in environment.items()}
    text = run(CONVOLUTION, fails=True, **settings)
    assert "RuntimeError: For 'Conv2D', libcudnn must be version 9, " + what.format(cuda_device.stub()) in text  # fmt: skip


def test_what_cudnn_calls_is_of_its_own_cuda(tmp_path):
    """Where its wheel for CUDA 12 lies over that for CUDA 13, say."""
    mixed = installed(tmp_path, ALL)
    text = run(CONVOLUTION, fails=True, MS_CUDA_STUB_CUDNN_CUDA="12080", **mixed)
    assert "For 'Conv2D', libnvrtc.so.12, which" in text
    assert "libms_cuda_stub.so calls, is needed for the device 'GPU': pip install" in text
    for name in ("libnvrtc.so.12", "libcublasLt.so.12"):
        (tmp_path / name).symlink_to(str(cuda_device.stub()))
    run(CONVOLUTION, MS_CUDA_STUB_CUDNN_CUDA="12080", **mixed)


def test_attention_of_an_older_cudnn_is_a_composition():
    said = run(
        ATTENTION + "attention(ms.float16)", says=True, MS_LOG="dispatch", MS_CUDA_STUB_CUDNN="91002"
    )  # fmt: skip
    assert f"libcudnn: must be version 9.21.0 or newer, but {cuda_device.stub()} is 9.10.2" in said
    assert "-> a composition of other ops" in said and "between copies" not in said


def test_a_library_that_the_process_has_loaded_is_the_one(tmp_path):
    """As PyTorch does: another one beside it would find parts of the first."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    source = theirs / "dnn.c"
    source.write_text("#include <stddef.h>\nsize_t cudnnGetVersion(void) { return 90701; }")
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-Wl,-soname,libcudnn.so.9", "-Wl,--no-as-needed", "-o", theirs / "libcudnn.so.9", source, cuda_device.stub()],
        check=True,
    )  # fmt: skip
    said = run(
        ATTENTION + f"import ctypes\nctypes.CDLL('{theirs}/libcudnn.so.9')\nattention(ms.float16)",
        says=True,
        MS_LOG="dispatch",
        **installed(ours, ALL),
    )
    assert f"must be version 9.21.0 or newer, but {theirs}/libcudnn.so.9 is 9.7.1" in said


def test_chips_that_are_too_old_or_too_new():
    text = run("ms.set_device('GPU')", fails=True, MS_CUDA_STUB_CHIP="70")
    assert "the GPU must have compute capability 7.5 or newer, but 'Stub 0' has 7.0" in text
    text = run("ms.set_device('GPU')", fails=True, MS_CUDA_STUB_CHIP="130")
    assert "libnvrtc must know the GPU, but version 13." in text
    assert "up to 12, and 'Stub 0' has 13.0" in text and "pip install --upgrade" in text


@pytest.mark.slow
def test_a_chip_without_bfloat16_computes_with_it():
    """And without TF32: products by our own kernel, attention as a composition, convolutions on the host."""
    said = run(
        ATTENTION
        + """
ms.set_context(matmul_allow_tf32=True, conv_allow_tf32=False)
attention(ms.bfloat16, causal=True)
attention(ms.float16)
x = Tensor(f32(2, 4, 6, 6))
for dtype, tolerance in ((ms.float32, 1e-5), (ms.float16, 1e-2), (ms.bfloat16, 1e-1)):
    net = nn.SequentialCell(nn.Dense(6, 6, dtype=dtype), nn.ReLU(), nn.Conv2d(4, 4, 3, dtype=dtype, weight_init="ones"))
    for step in (net, ms.jit(net)):
        a, b = both(lambda: step(x.astype(dtype)).astype(ms.float32).asnumpy())
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance)
""",
        says=True,
        MS_LOG="dispatch",
        MS_CUDA_STUB_CHIP="75",
    )
    assert "cublaslt: libcublasLt has no algorithm, status 15" in said
    copied = {line.split("(")[0] for line in said.splitlines() if "between copies" in line}
    assert copied == {"Conv2D"}, copied


@pytest.mark.parametrize(
    "visible, chosen, name",
    [("1", None, "Stub 1"), ("1,0", 1, "Stub 0"), ("0,7,1", 0, "Stub 0"), ("MIG-GPU-8e3c/1/0", None, "Stub 0 MIG 1g")],
)  # fmt: skip
def test_gpus_that_are_shown(visible, chosen, name):
    program = f"""
from mindspore import _devices
for _ in range(2):
    ms.set_device("GPU", {chosen})
print(_devices.facts("GPU")["name"])
"""
    assert run(program, CUDA_VISIBLE_DEVICES=visible).strip() == name


def test_gpus_that_are_hidden():
    for visible in ("", "-1"):
        text = run("ms.set_device('GPU')", fails=True, CUDA_VISIBLE_DEVICES=visible)
        assert f"driver finds no GPU that CUDA_VISIBLE_DEVICES='{visible}' shows; nvidia" in text
    text = run("ms.set_device('GPU', 1)", fails=True, CUDA_VISIBLE_DEVICES="MIG-GPU-8e3c/1/0")
    assert "'device_id' must be in [0, 1), the GPUs that CUDA_VISIBLE_DEVICES='MIG-" in text
    assert "shows, but got 1" in text

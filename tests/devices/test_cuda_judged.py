"""The graphs that the device GPU gives to cuDNN, judged by cuDNN itself for chips that are not there (cudnn_judge.py), where NVIDIA's wheels are installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import cudnn_judge
import pytest
from test_cuda import on_the_stub, pytestmark, run

__all__ = ["pytestmark"]

CONVOLUTIONS = """
def convolution(shape, weight, dtype=ms.float32, **how):
    last = how.get("data_format") == "NHWC"
    op = (ops.Conv3D if len(shape) == 5 else ops.Conv2D)(weight[0], weight[1:-1] if last else weight[2:], **how)
    def loss(x, w):
        return op(x, w).astype(ms.float32).sum()
    x, w = Tensor(f32(*shape)).astype(dtype), Tensor(f32(*weight, seed=1)).astype(dtype)
    ms.grad(loss, (0, 1))(x, w)[1].asnumpy()
ms.set_context(device_target="GPU")
for dtype in (ms.float32, ms.float16, ms.bfloat16):
    convolution((2, 8, 9, 8), (8, 8, 3, 3), dtype, pad_mode="same", stride=2)
    convolution((2, 9, 8, 8), (16, 3, 3, 8), dtype, pad_mode="pad", pad=1, data_format="NHWC")
convolution((2, 3, 9, 8), (4, 3, 3, 2))
convolution((2, 4, 9, 8), (6, 2, 3, 3), pad_mode="pad", pad=(1, 0, 2, 1), dilation=(2, 1), group=2)
convolution((1, 4, 7, 7), (4, 1, 3, 3), pad_mode="pad", pad=1, group=4)
convolution((1, 2, 5, 6, 4), (3, 2, 2, 3, 3), pad_mode="pad", pad=1, stride=(1, 2, 1))
base = Tensor(f32(2 * 3 * 25 + 1))  # what begins at an odd place
ops.Conv2D(4, 3)(base[1:].reshape(2, 3, 5, 5), Tensor(f32(4, 3, 3, 3))).asnumpy()
class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(8, 8, 3, has_bias=True), nn.BatchNorm2d(8)
    def construct(self, x):
        return ops.relu(self.norm(self.conv(x)) + x)
for dtype in (ms.float32, ms.float16):
    block = Block().to_float(dtype)
    block.set_train(False)
    ms.jit(block)(Tensor(f32(2, 8, 6, 6)).astype(dtype)).asnumpy()
"""

# Each form of a mask, both directions; as users write it, and as the op.
ATTENTION = """
from mindspore.ops.function.attention_func import attend
def gradients(function, dtype, queries=16, keys=16, depth=64, value_depth=64):
    q, k, v = (Tensor(f32(2, 3, n, d)).astype(dtype) for n, d in ((queries, depth), (keys, depth), (keys, value_depth)))
    ms.grad(lambda q, k, v: function(q, k, v).astype(ms.float32).sum(), (0, 1, 2))(q, k, v)[0].asnumpy()
class Net(nn.Cell):
    def construct(self, q, k, v):
        scores = ops.matmul(q, k.swapaxes(-1, -2)) * 0.125
        return ops.matmul(ops.softmax(scores, -1), v)
ms.set_context(device_target="GPU", mode=0)
hides = np.random.RandomState(3).rand(2, 1, 1, 16) < 0.3
for dtype in (ms.float16, ms.bfloat16):
    gradients(Net(), dtype)
    gradients(lambda q, k, v: attend(q, k, v, causal=True), dtype)
    gradients(lambda q, k, v: attend(q, k, v, Tensor(hides)), dtype)
    gradients(lambda q, k, v: attend(q, k, v, Tensor(hides), causal=True), dtype)
    for shape in ((1,), (2, 1, 1, 16), (16, 16), (2, 3, 16, 16)):
        mask = Tensor(f32(*shape)).astype(dtype)
        gradients(lambda q, k, v: attend(q, k, v, mask), dtype)
    gradients(lambda q, k, v: attend(q, k, v, causal=True), dtype, queries=7, keys=9, depth=128, value_depth=32)
    gradients(lambda q, k, v: attend(q, k, v), dtype, queries=1, keys=9)
    gradients(lambda q, k, v: attend(q, k, v), dtype, queries=64, keys=192)
"""


def judged(program: str, chip: str, folder: Path, *policies: str) -> list[dict]:
    if not cudnn_judge.is_there():
        pytest.skip("needs cuDNN: pip install 'mindspore[cuda]'")
    graphs = folder / "graphs"
    run(program, MS_CUDA_STUB_GRAPHS=str(graphs))
    done = subprocess.run(
        [sys.executable, cudnn_judge.__file__, str(graphs), chip, *policies],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def dtype_of(graph: dict) -> int:
    """DATA_* of the first tensor of the first step."""
    step = next(values for attribute, _, values in graph["set"] if attribute == 801)[0]
    tensors = [part for _, kind, values in step["set"] if kind == 15 for part in values]
    first = next(part for part in tensors if part["kind"] == 17)
    return next(values for attribute, _, values in first["set"] if attribute == 901)[0]


@pytest.mark.slow
@on_the_stub
@pytest.mark.parametrize("chip", cudnn_judge.CHIPS)
def test_convolutions(chip, tmp_path):
    """An engine takes each, and one that adds in a fixed order; and one that is exact, each of single precision."""
    answers = judged(CONVOLUTIONS, chip, tmp_path, *cudnn_judge.POLICIES)
    assert len(answers) > 30
    for answer in answers:
        assert isinstance(answer["any"], list), answer
        assert isinstance(answer["deterministic"], list), answer
        if dtype_of(answer["graph"]) == 0:
            assert isinstance(answer["exact"], list), answer
            assert isinstance(answer["exact, deterministic"], list), answer


@pytest.mark.slow
@on_the_stub
def test_a_chip_without_bfloat16(tmp_path):
    """Convolutions of other dtypes have an engine there. Some of BFloat16 have none: the host must do."""
    answers = judged(CONVOLUTIONS, "sm_75", tmp_path, "any")
    refused = [answer for answer in answers if not isinstance(answer["any"], list)]
    assert refused and all(dtype_of(answer["graph"]) == 9 for answer in refused), refused


@pytest.mark.slow
@on_the_stub
@pytest.mark.parametrize("chip", cudnn_judge.CHIPS)
def test_attention(chip, tmp_path):
    answers = judged(ATTENTION, chip, tmp_path, "any")
    assert len(answers) > 20
    for answer in answers:
        assert isinstance(answer["any"], list), answer

"""Convolutions and attention by cuDNN, pooling and normalisation over batches, on the device GPU: numbers against the host's, and which of cuDNN's engines run. As
test_cuda.py, each test is a process of its own."""

from __future__ import annotations

import os
import sysconfig

import pytest
from test_cuda import CUDA_HOMES, compile_declarations, headers, on_the_stub, pytestmark, run

__all__ = ["pytestmark"]

# Single precision is not rounded for tensor cores, unless a test says so.
EXACT = "ms.set_context(conv_allow_tf32=False)\n"
CONVOLUTION = (
    EXACT
    + """
def convolution(shape, weight, dtype=ms.float32, **how):
    channel_last = how.get("data_format") == "NHWC"
    op = (ops.Conv3D if len(shape) == 5 else ops.Conv2D)(weight[0], weight[1:-1] if channel_last else weight[2:], **how)
    def loss(x, w):
        y = op(x, w).astype(ms.float32)
        return (y * y * 0.5 + y).sum()
    def everything():
        x, w = Tensor(f32(*shape)).astype(dtype), Tensor(f32(*weight, seed=1)).astype(dtype)
        value, grads = ms.value_and_grad(loss, (0, 1))(x, w)
        return [v.astype(ms.float32).asnumpy() for v in (op(x, w), *grads)]
    a, b = both(everything)
    tolerance = {ms.float32: 1e-4, ms.float64: 1e-4, ms.float16: 4e-2, ms.bfloat16: 1e-1}[dtype]
    for name, p, q in zip(("y", "dx", "dw"), a, b):
        np.testing.assert_allclose(q, p, rtol=tolerance, atol=tolerance * np.abs(p).max(), err_msg=f"{name} {shape} {weight} {how}")
"""
)


@pytest.mark.slow
def test_convolutions_and_their_gradients():
    """Strides, dilations, groups, pads on one side alone, channels last, three dimensions: none of them on the host."""
    said = run(
        CONVOLUTION
        + """
convolution((2, 3, 9, 8), (4, 3, 3, 2))
convolution((2, 3, 9, 8), (4, 3, 3, 3), pad_mode="same", stride=2)
convolution((2, 4, 9, 8), (6, 2, 3, 3), pad_mode="pad", pad=(1, 0, 2, 1), dilation=(2, 1), group=2)
convolution((1, 4, 7, 7), (4, 1, 3, 3), pad_mode="pad", pad=1, group=4)
convolution((2, 9, 8, 3), (4, 3, 3, 3), pad_mode="pad", pad=1, data_format="NHWC")
convolution((1, 2, 5, 6, 4), (3, 2, 2, 3, 3), pad_mode="pad", pad=1, stride=(1, 2, 1))
convolution((2, 3, 6, 6), (4, 3, 1, 1), dtype=ms.float64)
""",
        says=True,
        MS_LOG="dispatch",
    )
    for name in ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "Conv3D"):
        assert f"{name}(" in said
    assert "between copies" not in said, said[said.index("between copies") - 300 :][:400]


@pytest.mark.slow
def test_halves_and_addresses_that_are_not_aligned():
    run(
        CONVOLUTION
        + """
for dtype in (ms.float16, ms.bfloat16):
    convolution((2, 8, 6, 6), (8, 8, 3, 3), dtype=dtype, pad_mode="same")
base, w = Tensor(f32(2 * 3 * 25 + 1)), Tensor(f32(4, 3, 3, 3, seed=1))
a, b = both(lambda: ops.Conv2D(4, 3)(base[1:].reshape(2, 3, 5, 5), w).asnumpy())
np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-4)
"""
    )


@on_the_stub
def test_which_engines_run():
    """The quickest one where it may, none that rounds to TF32 or adds by chance order where it may not."""
    run("""
x, w = Tensor(f32(2, 8, 6, 6)), Tensor(f32(8, 8, 3, 3))
ms.set_context(device_target="CPU")
right = ops.Conv2D(8, 3)(x, w).asnumpy()
ms.set_context(device_target="GPU")
def engines(dtype=ms.float32):
    op, a, b = ops.Conv2D(8, 3), x.astype(dtype), w.astype(dtype)
    with Counted() as forward:
        y = op(a, b).astype(ms.float32).asnumpy()
    with Counted() as both:
        ms.grad(lambda a, b: op(a, b).sum(), (0, 1))(a, b)[1].asnumpy()
    return [[c[f"dnn engine {i}"] for i in range(3)] for c in (forward, both)], float(np.abs(y - right).max())
assert ms.get_context("conv_allow_tf32") is True  # MindSpore's default
used, away = engines()
assert used[0] == [1, 0, 0] and 1e-4 < away < 1e-1, (used, away)
ms.set_context(conv_allow_tf32=False)
used, away = engines()
assert used[0] == [0, 1, 0] and away < 1e-5, (used, away)
assert used[1][0] == 0 and used[1][1] >= 2
ms.set_context(deterministic="ON")
used, away = engines()
assert used[1][0] == 0 and used[1][2] == 2, used  # gradients by the plain one
assert engines(ms.float16)[0][0] == [1, 0, 0]  # halves are exact on tensor cores
ms.set_context(deterministic="OFF", conv_allow_tf32=True)
assert engines()[0][0] == [1, 0, 0]
""")


@on_the_stub
def test_products_of_single_precision_are_rounded_only_if_asked():
    run("""
ms.set_context(device_target="GPU")
x = Tensor(f32(8, 8))
for allowed in (False, True, False):
    ms.set_context(matmul_allow_tf32=allowed)
    with Counted() as found:
        ops.matmul(x, x).asnumpy()
    assert found["products with tf32"] == allowed and found["products"] == (not allowed)
with pytest.raises(TypeError, match="'matmul_allow_tf32' must be a bool"):
    ms.set_context(matmul_allow_tf32=1)
""")


@pytest.mark.slow
def test_inference_joins_what_follows():
    """Bias, normalisation, addition and ReLU become part of the convolution; where no engine joins them, a loop follows it."""
    program = """
class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = (nn.Conv2d(8, 8, 3, has_bias=True, weight_init="normal") for _ in range(2))
        self.norm = nn.BatchNorm2d(8)
        self.norm.moving_variance.set_data(Tensor(np.linspace(0.5, 2, 8, dtype=np.float32)))
        self.norm.moving_mean.set_data(Tensor(f32(8)))
    def construct(self, x):
        y = ops.relu(self.norm(self.first(x)))
        return ops.relu(self.second(y) + x)
net = Block()
net.set_train(False)
ms.set_context(mode=0)
x = Tensor(f32(2, 8, 6, 6))
for dtype, tolerance in ((ms.float32, TOLERANCE), (ms.float16, 2e-2)):
    if dtype == ms.float16:
        net.to_float(dtype)
    a, b = both(lambda: net(x.astype(dtype)).astype(ms.float32).asnumpy())
    np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance * np.abs(a).max())
"""
    said = run(program.replace("TOLERANCE", "1e-2"), says=True, MS_LOG="dispatch")
    assert "Conv2DBiasAdd(" in said and "between copies" not in said
    assert "BatchNormInference(Float32" not in said
    run(EXACT + program.replace("TOLERANCE", "1e-4"))


@pytest.mark.slow
def test_pooling():
    """Maxima and means, their gradients and second ones; pads, dilations, channels last, whole windows, adaptive ones."""
    said = run(
        """
x = f32(2, 3, 9, 8)
x[0, 0, 2, 2] = np.nan
def check(f, x, **how):
    t = Tensor(x)
    def everything():
        y = f(t)
        grads = ms.grad(lambda v: (f(v) * f(v)).sum())(t)
        return [v.asnumpy() for v in (y, grads)]
    a, b = both(everything)
    for p, q in zip(a, b):
        np.testing.assert_allclose(q, p, rtol=1e-5, atol=1e-5, err_msg=str(how))
for how in (dict(kernel_size=2, strides=2), dict(kernel_size=3, strides=2, pad_mode="same"), dict(kernel_size=(3, 2), strides=(1, 2))):
    check(ops.MaxPool(**how), x, **how)
    check(ops.AvgPool(**how), x, **how)
    check(ops.MaxPool(**how, data_format="NHWC"), x, **how)
    check(ops.AvgPool(**how, data_format="NHWC"), x, **how)
for how in (dict(padding=1), dict(padding=(1, 0), ceil_mode=True)):
    check(lambda t: ops.max_pool2d(t, 3, 2, dilation=2, **how), x, **how)
    check(lambda t: ops.avg_pool2d(t, 3, 2, count_include_pad=True, **how), x, **how)
    check(lambda t: ops.avg_pool2d(t, 3, 2, count_include_pad=False, divisor_override=5, **how), x, **how)
check(lambda t: ops.max_pool3d(t, 2, 1), f32(1, 2, 4, 5, 3))
check(lambda t: ops.avg_pool3d(t, 2, 2, padding=1), f32(1, 2, 4, 5, 3))
for size in (1, (3, 5), (9, 2)):
    check(lambda t: ops.adaptive_avg_pool2d(t, size), x, size=size)
t = Tensor(x[:, :, 3:])
a, b = both(lambda: [v.asnumpy() for v in ops.max_pool2d(t, 3, 1, padding=1, return_indices=True)])
np.testing.assert_array_equal(b[1], a[1])
a, b = both(lambda: ms.grad(ms.grad(lambda v: (ops.max_pool2d(v, 2) ** 3).sum()))(t).asnumpy())
np.testing.assert_allclose(b, a, rtol=1e-5)
h = Tensor(x[:, :, 3:].astype(np.float16))
a, b = both(lambda: ops.avg_pool2d(h, 2).asnumpy())
np.testing.assert_allclose(b, a, rtol=2e-3)
""",
        says=True,
        MS_LOG="dispatch",
    )
    assert "MaxPoolGrad" in said
    for line in said.splitlines():
        assert "Pool" not in line or "between copies" not in line, line


@pytest.mark.slow
def test_normalisation_over_batches():
    said = run(
        """
for shape, format in (((4, 3, 5, 6), "NCHW"), ((4, 5, 6, 3), "NHWC"), ((7, 3), "NCHW"), ((2, 3, 40, 30), "NCHW")):
    x, dy = f32(*shape) * 2 + 1, f32(*shape, seed=5)
    def train(dtype):
        channels = 3
        op = ops.BatchNorm(is_training=True, momentum=0.3, data_format=format)
        p = [ms.Parameter(Tensor(f32(channels, seed=s) ** 2 + 0.5), name=f"p{s}") for s in range(4)]
        def loss(x, scale, bias):
            y = op(x, scale, bias, p[2], p[3])[0]
            return (y.astype(ms.float32) * Tensor(dy)).sum()
        value, grads = ms.value_and_grad(loss, (0, 1, 2))(Tensor(x).astype(dtype), p[0], p[1])
        infer = ops.BatchNorm(is_training=False, data_format=format)(Tensor(x).astype(dtype), *p)[0]
        return [v.astype(ms.float32).asnumpy() for v in (value, *grads, p[2], p[3], infer)]
    for dtype, tolerance in ((ms.float32, 2e-5), (ms.float16, 2e-2)):
        a, b = both(train, dtype)
        for p, q in zip(a, b):
            np.testing.assert_allclose(q, p, rtol=tolerance, atol=10 * tolerance, err_msg=f"{shape} {format} {dtype}")
ms.set_context(device_target="GPU")
# What was found wrong before leaves the stored statistics alone.
net = nn.BatchNorm2d(3)
net.set_train()
bad = ops.gather(Tensor(f32(4, 3, 2, 2)), Tensor(np.array([0, 9], np.int32)), 0)
net(bad)
with pytest.raises(IndexError, match="the indices must be"):
    ms.runtime.synchronize()
assert net.moving_mean.asnumpy().tolist() == [0, 0, 0]
""",
        says=True,
        MS_LOG="dispatch",
    )
    assert "BatchNormGrad" in said and "between copies" not in said


ATTENTION = """
from mindspore.ops.function.attention_func import attend
def attention(dtype, queries=6, keys=6, mask=None, lead=(2, 3), **how):
    def run():
        q, k, v, dout = (Tensor(f32(*lead, n, d, seed=s)).astype(dtype) for s, (n, d) in enumerate(((queries, 8), (keys, 8), (keys, 16), (queries, 16))))
        m = None if mask is None else Tensor(mask) if mask.dtype == bool else Tensor(mask).astype(dtype)
        def loss(q, k, v):
            return (attend(q, k, v, m, 0.4, **how) * dout).astype(ms.float32).sum()
        value, grads = ms.jit(ms.value_and_grad(loss, (0, 1, 2)))(q, k, v)
        return [x.astype(ms.float32).asnumpy() for x in (attend(q, k, v, m, 0.4, **how), *grads)]
    a, b = both(run)
    tolerance = {ms.float16: 1e-2, ms.bfloat16: 8e-2, ms.float32: 1e-4}[dtype]
    for name, p, q in zip(("out", "dq", "dk", "dv"), a, b):
        np.testing.assert_allclose(q, p, rtol=tolerance, atol=tolerance * np.abs(p).max(), err_msg=f"{name} {dtype} {how}")
def hidden(*shape):  # all of the first row
    mask = np.random.RandomState(5).rand(*shape) < 0.4
    mask[..., 0, :] = True
    return mask
"""


@pytest.mark.slow
def test_attention_and_its_gradients():
    """Masks that are added or hide, whole rows of them too, in both directions by cuDNN."""
    said = run(
        ATTENTION
        + """
huge = np.where(hidden(6, 6), -1e4, 0).astype(np.float32)
for dtype in (ms.float16, ms.bfloat16):
    attention(dtype)
    attention(dtype, causal=True)
    attention(dtype, queries=5, keys=9, mask=f32(2, 1, 1, 9))
    attention(dtype, mask=f32(2, 3, 6, 6), causal=True)
    attention(dtype, mask=hidden(6, 6))
    attention(dtype, mask=hidden(2, 1, 6, 6))
    attention(dtype, mask=np.array([False]))
    attention(dtype, mask=huge)
    attention(dtype, mask=huge * (1e5 if dtype == ms.bfloat16 else 1), causal=True)
    for number in (-65504, -1e30 if dtype == ms.bfloat16 else -1e4):
        attention(dtype, mask=np.full((1, 1), number, np.float32))
        attention(dtype, mask=np.where(hidden(6, 6), number, 0).astype(np.float32))
    if dtype == ms.bfloat16:  # two masks, of which a hidden row has both
        for number in (-1e9, -1e30):
            attention(dtype, mask=np.float32(number) * (hidden(6, 6).astype(np.float32) + np.triu(np.ones((6, 6)), 1)))
    attention(dtype, mask=np.where(hidden(7, 6)[1:] & (np.arange(6) > 0), -np.inf, 0).astype(np.float32))
    attention(dtype, lead=())
    attention(dtype, lead=(3,), mask=f32(3, 1, 6))
    attention(dtype, lead=(2, 2, 3), mask=f32(3, 6, 6))
""",
        says=True,
        MS_LOG="dispatch",
    )
    assert said.count("-> cudnn") > 40 and "AttentionGrad(" in said
    assert "-> a composition of other ops" not in said


@pytest.mark.slow
def test_a_gradient_that_is_composed_reads_what_cudnn_has_kept():
    """Whatever the number is that hides; so do gradients of gradients."""
    said = run(
        ATTENTION
        + """
import functools
def net(q, k, v, m, fill):
    scores = ops.masked_fill(ops.matmul(q, k.swapaxes(-1, -2)) * 0.4, m, fill)
    return (ops.matmul(ops.softmax(scores, -1), v) ** 2).astype(ms.float32).sum()
ms.set_context(deterministic="ON")
for fill in (-1e25, -1e30, -3e38):
    step = ms.jit(ms.grad(functools.partial(net, fill=fill), (0, 1, 2)))
    def gradients():
        q, k, v = (Tensor(f32(2, 3, 6, 8, seed=s)).astype(ms.bfloat16) for s in range(3))
        return [g.astype(ms.float32).asnumpy() for g in step(q, k, v, Tensor(hidden(6, 6)))]
    a, b = both(gradients)
    for p, r in zip(a, b):
        np.testing.assert_allclose(r, p, rtol=8e-2, atol=8e-2 * np.abs(p).max(), err_msg=str(fill))
""",
        says=True,
        MS_LOG="dispatch",
    )
    assert "-> cudnn" in said and "adds in an order of chance" in said


@pytest.mark.slow
def test_other_attention_is_a_composition_which_says_why():
    said = run(
        ATTENTION
        + """
attention(ms.float32)
attention(ms.float16, lead=(2, 2, 3), mask=f32(2, 1, 1, 1, 6))
attention(ms.float16, keep_prob=0.5)
ms.set_context(device_target="GPU", deterministic="ON")
attention(ms.float16)
""",
        says=True,
        MS_LOG="dispatch",
    )
    for why in (
        "needs halves, got Float32",
        "needs a mask that all or none of the batch shares",
        "would drop others than the host",
        "adds in an order of chance",
    ):
        assert why in said, why
    assert "between copies" not in said


def test_attention_in_recorded_steps():
    """Masks and operands change from step to step, and so do the numbers."""
    program = (
        ATTENTION
        + """
ms.set_context(device_target="GPU")
def loss(q, k, v, m):
    return attend(q, k, v, m, 0.4, causal=True).astype(ms.float32).sum()
step = ms.jit(ms.grad(loss, (0, 1, 2)))
found = []
for seed in range(5):
    q, k, v = (Tensor(f32(2, 3, 6, 8, seed=seed + i)).astype(ms.float16) for i in range(3))
    found += [g.asnumpy().tobytes() for g in step(q, k, v, Tensor(hidden(2, 1, 6, 6) ^ (seed % 2 == 1)))]
import hashlib
print(hashlib.sha256(b"".join(found)).hexdigest())
"""
    )
    assert run(program) == run(program, MS_CUDA_GRAPHS="0")


@on_the_stub
def test_attention_of_views():
    run(
        ATTENTION
        + """
ms.set_context(device_target="GPU")
base = Tensor(f32(3 * 2 * 4 * 8 + 1)).astype(ms.float16)
q, k, v = (base[1 + 64 * i:65 + 64 * i].reshape(2, 4, 8) for i in range(3))
found = attend(q, k, v).asnumpy()
right = attend(*(Tensor(x.asnumpy()) for x in (q, k, v))).asnumpy()
np.testing.assert_array_equal(found, right)
"""
    )


@on_the_stub
@pytest.mark.parametrize("way", ["lambda f: f", "ms.jit"])
def test_kernels_are_chosen_anew_after_another_setting(way):
    """Those of steps that have run, and are recorded; they are there again where the setting is as it was."""
    run(
        ATTENTION
        + f"""
ms.set_context(device_target="GPU")
step = ({way})(ms.grad(lambda q, k, v: attend(q, k, v).astype(ms.float32).sum(), (0, 1, 2)))
q, k, v = (Tensor(f32(2, 3, 6, 8, seed=s)).astype(ms.float16) for s in range(3))
found = []
for wanted in ("OFF", "ON", "OFF", "ON"):
    ms.set_context(deterministic=wanted)
    for call in range(4):
        with Counted() as happened:
            grads = [g.astype(ms.float32).asnumpy() for g in step(q, k, v)]
        if call == 0:
            assert happened["dnn attention"] == (2 if wanted == "OFF" else 1), (wanted, happened.found)
        if not happened["replays"]:
            assert (happened["products"] > 0) == (wanted == "ON"), (wanted, happened.found)
    assert (happened["replays"] > 0) == ("jit" in {way!r} and wanted == "ON"), happened.found  # cuDNN's launches are too few
    found.append(grads)
for other in found[1:]:
    for a, b in zip(found[0], other):
        np.testing.assert_allclose(b, a, rtol=2e-2, atol=2e-2 * np.abs(a).max())
for a, b in zip(found[1], found[3]):
    np.testing.assert_array_equal(a, b)
""",
        MS_FUSION="1",  # it counts launches
    )


def test_declarations_are_those_of_cudnn():
    """Where its headers are installed: NVIDIA's wheels bring them."""
    site = sysconfig.get_paths()["purelib"]
    home = os.environ.get("CUDNN_HOME", "/usr")
    cudnn = headers("cudnn_graph.h", f"{site}/nvidia/cudnn/include", f"{home}/include")
    cuda = headers("cuda_runtime.h", f"{site}/nvidia/cu13/include", *CUDA_HOMES)
    if not cudnn or not cuda:
        pytest.skip("cudnn.h and cuda_runtime.h are not installed: CUDNN_HOME names another place")
    compile_declarations("cudnn_declarations.cc", cudnn, cuda)

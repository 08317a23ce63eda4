"""The device GPU on the stub of NVIDIA's libraries (cuda_stub), or on a real one where there is one: each test runs in a process of its own, for a
process has one device of a name, and one is opened for good. Rows of all ops: MS_TEST_DEVICE=GPU (tests/README.md)."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import cuda_device
import pytest

from mindspore import _core

HERE = Path(__file__).parent
LIBRARY = Path(_core.__file__).with_name("libms_cuda.so")
BEGIN = """
import numpy as np, pytest
import mindspore as ms
from mindspore import Tensor, _core, context, nn, ops
def both(run, *args, **kwargs):
    results = []
    for device in ("CPU", "GPU"):
        ms.set_context(device_target=device)
        ms.set_seed(3)
        results.append(run(*args, **kwargs))
    return results
def f32(*shape, seed=0):
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)
def counts():  # how often things happened, as the stub has counted
    import ctypes, os
    find = ctypes.CDLL(os.environ["MS_CUDA_DRIVER"]).cuda_stub_counts
    find.restype, find.argtypes = ctypes.c_size_t, (ctypes.c_char_p, ctypes.c_size_t)
    text = ctypes.create_string_buffer(1 << 12)
    find(text, len(text))
    return {name: int(count) for name, _, count in (line.rpartition(": ") for line in text.value.decode().splitlines())}
class Counted:  # what happened inside of it
    def __enter__(self):
        self.before = counts()
        return self
    def __exit__(self, *error):
        ms.runtime.synchronize()
        self.found = {name: count - self.before.get(name, 0) for name, count in counts().items()}
    def __getitem__(self, name):
        return self.found.get(name, 0)
"""

pytestmark = pytest.mark.skipif(
    not cuda_device.is_there() or not LIBRARY.is_file(),
    reason="needs a GPU or the stub of CUDA: scripts/dev build _core ms_cuda_stub",
)
on_the_stub = pytest.mark.skipif(cuda_device.is_real(), reason="about the stub")


def run(program: str, fails: bool = False, says: bool = False, **environment: str) -> str:
    """What a program prints on a device GPU; with `fails`, what it says on standard error when it ends with an error;
    with `says`, what it says there when it does not."""
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program],
        env={**os.environ, **cuda_device.variables(), "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    assert "CUDA stub:" not in done.stderr, done.stderr
    return done.stderr if fails or says else done.stdout


@pytest.mark.slow
def test_an_mlp_trains_whole_as_on_the_host():
    """Forward, gradients and updates of both modes; nothing of it runs on the host (MS_LOG says so)."""
    program = """
def train(mode, sparse, optimizer):
    ms.set_context(mode=mode)
    net = nn.SequentialCell(nn.Dense(12, 16), nn.ReLU(), nn.LayerNorm([16]), nn.GELU(), nn.Dropout(p=0.1), nn.Dense(16, 5))
    net.set_train()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=sparse, reduction="mean")
    update = optimizer(net.trainable_params())
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, update.parameters)
    def step(x, y):
        value, grads = gradient(x, y)
        update(grads)
        return value
    step = ms.jit(step) if mode == 0 else step
    labels = np.arange(8, dtype=np.int32) % 5
    y = Tensor(labels if sparse else np.eye(5, dtype=np.float32)[labels])
    losses = [float(step(Tensor(f32(8, 12)), y).asnumpy()) for _ in range(4)]
    assert all(p.device == context.get_context("device_target") for p in net.trainable_params())
    return losses, [p.asnumpy() for p in net.trainable_params()]
for mode in (1, 0):
    for sparse in (False, True):
        for optimizer in (lambda p: nn.Adam(p, 0.01), lambda p: nn.Momentum(p, 0.05, 0.9), lambda p: nn.SGD(p, 0.1)):
            (losses, weights), (found, gained) = both(train, mode, sparse, optimizer)
            np.testing.assert_allclose(found, losses, rtol=1e-5)
            assert found[-1] < found[0]
            for a, b in zip(gained, weights):
                np.testing.assert_allclose(a, b, atol=3e-4)
"""
    said = run(program, says=True, MS_LOG="dispatch")
    assert "cublaslt" in said and "between copies" not in said


@pytest.mark.slow
def test_a_language_model_trains_whole_as_on_the_host():
    """Embeddings, attention, slices and the loss of classes, some of which do not count."""
    program = """
class Model(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(40, 16), nn.Embedding(12, 16)
        self.norm, self.join, self.out = nn.LayerNorm([16]), nn.Dense(16, 48), nn.Dense(16, 40)
    def construct(self, words, places):
        x = self.words(words) + self.places(places)
        joined = self.join(self.norm(x))
        q, k, v = (part.reshape(2, 8, 2, 8).swapaxes(1, 2) for part in ops.split(joined, 16, -1))
        seen = ops.flash_attention_score(q, k, v, head_num=2, input_layout="BNSD", scalar_value=8 ** -0.5)
        x = x + seen.swapaxes(1, 2).reshape(2, 8, 16)
        return self.out(x[:, 1:])
def train():
    net = Model()
    words = np.random.RandomState(0).randint(0, 40, (2, 8)).astype(np.int32)
    labels = np.where(words[:, 1:] > 30, -100, words[:, 1:]).reshape(-1)
    loss = lambda x, y: ops.cross_entropy(net(*x).reshape(-1, 40), y, ignore_index=-100)
    gradient = ms.value_and_grad(loss, None, net.trainable_params())
    update = nn.AdamWeightDecay(net.trainable_params(), 0.01)
    def step(x, y):
        value, grads = gradient(x, y)
        update(grads)
        return value
    step = ms.jit(step)
    given = Tensor(words), Tensor(np.arange(8, dtype=np.int32))
    return [float(step(given, Tensor(labels)).asnumpy()) for _ in range(3)]
losses, found = both(train)
np.testing.assert_allclose(found, losses, rtol=1e-4)
assert found[-1] < found[0]
"""
    assert "between copies" not in run(program, says=True, MS_LOG="dispatch")


@pytest.mark.slow
def test_many_parts_along_an_axis():
    """More than one launch takes; some have nothing."""
    said = run(
        """
for dtype in (np.float32, np.int8, np.bool_, np.complex128):
    parts = [f32(3, n, 5).astype(dtype) for n in range(23)]
    whole = ms.jit(lambda *a: ops.concat(a, 1))(*map(Tensor, parts)).asnumpy()
    assert (whole == np.concatenate(parts, 1)).all() and whole.dtype == dtype
    for cut, part in zip(ms.jit(lambda x: ops.split(x, list(range(23)), 1))(Tensor(whole)), parts):
        assert cut.shape == part.shape and (cut.asnumpy() == part).all()
    layers = [f32(4, 6).astype(dtype) for _ in range(35)]
    for axis in (0, 1, -1):
        stacked = ms.jit(lambda *a: ops.stack(a, axis))(*map(Tensor, layers))
        assert (stacked.asnumpy() == np.stack(layers, axis)).all()
        for one, layer in zip(ms.jit(lambda x: ops.unbind(x, axis))(stacked), layers):
            assert (one.asnumpy() == layer).all()
""",
        says=True,
        MS_LOG="dispatch",
    )
    assert "between copies" not in said


@pytest.mark.slow
def test_sums_of_many_elements():
    """Rows, columns and all of a tensor: in one kernel, and in chunks."""
    run("""
x = f32(3, 70001)
for shape, axis in [((3, 70001), 1), ((70001, 3), 0), ((210003,), None), ((3, 7, 10000), (0, 2)), ((300, 7), 1), ((2, 40000, 2), 1)]:
    for name in ("sum", "mean", "max", "prod"):
        v = x.ravel()[: int(np.prod(shape))].reshape(shape)
        t = Tensor(v * 1e-3 + 1 if name == "prod" else v)
        a, b = both(lambda: getattr(t, name)(axis).asnumpy() if name != "max" else ops.amax(t, axis).asnumpy())
        tolerance = 1e-4 if name == "prod" else 2e-5  # the host's are of floats alone
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=1e-5, err_msg=f"{shape} {axis} {name}")
for shape in [(5, 3), (4, 1025), (2, 30000)]:
    t = Tensor(f32(*shape))
    for f in (lambda: ops.softmax(t), lambda: ops.log_softmax(t), lambda: ops.softmax(t, 0)):
        a, b = both(lambda: f().asnumpy())
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)
""")


@pytest.mark.slow
def test_fused_and_single_ops_give_the_same_bits():
    run("""
@ms.jit
def fused(x, y):
    return ops.tanh(x * 1.5 + y) * ops.exp(-x * x) + ops.erf(y), ops.sigmoid(x - y)
x, y = Tensor(f32(33, 65)), Tensor(f32(65, seed=1))
for dtype in (ms.float32, ms.float16, ms.bfloat16):
    ms.set_context(device_target="GPU")
    a, b = x.astype(dtype), y.astype(dtype)
    ms.set_context(mode=0)
    compiled = [v.astype(ms.float32).asnumpy() for v in fused(a, b)]
    eager = [ops.tanh(a * 1.5 + b) * ops.exp(-a * a) + ops.erf(b), ops.sigmoid(a - b)]
    for c, e in zip(compiled, eager):
        np.testing.assert_array_equal(c, e.astype(ms.float32).asnumpy())
""")


@pytest.mark.slow
def test_products():
    run("""
for dtype, tolerance in ((ms.float32, 1e-5), (ms.float64, 1e-12), (ms.float16, 2e-2), (ms.bfloat16, 1e-1)):
    for a, b in [((3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((7, 1, 3, 4), (7, 2, 4, 3))]:
        x, y = Tensor(f32(*a)), Tensor(f32(*b, seed=1))
        p, q = both(lambda: ops.matmul(x.astype(dtype), y.astype(dtype)).astype(ms.float64).asnumpy())
        np.testing.assert_allclose(q, p, rtol=tolerance, atol=tolerance)
x, y = Tensor(f32(4, 3)), Tensor(f32(3, 5))
for ta in (False, True):
    for tb in (False, True):
        p, q = both(lambda: ops.MatMul(ta, tb)(x.T if ta else x, y.T if tb else y).asnumpy())
        np.testing.assert_allclose(q, p, rtol=1e-5)
t = Tensor(f32(41))
p, q = both(lambda: ops.matmul(t[1:21].reshape(4, 5), t[21:].reshape(5, 4)).asnumpy())  # not aligned
np.testing.assert_allclose(q, p, rtol=1e-5, atol=1e-6)
ms.set_context(mode=0)
net = nn.SequentialCell(nn.Dense(4, 6), nn.ReLU())
p, q = both(lambda: ms.jit(lambda x: net(x))(Tensor(f32(3, 4))).asnumpy())
np.testing.assert_allclose(q, p, rtol=1e-5, atol=1e-6)
""")


@pytest.mark.slow
def test_random_numbers_are_the_host_s():
    run("""
def draw():
    drop = nn.Dropout(p=0.3)
    drop.set_train()
    key = _core.op("DropoutKey")(Seed0=3)
    return [v.asnumpy() for v in (
        ops.uniform((1000,), Tensor(0.0), Tensor(1.0)), drop(Tensor(np.ones((5, 41), np.float32))), ops.standard_normal((7, 11)),
        drop(Tensor(np.ones((3, 100), np.float16))),
        key, _core.op("DropoutMask")(key, shape=(7, 33), keep_prob=0.3))]
a, b = both(draw)
for i in (0, 1, 3, 4, 5):
    np.testing.assert_array_equal(a[i], b[i])
np.testing.assert_allclose(b[2], a[2], rtol=1e-5)
""")


def test_a_bad_index_is_heard_of_at_the_next_wait():
    run("""
ms.set_context(device_target="GPU")
t = Tensor(np.arange(20, dtype=np.float32).reshape(4, 5))
p = ms.Parameter(Tensor(np.ones(5, np.float32)), name="p")
z = ops.gather(t, Tensor(np.array([0, 9], np.int32)), 0)
ops.assign_add(p, z[0])
with pytest.raises(IndexError, match=r"For 'Gather', the indices must be in \\[-4, 4\\), but got 9 at position 1") as caught:
    (z + 1).asnumpy()
assert "z = ops.gather" in str(caught.value) or "<string>" in str(caught.value)
assert (t + 1).asnumpy().sum() == 210  # heard of once, and the device goes on
assert p.asnumpy().tolist() == [1] * 5  # what came after was left out
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
with pytest.raises(ValueError, match=r"the labels must be in \\[0, 3\\), but got 3 at position 1"):
    loss(Tensor(np.zeros((2, 3), np.float32)), Tensor(np.array([0, 3], np.int32))).asnumpy()
""")


@pytest.mark.slow
def test_what_has_no_kernel_runs_on_the_host():
    run("""
x = f32(6, 6)
a, b = both(lambda: [v.asnumpy() for v in (ops.cumsum(Tensor(x), 0), ops.sort(Tensor(x))[0], ops.inverse(Tensor(x)))])
for p, q in zip(a, b):
    np.testing.assert_allclose(q, p, rtol=1e-6)
""")


@pytest.mark.slow
def test_unaligned_pieces_and_views():
    run("""
ms.set_context(device_target="GPU")
base = np.arange(1003, dtype=np.float32)
t = Tensor(base) + 0
for first in range(1, 5):
    np.testing.assert_array_equal((t[first:] * 2).asnumpy(), base[first:] * 2)
m = Tensor(base[:1000].reshape(10, 100)) + 0
np.testing.assert_array_equal((m.T + 1).asnumpy(), base[:1000].reshape(10, 100).T + 1)
np.testing.assert_array_equal(m[::2, 5:90:7].asnumpy(), base[:1000].reshape(10, 100)[::2, 5:90:7])
t[3:7] = -1
assert t.asnumpy()[2:8].tolist() == [2, -1, -1, -1, -1, 7]
""")


@on_the_stub
def test_memory_that_does_not_suffice_names_what_is_there():
    text = run(
        """
ms.set_context(device_target="GPU")
kept = [Tensor(np.ones(1 << 18, np.float32)) + i for i in range(4)]
(Tensor(np.ones(1 << 21, np.float32)) + 1).asnumpy()
""",
        fails=True,
        MS_CUDA_STUB_MEMORY=str(12 << 20),
    )
    assert "8.0 MB must fit into the memory of 'Stub 0', but" in text
    assert "of its 12.0 MB are free. This process has held at most" in text
    line = BEGIN.count("\n") + 3
    assert f"holds 4.0 MB: 4.0 MB at <string>:{line}. Smaller batches" in text, text


@on_the_stub
def test_memory_that_does_not_suffice_for_a_compiled_function_names_its_lines():
    program = """
ms.set_context(device_target="GPU")
@ms.jit
def f(x):
    kept = []
    for i in range(6):
        x = ops.softmax(ops.sin(x) * i)
        kept.append(x)
    for v in kept:
        x = ops.softmax(x * v)
    return x
f(Tensor(np.ones(1 << 19, np.float32)))
"""
    text = run(program, fails=True, MS_CUDA_STUB_MEMORY=str(12 << 20))
    line = BEGIN.count("\n") + 7
    assert f"At its peak it would hold 14.0 MB at <string>:{line}" in text, text
    assert "2.0 MB that came from the host" in text, text


@on_the_stub
def test_memory_that_does_not_suffice_names_the_lines_of_compiled_results():
    program = """
ms.set_context(device_target="GPU")
@ms.jit
def f(x):
    return {value}
x = Tensor(np.ones(1 << 19, np.float32)) + 1
p = ms.Parameter(x * 1, name="p")
relu = nn.ReLU()
kept = [{kept} for _ in range(9)]
"""
    line = BEGIN.count("\n") + 5
    for value, kept, made_at in (
        ("ops.softmax(\n        ops.sin(x)).reshape(1, -1)", "f(x)", line),
        ("relu(x)", "f(x)", line),
        ("ops.assign(p, x * 2)", "(f(x), p.value())", line + 2),
        ("x * 2", "ms.Parameter(f(x))", line),
    ):
        text = run(
            program.replace("{value}", value).replace("{kept}", kept),
            fails=True,
            MS_CUDA_STUB_MEMORY=str(16 << 20),
        )
        holders = text.split("and holds")[1].split("Smaller batches")[0]
        assert re.search(rf" MB at <string>:{made_at}[,.]", holders), text


def test_values_that_were_left_out_do_not_become_those_of_parameters():
    """Of a step that went wrong, whichever way a Parameter is given what came of it."""
    run("""
ms.set_context(mode=1, device_target="GPU")
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = (ms.Parameter(Tensor(np.full(3, 7, np.float32)) + 0, name=n) for n in "abcd")
net = Net()
def step(index):
    y = ops.gather(Tensor(f32(5)), Tensor([index, 1, 2], ms.int32), 0)
    net.a.set_data(net.a + 1)
    net.b = net.b + 1
    net.c += 1
    net.d.assign_value(net.d + 1)
    return y.asnumpy()
step(0)
with pytest.raises(IndexError, match="got 9"):
    step(9)
assert [p.asnumpy().tolist() for p in (net.a, net.b, net.c, net.d)] == [[8.0] * 3] * 4
step(1)
assert [p.asnumpy().tolist() for p in (net.a, net.b, net.c, net.d)] == [[9.0] * 3] * 4
""")


@on_the_stub
def test_memory_that_nobody_uses_is_given_back_before_it_does_not_suffice():
    run(
        """
ms.set_context(device_target="GPU")
@ms.jit
def f(x):
    return ops.softmax(ops.sin(x) * ops.cumsum(x, 0)).sum()
f(Tensor(np.ones(1 << 19, np.float32))).asnumpy()
kept = ops.ones((9 << 18,), ms.float32)  # 9 of 12 MB
assert kept.asnumpy().all()
""",
        MS_CUDA_STUB_MEMORY=str(12 << 20),
    )


@pytest.mark.slow
@on_the_stub
def test_a_program_that_runs_ahead_gets_freed_memory_back():
    run(
        """
ms.set_context(device_target="GPU")
x = Tensor(np.ones(1 << 18, np.float32))
for i in range(100):
    x = x + 1
assert x.asnumpy()[5] == 101
""",
        MS_CUDA_STUB_MEMORY=str(8 << 20),
    )


@pytest.mark.slow
@on_the_stub
def test_batches_are_copied_while_steps_run():
    """Pinned memory for copies is bounded, so copying this much waits for copies; it must not wait for the work before."""
    run(
        """
ms.set_context(device_target="GPU")
x = Tensor(np.ones(8, np.float32)) + 1  # small: in the order of the work
ms.runtime.synchronize()
before = counts()["kernels run"]
y = x + 1
batches = [Tensor(np.full(1 << 22, i, np.float32)).move_to("GPU") for i in range(8)]
assert counts()["kernels run"] == before
sums = [b.sum() for b in batches]
assert [float(s) for s in sums] == [i * (1 << 22) for i in range(8)] and counts()["kernels run"] > before
assert y.asnumpy()[5] == 3
"""
    )


@on_the_stub
@pytest.mark.serial
def test_others_copy_and_launch_while_a_thread_waits():
    run(
        """
import threading, time
ms.set_context(device_target="GPU")
x, at = Tensor(f32(8, 4)) + 0, Tensor(np.array([1, 2], np.int32)).move_to("GPU")
ops.gather(x, at, 0)
done = []
waits = threading.Thread(target=lambda: done.append(x.asnumpy()))
waits.start()
time.sleep(0.3)
began = time.perf_counter()
y = ops.gather(Tensor(f32(8, 4)).move_to("GPU"), at, 0)
assert not done and time.perf_counter() - began < 0.8
waits.join()
np.testing.assert_array_equal(y.asnumpy(), done[0][1:3])
""",
        MS_CUDA_STUB_LINGER="1500",
    )


def test_each_thread_hears_of_an_error_once():
    """One that begins when others have heard of it does not."""
    run("""
import threading
ms.set_context(device_target="GPU")
x = Tensor(f32(8, 4)) + 0
heard, steps = [], [threading.Event() for _ in range(2)]
def waits(name):
    try:
        ms.runtime.synchronize()
    except IndexError:
        heard.append(name)
def early():
    waits("before")
    steps[0].set()
    steps[1].wait()
    waits("early")
    waits("again")
def in_thread(target, *args):
    thread = threading.Thread(target=target, args=args)
    thread.start()
    return thread
first = in_thread(early)
steps[0].wait()
ops.gather(x, Tensor(np.array([9], np.int32)), 0)
waits("main")
waits("main again")
in_thread(waits, "late").join()
steps[1].set()
first.join()
assert heard == ["main", "early"], heard
""")


@pytest.mark.slow
def test_compiled_kernels_stay_on_disk(tmp_path):
    program = """
from mindspore import _devices
ms.set_context(device_target="GPU")
ops.exp(Tensor(f32(5))).asnumpy()
print(_devices.facts("GPU")["compiled"], _devices.facts("GPU")["from_disk"])
"""
    cache = {"MS_KERNEL_CACHE": str(tmp_path)}
    assert run(program, **cache).split() == ["1", "0"]
    assert run(program, **cache).split() == ["0", "1"]
    (file,) = (tmp_path / "gpu").iterdir()
    file.write_bytes(file.read_bytes()[:-7])  # damaged: made again
    assert run(program, **cache).split() == ["1", "0"]
    assert run(program, **cache).split() == ["0", "1"]
    assert run(program, MS_KERNEL_CACHE="").split() == ["1", "0"]


def test_the_child_of_a_fork_has_no_device():
    run("""
import os
ms.set_context(device_target="GPU")
x = Tensor(f32(5)) + 1
x.asnumpy()
child = os.fork()
if child == 0:
    try:
        (x + 1).asnumpy()
    except RuntimeError as error:
        os._exit(0 if "forked" in str(error) and "spawn" in str(error) else 1)
    os._exit(2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
(x + 1).asnumpy()
""")


@on_the_stub
def test_which_device():
    run("""
from mindspore import _devices
ms.set_device("GPU", 1)
assert _devices.facts("GPU")["name"] == "Stub 1"
assert (Tensor([1.0]) + 1).device == "GPU"
with pytest.raises(ValueError, match="'device_id' must be 1"):
    ms.set_device("GPU", 0)
ms.set_device("CPU")
""")
    text = run("ms.set_device('GPU', 5)", fails=True)
    assert "'GPU' is not available" in text and "'device_id' must be in [0, 2)" in text


@on_the_stub
def test_absent_drivers_are_named():
    text = run("ms.set_device('GPU')", fails=True, MS_CUDA_DRIVER="/nowhere/libcuda.so.1")
    assert (
        "ValueError: For 'set_context', the device 'GPU' is not available on this machine" in text
    )
    assert "NVIDIA's driver is missing" in text and "MS_DEVICE_FALLBACK=1" in text
    text = run("ms.set_device('GPU')", fails=True, CUDA_VISIBLE_DEVICES="")
    assert "finds no GPU" in text
    found = run(
        "ms.set_device('GPU'); print((Tensor([1.0]) + 1).device)",
        CUDA_VISIBLE_DEVICES="",
        MS_DEVICE_FALLBACK="1",
    )
    assert found.split() == ["CPU"]


def headers(name: str, *folders: str) -> Path | None:
    """The newest folder that has a header of NVIDIA's."""
    found = [path for folder in folders for path in Path("/").glob(folder.strip("/") + "/" + name)]
    return sorted(found)[-1].parent if found else None


def compile_declarations(source: str, *includes: Path) -> None:
    """Fails where what a file states at compile time does not hold."""
    own = [f"-I{HERE.parents[1] / 'mindspore' / 'ccsrc'}", f"-I{HERE}"]
    done = subprocess.run(
        ["g++", "-std=c++20", "-fsyntax-only", *own]
        + [part for folder in includes for part in ("-isystem", str(folder))]
        + [str(HERE / source)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


CUDA_HOMES = (
    os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/include",
    "/usr/local/cuda*/include",
)


def test_declarations_are_those_of_nvidia():
    """Where its header is installed."""
    folder = headers("cuda.h", *CUDA_HOMES)
    if not folder:
        pytest.skip("cuda.h is not installed")
    compile_declarations("cuda_declarations.cc", folder)


def test_declarations_of_libraries_are_those_of_nvidia():
    """Of NVRTC and cuBLASLt, where their headers are installed: NVIDIA's wheels bring them."""
    site = f"{sysconfig.get_paths()['purelib']}/nvidia/cu13/include"
    nvrtc, products = (headers(name, site, *CUDA_HOMES) for name in ("nvrtc.h", "cublasLt.h"))
    cuda = headers("cuda_runtime.h", site, *CUDA_HOMES)
    if not nvrtc or not products or not cuda:
        pytest.skip("nvrtc.h, cublasLt.h and cuda_runtime.h are not installed")
    compile_declarations("library_declarations.cc", nvrtc, products, cuda)

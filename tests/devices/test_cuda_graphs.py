"""Whole steps as graphs of the driver, on the device GPU: a compiled step is recorded when it runs for the second time, and replayed by one launch
from then on. The stub counts launches, and refuses what may not be done while a stream is captured."""

from __future__ import annotations

import cuda_device
import pytest
from test_cuda import on_the_stub, pytestmark, run

__all__ = ["pytestmark"]

TRAINING = """
ms.set_context(mode=0, conv_allow_tf32=False, deterministic="ON")
class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Conv2d(1, 4, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6),
            nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten(), nn.Dropout(p=0.2), nn.Dense(96, 10))
    def construct(self, x):
        return self.layers(x)
def mlp():
    return nn.SequentialCell(nn.Flatten(), nn.Dense(400, 16), nn.ReLU(), nn.Dropout(p=0.2), nn.Dense(16, 10))
def trainer(net):
    net.set_train()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    update = nn.Momentum(net.trainable_params(), 0.02, 0.9)
    gradient = ms.value_and_grad(lambda x, y: loss(net(x), y), None, update.parameters)
    @ms.jit
    def step(x, y):
        value, grads = gradient(x, y)
        update(grads)
        return value
    return step
batches = [(f32(8, 1, 20, 20, seed=s), (np.arange(8) * (s + 3) % 10).astype(np.int32)) for s in range(6)]
def train(make):
    ms.set_seed(11)
    np.random.seed(11)
    net = make()
    step = trainer(net)
    losses = [step(Tensor(x), Tensor(y)) for x, y in batches]
    return [v.asnumpy() for v in losses], [p.asnumpy() for p in net.get_parameters()]
"""


def test_parameters_that_are_overwritten_may_lie_elsewhere():
    """By values that do not come from the old ones, which nobody else reads."""
    run("""
ms.set_context(mode=0, device_target="GPU")
w = ms.Parameter(Tensor(np.zeros((40, 50), np.float32)), name="w")
@ms.jit
def step(x):
    z = ops.cumsum(ops.sort(ops.cumsum(ops.softmax(x), 0))[0], 0)
    ops.assign(w, x * 3 + 1)
    return z.sum()
for i in range(8):
    before = w.value() + 0 if i % 2 else w.asnumpy()
    if i == 5:
        w.set_data(Tensor(np.zeros((40, 50), np.float32)))
    step(Tensor(np.full((40, 50), i, np.float32)))
    assert (w.asnumpy() == 3 * i + 1).all(), (i, w.asnumpy())
""")


def test_parameters_that_are_updated_may_lie_elsewhere():
    """Another network of the kind, one whose Parameters were loaded, two in turn: each has its own numbers."""
    program = """
def make(w):
    def step(x):
        a = ops.cumsum(ops.sort(ops.cumsum((x * w).sum(0), 0))[0], 0)
        loss = a.mean() + ops.sin(x).mean()
        ops.assign(w, w - x * 0.01)
        return loss
    return ms.jit(step)
x = Tensor(np.linspace(0, 1, 360, dtype=np.float32).reshape(10, 36))
def run():
    found = []
    parameters = [ms.Parameter(x * (i + 1), name="w") for i in range(3)]
    steps = [make(w) for w in parameters]
    for w, step in zip(parameters, steps):
        found += [step(x).asnumpy() for _ in range(4)]
        w.set_data(x * 0.5)
        found += [step(x).asnumpy() for _ in range(3)]
    for _ in range(4):
        found += [step(x).asnumpy() for step in steps]
    return found + [w.asnumpy() for w in parameters]
a, b = both(run)
for p, q in zip(a, b):
    np.testing.assert_allclose(q, p, rtol=1e-5)
from mindspore import _devices
print(_devices.facts("GPU")["replayed"])
"""
    assert int(run(program)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("make", ["mlp", "LeNet"])
def test_a_step_is_one_launch(make):
    """Losses, kept by the caller, and Parameters are those without recordings, bit for bit; random numbers, too."""
    program = (
        TRAINING
        + f"""
ms.set_context(device_target="GPU")
losses, weights = train({make})
print(np.array(losses).tobytes().hex(), b"".join(w.tobytes() for w in weights).hex())
"""
    )
    replays = "from mindspore import _devices\nassert int(_devices.facts('GPU')['replayed']) >= 3"
    recorded = run(program + replays)
    assert recorded == run(program, MS_CUDA_GRAPHS="0")
    if cuda_device.is_real():
        return
    run(
        TRAINING
        + f"""
ms.set_context(device_target="GPU")
step = trainer({make}())
inputs = [(Tensor(x) + 0, Tensor(y) + 0) for x, y in batches]
losses = []
for i, (x, y) in enumerate(inputs):
    with Counted() as found:
        losses.append(step(x, y))
    if i == 0:
        assert found["replays"] == 0 and found["launches"] > 10
    if i >= 3:
        assert (found["launches"], found["replays"], found["captures"]) == (1, 1, 0), (i, found.found)
assert counts()["captures"] <= 3
assert len({{float(v.asnumpy()) for v in losses}}) == 6
"""
    )


@on_the_stub
@pytest.mark.parametrize("setting", [{}, {"MS_CUDA_BRANCHES": "0"}, {"MS_CUDA_STUB_FORKS": "no"}])
def test_what_does_not_wait_for_each_other_may_run_beside(setting):
    """The stub runs branches in orders of its own. Without branches, or with a driver that refuses them, a recording is one row."""
    program = """
ms.set_context(mode=0, device_target="GPU")
p = ms.Parameter(Tensor(f32(4, 4)), name="p")
@ms.jit
def f(x, y):
    for i in range(4):
        x = ops.softmax(ops.matmul(x, x)) + i
        y = ops.softmax(ops.matmul(y, p)) - i
    ops.assign(p, p + ops.matmul(x, x))
    return ops.matmul(x, y) + p, x.cumsum(0), y.sum()
for i in range(6):
    with Counted() as found:
        print([v.asnumpy().tolist() for v in f(Tensor(f32(4, 4, seed=i)), Tensor(f32(4, 4, seed=i + 9)))], p.asnumpy().tolist())
"""
    seen = f"""
assert found["replays"] == 1, found.found
assert (counts().get("forks", 0) > 0) == {not setting}, counts()
"""
    given = run(program + seen, **setting)
    assert given == run(program, MS_CUDA_GRAPHS="0")


@on_the_stub
def test_branches_update_all_or_nothing_where_something_is_wrong():
    """Parameters that do not wait for what is wrong are written before it or not at all, as without branches."""
    program = """
ms.set_context(mode=0, device_target="GPU")
p, q, r = (ms.Parameter(Tensor(f32(4, 5)), name=name) for name in "pqr")
@ms.jit
def step(t, i, x):
    y = ops.softmax(t * 2).cumsum(0).cumsum(1)
    z = ops.gather(y, i, 0).sum()
    ops.assign(p, p * 2 + x)
    ops.assign(q, ops.softmax(x + z * 0))
    ops.assign(r, x * 3)
    return z
t, x = Tensor(f32(6, 5)), Tensor(f32(4, 5))
good, bad = Tensor(np.array([0, 1, 2, 3], np.int32)), Tensor(np.array([0, 1, 9, 3], np.int32))
for i in [good] * 4 + [bad, good, bad, bad, good]:
    step(t, i, x + len(np.unique(r.asnumpy())))
    try:
        ms.runtime.synchronize()
    except IndexError as error:
        print(str(error).splitlines()[0])
    print([v.asnumpy().tolist() for v in (p, q, r)])
"""
    given = run(program + 'assert counts()["forks"] > 0 and counts()["replays"] > 4')
    assert given == run(program, MS_CUDA_BRANCHES="0") and "got 9" in given


@on_the_stub
def test_what_runs_on_the_host_splits_a_recording():
    run("""
ms.set_context(mode=0, device_target="GPU")
@ms.jit
def f(x):
    for i in range(3):
        x = ops.softmax(ops.matmul(x, x)) + i
        x = x / x.sum() + ops.matmul(x, x)
    x = ops.inverse(x + 9 * ops.eye(4))  # has no kernel on the GPU
    for i in range(3):
        x = ops.softmax(ops.matmul(x, x)) + i
        x = x / x.sum() + ops.matmul(x, x)
    return x
for i in range(5):
    x = f32(4, 4, seed=i)
    with Counted() as found:
        y = f(Tensor(x)).asnumpy()
    ms.set_context(device_target="CPU")
    np.testing.assert_allclose(y, f(Tensor(x)).asnumpy(), rtol=1e-4)
    ms.set_context(device_target="GPU")
assert found["replays"] == 2, found.found
""")


@pytest.mark.slow
@on_the_stub
def test_branches_and_loops_on_tensors_split_a_recording():
    run("""
ms.set_context(mode=0, device_target="GPU")
def body(x):
    return ops.softmax(ops.matmul(x, x)) + ops.matmul(x, x) / (ops.abs(x).sum() + 1)
@ms.jit
def f(x, n):
    x = body(body(x))
    while n > 0:
        x = body(body(x))
        n = n - 1
    if x.sum() > 0:
        x = body(body(x)) + 1
    else:
        x = body(body(x)) - 1
    return x
found = []
for i in range(6):
    x, n = f32(4, 4, seed=i), Tensor(i % 3, ms.int32)
    with Counted() as now:
        y = f(Tensor(x), n).asnumpy()
    found.append(now["replays"])
    ms.set_context(device_target="CPU")
    np.testing.assert_allclose(y, f(Tensor(x), n).asnumpy(), rtol=1e-4, err_msg=str(i))
    ms.set_context(device_target="GPU")
assert found[0] == 0 and found[-1] >= 2, found
""")


@pytest.mark.slow
def test_a_bad_index_in_a_recording_names_its_line():
    run("""
ms.set_context(mode=0, device_target="GPU")
p = ms.Parameter(Tensor(np.ones((4, 5), np.float32)), name="p")
@ms.jit
def step(t, i):
    y = ops.gather(t * 2, i, 0)
    z = ops.softmax(y) + y.sum() + ops.exp(y).max()
    ops.assign(p, z + p)
    return z.sum() + p.mean()
t = Tensor(f32(6, 5))
good, bad = Tensor(np.array([0, 1, 2, 3], np.int32)), Tensor(np.array([0, 1, 9, 3], np.int32))
for i in range(4):
    step(t, good).asnumpy()
before = p.asnumpy()
step(t, bad)
step(t, good)  # left out, for nobody has heard of it yet
with pytest.raises(IndexError, match=r"For 'Gather', the indices must be in \\[-6, 6\\), but got 9 at position 2"):
    ms.runtime.synchronize()
np.testing.assert_array_equal(p.asnumpy(), before)
step(t, good).asnumpy()
assert (p.asnumpy() != before).all()
""")


@pytest.mark.slow
@on_the_stub
def test_what_recordings_report_by_goes_with_them():
    """Not before what was replayed is done: an error in it still names its line."""
    run("""
import gc
from mindspore import _devices
def kept():
    return int(_devices.facts("GPU")["kept_tickets"])
ms.set_context(device_target="GPU", mode=0)
x, places = Tensor(f32(8, 4)) + 0, [Tensor(np.array([n], np.int32)) + 0 for n in (1, 2, 9)]
for _ in range(3):
    step = ms.jit(lambda x, at: ops.cumsum(ops.gather(ops.gather(ops.sin(x), at, 0), at * 0, 0) * 2, 0))
    for at in (*places[:2], *places[:2]):
        step(x, at)
    assert kept() == 2
    step(x, places[2])
    del step
    _core.clear_compiled()
    gc.collect()
    assert kept() == 2
    with pytest.raises(IndexError, match="For 'Gather', the indices must be in .*, but got 9"):
        ms.runtime.synchronize()
    assert kept() == 0
""")


def test_recordings_are_bounded():
    """Parameters elsewhere, outputs that are kept, other shapes: other recordings, and no end of them."""
    run("""
ms.set_context(mode=0, device_target="GPU")
p = ms.Parameter(Tensor(np.ones((4, 4), np.float32)), name="p")
@ms.jit
def step(x):
    y = ops.softmax(ops.matmul(x, p)) + ops.matmul(x, x) * x.sum() + ops.exp(x).max()
    ops.assign(p, p + y.mean())
    return y, y * 2
kept, right = [], np.ones((4, 4), np.float32)
for i in range(40):
    if i % 3 == 2:
        held = p.value() + 0
        p.set_data(Tensor(np.ones((4, 4), np.float32)) + i)
        right = np.ones((4, 4), np.float32) + i
    x = f32(4, 4, seed=i)
    y = step(Tensor(x))
    kept.append(y)
    s = np.exp(x @ right - (x @ right).max(-1, keepdims=True))
    y = s / s.sum(-1, keepdims=True) + x @ x * x.sum() + np.exp(x).max()
    right = right + y.mean()
    np.testing.assert_allclose(kept[-1][0].asnumpy(), y, rtol=2e-4, atol=1e-4)
    np.testing.assert_allclose(p.asnumpy(), right, rtol=2e-4)
assert counts()["captures"] <= 12, counts()
first = kept[0][0].asnumpy()
x = f32(4, 4, seed=0)
assert np.isfinite(first).all()
""")


@pytest.mark.slow
@on_the_stub
def test_a_setting_about_numbers_makes_recordings_stale():
    run("""
ms.set_context(mode=0, device_target="GPU")
@ms.jit
def f(x):
    y = ops.softmax(ops.matmul(x, x))
    return ops.softmax(ops.matmul(y, y)) + ops.exp(y).sum() + ops.matmul(x, y).max()
x = Tensor(f32(4, 4))
for allowed in (False, True, False):
    ms.set_context(matmul_allow_tf32=allowed)
    with Counted() as found:
        for _ in range(4):
            f(x).asnumpy()
    assert found["replays"] >= 2 and (found["products with tf32"] > 0) == allowed
    assert (found["products"] > 0) == (not allowed)
""")


@pytest.mark.slow
@on_the_stub
def test_two_threads_record_apart():
    run("""
import threading
ms.set_context(mode=0, device_target="GPU")
@ms.jit
def f(x):
    y = ops.softmax(ops.matmul(x, x))
    return ops.softmax(ops.matmul(y, y)) + ops.exp(y).sum() + ops.matmul(x, y).max()
inputs = [f32(4, 4, seed=s) for s in range(4)]
ms.set_context(device_target="CPU")
right = [f(Tensor(x)).asnumpy() for x in inputs]
ms.set_context(device_target="GPU")
wrong = []
def work(s):
    try:
        for _ in range(12):
            np.testing.assert_allclose(f(Tensor(inputs[s])).asnumpy(), right[s], rtol=1e-4)
            np.testing.assert_allclose((Tensor(inputs[s]) + 1).asnumpy(), inputs[s] + 1, rtol=1e-6)
    except BaseException as error:
        wrong.append(error)
threads = [threading.Thread(target=work, args=(s,)) for s in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not wrong, wrong
""")

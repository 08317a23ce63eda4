"""Values that a GPU left out after an error: reading them, or computing with them, raises; others are as they were."""

from __future__ import annotations

import pytest
from test_cuda import pytestmark, run

__all__ = ["pytestmark"]

START = """
import os
ms.set_context(device_target="GPU", mode=1)
WRONG = "indices must be in .*, but got 9"
def missing(what):
    with pytest.raises(RuntimeError, match="was not computed.*For 'Gather', the " + WRONG) as caught:
        what()
    return str(caught.value)
def heard():
    with pytest.raises(IndexError, match=WRONG):
        ms.runtime.synchronize()
x = Tensor(f32(6, 5)) + 0
good, bad = Tensor([0, 1, 2], ms.int32) + 0, Tensor([0, 9, 2], ms.int32) + 0
"""


def test_eager_values():
    run(
        START
        + """
before = x * 2
total = x.sum()
kept = total.copy()
at_line = ops.gather(x, bad, 0); own = at_line
after, total = own * 2, total + own.sum()
copied, old, view = after.copy(), before.copy(), after[1:]
heard()
for name, value in {"own": own, "after": after, "total": total, "copied": copied, "a view": view}.items():
    assert "got 9 at position 1 (<string>:" in missing(lambda: value.asnumpy()), name
    assert missing(lambda: value + 1).startswith("For 'Strided" if name == "a view" else "For 'Add', "), name
    missing(lambda: float(value.sum()))
    missing(lambda: value.move_to("CPU"))
    missing(lambda: print(value))
np.testing.assert_array_equal(before.asnumpy(), x.asnumpy() * 2)
np.testing.assert_array_equal(old.asnumpy(), before.asnumpy())
assert float(kept) == float(x.sum())
assert (x + 1).asnumpy().shape == (6, 5)
np.testing.assert_array_equal(ops.gather(x, good, 0).asnumpy(), x.asnumpy()[:3])
del own, after, copied, view, at_line, value
for _ in range(50):  # their memory is that of others now
    assert np.isfinite((x * 3).asnumpy()).all()
"""
    )


def test_what_is_written_in_place_is_there():
    run(
        START
        + """
p = ms.Parameter(x * 1, name="p")
hosts = [ms.Parameter(Tensor(f32(6, 5)), name=f"h{n}") for n in range(3)]
array = hosts[1].asnumpy()
hosts[2] + 1
lost = ops.gather(x, bad, 0).sum()
for host in hosts:
    host.set_data(host * 2 + lost)
heard()
for host in hosts:
    np.testing.assert_array_equal(host.asnumpy(), f32(6, 5))
stays = ms.Parameter(Tensor(f32(6, 5)), name="stays", device="GPU")
stays.set_data(stays + ops.gather(x, bad, 0).sum())
heard()
np.testing.assert_array_equal(stays.asnumpy(), f32(6, 5))
running, items = x.sum(), x * 1
for _ in range(2):
    wanted = p.asnumpy(), running.asnumpy(), items.asnumpy()
    lost = ops.gather(x, bad, 0).sum()
    p.set_data(p + lost)
    ops.assign_add(p, p * lost)
    running += 0  # a new one, which is left out
    sums = x.sum().add_(lost)
    items[0] = lost
    items.add_(lost)
    heard()
    missing(lambda: sums.asnumpy())
    missing(lambda: running.asnumpy())
    np.testing.assert_array_equal(p.asnumpy(), wanted[0])
    np.testing.assert_array_equal(items.asnumpy(), wanted[2])
    running = x.sum()
    items[0] = 1.0
    items.add_(1.0)
    assert (items.asnumpy()[0] == 2).all()
"""
    )


def test_compiled_steps():
    """Recorded or not; a value that is missing is no argument of one."""
    for mode in ("recorded", "launched"):
        run(
            START
            + """
ms.set_context(mode=0)
p = ms.Parameter(x * 1, name="p")
@ms.jit
def step(t, i):
    y = ops.gather(t * 2, i, 0)
    z = ops.softmax(y) + y.sum() + ops.exp(y).max()
    ops.assign(p, p + z.sum() * 0.01)
    return z.sum() + p.mean(), y
for _ in range(4):
    first = step(x, good)[0]
ms.runtime.synchronize()
from mindspore import _devices
replayed = int(_devices.facts("GPU")["replayed"]) > 0
assert replayed == (os.environ.get("MS_CUDA_GRAPHS") != "0")
then = p.asnumpy()
results = [step(x, bad), step(x, good)]
other = ops.softmax(x)
heard()
np.testing.assert_array_equal(p.asnumpy(), then)
assert np.isfinite(first.asnumpy())
for result in results:
    for value in result:
        missing(lambda: value.asnumpy())
missing(lambda: step(results[1][1], good))
missing(lambda: other.asnumpy())
missing(lambda: ms.jit(lambda a: a * 2 + 1)(other))
for _ in range(3):
    assert np.isfinite(step(x, good)[0].asnumpy())
assert (p.asnumpy() != then).all()
""",
            **({} if mode == "recorded" else {"MS_CUDA_GRAPHS": "0"}),
        )


def test_what_functions_of_a_gradient_have_kept():
    """Neither what they captured nor what they are given may be missing."""
    run(
        START
        + """
ms.set_context(mode=0)
v = x[0] * 1
f = lambda a: ops.exp(a)
_, sound = ops.vjp(f, v)
ms.runtime.synchronize()
wrong = ops.gather(x, bad, 0)[0]
_, lost = ops.vjp(f, v)
heard()
missing(lambda: lost(ops.ones_like(v)))
missing(lambda: sound(wrong))
np.testing.assert_allclose(sound(v * 0 + 1)[0].asnumpy(), np.exp(v.asnumpy()), rtol=1e-6)
ms.set_context(mode=1)
inner = ms.jit(lambda a: ops.exp(a) * a)
ms.grad(lambda a: inner(a))(v).asnumpy()  # compiled, for which the host may wait
def caught(a):
    ops.gather(x, bad, 0)
    y = inner(a)
    heard()
    return y
missing(lambda: ms.grad(caught)(v))
"""
    )


def test_what_is_missing_may_be_given_a_value():
    run(
        START
        + """
p = ms.Parameter(ops.gather(x, bad, 0), name="p")
a, b, c = (ops.gather(x, bad, 0) * 1 for _ in range(3))
heard()
p.set_data(x[:3] * 1)
a.copy_(x[:3] * 2)
b.fill_(3.0)
c.assign_value(Tensor(f32(3, 5)))
ms.runtime.synchronize()
np.testing.assert_array_equal(p.asnumpy() * 2, a.asnumpy())
assert (b.asnumpy() == 3).all()
np.testing.assert_array_equal((c + 0).asnumpy(), f32(3, 5))
ops.gather(x, bad, 0)
p.set_data(p + 1)
heard()
np.testing.assert_array_equal(p.asnumpy() * 2, a.asnumpy())
"""
    )


def test_what_a_wait_found_to_be_there_stays_so():
    """Though another thread was in the middle of a long run, and errors follow."""
    run(
        START
        + """
from concurrent.futures import ThreadPoolExecutor
import threading
begun = threading.Event()
@ms.jit
def loop(a):
    while a.sum() < x.sum() * 0 + 1e5:
        a = a + 1
    return a
def long():
    begun.set()
    loop(x * 0)
loop(x)
with ThreadPoolExecutor(1) as pool:
    under_way = pool.submit(long)
    begun.wait()
    value = x + 1
    value.asnumpy()
    lost = ops.gather(x, bad, 0)
    heard()
    missing(lambda: lost.asnumpy())
    assert np.isfinite(value.asnumpy()).all()
    assert isinstance(under_way.exception(), (IndexError, type(None)))  # who waits hears of it
values = []
def reads(_=None):
    for fine, lost in values:
        missing(lambda: lost.asnumpy())
        assert np.isfinite(fine.asnumpy()).all()
for n in range(3):
    values.append((x + n, ops.gather(x, bad, 0) + n))
    heard()
with ThreadPoolExecutor(3) as pool:
    list(pool.map(reads, range(3)))
reads()
"""
    )


@pytest.mark.slow
def test_more_calls_than_have_tickets():
    """What an error is about is forgotten then, but not that there was one."""
    run(
        START
        + """
sound = x * 2
sound.asnumpy()
lost = ops.gather(x, bad, 0)
after = x * 3
for _ in range((1 << 16) + 5):
    ops.gather(x, good, 0)
with pytest.raises(RuntimeError, match="in one of more than 65536 calls"):
    ms.runtime.synchronize()
for value in (lost, after):
    with pytest.raises(RuntimeError, match="was not computed.*in one of more than 65536 calls"):
        value.asnumpy()
assert (sound.asnumpy() == x.asnumpy() * 2).all()
"""
    )

"""Values that a GPU left out after an error: reading them, or computing with them, raises; others are as they were."""

from __future__ import annotations

from test_cuda import pytestmark, run

__all__ = ["pytestmark"]

START = """
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
then = p.asnumpy()
results = [step(x, bad), step(x, good)]
other = ops.softmax(x)
heard()
np.testing.assert_array_equal(p.asnumpy(), then)
assert np.isfinite(first.asnumpy())
for result in results:
    for value in result:
        missing(lambda: value.asnumpy())
        missing(lambda: step(x + value.sum(), good))
missing(lambda: other.asnumpy())
missing(lambda: ms.jit(lambda a: a * 2 + 1)(other))
for _ in range(3):
    assert np.isfinite(step(x, good)[0].asnumpy())
assert (p.asnumpy() != then).all()
""",
            **({} if mode == "recorded" else {"MS_CUDA_GRAPHS": "0"}),
        )


def test_more_errors_than_one_and_threads():
    run(
        START
        + """
from concurrent.futures import ThreadPoolExecutor
values = []
for n in range(3):
    values.append((x + n, ops.gather(x, bad, 0) + n))
    heard()
def reads(_=None):
    for fine, lost in values:
        missing(lambda: lost.asnumpy())
        assert np.isfinite(fine.asnumpy()).all()
with ThreadPoolExecutor(3) as pool:
    list(pool.map(reads, range(3)))
reads()
"""
    )

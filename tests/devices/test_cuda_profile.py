"""Profiles of the device GPU: the device notes the times, by events around each launch, and nobody waits for its kernels meanwhile."""

from __future__ import annotations

import pytest
from test_cuda import on_the_stub, pytestmark, run

__all__ = ["pytestmark"]

PROFILED = """
import csv, json, time
from mindspore import Profiler
from mindspore.profiler import ProfilerLevel
ms.set_context(device_target="GPU")
def calls(profiler):
    return {row.op: row.calls for row in profiler.op_statistics()}
def timed():  # events with a time that are there
    return counts().get("timed events", 0)
def net(x, y):
    a = ops.matmul(x, y)
    return ops.softmax(a) + ops.cumsum(a, 0)
x, y = Tensor(f32(6, 6)) + 0, Tensor(f32(6, 6, seed=1)) + 0
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0, 1])
def test_each_op_has_the_times_of_the_device(mode, tmp_path):
    """In the tables as on the host; in the trace on the row of the device's stream, beside the launches by the host's threads."""
    run(
        PROFILED
        + f"""
ms.set_context(mode={mode})
step = ms.jit(net) if {mode} == 0 else net
step(x, y)
profiler = Profiler(output_path={str(tmp_path)!r})
for _ in range(3):
    step(x, y)
    profiler.step()
profiler.analyse()
folder = {str(tmp_path / "profiler")!r}
def read(name):
    with open(f"{{folder}}/{{name}}.csv") as file:
        return list(csv.DictReader(file))
assert calls(profiler)["MatMul"] == calls(profiler)["CumSum"] == 3
assert all(float(r["best_us"]) >= 0 and float(r["total_ms"]) > 0 for r in read("op_statistic"))
(line,) = [r for r in read("op_by_line") if r["op"] == "MatMul"]
assert line["function"] == "net" and line["count"] == "3", line
for s in read("step_trace_time"):
    assert 0 < float(s["kernels_ms"]) < float(s["total_ms"])
assert all(int(r["held_bytes"]) > 0 for r in read("memory"))
trace = json.load(open(f"{{folder}}/trace_view.json"))["traceEvents"]
(stream,) = [e["tid"] for e in trace if e["ph"] == "M" and e["args"]["name"] == "GPU stream"]
kernels = [e for e in trace if e["ph"] == "X" and e["tid"] == stream]
launches = [e for e in trace if e["ph"] == "X" and e["name"].startswith("launch ")]
assert [f"launch {{k['name']}}" for k in kernels] == [e["name"] for e in launches]
assert not {{e["tid"] for e in launches}} & {{stream}}
for before, after in zip(kernels, kernels[1:]):  # one at a time, in the order of the program
    assert before["ts"] + before["dur"] <= after["ts"] + 2
for kernel, launch in zip(kernels, launches):
    assert kernel["ts"] + kernel["dur"] > launch["ts"]
    assert kernel["args"]["where"] == launch["args"]["where"]
steps = [e for e in trace if e["ph"] == "X" and e["name"].startswith("step ")]
inside = [[k["name"] for k in kernels if s["ts"] <= k["ts"] and k["ts"] + k["dur"] <= s["ts"] + s["dur"] + 2] for s in steps]
assert inside[0] == inside[1] == inside[2] and len(inside[0]) == len(kernels) / 3, inside
"""
    )


@on_the_stub
def test_nobody_waits_and_no_event_is_left():
    run(
        PROFILED
        + """
ms.set_context(mode=1)
net(x, y).asnumpy()
assert timed() == 0
profiler = Profiler(profiler_level=ProfilerLevel.LevelNone)
net(x, y)
assert timed() > 2  # not asked for yet
assert calls(profiler)["MatMul"] == 1 and profiler.profile.launches == []
assert timed() == 0
profiler.start()
for _ in range(2500):  # more launches than are kept waiting
    z = x + y
assert timed() <= 2 * 4096 + 1
for _ in range(2500):
    z = x + y
assert timed() <= 2 * 4096 + 1
assert calls(profiler) == {"Add": 5000} and timed() == 0
net(x, y)
assert timed() == 0  # off
_core.set_profile(True)
net(x, y)
_core.reset_profile()
_core.set_profile(False)
assert timed() == 0 and _core.profile_rows() == []
"""
    )


@on_the_stub
@pytest.mark.serial
def test_others_launch_while_a_thread_asks_for_many_times():
    """Each wait takes 30 ms here."""
    run(
        PROFILED
        + """
import threading
_core.set_profile(True)
longest, over = [], threading.Event()
def launch():
    z = x + y
    while not over.is_set():
        began = time.perf_counter()
        time.sleep(0.05)
        z = x + y
        longest.append(time.perf_counter() - began)
other = threading.Thread(target=launch)
other.start()
for _ in range(4300):
    z = x + y
over.set()
other.join()
assert max(longest) < 1, max(longest)
assert sum(row[2] for row in _core.profile_rows() if row[0] == "Add") == 4300 + len(longest) + 1, _core.profile_rows()
""",
        MS_CUDA_STUB_LINGER="30",
    )


@pytest.mark.slow
def test_recordings_wait_until_the_profile_ends():
    """Of a recording nobody knows which part belongs to which op: launches are given one by one."""
    run(
        PROFILED
        + """
from mindspore import _devices
ms.set_context(mode=0)
@ms.jit
def step(x, y):
    return net(net(x, y), y)
right = step(x, y).asnumpy()
for _ in range(3):
    step(x, y)
def replayed():
    return int(_devices.facts("GPU")["replayed"])
before = replayed()
assert before > 0
profiler = Profiler()
np.testing.assert_array_equal(step(x, y).asnumpy(), right)
profiler.stop()
assert replayed() == before and calls(profiler)["MatMul"] == 2
np.testing.assert_array_equal(step(x, y).asnumpy(), right)
assert replayed() == before + 1
"""
    )


def test_an_error_halfway_leaves_the_rest():
    """A launch that is refused is not there, one that finds something wrong is, and its error comes at the next wait."""
    run(
        PROFILED
        + """
ms.set_context(mode=1)
profiler = Profiler()
z = x + y
with pytest.raises(ValueError):
    ops.matmul(x, Tensor(f32(5, 5)))
bad = ops.gather(x, Tensor(np.array([9], np.int32)), 0)
with pytest.raises(IndexError, match="For 'Gather', the indices must be in"):
    bad.asnumpy()
z = x * y
assert calls(profiler) == {"Add": 1, "Gather": 1, "Mul": 1}, calls(profiler)
"""
    )


def test_what_runs_within_another_op():
    """A Python function within a compiled one launches ops of its own: both are there, the outer one around the inner ones."""
    run(
        PROFILED
        + """
ms.set_context(mode=1)
ops.inverse(x).asnumpy()
profiler = Profiler()
z = ops.inverse(x + y) * 2  # on the host, between copies
profiler.stop()
assert calls(profiler) == {"Add": 1, "MatrixInverse": 1, "Mul": 1}, calls(profiler)
first, second, third = profiler.profile.launches
assert {launch.device for launch in profiler.profile.launches} == {"GPU"}
assert first.start <= second.start <= third.start
assert second.length > 0
"""
    )


@on_the_stub
def test_a_table_at_the_end_of_the_process():
    said = run(
        'ms.set_context(device_target="GPU")\nx = Tensor(f32(4, 4)) + 0\nz = x * 2',
        says=True,
        MS_PROFILE="1",
    )
    assert "us/call" in said and " Mul " in said and "in all" in said

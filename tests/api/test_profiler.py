"""Profiles: every kernel that runs is there, once, with the user's line; steps, schedules, and the files."""

from __future__ import annotations

import csv
import itertools
import json
import shutil

import numpy as np
import pytest

import mindspore as ms
from mindspore import Profiler, Tensor, nn, ops
from mindspore.profiler import (
    ProfilerActivity,
    ProfilerLevel,
    mstx,
    profile,
    schedule,
    tensorboard_trace_handler,
)
from mindspore.profiler._schedule import ProfilerAction

X = Tensor(np.ones((8, 16), np.float32))


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=["eager", "graph"])
def mode(request):
    before = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE if request.param == "graph" else ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(np.ones((16, 4), np.float32), name="weight")

    def construct(self, x):
        return ops.matmul(x, self.weight)


def read(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def test_files(mode, tmp_path):
    net = Net()
    net(X)
    profiler = Profiler(output_path="out")
    for _ in range(3):
        net(X)
        profiler.step()
    profiler.analyse()
    folder = tmp_path / "out" / "profiler"
    (row,) = [r for r in read(folder / "op_statistic.csv") if r["op"] == "MatMul"]
    assert row["count"] == "3"
    assert 0 < float(row["best_us"]) <= float(row["average_us"])
    assert float(row["percent"]) <= 100
    (line,) = [r for r in read(folder / "op_by_line.csv") if r["op"] == "MatMul"]
    assert line["file"] == __file__
    assert "construct" in line["function"]
    source = open(__file__).read().splitlines()
    assert "ops.matmul(x, self.weight)" in source[int(line["line"]) - 1]
    steps = read(folder / "step_trace_time.csv")
    assert [s["step"] for s in steps] == ["0", "1", "2"]
    for s in steps:
        assert 0 < float(s["kernels_ms"]) < float(s["total_ms"])
    assert all(int(r["held_bytes"]) > 0 for r in read(folder / "memory.csv"))


def test_the_trace(mode, tmp_path):
    net = Net()
    net(X)
    profiler = Profiler(output_path="out")
    mark = mstx.range_start("mine")
    net(X)
    mstx.range_end(mark)
    profiler.add_metadata("who", "me")
    profiler.add_metadata_json("sizes", "[1, 2]")
    profiler.analyse()
    trace = json.loads((tmp_path / "out" / "profiler" / "trace_view.json").read_text())
    spans = {e["name"]: e for e in trace["traceEvents"] if e["ph"] == "X"}
    kernel, mine, step = spans["MatMul"], spans["mine"], spans["step 0"]
    assert step["ts"] <= mine["ts"] <= kernel["ts"]
    assert kernel["ts"] + kernel["dur"] <= mine["ts"] + mine["dur"] + 1e-3
    assert kernel["args"]["where"].startswith(f"{__file__}:")
    assert [e for e in trace["traceEvents"] if e["ph"] == "C" and e["args"]["bytes"] > 0]
    assert trace["otherData"] == {"dropped_launches": 0, "who": "me", "sizes": [1, 2]}


def test_times_of_one_op():
    profiler = Profiler(output_path="out")
    ops.matmul(X, ops.ones((16, 4)))
    found = json.loads(profiler.op_analyse(["MatMul", "Conv2D"]))
    assert found["Conv2D"] == []
    (row,) = found["MatMul"]
    assert row["op_count"] == 1
    assert row["op_total_time(ms)"] > 0
    assert row["file"] == __file__
    assert [r.calls for r in profiler.op_statistics() if r.op == "MatMul"] == [1]


def test_nothing_is_recorded_before_and_behind():
    profiler = Profiler(output_path="out", start_profile=False)
    X + 1
    profiler.start()
    X * 2
    profiler.stop()
    X - 1
    assert [(r.op, r.calls) for r in profiler.op_statistics()] == [("Mul", 1)]
    profiler.start()
    X - 1
    assert [(r.op, r.calls) for r in profiler.op_statistics()] == [("Sub", 1)]


def test_sums_alone():
    profiler = Profiler(output_path="out", profiler_level=ProfilerLevel.LevelNone)
    X + 1
    profile = profiler.profile
    assert profile.launches == []
    assert [r.op for r in profile.rows] == ["Add"]


def test_schedules():
    numbers = schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    names = [numbers(i).name for i in range(11)]
    once = ["NONE", "WARM_UP", "RECORD", "RECORD_AND_SAVE"]
    assert names == ["NONE", *once, *once, "NONE", "NONE"]
    assert numbers.to_dict()["active"] == 2
    assert schedule(wait=0, active=1)(100) is ProfilerAction.RECORD_AND_SAVE


def test_what_a_schedule_records(tmp_path):
    counts = []
    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=lambda p: counts.append({r.op: r.calls for r in p.op_statistics()}),
    ) as watched:
        for _ in range(12):
            X + 1
            watched.step()
    assert counts == [{"Add": 2}, {"Add": 2}]
    with profile(
        schedule=schedule(wait=0, active=1, repeat=2),
        on_trace_ready=tensorboard_trace_handler("board", "w"),
    ) as watched:
        for _ in range(3):
            X + 1
            watched.step()
    assert sorted(p.name for p in (tmp_path / "board").iterdir()) == ["w_0_ms", "w_1_ms"]
    assert [s["step"] for s in read(tmp_path / "board" / "w_1_ms" / "step_trace_time.csv")] == ["1"]


def test_a_block_hands_its_profile_over():
    got = []
    with profile(on_trace_ready=got.append) as watched:
        X + 1
    assert got == [watched]
    assert [r.op for r in watched.op_statistics()] == ["Add"]


def test_old_arguments():
    profiler = Profiler(
        output_path="out",
        is_detail=True,
        is_show_op_path=False,
        subgraph="all",
        optypes_not_deal="Variable",
    )
    profiler.analyse()


def test_one_at_a_time():
    profiler = Profiler(output_path="out")
    with pytest.raises(RuntimeError, match="no profiler may be on, but one is"):
        Profiler(output_path="out")
    profiler.stop()
    with pytest.raises(RuntimeError, match="must be on, but it is not"):
        profiler.stop()
    with pytest.raises(RuntimeError, match="nothing was started"):
        Profiler(output_path="out", start_profile=False).analyse()


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: Profiler(colour="red"), TypeError, "there is no option 'colour'"),
        (lambda: Profiler(start_profile=1), TypeError, "'start_profile' must be a bool"),
        (lambda: Profiler(profiler_level=1), TypeError, "'profiler_level' must be a ProfilerLevel"),
        (lambda: Profiler(output_path=3), TypeError, "'output_path' must be a str"),
        (lambda: Profiler(schedule=3), TypeError, "'schedule' must be a function"),
        (lambda: schedule(wait=-1, active=1), ValueError, "'wait' must be at least 0"),
        (lambda: schedule(wait=0, active=0), ValueError, "'active' must be at least 1"),
        (lambda: schedule(wait=0, active="a"), TypeError, "'active' must be an int"),
        (lambda: tensorboard_trace_handler(3), TypeError, "'dir_name' must be a str"),
        (lambda: mstx.range_end(99), ValueError, "'range_id' must be that of a range"),
        (lambda: mstx.mark(3), None, ""),
    ],
)
def test_refusals(call, error, says):
    if error is None:
        assert call() is None  # nobody listens
        return
    with pytest.raises(error, match=says):
        call()


def test_a_full_disk_names_the_file_and_loses_nothing(tmp_path, monkeypatch):
    profiler = Profiler(output_path="out")
    Net()(X)
    profiler.analyse()
    folder = tmp_path / "out/profiler"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    named = set()
    for call in itertools.count(1):
        monkeypatch.setenv("MS_IO_FAULT", f"{call}:enospc")
        try:
            profiler.analyse()
        except OSError as error:
            (name,) = [name for name in before if f"{name}': No space left" in str(error)]
            named.add(name)
            assert error.errno == 28
        else:
            break
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert named == {*before}
    monkeypatch.delenv("MS_IO_FAULT")
    shutil.rmtree(folder)
    profiler.analyse()  # what was recorded is still there
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before

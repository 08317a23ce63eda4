"""Tuning of generated kernels: the same bits whatever is tried, what is found is kept and merged, budgets end it."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import bodies
import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, _core, tuning
from mindspore.tuning.__main__ import main

pytestmark = pytest.mark.skipif(not bodies.available(), reason="needs llvmlite")


def normal(*shape: int, dtype: type = np.float32) -> Tensor:
    return Tensor(np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype))


def full(shape: tuple[int, ...], dtype: str = "Float32") -> str:
    return f"{dtype}[{', '.join(map(str, shape))}]"


def columns(*shape: int) -> tuple[str, list[Tensor], dict[str, str]]:
    lines = """
  %1 = ReduceMean(a0, axis=[0], keep_dims=true)
  %2 = Sub(a0, %1)
  %3 = Mul(%2, %2)
  %4 = ReduceSum(%3, axis=[0], keep_dims=true)
  %5 = ReduceMax(%2, axis=[0], keep_dims=true)
  %6 = Div(%2, %4)"""
    kept = full((1, *shape[1:]))
    return lines, [normal(*shape)], {"%4": kept, "%5": kept, "%6": full(shape)}


def rows(*shape: int) -> tuple[str, list[Tensor], dict[str, str]]:
    lines = """
  %1 = ReduceMax(a0, axis=[1], keep_dims=true)
  %2 = Sub(a0, %1)
  %3 = Exp(%2)
  %4 = ReduceSum(%3, axis=[1], keep_dims=true)
  %5 = Div(%3, %4)"""
    return lines, [normal(*shape)], {"%5": full(shape), "%4": full((shape[0], 1))}


def elementwise(*shape: int) -> tuple[str, list[Tensor], dict[str, str]]:
    lines = """
  %1 = Mul(a0, a1)
  %2 = Tanh(%1)
  %3 = Add(%2, a1)
  %4 = Less(%3, a0)
  %5 = Select(%4, %3, a0)"""
    return (
        lines,
        [normal(*shape), normal(1, shape[1])],
        {"%5": full(shape), "%4": full(shape, "Bool")},
    )


def halves(*shape: int) -> tuple[str, list[Tensor], dict[str, str]]:
    lines = """
  %1 = Exp(a0)
  %2 = ReduceSum(%1, axis=[0], keep_dims=true)
  %3 = Mul(%1, %2)"""
    x = Tensor(normal(*shape).asnumpy().astype(np.float16))
    return lines, [x], {"%3": full(shape, "Float16")}


BODIES: dict[str, Any] = {
    "columns": columns(3001, 300),
    "tall columns": columns(40000, 19),
    "wide columns": columns(130, 2500),
    "rows": rows(700, 333),
    "short rows": rows(9000, 12),
    "long rows": rows(9, 40001),
    "elementwise": elementwise(331, 1025),
    "long elementwise": elementwise(1, 100003),
    "streams": elementwise(1024, 4160),
    "halves": halves(1030, 260),
}


@pytest.fixture
def budget(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A generous budget, and nothing written behind the test's back."""
    monkeypatch.setattr(tuning, "save", lambda: None)
    _core.assembler.take_tunings()
    ms.set_context(tune_budget="100s")
    yield
    ms.set_context(tune_budget=0)
    _core.assembler.take_tunings()


def finish(
    program: Any, inputs: list[Tensor], expected: list[bytes], seconds: float = 300
) -> dict[str, Any]:
    """Runs until the tuner has tried everything; all results have the expected bits."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for _ in range(5):
            assert [y.asnumpy().tobytes() for y in program.run(*inputs)] == expected
        for result in _core.assembler.take_tunings().values():
            if result["complete"]:
                return result
    raise AssertionError("tuning has not ended")


@pytest.mark.parametrize("name", BODIES)
def test_all_ways_have_the_same_bits(name: str, budget: None) -> None:
    if name == "halves" and _core.assembler.instruction_set == "base":
        pytest.skip("which has no instructions for halves: their kernels are interpreted")
    lines, inputs, results = BODIES[name]
    program = bodies.program(lines, inputs, results)
    expected = [y.asnumpy().tobytes() for y in program.run(*inputs)]
    found = finish(program, inputs, expected)
    assert found["trials"] > 0 or name == "short rows"
    assert found["best_ns"] <= found["first_ns"]


PROGRAM = """
import sys, time, numpy as np
sys.path.insert(0, {here!r})
import bodies
from mindspore import Tensor, _assembler, tuning
_assembler._SAVING_PAUSE = 0.1
shape = {shape}
x = Tensor(np.random.default_rng(0).standard_normal(shape).astype(np.float32))
lines = "  %1 = Tanh(a0)\\n  %2 = ReduceSum(%1, axis=[0], keep_dims=true)\\n  %3 = Mul(%1, %2)"
p = bodies.program(lines, [x], {{"%3": f"Float32[{{shape[0]}}, {{shape[1]}}]"}})
first = p.run(x)[0].asnumpy().tobytes()
def complete():
    found = tuning.read(tuning.cache_path()).get(tuning.processor(), {{}})
    return sum(e["complete"] for e in found.values()) >= {wanted}
end = time.monotonic() + 300
while {wanted} and time.monotonic() < end and not complete():
    assert p.run(x)[0].asnumpy().tobytes() == first
import hashlib
print(hashlib.sha256(first).hexdigest())
"""


def start(folder: Path, shape: tuple[int, int], wanted: int, **env: str) -> subprocess.Popen[str]:
    """A process that runs a kernel once, or until so many kernels in the folder's file are tuned."""
    code = PROGRAM.format(here=str(Path(__file__).parent), shape=shape, wanted=wanted)
    variables = {
        **os.environ,
        "MS_KERNEL_CACHE": str(folder / "kernels"),
        "MS_TUNE_CACHE": str(folder / "tuning.json"),
        **env,
    }
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> str:
    out, error = process.communicate(timeout=400)
    assert process.returncode == 0, error
    return out


def entries(folder: Path) -> dict[str, Any]:
    return tuning.read(folder / "tuning.json").get(tuning.processor(), {})


def test_processes_share_what_they_find(tmp_path: Path) -> None:
    plain = output(start(tmp_path, (2000, 300), 0))
    assert not entries(tmp_path)
    both = [start(tmp_path, shape, 2, MS_TUNE_BUDGET="20s") for shape in [(2000, 300), (2100, 310)]]
    assert output(both[0]) == plain
    output(both[1])
    found = entries(tmp_path)
    assert len(found) == 2 and all(e["complete"] for e in found.values())
    # What was found is used without a budget, whatever it is, and never tried again.
    for entry in found.values():
        entry["tuning"] = "tile=256 rows=8"
    tuning.write(tmp_path / "tuning.json", {tuning.processor(): found})
    assert output(start(tmp_path, (2000, 300), 0)) == plain
    assert output(start(tmp_path, (2000, 300), 1, MS_TUNE_BUDGET="20s")) == plain
    assert entries(tmp_path) == found


@pytest.mark.parametrize(
    "bad",
    ["tile=7", "rows=-1", "rows=1000000", "tile", "narrow=1 x=2", "streams=99999999999999999999"],
)
def test_a_file_cannot_ask_for_what_is_not_offered(tmp_path: Path, bad: str) -> None:
    plain = output(start(tmp_path, (2000, 300), 1, MS_TUNE_BUDGET="20s"))
    found = entries(tmp_path)
    assert found
    for entry in found.values():
        entry["tuning"] = bad
    tuning.write(tmp_path / "tuning.json", {tuning.processor(): found})
    assert output(start(tmp_path, (2000, 300), 0)) == plain


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"format": "mindspore tuning 1", "processors": {"x": {"y": 3}}}']
)
def test_a_damaged_file_is_as_none(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "tuning.json"
    path.write_text(damage)
    assert tuning.read(path) == {}
    output(start(tmp_path, (100, 30), 0))


def entry(text: str, trials: int = 3, gain: float = 1.5, complete: bool = True) -> dict[str, Any]:
    return {
        "tuning": text,
        "first_ns": 100.0 * gain,
        "best_ns": 100.0,
        "trials": trials,
        "complete": complete,
    }


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("k", {"tuning": "\ud800"}),
        ("\ud800", {}),
        ("k", {"trials": 10**30}),
        ("k", {"trials": -1}),
        ("k", {"trials": True}),
        ("k", {"first_ns": 10**400}),
        ("k", {"first_ns": -1.0}),
        ("k", {"best_ns": float("nan")}),
    ],
)
def test_damaged_entries_are_as_none(tmp_path: Path, key: str, change: dict[str, Any]) -> None:
    path = tmp_path / "tuning.json"
    tuning.write(path, {tuning.processor(): {key: entry("rows=4") | change, "l": entry("rows=4")}})
    assert list(tuning.read(path)[tuning.processor()]) == ["l"]


def test_merging_does_not_depend_on_the_order(tmp_path: Path) -> None:
    parts: list[tuning.Entries] = [
        {"cpu a": {"k": entry("rows=4"), "l": entry("tile=256", complete=False)}},
        {"cpu a": {"k": entry("rows=8", gain=1.6)}, "cpu b": {"k": entry("narrow=1")}},
        {"cpu a": {"l": entry("", trials=1), "m": entry("unroll=2")}},
    ]
    merged = tuning.merge(*parts)
    assert merged == tuning.merge(*reversed(parts)) == tuning.merge(merged, *parts)
    assert {k: e["tuning"] for k, e in merged["cpu a"].items()} == {
        "k": "rows=8",
        "l": "",
        "m": "unroll=2",
    }
    paths = []
    for i, part in enumerate(parts):
        paths.append(str(tmp_path / f"{i}.json"))
        tuning.write(Path(paths[-1]), part)
    out = str(tmp_path / "out" / "all.json")
    assert main(["merge", out, *paths]) == 0
    assert tuning.read(Path(out)) == merged
    assert json.loads(Path(out).read_text())["format"] == "mindspore tuning 1"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.json"
    tuning.write(path, {"cpu a": {"k": entry("rows=4"), "l": entry("", gain=1, complete=False)}})
    assert main(["show", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "cpu a" in shown and "1.50 x  rows=4" in shown and "plain loops, not complete" in shown
    assert main(["merge", str(tmp_path / "out"), str(path), str(tmp_path / "none")]) == 1
    assert "but got" in capsys.readouterr().err and not (tmp_path / "out").exists()
    assert main(["merge", str(path / "out"), str(path)]) == 1
    assert "OUT must be writable, but got" in capsys.readouterr().err


def test_the_command_in_a_process(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    tuning.write(path, {"cpu a": {"k": entry("rows=4")}})
    command = [sys.executable, "-m", "mindspore.tuning", "show", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert run.stdout.startswith("cpu a\n") and run.stderr == ""


def add_many(path: str, first: int) -> None:
    for i in range(first, first + 20):
        tuning.add(Path(path), {"cpu": {f"k{i}": entry("rows=4")}})


def test_processes_add_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "tuning.json"
    workers = [
        multiprocessing.get_context("fork").Process(target=add_many, args=(str(path), 20 * i))
        for i in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(tuning.read(path)["cpu"]) == 60
    assert {p.name for p in tmp_path.iterdir()} == {"tuning.json", "tuning.json.lock"}


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(20, 20), (0.5, 0.5), ("20s", 20), ("500ms", 0.5), ("2min", 120), ("1.5 h", 5400), ("3", 3)],
)
def test_budgets(value: Any, seconds: float) -> None:
    assert tuning.seconds_of(value) == seconds


@pytest.mark.parametrize(
    "value", [-1, float("nan"), float("inf"), 10**400, "", "20 parsecs", "-3s", "1e3s"]
)
def test_bad_budgets(value: Any) -> None:
    with pytest.raises(ValueError, match="but got"):
        ms.set_context(tune_budget=value)
    with pytest.raises(ValueError, match="For 'JitConfig', 'tune_budget' must be"):
        ms.JitConfig(tune_budget=value)


@pytest.mark.parametrize("value", [None, [3], True])
def test_bad_types_of_budgets(value: Any) -> None:
    with pytest.raises(TypeError, match="'tune_budget' must be"):
        ms.set_context(tune_budget=value)


def test_a_budget_ends_tuning(budget: None) -> None:
    lines, inputs, results = elementwise(500, 777)
    program = bodies.program(lines, inputs, results)
    ms.set_context(tune_budget="1ms")
    end = time.monotonic() + 200
    while _core.assembler.tuning_budget() > 0 and time.monotonic() < end:
        program.run(*inputs)
    assert _core.assembler.tuning_budget() == 0


def test_the_option_of_jit(budget: None) -> None:
    ms.set_context(tune_budget=0)

    @ms.jit(jit_config=ms.JitConfig(tune_budget="30s"))
    def function(x: Tensor) -> Tensor:
        return ms.ops.tanh(x) * x

    assert 0 < _core.assembler.tuning_budget() <= 30
    x = normal(300, 1000)
    np.testing.assert_array_equal(function(x).asnumpy(), (ms.ops.tanh(x) * x).asnumpy())

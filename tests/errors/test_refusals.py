"""Calls that must be refused, by the class of mistake: one list in `refusals/` for each, of which every line is a call, the exception
that it raises and the words that its message holds. Nothing crashes, hangs, or takes memory on the way."""

from __future__ import annotations

import faulthandler
import os
import pickle
import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindspore as ms
import mindspore.mindrecord
import mindspore.scipy.linalg
from mindspore import Parameter, Tensor, _core, mint, nn, ops
from mindspore import dataset as ds
from mindspore import numpy as mnp
from mindspore.dataset import vision

LISTS = sorted((Path(__file__).parent / "refusals").glob("*.tsv"))
SECONDS, KILOBYTES = 8, 1 << 20  # of one call


def cases() -> list[Any]:
    """The lines of all lists."""
    found = []
    for path in LISTS:
        for line in path.read_text().splitlines():
            if not line.startswith("#"):
                call, error, words = line.split("\t")
                found.append(
                    pytest.param(call, error, words.split(" | "), id=f"{path.stem}: {call}")
                )
    return found


def tensor_of(dtype: Any) -> Any:
    """Makes tensors of values."""
    return lambda values: Tensor(np.array(values, dtype))


def made(name: str, content: bytes) -> str:
    """The name of a file with a content."""
    Path(name).write_bytes(content)
    return name


def changed(x: Tensor, key: Any, value: Any) -> None:
    """`x[key] = value` as an expression."""
    x[key] = value


class Hostile:
    """What runs a command where a pickle is read."""

    def __reduce__(self) -> tuple:
        return os.system, ("touch was_run",)


def nested(depth: int) -> list:
    """A list in a list in a list."""
    found: list = [1]
    for _ in range(depth):
        found = [found]
    return found


NAMES = {
    "ms": ms, "np": np, "mnp": mnp, "mint": mint, "nn": nn, "ops": ops, "ds": ds, "vision": vision,
    "Tensor": Tensor,
    "f32": lambda *shape: Tensor(np.ones(shape, np.float32)),
    "b1": lambda *shape: Tensor(np.ones(shape, bool)),
    "i32": tensor_of(np.int32),
    "i64": tensor_of(np.int64),
    "param": lambda *shape: Parameter(Tensor(np.ones(shape, np.float32)), name="p"),
    "made": made, "setitem": changed, "nested": nested,
    "pickled": pickle.dumps(Hostile()),
    "huge_header": struct.pack("<Q", 2**62) + b"{}",
}  # fmt: skip


def begin_peak() -> None:
    """From here on `peak` counts anew: what tests before took hides nothing."""
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Kilobytes that this process has taken at most since `begin_peak`."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.parametrize(("call", "error", "words"), cases())
def test_refused(
    call: str, error: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    begin_peak()
    before, start = peak(), time.monotonic()
    faulthandler.dump_traceback_later(10 * SECONDS, exit=True)  # who hangs never looks at the clock
    try:
        with pytest.raises(Exception) as caught:  # its type is in the list
            eval(call, NAMES)
            _core.synchronize()  # what a device finds wrong is this call's
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert time.monotonic() - start < SECONDS
    assert peak() - before < KILOBYTES
    text = str(caught.value)
    assert type(caught.value).__name__ == error, text
    for word in words:
        assert word in text, text
    assert ".cc:" not in text and "internal error" not in text
    assert not Path("was_run").exists()


def test_there_are_enough() -> None:
    counts = {path.stem: path.read_text().count("\n") - 1 for path in LISTS}
    assert len(counts) == 10 and min(counts.values()) >= 30 and sum(counts.values()) >= 500, counts
    calls = [case.values[0] for case in cases()]
    assert len(set(calls)) == len(calls)

"""Homes that are missing, closed, full or not this machine's alone: results are right, nothing is said, and no folder is named `~`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from mindspore import _paths, tuning

PROGRAM = """
import os, sys, warnings
{before}
warnings.simplefilter("always")
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops

ms.set_context(mode=ms.GRAPH_MODE)
ms.set_seed(0)
net = nn.SequentialCell(nn.Dense(64, 256), nn.Sigmoid(), nn.LayerNorm((256,)), nn.Dense(256, 8))
optimizer = nn.Adam(net.trainable_params(), 1e-3)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer).set_train()
x, y = Tensor(np.ones((32, 64), np.float32)), Tensor(np.zeros((32, 8), np.float32))
losses = [float(step(x, y)) for _ in range(20)]
assert losses[-1] < losses[0] < 100, losses
assert np.isfinite(losses).all()
print("done")
"""


def run(
    folder: Path, before: str = "", command: Sequence[str] = (), **settings: str | None
) -> list[str]:
    """Trains in a folder; what is written to the standard error."""
    names = ("HOME", "XDG_CACHE_HOME", "MS_KERNEL_CACHE", "MS_TUNE_CACHE")
    kept = {name: value for name, value in os.environ.items() if name not in names}
    given = {name: value for name, value in settings.items() if value is not None}
    done = subprocess.run(
        [*command, sys.executable, "-c", PROGRAM.format(before=before)],
        cwd=folder,
        env={**kept, "MS_TUNE_BUDGET": "200ms", "PYTHONDONTWRITEBYTECODE": "1", **given},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    assert not [path for path in folder.glob("*") if path.name.startswith("~")]
    return done.stderr.splitlines()


SETTINGS = {
    "missing": {"HOME": "/nonexistent"},
    "unwritable": {"HOME": "/proc"},
    "a file": {"HOME": "/dev/null"},
    "empty": {"HOME": ""},
    "relative": {"HOME": "here", "XDG_CACHE_HOME": "there"},
    "literal": {"HOME": "~", "XDG_CACHE_HOME": "~/.cache"},
    "nobody's": {"MS_KERNEL_CACHE": "~no_such_user/a", "MS_TUNE_CACHE": "~no_such_user/b"},
    "unwritable caches": {"MS_KERNEL_CACHE": "/proc/a/b", "MS_TUNE_CACHE": "/proc/a/b"},
    "caches that are files": {"MS_KERNEL_CACHE": "/dev/null", "MS_TUNE_CACHE": "/dev/null/b"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_homes_of_no_use(tmp_path, settings):
    assert run(tmp_path, **settings) == []
    assert list(tmp_path.iterdir()) == []
    assert not os.path.exists("/nonexistent")


def test_a_folder_where_nothing_can_be_written():
    assert run(Path("/proc"), HOME="/proc") == []


def test_a_full_disk(tmp_path):
    before = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))"
    assert run(tmp_path, before, HOME=str(tmp_path)) == []
    left = [path for path in tmp_path.rglob("*") if path.is_file() and path.stat().st_size]
    assert left == []  # no file that is cut off


def stranger() -> list[str]:
    """A command that makes the next one another user's; with a right to read, where Python is in somebody's home."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs to become another user")
    command = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
    reader = [f"--{kind}-caps=+dac_read_search" for kind in ("inh", "ambient")]
    for options in ([], reader):
        program = [sys.executable, "-c", "import warnings, numpy, mindspore._core"]
        done = subprocess.run([*command, *options, *program], capture_output=True, cwd="/")
        if done.returncode == 0:
            return [*command, *options]
    pytest.skip("other users may not read the packages")


@pytest.mark.parametrize("home", [None, "/root", "closed"])
def test_a_user_whom_nobody_knows(tmp_path, home):
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o555)
    for above in (tmp_path, *tmp_path.parents[:2]):
        above.chmod(0o755)
    home = str(folder) if home == "closed" else home
    assert run(folder, command=stranger(), HOME=home) == []


def test_the_place_of_caches(tmp_path, monkeypatch):
    def place(chosen: str | None = None, xdg: str = "", home: str = str(tmp_path)) -> Path | None:
        for name, value in {"CHOSEN": chosen, "XDG_CACHE_HOME": xdg, "HOME": home}.items():
            monkeypatch.setenv(name, value) if value is not None else monkeypatch.delenv(
                name, False
            )
        return _paths.cache("CHOSEN", "name")

    assert place() == tmp_path / ".cache/mindspore/name"
    assert place(xdg="/x") == Path("/x/mindspore/name")
    assert place(xdg="x") == tmp_path / ".cache/mindspore/name"
    assert place("/a/b", xdg="/x") == Path("/a/b")
    assert place("a/b") == Path("a/b")
    assert place("~/b") == tmp_path / "b"
    assert place("") is None
    assert place("~no_such_user/b") is None
    assert place(home="") is None
    assert place(home="~") is None
    assert place(home=str(tmp_path / "missing")) is None


def test_a_file_of_tunings_that_is_held_elsewhere(tmp_path, monkeypatch):
    path = tmp_path / "tuning.json"
    monkeypatch.setattr(tuning, "_MOST_WAITING", 0.05)
    with tuning._locked(path), pytest.raises(TimeoutError), tuning._locked(path):
        pass


@pytest.mark.fast_stage
@pytest.mark.skipif(not os.path.exists("/proc/cpuinfo"), reason="needs processors by name")
def test_code_for_another_instruction_set_is_not_run(tmp_path):
    pytest.importorskip("llvmlite")
    counts = []
    for level in ("base", "", "base", ""):
        assert run(tmp_path, HOME=str(tmp_path), MS_MAX_ISA=level or None, MS_TUNE_BUDGET="0") == []
        counts.append(len(list((tmp_path / ".cache/mindspore/kernels").glob("*.o"))))
    assert 0 < counts[0] < counts[1] == counts[3]

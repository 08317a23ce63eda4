"""Runs every program of examples/ in both modes and holds it to what it says of itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# What each program prints last, and its bounds.
BOUNDS = {
    "lenet.py": ("accuracy", 0.95, 1),
    "own_loop.py": ("accuracy", 0.97, 1),
    "own_parts.py": ("worst class", 0.9, 1),
    "characters.py": ("bits per character", 0, 2.5),
    "transformer.py": ("accuracy", 0.95, 1),
    "resume.py": ("accuracy", 0.92, 1),
}
LONG = {"characters.py", "transformer.py"}
MODES = ("graph", "pynative")


def run(name: str, folder: Path, *arguments: str) -> str:
    """What a program prints; one thread, for programs of tests run side by side."""
    if "sklearn" in (EXAMPLES / name).read_text():
        pytest.importorskip("sklearn", reason="needs scikit-learn")
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{name}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        pytest.param(name, mode, marks=[pytest.mark.slow] if name in LONG else [])
        for name in BOUNDS
        for mode in MODES
    ],
)
def test_program_learns(name: str, mode: str, tmp_path: Path) -> None:
    """It runs to its end and reaches what its README promises."""
    printed = run(name, tmp_path, "--mode", mode)
    figure, least, most = BOUNDS[name]
    found = re.search(rf"^{figure}: ([\d.]+)$", printed, re.MULTILINE)
    assert found, printed
    assert least <= float(found[1]) <= most


@pytest.mark.parametrize("name", sorted(LONG))
def test_long_program_runs(name: str, tmp_path: Path) -> None:
    """The long ones start, train a little and end, where there is no time for more."""
    size = {"characters.py": "--steps=10", "transformer.py": "--rows=640"}[name]
    run(name, tmp_path, size)


@pytest.mark.parametrize("mode", ["graph", pytest.param("pynative", marks=pytest.mark.slow)])
def test_resumed_training_is_the_same(mode: str, tmp_path: Path) -> None:
    """Four epochs in one run, and two with two more, write the same checkpoint."""
    for folder, stops in (("whole", [4]), ("parts", [2, 4])):
        for epochs in stops:
            run("resume.py", tmp_path, f"--mode={mode}", f"--epochs={epochs}", f"--folder={folder}")
    whole, parts = (
        (tmp_path / folder / "training.ckpt").read_bytes() for folder in ("whole", "parts")
    )
    assert whole == parts


def test_all_are_named() -> None:
    """README.md and these tests know every program."""
    programs = {path.name for path in EXAMPLES.glob("*.py")}
    assert programs == set(BOUNDS)
    assert programs == set(re.findall(r"\]\((\w+\.py)\)", (EXAMPLES / "README.md").read_text()))

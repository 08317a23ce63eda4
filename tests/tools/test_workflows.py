"""Continuous integration decides nothing: each step runs one script of this repository, with words that it knows."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEPS = [
    (path.name, line)
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    for line in re.findall(r"^ +- run: (.*)$", path.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize(("workflow", "line"), STEPS)
def test_a_step_is_one_script(workflow: str, line: str) -> None:
    """`SETTING=value script words`: the script is there, may be run, and names the words."""
    words = re.sub(r"\$\{\{.*?\}\}", "", line).split()
    while "=" in words[0]:
        words.pop(0)
    script = ROOT / words[0]
    assert script.is_file() and os.access(script, os.X_OK), line
    if script.name == "run":
        script = ROOT / "scripts" / "test"
    text = script.read_text()
    assert not [word for word in words[1:] if word not in text], line


def test_the_pythons_are_those_that_are_promised() -> None:
    """The oldest of each matrix is the oldest that pyproject.toml allows."""
    (oldest,) = re.findall(r'requires-python = ">=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for versions in re.findall(r"python: \[(.*)\]", path.read_text()):
            assert versions.split(", ")[0] == f'"{oldest}"', path.name


def test_no_addresses_and_no_secrets() -> None:
    """A workflow names neither."""
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        assert not re.search(r"https?://|secrets\.", path.read_text()), path.name

"""The committed stubs and the page of ops say what the built op registry says."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from mindspore import _core

ROOT = Path(__file__).resolve().parents[2]
STUBS = ROOT / "mindspore" / "python" / "mindspore" / "ops" / "_registry.pyi"
CORE = ROOT / "mindspore" / "python" / "mindspore" / "_core.pyi"


@pytest.mark.host_device
@pytest.mark.parametrize("script", ["make_stubs.py", "make_op_docs.py"])
def test_generated_files_are_fresh(script: str) -> None:
    """`scripts/dev stubs` would change nothing."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, "--check"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_are_python() -> None:
    """The file parses and declares each name once."""
    names = [
        node.name
        for node in ast.parse(STUBS.read_text()).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    assert len(names) == len(set(names))


def test_the_core_has_a_stub_for_each_name() -> None:
    """What the extension module gives, its stub declares."""
    tree = ast.parse(CORE.read_text()).body
    declared = {n.name for n in tree if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    declared |= {n.target.id for n in tree if isinstance(n, ast.AnnAssign)}
    assert declared - {"Size", "Shape"} == {n for n in dir(_core) if not n.startswith("_")}

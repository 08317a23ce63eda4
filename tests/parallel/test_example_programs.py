"""The programs of examples/parallel learn, by several processes, in both modes; those of the pages run there as well."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import ranks

pytestmark = [pytest.mark.host_device]
ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "parallel"


def taught() -> list:
    """The programs of the pages that bring processes together."""
    found = []
    for page in ("distributed.md", "parallel.md"):
        text = (ROOT / "docs" / page).read_text()
        for match in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
            line = text[: match.start(1)].count("\n") + 1
            if "init()" in match[1]:
                found.append(pytest.param("\n" * (line - 1) + match[1], id=f"{page}:{line}"))
    return found


@pytest.mark.parametrize("program", taught())
def test_program_of_a_page_runs(program, tmp_path, monkeypatch):
    (tmp_path / "program.py").write_text(program)
    monkeypatch.chdir(tmp_path)
    done = ranks.run(str(tmp_path / "program.py"), 2)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"), [("divided_transformer.py", 0.93), ("wide_deep.py", 0.75)]
)
def test_divided_program_learns(name, least):
    done = ranks.run(str(EXAMPLES / name), 2)
    assert done.returncode == 0, done.stdout + done.stderr
    assert float(re.search(r"accuracy: ([\d.]+)", done.stdout)[1]) > least


@pytest.mark.slow
def test_stages_learn():
    done = ranks.run(str(EXAMPLES / "pipeline_transformer.py"), 4)
    assert done.returncode == 0, done.stdout + done.stderr
    assert float(re.search(r"accuracy: ([\d.]+)", done.stdout)[1]) > 0.93


@pytest.mark.parametrize("mode", ["graph", pytest.param("pynative", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", ["lenet.py", pytest.param("transformer.py", marks=pytest.mark.slow)]
)
def test_program_learns(name, mode):
    if name == "lenet.py":
        pytest.importorskip("sklearn", reason="needs scikit-learn")
    done = ranks.run(str(EXAMPLES / name), 2, "--mode", mode)
    assert done.returncode == 0, done.stdout + done.stderr
    assert float(re.search(r"accuracy: ([\d.]+)", done.stdout)[1]) > 0.93

"""The programs of examples/parallel learn, by several processes, in both modes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import ranks

pytestmark = [pytest.mark.host_device]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "parallel"


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

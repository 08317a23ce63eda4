"""Runs every Python snippet of README.md in a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SNIPPETS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet_runs(number: int, tmp_path: Path) -> None:
    """A snippet runs to its end; networks compile from source, so it runs as a file."""
    if "sklearn" in SNIPPETS[number]:
        pytest.importorskip("sklearn", reason="needs scikit-learn: scripts/dev peers")
    program = tmp_path / f"snippet_{number}.py"
    program.write_text(SNIPPETS[number])
    done = subprocess.run(
        [sys.executable, program], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def test_first_network_is_short() -> None:
    """The first network takes at most 15 lines."""
    assert len(SNIPPETS[0].strip().splitlines()) <= 15


DOCUMENTS = [path.name for path in sorted(ROOT.glob("*.md"))]
DOCUMENTS += ["examples/README.md", "tests/README.md", "third_party/README.md"]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    """Every relative link names a file of this repository."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", (ROOT / document).read_text(), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#:]+)\)", prose)
    beside = (ROOT / document).parent
    missing = [target for target in targets if not (beside / target).exists()]
    assert not missing

"""Runs every Python snippet of docs/, and holds the pages to their links and to the core."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))


def snippets() -> list[tuple[str, int, str]]:
    """(page, line, program) of every Python block."""
    found = []
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
            line = text[: match.start(1)].count("\n") + 1
            found.append((str(page.relative_to(ROOT)), line, match[1]))
    return found


SNIPPETS = snippets()


@pytest.mark.parametrize(
    ("page", "line", "program"), SNIPPETS, ids=[f"{page}:{line}" for page, line, _ in SNIPPETS]
)
def test_snippet_runs(page: str, line: int, program: str, tmp_path: Path) -> None:
    """A snippet runs to its end by itself; networks compile from source, so it runs as a file."""
    if "sklearn" in program:
        pytest.importorskip("sklearn", reason="needs scikit-learn: scripts/dev peers")
    path = tmp_path / "snippet.py"
    path.write_text("\n" * (line - 1) + program)  # so that errors show the page's line
    done = subprocess.run(
        [sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"{page}:{line}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file of this repository."""
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#:\s]+)\)", prose)
    assert not [target for target in targets if not (page.parent / target).exists()]


def test_promotion_page_is_fresh() -> None:
    """docs/promotion.md is what scripts/make_promotion.py writes."""
    command = [sys.executable, ROOT / "scripts" / "make_promotion.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr

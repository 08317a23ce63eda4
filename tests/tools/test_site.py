"""The site of scripts/docs: its pages and their links without MkDocs, and the whole site where MkDocs is installed."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from mindspore import nn, ops

ROOT = Path(__file__).resolve().parents[2]
CODE = re.compile(r"^````?\w*\n.*?^````?$|`[^`\n]*`", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `scripts/docs pages` writes."""
    pytest.importorskip("scipy")  # rows of ops, which give topics, compute with it
    place = tmp_path_factory.mktemp("docs")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "docs", "pages", place], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return place


def anchors(text: str) -> set[str]:
    """The places of a page that a link may name."""
    given = re.findall(r'\{ #([\w.]+) \}|<a id="([\w.]+)">', text)
    return {name for pair in given for name in pair if name}


def test_links_lead_somewhere(folder: Path) -> None:
    """Every link between pages names a page, and a place that the page has."""
    pages = {path: path.read_text() for path in (folder / "pages").rglob("*.md")}
    wrong = []
    for page, text in pages.items():
        for target in re.findall(r"\]\(([^)\s]+)\)", CODE.sub("`code`", text)):
            name, _, place = target.partition("#")
            if ":" in name or not name:
                continue
            found = (page.parent / name).resolve()
            if not found.exists() or ("." in place and place not in anchors(pages[found])):
                wrong.append(f"{page.relative_to(folder)}: {target}")
    assert not wrong


def test_api_is_whole(folder: Path) -> None:
    """Every function and class of ops and nn has a place."""
    text = "\n".join(path.read_text() for path in (folder / "pages" / "api").rglob("*.md"))
    places = anchors(text)
    modules = {"composite", "functional", "operations"}
    assert {f"ops.{name}" for name in set(ops.__all__) - modules} <= places
    assert {f"nn.{name}" for name in nn.__all__} <= places


def test_code_spans_lead_to_the_api(folder: Path) -> None:
    """Names in texts are links; code, headings and links are left alone."""
    text = (folder / "pages" / "docs" / "training.md").read_text()
    assert "[`nn.AdamWeightDecay`](../api/nn/optimizers.md#nn.AdamWeightDecay)" in text
    assert "nn.Momentum(net.trainable_params(), 0.05, 0.9)" in text


def test_navigation_has_every_page(folder: Path) -> None:
    """Pages that are written by hand stand in docs/mkdocs.yml, except those that GitHub alone shows."""
    named = set(re.findall(r"[\w/.-]+\.md", (ROOT / "docs" / "mkdocs.yml").read_text()))
    written = {path.relative_to(folder / "pages") for path in (folder / "pages").rglob("*.md")}
    pages = {p.as_posix() for p in written if p.parts[0] != "api" and not (ROOT / p.stem).exists()}
    pages -= {p.as_posix() for p in written if (ROOT / p.with_suffix("")).is_file()}
    assert pages == named


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("mkdocs"), reason="needs MkDocs: the extra `docs`")
def test_site(tmp_path: Path) -> None:
    """MkDocs makes the site, finds every link, and indexes the API for the search."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "docs", "build", tmp_path],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "site"
    assert "A first network" in (site / "index.html").read_text()
    assert "ops.softmax" in (site / "search" / "search_index.json").read_text()

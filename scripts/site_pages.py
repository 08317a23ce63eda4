"""The pages of the site in one folder: the Markdown of this repository at its own paths, so that its links hold, and the API.

GitHub's Markdown is a little looser than that of MkDocs, so paragraphs are set apart from the lists and tables that follow them. A
link to a source file becomes a link to a page that shows it. `nn.Dense` in a code span leads to its place in the API.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import api_pages

ROOT = Path(__file__).resolve().parents[1]
INSTEAD = {"docs/ops.md": "api/README.md"}  # GitHub's page of ops is the site's API
SHOWN = {
    ".py": "python",
    ".cc": "cpp",
    ".h": "cpp",
    ".txt": "text",
    "": "text",
    ".toml": "toml",
    ".yml": "yaml",
}
LINK = re.compile(r"(?<=\]\()([^)#\s:]+)(?=[)#])")
APART = re.compile(r"(```.*?^ *```|`[^`\n]+`)", re.DOTALL | re.MULTILINE)
LIST = re.compile(r"^(\s*)([-*] |\d+\. )")


def texts() -> list[str]:
    """The repository's pages."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    found += [ROOT / folder / "README.md" for folder in ("examples", "tests", "third_party")]
    names = [path.relative_to(ROOT).as_posix() for path in found if path.exists()]
    return sorted(set(names) - set(INSTEAD))


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text with a change made to all that is no code."""
    return "".join(p if p.startswith("`") else change(p) for p in APART.split(text))


def set_apart(text: str) -> str:
    """An empty line before each list and table that follows a paragraph."""
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        before = lines[-1] if lines else ""
        begins = LIST.match(line) or line.startswith("|")
        goes_on = LIST.match(before) or before.startswith(("|", " ", "#"))
        if begins and before.strip() and not goes_on and not fenced:
            lines.append("")
        fenced ^= line.lstrip().startswith("```")
        lines.append(line)
    return "\n".join(lines) + "\n"


def linked_sources(page: str, text: str) -> tuple[str, set[str]]:
    """The text with links to pages that show sources, and these sources."""
    sources: set[str] = set()

    def target(match: re.Match[str]) -> str:
        path = (ROOT / page).parent.joinpath(match[1]).resolve()
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
        if name in INSTEAD:
            return "../" * page.count("/") + INSTEAD[name]
        if path.is_dir() and (path / "README.md").exists():
            return f"{match[1].rstrip('/')}/README.md"
        if not path.is_file() or path.suffix not in SHOWN:
            return match[1]
        sources.add(name)
        return f"{match[1]}.md"

    return outside_code(text, lambda part: LINK.sub(target, part)), sources


def with_api_links(page: str, text: str, places: dict[str, str]) -> str:
    """The text with links from the names in code spans to the API; headings and links stay."""
    up = "../" * page.count("/")

    def linked(match: re.Match[str]) -> str:
        name = re.sub(r"\(.*\)$", "", match[1])
        place = places.get(name.replace("ms.", "mindspore.", 1) if name[:3] == "ms." else name)
        return f"[`{match[1]}`]({up}{place})" if place else match[0]

    span = re.compile(r"(?<![\[`])`([\w.]+(?:\([^`]*\))?)`(?![\]`])")
    parts = re.split(
        r"(```.*?^ *```|^#.*?$|\[[^\]]*\]\([^)]*\))", text, flags=re.DOTALL | re.MULTILINE
    )
    return "".join(p if i % 2 else span.sub(linked, p) for i, p in enumerate(parts))


def shown(source: str) -> str:
    """The page of a source file."""
    text = (ROOT / source).read_text(encoding="utf8").rstrip()
    kind = "python" if text.startswith("#!/usr/bin/env python") else SHOWN[Path(source).suffix]
    return f"# {Path(source).name}\n\n````{kind}\n{text}\n````\n"


def contents(sections: dict[str, list[api_pages.Page]]) -> str:
    """The first page of the API: all names, each with its place."""
    left_out = "---\nsearch:\n  exclude: true\n---\n\n"  # a search finds the places themselves
    parts = [
        left_out + "# What can be called\n\nMade from the registry of ops and from docstrings.\n"
    ]
    for title, pages in sections.items():
        parts.append(f"## {title}\n")
        for page in pages:
            path = page.path.removeprefix("api/")
            names = sorted(page.names, key=str.lower)
            links = [f"[`{name.split('.', 1)[1]}`]({path}#{name})" for name in names]
            parts.append(f"**[{page.title}]({path})** " + " ".join(links) + "\n")
    return "\n".join(parts)


def navigation(sections: dict[str, list[api_pages.Page]]) -> list[object]:
    """What MkDocs wants to know of the pages of the API."""
    lists = [{title: [{p.title: p.path} for p in pages]} for title, pages in sections.items()]
    return ["api/README.md", *lists]


def write(folder: Path) -> None:
    """Make all pages in an empty folder, with the navigation of the API in api.json beside them."""
    sections = api_pages.pages()
    made = {page.path: page.text() for pages in sections.values() for page in pages}
    places = {n: f"{p.path}#{n}" for pages in sections.values() for p in pages for n in p.names}
    made["api/README.md"] = contents(sections)
    sources: set[str] = set()
    for name in texts():
        text, named = linked_sources(name, (ROOT / name).read_text(encoding="utf8"))
        sources |= named
        made[name] = set_apart(text)
    made = {name: with_api_links(name, text, places) for name, text in made.items()}
    made |= {f"{source}.md": shown(source) for source in sources}
    for path in (ROOT / "docs").rglob("*.svg"):
        made[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf8")
    for name, text in made.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf8")
    folder.with_name("api.json").write_text(json.dumps(navigation(sections)), encoding="utf8")

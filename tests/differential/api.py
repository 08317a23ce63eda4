"""Which public names there are here, and which are tested: `scripts/dev api [GROUP ...]`. `scripts/dev api ignored` lists the arguments
that are accepted and do nothing.

`names.tsv` lists the names of the reference release and of published models, `absent.tsv` those that no release has, or that have no
meaning here. A name is tested where a differential call or a row of its op names it, or something that it is another name of."""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from differential.calllib import calls_of, families
from differential.ignored import ignored

HERE = Path(__file__).parent
ROWS = HERE.parent / "ops" / "rows"
_MISSING = object()


def names() -> dict[str, tuple[str, str, str, int]]:
    """Group, kind, source and uses by name."""
    lines = [x.split("\t") for x in (HERE / "names.tsv").read_text().splitlines() if x[0] != "#"]
    return {n: (group, kind, source, int(uses)) for n, group, kind, source, uses in lines}


def absent() -> dict[str, str]:
    """Why a name is not here on purpose; one that ends in `.*` is a whole module."""
    lines = (HERE / "absent.tsv").read_text().splitlines()
    return dict(line.split("\t", 1) for line in lines if line and line[0] != "#")


def why_absent(name: str, reasons: dict[str, str]) -> str | None:
    """The reason, if the name or a module around it has one."""
    parts = name.split(".")
    around = [".".join(parts[:i]) + ".*" for i in range(len(parts), 1, -1)]
    return next((reasons[n] for n in (name, *around) if n in reasons), None)


def found(name: str) -> Any:
    """What a name means here, or _MISSING."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            try:
                value = getattr(value, part)
            except AttributeError:
                return _MISSING
        return value
    return _MISSING


def tested() -> tuple[set[str], set[int]]:
    """Names that a test calls, and the identities of what they mean."""
    called = {one.name for family in families() for one in calls_of(family)}
    listed = {f"mindspore.{name}" for name in called} | _of_rows()
    values = [found(name) for name in listed]
    return listed, {id(v) for v in values if callable(v)}


def _of_rows() -> set[str]:
    from mindspore import _core

    rows = {n for p in ROWS.glob("*.py") for n in re.findall(r'\brow\(\s*"(\w+)"', p.read_text())}
    made = set()
    for op in _core.registry():
        if op["name"] in rows:
            kinds = (("ops", "functions"), ("Tensor", "methods"), ("ops", "classes"))
            for home, kind in kinds:
                made |= {f"mindspore.{home}.{s.split('(')[0].strip()}" for s in op[kind]}
            made.add(f"mindspore.ops.{op['name']}")
    return made


def main() -> int:
    """Prints the table, or what is missing and untested in groups."""
    warnings.simplefilter("ignore")
    groups, reasons = sys.argv[1:], absent()
    if groups == ["ignored"]:
        return _show_ignored()
    listed, identities = tested()
    counts: dict[str, Counter] = {}
    shown: dict[str, list[tuple[int, str]]] = {"missing": [], "untested": []}
    for name, (group, _, _, uses) in names().items():
        count = counts.setdefault(group, Counter())
        value = found(name)
        state = "present" if value is not _MISSING else "missing"
        if hasattr(value, "_ms_refused") or (state == "missing" and why_absent(name, reasons)):
            state = "absent"
        count[state] += 1
        is_tested = name in listed or id(value) in identities
        count["tested"] += is_tested and state == "present"
        if group in groups and state == "missing":
            shown["missing"].append((uses, name))
        elif group in groups and state == "present" and not is_tested:
            shown["untested"].append((uses, name))
    if groups:
        for state, found_names in shown.items():
            for uses, name in sorted(found_names, key=lambda x: (-x[0], x[1])):
                print(f"{state}\t{name}\t{uses}")
        return 0
    _table(counts)
    return 0


def _show_ignored() -> int:
    """Prints the arguments that are accepted and do nothing, once for all names of one thing."""
    seen: set[int] = set()
    for name in sorted(names()):
        value = found(name)
        if value is _MISSING or hasattr(value, "_ms_refused") or id(value) in seen:
            continue
        seen.add(id(value))
        if unused := ignored(value):
            print(f"{name}\t{', '.join(unused)}")
    return 0


def _table(counts: dict[str, Counter]) -> None:
    columns = ("present", "tested", "missing", "absent")
    print(f"{'group':<44}" + "".join(f"{c:>9}" for c in columns))
    for group, count in sorted(counts.items(), key=lambda g: (-g[1]["missing"], g[0])):
        print(f"{group:<44}" + "".join(f"{count[c]:>9}" for c in columns))
    total = sum(counts.values(), Counter())
    print(f"{'all':<44}" + "".join(f"{total[c]:>9}" for c in columns))


if __name__ == "__main__":
    sys.exit(main())

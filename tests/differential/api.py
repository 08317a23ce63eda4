"""Which public names there are here, and which are tested: `scripts/dev api [GROUP ...]`. `scripts/dev api ignored` lists the arguments
that are accepted and do nothing.

`names.tsv` lists the names of the reference release and of published models, `absent.tsv` those that no release has, or that have no
meaning here. A name is tested where the value of a differential call (`compared.py`) or of a row of its op is compared, its own or one of
something that it is another name of; a module where something in it is. Behind the table stands the share of each of the two lists, less
the groups that have tests of their own kind and the names that are absent for a reason, both counted."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from differential.compared import compared_names
from differential.ignored import ignored, methods
from differential.kept import kept

HERE = Path(__file__).parent
ROWS = HERE.parent / "ops" / "rows"
_MISSING = object()
# Groups that recorded answers, rings of processes, or files test, by tests of their own.
_APART = re.compile(
    r"dataset|mindrecord|parallel\b|mint\.distributed$|communication\.comm_func$|onnx$"
)
LISTS = {
    "used by published models": lambda entry: entry.uses > 0,
    "release 2.10": lambda entry: entry.source == "release",
}
_REFUSED = "here, and refused with a reason"


class Entry(NamedTuple):
    """What the list says of a name."""

    group: str
    kind: str
    source: str
    uses: int


def names() -> dict[str, Entry]:
    """What the list says, by name."""
    lines = [x.split("\t") for x in (HERE / "names.tsv").read_text().splitlines() if x[0] != "#"]
    return {n: Entry(group, kind, source, int(uses)) for n, group, kind, source, uses in lines}


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
    """Names of which a test compares values, and the identities of what they mean."""
    listed = {f"mindspore.{name}" for name in compared_names()} | _of_rows()
    values = [found(name) for name in listed]
    return listed, {id(v) for v in values if callable(v)}


def _of_rows() -> set[str]:
    from mindspore import _core

    said = (p.read_text() for p in ROWS.glob("*.py"))
    rows = {n for text in said for n in re.findall(r'\brow\(\s*"(\w+)",\s*ref=(?!None)', text)}
    made = set()
    for op in _core.registry():
        if op["name"] in rows:
            kinds = (("ops", "functions"), ("Tensor", "methods"), ("ops", "classes"))
            for home, kind in kinds:
                made |= {f"mindspore.{home}.{s.split('(')[0].strip()}" for s in op[kind]}
            made.add(f"mindspore.ops.{op['name']}")
    return made


def states() -> dict[str, tuple[str, bool]]:
    """Of each name: "present", "missing" or "absent", and whether it is tested."""
    (listed, identities), reasons = tested(), absent()
    modules = {name[:i] for name in listed for i, c in enumerate(name) if c == "."}
    known = {}
    for name, entry in names().items():
        value = found(name)
        state = "present" if value is not _MISSING else "missing"
        if hasattr(value, "_ms_refused") or (state == "missing" and why_absent(name, reasons)):
            state = "absent"
        is_tested = name in listed or id(value) in identities
        is_tested |= entry.kind == "module" and name in modules
        known[name] = state, is_tested and state == "present"
    return known


def main() -> int:
    """Prints the table and the sums, or what is missing and untested in groups."""
    warnings.simplefilter("ignore")
    groups = sys.argv[1:]
    if groups == ["ignored"]:
        return _show_ignored()
    known = states()
    if groups:
        _show_groups(groups, known)
        return 0
    _table(known)
    for title, takes in LISTS.items():
        print(_sum(title, [n for n, e in names().items() if takes(e)], known))
    return 0


def _show_groups(groups: list[str], known: dict[str, tuple[str, bool]]) -> None:
    """Prints the names of groups that are missing or untested, the most used ones first."""
    listed = [(name, entry.uses) for name, entry in names().items() if entry.group in groups]
    for word, state in (("missing", "missing"), ("untested", "present")):
        for name, uses in sorted(listed, key=lambda x: (-x[1], x[0])):
            if known[name] == (state, False):
                print(f"{word}\t{name}\t{uses}")


def all_ignored() -> dict[str, list[str]]:
    """The arguments that are accepted and do nothing, under the first name of each thing."""
    from mindspore import _core

    unused: dict[str, list[str]] = {}
    for op in _core.registry():
        if said := [a[0] for a in op["attributes"] if a[-1].startswith("Accepted")]:
            unused[f"mindspore.ops.{op['name']}"] = said
    seen: set[int] = set()
    classes: dict[str, type] = {}
    for name in sorted(names()):
        value = found(name)
        if value is _MISSING or hasattr(value, "_ms_refused") or id(value) in seen:
            continue
        seen |= {id(value), id(inspect.unwrap(value) if callable(value) else value)}
        if isinstance(value, type):
            classes[name] = value
        if own := ignored(value):
            unused[name] = own
    for name, value in classes.items():
        for method, function in methods(value):
            if id(function) not in seen and (own := ignored(function)):
                unused[f"{name}.{method}"] = own
            seen.add(id(function))
    return unused


def all_kept() -> dict[str, list[str]]:
    """The arguments that objects keep and nothing reads, under the first name of each class, or of its method."""
    seen: set[tuple[str, int]] = set()
    idle: dict[str, list[str]] = {}
    for name in sorted(names()):
        value = found(name)
        if not isinstance(value, type) or hasattr(value, "_ms_refused"):
            continue
        for method, arguments in kept(value).items():
            own = method, id(getattr(value, method))
            if own not in seen:
                idle[name if method == "__init__" else f"{name}.{method}"] = arguments
            seen.add(own)
    return idle


def _show_ignored() -> int:
    for name, arguments in all_ignored().items():
        print(f"{name}\t{', '.join(arguments)}")
    return 0


def _table(known: dict[str, tuple[str, bool]]) -> None:
    counts: dict[str, Counter] = {}
    for name, entry in names().items():
        state, is_tested = known[name]
        counts.setdefault(entry.group, Counter()).update({state: 1, "tested": int(is_tested)})
    columns = ("present", "tested", "missing", "absent")
    print(f"{'group':<44}" + "".join(f"{c:>9}" for c in columns))
    for group, count in sorted(counts.items(), key=lambda g: (-g[1]["missing"], g[0])):
        print(f"{group:<44}" + "".join(f"{count[c]:>9}" for c in columns))
    total = sum(counts.values(), Counter())
    print(f"{'all':<44}" + "".join(f"{total[c]:>9}" for c in columns))


def _sum(title: str, listed: list[str], known: dict[str, tuple[str, bool]]) -> str:
    """The share of a list that is here, and that is tested, and behind it what is set aside and why."""
    groups, reasons = names(), absent()
    apart = [n for n in listed if _APART.match(groups[n].group)]
    gone = [n for n in listed if n not in set(apart) and known[n][0] == "absent"]
    wanted = [n for n in listed if n not in {*apart, *gone}]
    shares = " and ".join(
        f"{what} {count} ({100 * count / len(wanted):.2f} %)"
        for what, count in (
            ("present", sum(known[n][0] == "present" for n in wanted)),
            ("tested", sum(known[n][1] for n in wanted)),
        )
    )
    whys = (
        ("tests of their own kind", Counter(_APART.match(groups[n].group)[0] for n in apart)),  # type: ignore[index]
        ("absent for a reason", Counter(why_absent(n, reasons) or _REFUSED for n in gone)),
    )
    aside = "".join(
        f"\n  set aside, {why} {sum(counts.values())}: "
        + ", ".join(f"{what} {count}" for what, count in counts.most_common())
        for why, counts in whys
    )
    return f"{title}: {len(listed)} names, of them {len(wanted)} not set aside: {shares}{aside}"


if __name__ == "__main__":
    sys.exit(main())

"""What a compiled graph takes, by kind and by source line: known before it runs."""

from __future__ import annotations

import os
import sys
from typing import Any

from mindspore.common import _late
from mindspore.compile.values.compilable import VERSIONS
from mindspore.compile.versions.cache import Cache

_KINDS = (
    "parameters",
    "optimizer_states",
    "arguments",
    "constants",
    "feature_maps",
    "workspace",
    "outputs",
)


def memory_report(function: Any) -> dict:
    """What the latest compiled version of a Cell or jit function needs, in bytes.

    By kind: `parameters`, `optimizer_states` (Parameters that are clones of others, as moments are), `arguments`,
    `constants`, `feature_maps` (values that live together at the peak), `workspace` (the most that one kernel needs), and
    `outputs`. `peak` is their sum, with the gaps between feature maps. `spilled` is what each run moves out of the memory and
    in again to stay within `max_device_memory`. `peak_by_line` lists the source lines whose values
    fill the feature maps at the peak, largest first.

    Examples:
        >>> step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
        >>> step(data, label)
        >>> print(memory_table(memory_report(step)))
    """
    state = getattr(function, "__dict__", {})
    cache = state.get(VERSIONS, state.get("cache"))  # of a Cell, of a jit function
    compiled = _graphs(cache) if isinstance(cache, Cache) else []
    if not compiled:
        raise ValueError(
            "For 'memory_report', the function must have run in compiled form, but there is no compiled version yet."
        )
    return report_of(compiled[-1])


def _graphs(cache: Cache) -> list[Any]:
    return [e.graph for versions in cache.entries.values() for e in versions if e.graph]


def report_of(graph: Any) -> dict:
    """The report of one compiled graph."""
    found = graph.memory()
    by_kind = {"parameters": 0, "optimizer_states": 0, "arguments": 0}
    for owner, size in found["inputs"]:
        if not isinstance(owner, _late.parameter_class):
            kind = "arguments"
        else:
            kind = "optimizer_states" if "_clone_of" in owner.__dict__ else "parameters"
        by_kind[kind] += size
    names = ("constants", "feature_maps", "workspace", "outputs")
    report = {**by_kind, **{name: found[name] for name in names}}
    held = sum(by_kind.values()) + found["constants"] + found["outputs"]
    by_line: dict[str, int] = {}  # the core tells apart what stands at other columns of a line
    for place, size in found["peak_by_line"]:
        by_line[place] = by_line.get(place, 0) + size
    lines = sorted(by_line.items(), key=lambda item: -item[1])
    peak = {"peak": held + found["arena"], "spilled": found["spilled"]}
    return {**report, **peak, "peak_by_line": lines}


def memory_table(report: dict, lines: int = 10) -> str:
    """A report of `memory_report` as text, with that many source lines."""
    rows = [(name.replace("_", " "), report[name]) for name in _KINDS]
    rows.append(("peak", report["peak"]))
    if report["spilled"]:
        rows.append(("spilled by each run", report["spilled"]))
    text = [f"{size / 2**20:10.2f} MB  {name}" for name, size in rows]
    if report["peak_by_line"]:
        text.append("feature maps and workspace at the peak, by line:")
        text += [
            f"{size / 2**20:10.2f} MB  {place or 'no line'}"
            for place, size in report["peak_by_line"][:lines]
        ]
    return "\n".join(text)


def dump(graph: Any, name: str) -> None:
    """Prints the table of a graph that was just compiled, where MS_DUMP in the environment asks for memory."""
    if "memory" in os.environ.get("MS_DUMP", "") and not graph.dynamic:
        print(f"memory of {name}\n{memory_table(report_of(graph))}", file=sys.stderr, flush=True)


__all__ = ["dump", "memory_report", "memory_table", "report_of"]

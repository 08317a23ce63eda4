"""What a profile says, as tables and as a trace that Chrome's viewer, Perfetto and TensorBoard open."""

from __future__ import annotations

import contextlib
import csv
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mindspore import _core
from mindspore.compile.program.places import PACKAGE

Place = Sequence[tuple[str, int, str]]  # the innermost call first


class Launch(NamedTuple):
    """One kernel that ran. Times are nanoseconds."""

    op: str
    place: Place
    thread: int
    start: int
    length: int
    held: int  # bytes that the device held when it was done
    device: str  # whose clock measured; empty: the host's
    given: int  # to the device, by the host: when, and for how long
    giving: int


class Row(NamedTuple):
    """The kernels of an op at a place."""

    op: str
    place: Place
    calls: int
    total: int
    best: int


class Profile(NamedTuple):
    """All that was recorded. Steps are (number, start, end), ranges (text, start, end) of the user."""

    rows: list[Row]
    launches: list[Launch]
    dropped: int
    steps: list[tuple[int, int, int]]
    ranges: list[tuple[str, int, int]]
    metadata: dict[str, Any]

    def by_op(self) -> list[Row]:
        """The sums of each op, the longest first."""
        return _summed(self.rows, lambda row: (row.op, ()))

    def by_line(self) -> list[Row]:
        """The sums of each op of each line of the user's, the longest first."""
        return _summed(self.rows, lambda row: (row.op, (_line_of(row.place),)))

    def kernel_time(self, start: int, end: int) -> int:
        """Nanoseconds in kernels that began in an interval, one beside another counted once."""
        busy, until = 0, 0
        for launch in sorted(self.launches, key=lambda x: x.start):
            if start <= launch.start < end:
                last = launch.start + launch.length
                busy += max(0, last - max(until, launch.start))
                until = max(until, last)
        return busy


def _summed(rows: Iterable[Row], key: Any) -> list[Row]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    made = [
        Row(k[0], k[1], sum(r.calls for r in g), sum(r.total for r in g), min(r.best for r in g))
        for k, g in groups.items()
    ]
    return sorted(made, key=lambda row: -row.total)


def _line_of(place: Place) -> tuple[str, int, str]:
    """The innermost line that is not of this package, or the innermost one."""
    outside = (p for p in place if not p[0].startswith(PACKAGE))
    return next(outside, place[0] if place else ("", 0, ""))


def write(profile: Profile, folder: Path) -> None:
    """Writes op_statistic.csv, op_by_line.csv, step_trace_time.csv, memory.csv and trace_view.json into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    total = sum(row.total for row in profile.rows) or 1
    ops = [(r.op, *_times(r, total)) for r in profile.by_op()]
    _table(folder / "op_statistic.csv", ("op", *_TIMES), ops)
    lines = [(r.op, *_shown(r.place), *_times(r, total)) for r in profile.by_line()]
    _table(folder / "op_by_line.csv", ("op", "file", "line", "function", *_TIMES), lines)
    steps = [
        (
            number,
            _ms(end - start),
            _ms(profile.kernel_time(start, end)),
            _ms(end - start - profile.kernel_time(start, end)),
        )
        for number, start, end in profile.steps
    ]
    _table(folder / "step_trace_time.csv", ("step", "total_ms", "kernels_ms", "rest_ms"), steps)
    held = [(r.op, *_shown((_line_of(r.place),)), r.held) for r in _peaks(profile.launches)]
    _table(folder / "memory.csv", ("op", "file", "line", "function", "held_bytes"), held)
    with _written(folder / "trace_view.json") as file:
        file.write(json.dumps(trace(profile)))


class _Text:
    """Text as the bytes of a file."""

    def __init__(self, file: Any):
        self._file = file

    def write(self, text: str) -> None:
        self._file.write(text.encode(errors="surrogateescape"))


@contextlib.contextmanager
def _written(path: Path) -> Iterator[_Text]:
    """A file that is there whole when the block ends, or as it was before; an error names it."""
    with _core.io.Writer(path) as file:
        yield _Text(file)
        file.commit()


_TIMES = ("count", "total_ms", "average_us", "best_us", "percent")


def _times(row: Row, total: int) -> tuple:
    average = f"{row.total / row.calls / 1e3:.3f}"
    return (
        row.calls,
        _ms(row.total),
        average,
        f"{row.best / 1e3:.3f}",
        f"{100 * row.total / total:.2f}",
    )


def _ms(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e6:.6f}"


def _shown(place: Place) -> tuple[str, int, str]:
    return place[0] if place else ("", 0, "")


def _peaks(launches: list[Launch]) -> list[Launch]:
    """The launch after which most was held, of each op and line; the largest first."""
    found: dict[Any, Launch] = {}
    for launch in launches:
        key = launch.op, _line_of(launch.place)
        if key not in found or found[key].held < launch.held:
            found[key] = launch
    return sorted(found.values(), key=lambda launch: -launch.held)


def _table(path: Path, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    with _written(path) as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def trace(profile: Profile) -> dict[str, Any]:
    """The launches, steps, ranges and the memory held, in the trace event format; times are microseconds."""
    process = os.getpid()
    devices = sorted({launch.device for launch in profile.launches if launch.device})
    streams = {device: _STREAMS + i for i, device in enumerate(devices)}
    rows = [(_STEPS, "steps"), (_RANGES, "ranges")]
    rows += [(tid, f"{device} stream") for device, tid in streams.items()]
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": process, "tid": tid, "name": "thread_name", "args": {"name": name}}
        for tid, name in rows
    ]

    def span(name: str, tid: int, start: int, length: int, **args: Any) -> None:
        event = {"ph": "X", "name": name, "pid": process, "tid": tid}
        events.append({**event, "ts": start / 1e3, "dur": length / 1e3, "args": args})

    for launch in profile.launches:
        file, line, function = _line_of(launch.place)
        where: dict[str, Any] = {"where": f"{file}:{line}", "function": function}
        tid = streams.get(launch.device, launch.thread)
        span(launch.op, tid, launch.start, launch.length, **where)
        if launch.device:
            span(f"launch {launch.op}", launch.thread, launch.given, launch.giving, **where)
        end = (launch.start + launch.length) / 1e3
        held = {"bytes": launch.held}
        events.append({"ph": "C", "name": "memory", "pid": process, "ts": end, "args": held})
    for number, start, end in profile.steps:
        span(f"step {number}", _STEPS, start, end - start)
    for text, start, end in profile.ranges:
        span(text, _RANGES, start, end - start)
    other = {"dropped_launches": profile.dropped, **profile.metadata}
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": other}


_STEPS, _RANGES, _STREAMS = 1000001, 1000002, 1000003  # rows of the trace behind those of threads

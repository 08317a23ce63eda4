"""Profiles of what runs: the time of ops, by op and by line of the user's source, of steps, and the memory held, in both modes. Figures
are those of the run-time system, which times every kernel while a profiler is on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from mindspore.common._refused import refused
from mindspore import _core, _paths, log
from mindspore.profiler import _report
from mindspore.profiler._schedule import (
    ExportType,
    ProfilerAction,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
    schedule,
    tensorboard_trace_handler,
)

_MOST_LAUNCHES = 1 << 20  # kept one by one; behind them there are sums
# Options of other devices' profilers, and of earlier releases: taken, without effect.
_ACCEPTED = frozenset(
    {"subgraph", "is_detail", "is_show_op_path", "optypes_to_deal", "optypes_not_deal", "job_id"}
    | {"profile_communication", "parallel_strategy", "aicore_metrics", "l2_cache", "sync_enable"}
    | {"data_process", "timeline_limit", "profile_framework", "with_stack", "host_stack", "hbm_ddr"}
    | {"pcie", "data_simplification", "mstx", "sys", "export_type", "base_profiling_container_path"}
    | {"ascend_job_id", "profile_memory", "aic_metrics", "activities", "experimental_config"}
    | {"ai_core_metrics", "op_time", "env_enable", "record_shapes", "mstx_domain_include"}
)
_active: Profiler | None = None


class Profiler:
    """Records what runs, from its making on, until `stop` or `analyse`.

    Args:
        output_path: the folder under which files are written, in `profiler`.
        profiler_level: ProfilerLevel.LevelNone keeps sums alone, which needs no memory for each launch.
        start_profile: whether recording begins at once; else at `start`.
        schedule: a function of the number of a step that says what to do in it, such as `schedule(wait=1, active=3)`;
            `step` is then called behind each step.
        on_trace_ready: called with the profiler when what the schedule records together is complete.

    Other options, of other devices and of earlier releases, are accepted.

    Examples:
        >>> profiler = mindspore.Profiler(output_path="./data")
        >>> net(x)
        >>> profiler.analyse()
    """

    def __init__(
        self,
        *,
        output_path: Any = "./data",
        profiler_level: ProfilerLevel | None = None,
        start_profile: bool = True,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], None] | None = None,
        **kwargs: Any,
    ):
        for name in kwargs:
            if name not in _ACCEPTED:
                raise TypeError(f"For 'Profiler', there is no option '{name}'.")
        if not isinstance(start_profile, bool):
            raise TypeError(
                f"For 'Profiler', 'start_profile' must be a bool, but got {type(start_profile).__name__}."
            )
        if profiler_level is not None and not isinstance(profiler_level, ProfilerLevel):
            raise TypeError(
                f"For 'Profiler', 'profiler_level' must be a ProfilerLevel, but got {profiler_level!r}."
            )
        for name, function in (("schedule", schedule), ("on_trace_ready", on_trace_ready)):
            if function is not None and not callable(function):
                raise TypeError(
                    f"For 'Profiler', '{name}' must be a function, but got {type(function).__name__}."
                )
        self.folder = Path(_paths.checked("Profiler", "output_path", output_path)) / "profiler"
        self.saved = 0  # profiles that on_trace_ready got
        self._launches = 0 if profiler_level is ProfilerLevel.LevelNone else _MOST_LAUNCHES
        self._schedule, self._ready = schedule, on_trace_ready
        self._step, self._began = 0, 0
        self._steps: list[tuple[int, int, int]] = []
        self.ranges: list[tuple[str, int, int]] = []
        self._metadata: dict[str, Any] = {}
        self._profile: _report.Profile | None = None
        if schedule is not None:
            self._enter(schedule(0))
        elif start_profile:
            self.start()

    # ---- recording
    def start(self) -> None:
        """Begins to record, anew."""
        global _active
        if _active is not None:
            raise RuntimeError(
                "For 'Profiler.start', no profiler may be on, but one is: stop it, or analyse it."
            )
        _core.synchronize()
        _core.reset_profile()
        self._steps, self.ranges, self._profile = [], [], None
        _core.set_profile(True, self._launches)
        _active, self._began = self, time.perf_counter_ns()

    def stop(self) -> None:
        """Ends recording."""
        global _active
        if _active is not self:
            raise RuntimeError("For 'Profiler.stop', the profiler must be on, but it is not.")
        if not self._steps:  # nobody marked any: all of it is one
            self._end_step()
        _core.set_profile(False)
        _active = None
        launches, dropped = _core.profile_events()
        self._profile = _report.Profile(
            [_report.Row(*row) for row in _core.profile_rows()],
            [_report.Launch(*launch) for launch in launches],
            dropped,
            self._steps,
            self.ranges,
            self._metadata,
        )
        _core.reset_profile()
        if dropped:
            log.warning(f"Profiler: {dropped} launches are in the sums, but not in the trace.")

    def step(self) -> None:
        """Says that a step of the training is done."""
        if _active is self:
            self._end_step()
        self._step += 1
        if self._schedule is not None:
            if self._schedule(self._step - 1) is ProfilerAction.RECORD_AND_SAVE:
                self._save()
            self._enter(self._schedule(self._step))

    def _end_step(self) -> None:
        _core.synchronize()
        now = time.perf_counter_ns()
        self._steps.append((self._step, self._began, now))
        self._began = now

    def _enter(self, action: ProfilerAction) -> None:
        records = action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if records and _active is not self:
            self.start()
        elif not records and _active is self:
            self.stop()

    def _save(self) -> None:
        if _active is self:
            self.stop()
        if self._ready is not None:
            self._ready(self)
        self.saved += 1

    def add_metadata(self, key: str, value: str) -> None:
        """A text that the trace holds."""
        for name, text in (("key", key), ("value", value)):
            if not isinstance(text, str):
                raise TypeError(
                    f"For 'Profiler.add_metadata', '{name}' must be a str, but got {type(text).__name__}."
                )
        self._metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """A value, given as JSON, that the trace holds."""
        self.add_metadata(key, value)
        self._metadata[key] = json.loads(value)

    # ---- results
    @property
    def profile(self) -> _report.Profile:
        """What was recorded; recording ends."""
        if _active is self:
            self.stop()
        if self._profile is None:
            raise RuntimeError(
                "For 'Profiler', there must be a recording, but nothing was started."
            )
        return self._profile

    def analyse(
        self,
        offline_path: Any = None,
        pretty: bool = False,
        step_list: list[int] | None = None,
        mode: str = "sync",
    ) -> None:
        """Ends recording and writes the results.

        Args:
            offline_path: must be None: results are of this process.
            pretty: accepted.
            step_list: the steps to write; all for None.
            mode: "sync" or "async", which is the same.
        """
        del pretty
        if offline_path is not None:
            raise ValueError(
                "For 'Profiler.analyse', 'offline_path' must be None: profiles are not read from files."
            )
        if mode not in ("sync", "async"):
            raise ValueError(
                f"For 'Profiler.analyse', 'mode' must be 'sync' or 'async', but got {mode!r}."
            )
        self.write(self.folder, step_list)

    def write(self, folder: Path, step_list: list[int] | None = None) -> None:
        """Writes the results into a folder."""
        profile = self.profile
        if step_list is not None:
            chosen = [s for s in profile.steps if s[0] in step_list]
            launches = [x for x in profile.launches if any(a <= x.start < b for _, a, b in chosen)]
            profile = profile._replace(steps=chosen, launches=launches)
        _report.write(profile, Path(folder))

    def op_analyse(self, op_name: str | list[str], device_id: int | None = None) -> str:
        """The times of ops as JSON: for each name a list of its lines, in milliseconds."""
        del device_id
        names = [op_name] if isinstance(op_name, str) else op_name
        if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
            raise TypeError(
                f"For 'Profiler.op_analyse', 'op_name' must be a str or a list of them, but got {op_name!r}."
            )
        found: dict[str, list] = {name: [] for name in names}
        for row in self.profile.by_line():
            if row.op in found:
                file, line, function = row.place[0]
                at = {"file": file, "line": line, "function": function}
                times = {"op_count": row.calls, "op_total_time(ms)": row.total / 1e6}
                found[row.op].append(
                    {**at, **times, "op_avg_time(ms)": row.total / row.calls / 1e6}
                )
        return json.dumps(found)

    def op_statistics(self) -> list[_report.Row]:
        """The sums of each op, the longest first."""
        return self.profile.by_op()

    def __enter__(self) -> Profiler:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if _active is self:
            self.stop()
            if self._ready is not None and self._schedule is None:
                self._ready(self)


class profile(Profiler):
    """A profiler for `with`: recording ends where the block does, and `on_trace_ready` gets it."""


class mstx:
    """Marks and ranges of the user's in the trace."""

    _open: dict[int, tuple[str, int]] = {}

    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        """A moment."""
        del stream, domain
        now = time.perf_counter_ns()
        if _active is not None:
            _active.ranges.append((_text("mstx.mark", message), now, now))

    @staticmethod
    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        """A range begins; its number."""
        del stream, domain
        number = len(mstx._open) + 1
        while number in mstx._open:
            number += 1
        mstx._open[number] = (_text("mstx.range_start", message), time.perf_counter_ns())
        return number

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """A range ends."""
        del domain
        if range_id not in mstx._open:
            raise ValueError(
                f"For 'mstx.range_end', 'range_id' must be that of a range that began, but got {range_id!r}."
            )
        text, start = mstx._open.pop(range_id)
        if _active is not None:
            _active.ranges.append((text, start, time.perf_counter_ns()))


def _text(function: str, message: Any) -> str:
    if not isinstance(message, str):
        raise TypeError(
            f"For '{function}', 'message' must be a str, but got {type(message).__name__}."
        )
    return message


__getattr__ = refused(__name__)
__all__ = [
    "ExportType",
    "Profiler",
    "ProfilerActivity",
    "ProfilerLevel",
    "_ExperimentalConfig",
    "mstx",
    "profile",
    "schedule",
    "tensorboard_trace_handler",
]

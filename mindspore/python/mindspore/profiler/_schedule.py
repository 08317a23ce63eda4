"""Which steps of a training are profiled, what is done with each profile, and the words of the options."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mindspore import _paths


class ProfilerLevel(enum.Enum):
    """How much is recorded. Without launches one by one there are sums alone."""

    LevelNone = "LevelNone"
    Level0 = "Level0"
    Level1 = "Level1"
    Level2 = "Level2"


class ProfilerActivity(enum.Enum):
    """What is watched: kernels, wherever they run."""

    CPU = "CPU"
    GPU = "GPU"
    NPU = "NPU"


class ExportType(enum.Enum):
    """How results are written: as text files."""

    Text = "text"
    Db = "db"


class ProfilerAction(enum.Enum):
    """What happens in a step; RECORD_AND_SAVE is the last of those that are recorded together."""

    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class schedule:
    """Steps by number: some are skipped at first, then wait, warm up and be recorded, again and again.

    Args:
        wait: steps of each round that are not recorded.
        active: steps that are.
        warmup: steps between, which are not recorded either.
        repeat: how many rounds; 0 for all.
        skip_first: steps before the first round.
    """

    def __init__(
        self, *, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0
    ):
        given = {"wait": wait, "active": active, "warmup": warmup, "repeat": repeat}
        for name, value in {**given, "skip_first": skip_first}.items():
            least = 1 if name == "active" else 0
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(
                    f"For 'schedule', '{name}' must be an int, but got {type(value).__name__}."
                )
            if value < least:
                raise ValueError(
                    f"For 'schedule', '{name}' must be at least {least}, but got {value}."
                )
        self.wait, self.active, self.warmup = wait, active, warmup
        self.repeat, self.skip_first = repeat, skip_first

    def __call__(self, step: int) -> ProfilerAction:
        """What happens in a step."""
        at = step - self.skip_first
        length = self.wait + self.warmup + self.active
        if at < 0 or (self.repeat and at >= self.repeat * length):
            return ProfilerAction.NONE
        at %= length
        if at < self.wait:
            return ProfilerAction.NONE
        if at < self.wait + self.warmup:
            return ProfilerAction.WARM_UP
        return ProfilerAction.RECORD_AND_SAVE if at == length - 1 else ProfilerAction.RECORD

    def to_dict(self) -> dict[str, int]:
        """The numbers by name."""
        return dict(vars(self))


def tensorboard_trace_handler(
    dir_name: str | None = None,
    worker_name: str | None = None,
    analyse_flag: bool = True,
    async_mode: bool = False,
) -> Callable[[Any], None]:
    """A function that writes each profile into a folder of its own below `dir_name`; for `on_trace_ready`.

    Args:
        dir_name: the folder; the profiler's own for None.
        worker_name: what the folders' names begin with; the process for None.
        analyse_flag: whether anything is written.
        async_mode: accepted; a profile is written at once.
    """
    for name, value in (("analyse_flag", analyse_flag), ("async_mode", async_mode)):
        if not isinstance(value, bool):
            raise TypeError(
                f"For 'tensorboard_trace_handler', '{name}' must be a bool, but got {type(value).__name__}."
            )
    folder = None
    if dir_name is not None:
        folder = Path(_paths.checked("tensorboard_trace_handler", "dir_name", dir_name))
    worker = worker_name or f"process_{os.getpid()}"

    def handle(profiler: Any) -> None:
        if analyse_flag:
            profiler.write((folder or profiler.folder) / f"{worker}_{profiler.saved}_ms")

    return handle


class _ExperimentalConfig:
    """Options of other devices' profilers, which are kept."""

    def __init__(self, profiler_level: ProfilerLevel = ProfilerLevel.Level0, **options: Any):
        if not isinstance(profiler_level, ProfilerLevel):
            raise TypeError(
                "For '_ExperimentalConfig', 'profiler_level' must be a ProfilerLevel, but got "
                f"{type(profiler_level).__name__}."
            )
        self.profiler_level = profiler_level
        self.__dict__.update(options)
